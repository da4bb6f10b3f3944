#include "output/hdf5_file.h"

#include <fmt/format.h>

#include <algorithm>
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
  hid_t last = -1;             // the variable made last
  hid_t text = -1;             // type of texts
  hid_t plain = -1;            // without dates, so that equal contents are equal files
  std::vector<hid_t> columns;  // written piece by piece
  std::string path;

  ~Handles() {
    for (const hid_t column : columns) H5Dclose(column);
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

  hid_t make_compressed(const std::string& name, std::size_t size, std::size_t piece) const {
    constexpr unsigned kEffort = 4;
    const hsize_t extent = size;
    const hsize_t chunk = std::max<hsize_t>(std::min(size, piece), 1);
    const hid_t how = require(H5Pcopy(plain));
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    hid_t set = -1;
    if (H5Pset_chunk(how, 1, &chunk) >= 0 && H5Pset_shuffle(how) >= 0 &&
        H5Pset_deflate(how, kEffort) >= 0)
      set = H5Dcreate2(file, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(how);
    return require(set);
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

Hdf5File::Column Hdf5File::dimension_in_pieces(const std::string& name, std::size_t size,
                                               std::size_t piece) {
  Handles& h = *handles_;
  h.scale = h.make_compressed(name, size, piece);
  h.require(H5DSset_scale(h.scale, name.c_str()));
  return h.scale;
}

void Hdf5File::scale_attribute(const std::string& name, const std::string& text) {
  handles_->write_attribute(handles_->scale, name, text);
}

Hdf5File::Column Hdf5File::variable_in_pieces(const std::string& name, std::size_t size,
                                              std::size_t piece) {
  Handles& h = *handles_;
  const hid_t set = h.make_compressed(name, size, piece);
  h.add_variable(set);
  h.columns.push_back(set);
  h.require(H5Iinc_ref(set));  // `last` closes it too
  return set;
}

void Hdf5File::write_piece(Column column, std::size_t offset, std::span<const double> values) {
  Handles& h = *handles_;
  const hsize_t start = offset, count = values.size();
  const hid_t there = h.require(H5Dget_space(column));
  const hid_t here = H5Screate_simple(1, &count, nullptr);
  herr_t written = H5Sselect_hyperslab(there, H5S_SELECT_SET, &start, nullptr, &count, nullptr);
  if (written >= 0)
    written = H5Dwrite(column, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, values.data());
  H5Sclose(here);
  H5Sclose(there);
  h.require(written);
}

void Hdf5File::scalar(const std::string& name, double value) {
  Handles& h = *handles_;
  const hid_t space = h.require(H5Screate(H5S_SCALAR));
  const hid_t set =
      H5Dcreate2(h.file, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, h.plain, H5P_DEFAULT);
  H5Sclose(space);
  h.require(set);
  if (h.last >= 0) H5Dclose(h.last);
  h.last = set;
  h.require(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value));
}

void Hdf5File::other_name(const std::string& name, const std::string& present) {
  Handles& h = *handles_;
  h.require(
      H5Lcreate_hard(h.file, present.c_str(), h.file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
}

const std::string& Hdf5File::partial_path() const { return handles_->partial; }

void Hdf5File::finish_in_place() {
  const std::string partial = handles_->partial;
  const bool flushed = H5Fflush(handles_->file, H5F_SCOPE_GLOBAL) >= 0;
  handles_.reset();
  if (flushed) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw Error(fmt::format("cannot write '{}': the disk may be full", path_));
}

void Hdf5File::finish() {
  const std::string partial = handles_->partial;
  finish_in_place();
  std::error_code problem;
  std::filesystem::rename(partial, path_, problem);
  if (!problem) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw Error(fmt::format("cannot write '{}': {}", path_, problem.message()));
}

std::optional<std::string> Hdf5File::read_attribute(const std::string& path,
                                                    const std::string& name) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return std::nullopt;
  std::optional<std::string> text;
  const hid_t attribute = H5Aopen_by_name(file, "/", name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (attribute >= 0) {
    const hid_t type = H5Aget_type(attribute);
    std::string found(H5Tget_size(type), '\0');
    if (H5Tis_variable_str(type) <= 0 && H5Aread(attribute, type, found.data()) >= 0)
      text = std::move(found);
    H5Tclose(type);
    H5Aclose(attribute);
  }
  H5Fclose(file);
  return text;
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
Hdf5File::Column Hdf5File::dimension_in_pieces(const std::string&, std::size_t, std::size_t) {
  return -1;
}

Hdf5File::Column Hdf5File::variable_in_pieces(const std::string&, std::size_t, std::size_t) {
  return -1;
}

void Hdf5File::scale_attribute(const std::string&, const std::string&) {}
void Hdf5File::write_piece(Column, std::size_t, std::span<const double>) {}
void Hdf5File::scalar(const std::string&, double) {}
void Hdf5File::other_name(const std::string&, const std::string&) {}
void Hdf5File::finish() {}
const std::string& Hdf5File::partial_path() const { return path_; }
void Hdf5File::finish_in_place() {}
std::optional<std::string> Hdf5File::read_attribute(const std::string&, const std::string&) {
  return std::nullopt;
}

}  // namespace saltus

#endif
