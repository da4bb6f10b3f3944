#pragma once

#include <memory>
#include <string>
#include <vector>

namespace saltus {

// An HDF5 file with one dimension and variables over it, laid out as netCDF-4 does so that its
// tools know the dimension. Appears whole or not at all. Failures throw Error naming the path.
class Hdf5File {
 public:
  static bool is_supported();  // whether Saltus was built with HDF5; otherwise all else throws

  explicit Hdf5File(std::string path);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  void attribute(const std::string& name, const std::string& text);
  // Comes before all variables; they have as many values.
  void dimension(const std::string& name, const std::vector<long long>& values);
  void variable(const std::string& name, const std::vector<double>& values);
  void variable(const std::string& name, const std::vector<long long>& values);
  void variable(const std::string& name, const std::vector<std::string>& values);
  // Of the variable made last.
  void variable_attribute(const std::string& name, const std::string& text);
  void finish();

 private:
  struct Handles;
  std::string path_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace saltus
