#include <fmt/format.h>

#include <cstdint>
#include <filesystem>

#include "base/error.h"
#include "study/data_file_formats.h"

#ifdef SALTUS_WITH_HDF5

#include <hdf5.h>

namespace saltus {
namespace {

// Deflate makes at most so many bytes of one.
constexpr std::uintmax_t kMostCompression = 1100;

class Hdf5Series : public SeriesFile {
 public:
  explicit Hdf5Series(std::string path) : path_(std::move(path)) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // what it would print is said by exceptions
    std::error_code problem;
    const std::uintmax_t bytes = std::filesystem::file_size(path_, problem);
    capacity_ = problem ? 0 : bytes * kMostCompression;
    file_ = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file_ < 0) throw Error(fmt::format("'{}' cannot be read as an HDF5 file", path_));
  }
  ~Hdf5Series() override { H5Fclose(file_); }

  // Data sets of one dimension that hold numbers, with the path of their group.
  std::vector<std::string> names() const override {
    std::vector<std::string> found;
    const auto visit = [](hid_t file, const char* name, const H5O_info_t* info,
                          void* to) -> herr_t {
      if (info->type != H5O_TYPE_DATASET) return 0;
      const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
      if (set < 0) return 0;
      const hid_t space = H5Dget_space(set);
      const hid_t type = H5Dget_type(set);
      const H5T_class_t kind = H5Tget_class(type);
      if (H5Sget_simple_extent_ndims(space) == 1 && (kind == H5T_FLOAT || kind == H5T_INTEGER))
        static_cast<std::vector<std::string>*>(to)->emplace_back(name);
      H5Tclose(type);
      H5Sclose(space);
      H5Dclose(set);
      return 0;
    };
    H5Ovisit2(file_, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &found, H5O_INFO_BASIC);
    return found;
  }

  std::vector<double> values(const std::string& name) override {
    const hid_t set = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    std::vector<double> result;
    herr_t status = -1;
    if (set >= 0) {
      const hid_t space = H5Dget_space(set);
      const hssize_t count = H5Sget_simple_extent_npoints(space);
      H5Sclose(space);
      // A few damaged bytes may say that there are any number of values.
      if (count >= 0 && static_cast<std::uintmax_t>(count) <= capacity_) {
        result.resize(static_cast<std::size_t>(count));
        status = H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, result.data());
      }
      H5Dclose(set);
    }
    if (status < 0)
      throw Error(fmt::format("'{}' cannot be read from the HDF5 file '{}'", name, path_));
    return result;
  }

 private:
  std::string path_;
  hid_t file_ = -1;
  std::uintmax_t capacity_ = 0;  // values that it can hold at most
};

}  // namespace

std::unique_ptr<SeriesFile> open_hdf5(const std::string& path) {
  return std::make_unique<Hdf5Series>(path);
}

}  // namespace saltus

#else

namespace saltus {

std::unique_ptr<SeriesFile> open_hdf5(const std::string& path) {
  throw Error(fmt::format("'{}': Saltus was built without HDF5 (libhdf5-dev)", path));
}

}  // namespace saltus

#endif
