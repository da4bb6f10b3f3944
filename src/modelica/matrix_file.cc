#include "modelica/matrix_file.h"

#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/error.h"

namespace saltus {
namespace {

constexpr std::size_t kMostNumbers = 50'000'000;

using File = std::unique_ptr<mat_t, decltype(&Mat_Close)>;
using Variable = std::unique_ptr<matvar_t, decltype(&Mat_VarFree)>;

// By columns, as the file has them.
template <class T>
void append(const matvar_t& variable, FileMatrix& matrix) {
  const T* const data = static_cast<const T*>(variable.data);
  matrix.numbers.resize(matrix.rows * matrix.columns);
  for (std::size_t i = 0; i < matrix.rows; ++i)
    for (std::size_t j = 0; j < matrix.columns; ++j)
      matrix.numbers[i * matrix.columns + j] = static_cast<double>(data[j * matrix.rows + i]);
}

bool take_numbers(const matvar_t& variable, FileMatrix& matrix) {
  switch (variable.class_type) {
    case MAT_C_DOUBLE:
      return append<double>(variable, matrix), true;
    case MAT_C_SINGLE:
      return append<float>(variable, matrix), true;
    case MAT_C_INT8:
      return append<std::int8_t>(variable, matrix), true;
    case MAT_C_UINT8:
      return append<std::uint8_t>(variable, matrix), true;
    case MAT_C_INT16:
      return append<std::int16_t>(variable, matrix), true;
    case MAT_C_UINT16:
      return append<std::uint16_t>(variable, matrix), true;
    case MAT_C_INT32:
      return append<std::int32_t>(variable, matrix), true;
    case MAT_C_UINT32:
      return append<std::uint32_t>(variable, matrix), true;
    case MAT_C_INT64:
      return append<std::int64_t>(variable, matrix), true;
    case MAT_C_UINT64:
      return append<std::uint64_t>(variable, matrix), true;
    default:
      return false;
  }
}

// The field of a structure that a path names, or null.
const matvar_t* field_of(matvar_t* variable, const std::string& path) {
  std::size_t begin = path.find('.');
  while (variable != nullptr && begin != std::string::npos) {
    const std::size_t end = path.find('.', begin + 1);
    const std::string name = path.substr(begin + 1, end - begin - 1);
    if (variable->class_type != MAT_C_STRUCT) return nullptr;
    variable = Mat_VarGetStructFieldByName(variable, name.c_str(), 0);
    begin = end;
  }
  return variable;
}

}  // namespace

bool is_matrix_file(const std::string& file) {
  std::string ending = std::filesystem::path(file).extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".mat";
}

FileMatrix read_matrix_file(const std::string& file, const std::string& name, const Place& place) {
  const auto fail = [&](const std::string& message) {
    throw Error(fmt::format("'{}': {}", file, message), place.location());
  };
  std::error_code problem;
  if (!std::filesystem::exists(file, problem)) fail("there is no such file");
  if (!std::filesystem::is_regular_file(file, problem)) fail("is no file but a folder or a device");
  const File opened(Mat_Open(file.c_str(), MAT_ACC_RDONLY), &Mat_Close);
  if (opened == nullptr) fail("is no MATLAB file");
  const std::string outer = name.substr(0, name.find('.'));
  // What it says of its size is looked at before anything of that size is made.
  const Variable info(Mat_VarReadInfo(opened.get(), outer.c_str()), &Mat_VarFree);
  if (info == nullptr) fail(fmt::format("has no matrix '{}'", name));
  std::size_t count = 1;
  for (int k = 0; k < info->rank; ++k) {
    if (info->dims[k] > 0 && count > kMostNumbers / info->dims[k])
      fail(fmt::format("'{}' is too large", name));
    count *= info->dims[k];
  }
  const Variable whole(Mat_VarRead(opened.get(), outer.c_str()), &Mat_VarFree);
  const matvar_t* const variable = field_of(whole.get(), name);
  if (variable == nullptr) fail(fmt::format("has no matrix '{}'", name));
  FileMatrix matrix;
  if (variable->rank != 2 || variable->isComplex != 0)
    fail(fmt::format("'{}' is no matrix of real numbers", name));
  matrix.rows = variable->dims[0];
  matrix.columns = variable->dims[1];
  if (matrix.rows * matrix.columns > 0 && variable->data == nullptr)
    fail(fmt::format("'{}' has no numbers", name));
  if (!take_numbers(*variable, matrix))
    fail(fmt::format("'{}' is no matrix of real numbers", name));
  return matrix;
}

}  // namespace saltus
