#include "study/hdf5_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"

#ifdef SALTUS_WITH_HDF5

#include <hdf5.h>
#include <hdf5_hl.h>
#include <unistd.h>

namespace saltus {

struct Hdf5File::Handles {
  std::string partial;
  hid_t file = -1;
  hid_t scale = -1;
  hid_t last = -1;   // the variable made last
  hid_t text = -1;   // type of texts
  hid_t plain = -1;  // without dates, so that equal contents are equal files
  std::string path;

  ~Handles() {
    if (last >= 0) H5Dclose(last);
    if (scale >= 0) H5Dclose(scale);
    if (text >= 0) H5Tclose(text);
    if (plain >= 0) H5Pclose(plain);
    if (file >= 0) H5Fclose(file);
  }

  hid_t require(hid_t handle) const {
    if (handle < 0) throw Error(fmt::format("cannot write '{}': HDF5 refuses", path));
    return handle;
  }

  void write_attribute(hid_t object, const std::string& name, const std::string& value) const {
    const hid_t space = require(H5Screate(H5S_SCALAR));
    const hid_t type = require(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, value.empty() ? 1 : value.size());
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const hid_t attribute =
        require(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
    const herr_t written = H5Awrite(attribute, type, value.empty() ? "" : value.data());
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
    require(written);
  }

  hid_t write_data(const std::string& name, hid_t stored, hid_t given, std::size_t size,
                   const void* data) const {
    const hsize_t extent = size;
    const hid_t space = require(H5Screate_simple(1, &extent, nullptr));
    const hid_t set =
        H5Dcreate2(file, name.c_str(), stored, space, H5P_DEFAULT, plain, H5P_DEFAULT);
    H5Sclose(space);
    require(set);
    const herr_t written = H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    if (written < 0) H5Dclose(set);
    require(written);
    return set;
  }

  void add_variable(hid_t set) {
    if (last >= 0) H5Dclose(last);
    last = set;
    require(H5DSattach_scale(last, scale, 0));
  }
};

bool Hdf5File::is_supported() { return true; }

Hdf5File::Hdf5File(std::string path)
    : path_(std::move(path)), handles_(std::make_unique<Handles>()) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // what it would print is said by exceptions
  Handles& h = *handles_;
  h.path = path_;
  h.partial = fmt::format("{}.partial-{}", path_, getpid());
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  std::error_code problem;
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  h.plain = h.require(H5Pcreate(H5P_DATASET_CREATE));
  h.require(H5Pset_obj_track_times(h.plain, false));
  h.require(H5Pset_attr_phase_change(h.plain, 64, 32));
  h.text = h.require(H5Tcopy(H5T_C_S1));
  h.require(H5Tset_size(h.text, H5T_VARIABLE));
  h.require(H5Tset_cset(h.text, H5T_CSET_UTF8));
  const hid_t creation = h.require(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(creation, false);
  h.file = H5Fcreate(h.partial.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
  H5Pclose(creation);
  h.require(h.file);
}

Hdf5File::~Hdf5File() {
  if (handles_ == nullptr) return;
  const std::string partial = handles_->partial;
  handles_.reset();
  std::error_code problem;
  std::filesystem::remove(partial, problem);
}

void Hdf5File::attribute(const std::string& name, const std::string& text) {
  const hid_t root = handles_->require(H5Gopen2(handles_->file, "/", H5P_DEFAULT));
  handles_->write_attribute(root, name, text);
  H5Gclose(root);
}

void Hdf5File::dimension(const std::string& name, const std::vector<long long>& values) {
  Handles& h = *handles_;
  h.scale = h.write_data(name, H5T_STD_I64LE, H5T_NATIVE_LLONG, values.size(), values.data());
  h.require(H5DSset_scale(h.scale, name.c_str()));
}

void Hdf5File::variable(const std::string& name, const std::vector<double>& values) {
  Handles& h = *handles_;
  h.add_variable(
      h.write_data(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.size(), values.data()));
}

void Hdf5File::variable(const std::string& name, const std::vector<long long>& values) {
  Handles& h = *handles_;
  h.add_variable(h.write_data(name, H5T_STD_I64LE, H5T_NATIVE_LLONG, values.size(), values.data()));
}

void Hdf5File::variable(const std::string& name, const std::vector<std::string>& values) {
  std::vector<const char*> texts;
  for (const std::string& value : values) texts.push_back(value.c_str());
  Handles& h = *handles_;
  h.add_variable(h.write_data(name, h.text, h.text, texts.size(), texts.data()));
}

void Hdf5File::variable_attribute(const std::string& name, const std::string& text) {
  handles_->write_attribute(handles_->last, name, text);
}

void Hdf5File::finish() {
  const std::string partial = handles_->partial;
  const bool flushed = H5Fflush(handles_->file, H5F_SCOPE_GLOBAL) >= 0;
  handles_.reset();
  std::error_code problem;
  if (flushed) std::filesystem::rename(partial, path_, problem);
  if (!flushed || problem) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw Error(fmt::format("cannot write '{}': {}", path_,
                            flushed ? problem.message() : "the disk may be full"));
  }
}

}  // namespace saltus

#else

namespace saltus {

struct Hdf5File::Handles {};
bool Hdf5File::is_supported() { return false; }
Hdf5File::Hdf5File(std::string path) : path_(std::move(path)) {
  throw Error(fmt::format("cannot write '{}': this Saltus was built without HDF5", path_));
}
Hdf5File::~Hdf5File() = default;
void Hdf5File::attribute(const std::string&, const std::string&) {}
void Hdf5File::dimension(const std::string&, const std::vector<long long>&) {}
void Hdf5File::variable(const std::string&, const std::vector<double>&) {}
void Hdf5File::variable(const std::string&, const std::vector<long long>&) {}
void Hdf5File::variable(const std::string&, const std::vector<std::string>&) {}
void Hdf5File::variable_attribute(const std::string&, const std::string&) {}
void Hdf5File::finish() {}

}  // namespace saltus

#endif
