#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

  // Long variables are compressed, and written in pieces of one size.
  using Column = std::int64_t;
  Column dimension_in_pieces(const std::string& name, std::size_t size, std::size_t piece);
  Column variable_in_pieces(const std::string& name, std::size_t size, std::size_t piece);
  void scale_attribute(const std::string& name, const std::string& text);  // of the dimension
  void write_piece(Column column, std::size_t offset, std::span<const double> values);
  void scalar(const std::string& name, double value);
  void other_name(const std::string& name, const std::string& present);

  void finish();
  // Where the file is until then. finish_in_place() leaves it there.
  const std::string& partial_path() const;
  void finish_in_place();

  // A text at the root of a file that is there; none if it is no such file.
  static std::optional<std::string> read_attribute(const std::string& path,
                                                   const std::string& name);

 private:
  struct Handles;
  std::string path_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace saltus
