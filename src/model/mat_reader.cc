#include "model/mat_reader.h"

#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace saltus {
namespace {

constexpr std::size_t kMostNumbers = 100'000'000;
constexpr std::size_t kMostNesting = 20;
// Deflate makes at most so many bytes of one.
constexpr std::size_t kMostCompression = 1100;

// The library says what is wrong with a file, and gives what was in memory for what it could not
// read.
thread_local bool complained = false;

void listen(int level, char* /*message*/) {
  const int bad = MATIO_LOG_LEVEL_ERROR | (MATIO_LOG_LEVEL_CRITICAL) | (MATIO_LOG_LEVEL_WARNING);
  complained = complained || (level & bad) != 0;
}

struct Freed {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
  void operator()(mat_t* file) const { Mat_Close(file); }
};
using Variable = std::unique_ptr<matvar_t, Freed>;

// Of all dimensions; none: more than there can be.
std::optional<std::size_t> count_of(const matvar_t& variable) {
  std::size_t count = 1;
  for (int k = 0; k < variable.rank; ++k) {
    const std::size_t size = variable.dims[k];
    if (size > 0 && count > kMostNumbers / size) return std::nullopt;
    count *= size;
  }
  return count;
}

// Whether so many values, and those of its fields, fit into so many bytes.
bool fits(const matvar_t& variable, std::size_t bytes, std::size_t nesting) {
  const std::optional<std::size_t> count = count_of(variable);
  if (!count || nesting > kMostNesting) return false;
  const bool has_fields = variable.class_type == MAT_C_STRUCT || variable.class_type == MAT_C_CELL;
  if (!has_fields) return *count <= bytes;
  const auto* const fields = static_cast<const matvar_t* const*>(variable.data);
  const std::size_t size = variable.data_size > 0 ? variable.data_size : sizeof(matvar_t*);
  for (std::size_t k = 0; fields != nullptr && k < variable.nbytes / size; ++k)
    if (fields[k] != nullptr && !fits(*fields[k], bytes, nesting + 1)) return false;
  return true;
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

template <class Number>
bool append(const matvar_t& variable, std::size_t count, std::vector<double>& to) {
  if (variable.data_size != sizeof(Number) || variable.nbytes / sizeof(Number) < count)
    return false;
  const auto* const from = static_cast<const Number*>(variable.data);
  to.reserve(count);
  for (std::size_t k = 0; k < count; ++k) to.push_back(static_cast<double>(from[k]));
  return true;
}

bool append(const matvar_t& variable, std::size_t count, std::vector<double>& to) {
  switch (variable.data_type) {
    case MAT_T_DOUBLE:
      return append<double>(variable, count, to);
    case MAT_T_SINGLE:
      return append<float>(variable, count, to);
    case MAT_T_INT8:
      return append<std::int8_t>(variable, count, to);
    case MAT_T_UINT8:
    case MAT_T_UTF8:
      return append<std::uint8_t>(variable, count, to);
    case MAT_T_INT16:
      return append<std::int16_t>(variable, count, to);
    case MAT_T_UINT16:
    case MAT_T_UTF16:
      return append<std::uint16_t>(variable, count, to);
    case MAT_T_INT32:
      return append<std::int32_t>(variable, count, to);
    case MAT_T_UINT32:
      return append<std::uint32_t>(variable, count, to);
    case MAT_T_INT64:
      return append<std::int64_t>(variable, count, to);
    case MAT_T_UINT64:
      return append<std::uint64_t>(variable, count, to);
    default:
      return false;
  }
}

bool is_series(const matvar_t& info) {
  const bool is_number = info.class_type != MAT_C_CHAR && info.class_type != MAT_C_CELL &&
                         info.class_type != MAT_C_STRUCT;
  return is_number && info.rank == 2 && std::min(info.dims[0], info.dims[1]) == 1 &&
         info.isComplex == 0;
}

}  // namespace

struct MatReader::File {
  std::unique_ptr<mat_t, Freed> handle;
  std::size_t capacity = 0;  // bytes that it can hold at most
};

MatReader::MatReader(std::string path, SourceLocation where)
    : path_(std::move(path)), where_(std::move(where)), file_(std::make_unique<File>()) {
  std::error_code problem;
  if (!std::filesystem::exists(path_, problem)) fail("there is no such file");
  if (!std::filesystem::is_regular_file(path_, problem))
    fail("is no file but a folder or a device");
  const std::uintmax_t size = std::filesystem::file_size(path_, problem);
  Mat_LogInitFunc("saltus", listen);
  file_->handle.reset(Mat_Open(path_.c_str(), MAT_ACC_RDONLY));
  if (file_->handle == nullptr) fail("is no MATLAB file");
  const bool may_be_compressed = Mat_GetVersion(file_->handle.get()) != MAT_FT_MAT4;
  file_->capacity = problem ? 0 : size * (may_be_compressed ? kMostCompression : 1);
  while (const Variable info{Mat_VarReadNextInfo(file_->handle.get())})
    if (info->name != nullptr) entries_.push_back({info->name, is_series(*info)});
}

MatReader::~MatReader() = default;

void MatReader::fail(const std::string& what) const {
  throw Error(fmt::format("'{}': {}", path_, what), where_);
}

MatMatrix MatReader::matrix(const std::string& name) const {
  const std::string outer = name.substr(0, name.find('.'));
  complained = false;
  const Variable info(Mat_VarReadInfo(file_->handle.get(), outer.c_str()));
  if (info == nullptr) fail(fmt::format("has no matrix '{}'", name));
  if (complained) fail("the file is damaged");
  if (!fits(*info, file_->capacity, 0))
    fail(fmt::format("'{}' is larger than what the file can hold", name));
  const Variable whole(Mat_VarRead(file_->handle.get(), outer.c_str()));
  if (complained) fail(fmt::format("'{}' is damaged", name));
  const matvar_t* const variable = whole == nullptr ? nullptr : field_of(whole.get(), name);
  if (variable == nullptr) fail(fmt::format("has no matrix '{}'", name));
  if (variable->rank != 2 || variable->isComplex != 0)
    fail(fmt::format("'{}' is no matrix of real numbers", name));
  MatMatrix result{variable->dims[0], variable->dims[1], {}};
  const std::optional<std::size_t> count = count_of(*variable);
  if (!count || (*count > 0 && variable->data == nullptr))
    fail(fmt::format("'{}' has no numbers", name));
  if (!append(*variable, *count, result.numbers))
    fail(fmt::format("'{}' is no matrix of real numbers", name));
  return result;
}

}  // namespace saltus
