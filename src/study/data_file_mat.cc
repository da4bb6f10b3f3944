#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "study/data_file_formats.h"

namespace saltus {
namespace {

struct Freed {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
  void operator()(mat_t* file) const { Mat_Close(file); }
};
using Variable = std::unique_ptr<matvar_t, Freed>;

struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;  // column by column
  double at(std::size_t i, std::size_t j) const { return values[j * rows + i]; }
};

template <class Number>
void append(const matvar_t& variable, std::size_t count, std::vector<double>& to) {
  const auto* from = static_cast<const Number*>(variable.data);
  for (std::size_t k = 0; k < count; ++k) to.push_back(static_cast<double>(from[k]));
}

// False: it holds no real numbers or letters.
bool read_matrix(const matvar_t& variable, Matrix& matrix) {
  if (variable.rank != 2 || variable.isComplex != 0 || variable.data == nullptr) return false;
  matrix = {variable.dims[0], variable.dims[1], {}};
  const std::size_t count = matrix.rows * matrix.columns;
  switch (variable.data_type) {
    case MAT_T_DOUBLE:
      append<double>(variable, count, matrix.values);
      return true;
    case MAT_T_SINGLE:
      append<float>(variable, count, matrix.values);
      return true;
    case MAT_T_INT8:
      append<std::int8_t>(variable, count, matrix.values);
      return true;
    case MAT_T_UINT8:
    case MAT_T_UTF8:
      append<std::uint8_t>(variable, count, matrix.values);
      return true;
    case MAT_T_INT16:
      append<std::int16_t>(variable, count, matrix.values);
      return true;
    case MAT_T_UINT16:
    case MAT_T_UTF16:
      append<std::uint16_t>(variable, count, matrix.values);
      return true;
    case MAT_T_INT32:
      append<std::int32_t>(variable, count, matrix.values);
      return true;
    case MAT_T_UINT32:
      append<std::uint32_t>(variable, count, matrix.values);
      return true;
    default:
      return false;
  }
}

class MatFile : public SeriesFile {
 public:
  explicit MatFile(std::string path) : path_(std::move(path)) {
    Mat_LogInit("saltus");
    Mat_LogInitFunc("saltus", [](int, char*) {});  // what it would print is said by exceptions
    file_.reset(Mat_Open(path_.c_str(), MAT_ACC_RDONLY));
    if (file_ == nullptr) throw Error(fmt::format("'{}' cannot be read as a MAT file", path_));
    while (const Variable info{Mat_VarReadNextInfo(file_.get())}) {
      const bool is_vector =
          info->rank == 2 && std::min(info->dims[0], info->dims[1]) == 1 && info->isComplex == 0;
      if (is_vector && info->class_type != MAT_C_CHAR && info->class_type != MAT_C_CELL &&
          info->class_type != MAT_C_STRUCT)
        vectors_.emplace_back(info->name);
      is_trajectory_ = is_trajectory_ || std::string(info->name) == "Aclass";
    }
    if (is_trajectory_) read_trajectory();
  }

  std::vector<std::string> names() const override {
    if (!is_trajectory_) return vectors_;
    std::vector<std::string> all;
    for (const auto& signal : signals_) all.push_back(signal.first);
    return all;
  }

  std::vector<double> values(const std::string& name) override {
    if (!is_trajectory_) return matrix(name).values;
    const Signal& signal = signals_.at(name);
    std::vector<double> result;
    for (std::size_t k = 0; k < points(changing_); ++k)
      result.push_back(signal.sign * (signal.is_constant ? at(constant_, signal.row, 0)
                                                         : at(changing_, signal.row, k)));
    return result;
  }

 private:
  struct Signal {
    bool is_constant = false;
    std::size_t row = 0;
    double sign = 1.0;
  };

  Matrix matrix(const std::string& name) {
    const Variable variable(Mat_VarRead(file_.get(), name.c_str()));
    Matrix result;
    if (variable == nullptr || !read_matrix(*variable, result))
      throw Error(fmt::format("'{}' cannot be read from the MAT file '{}'", name, path_));
    return result;
  }

  // Names, places and points of all results, each signal in a row or, transposed, in a column.
  void read_trajectory() {
    const Matrix kind = matrix("Aclass");
    std::string last;
    for (std::size_t j = 0; j < kind.columns && kind.rows > 3; ++j)
      last += static_cast<char>(kind.at(3, j));
    by_rows_ = last.starts_with("binTrans");
    const Matrix names = matrix("name");
    const Matrix info = matrix("dataInfo");
    constant_ = matrix("data_1");
    changing_ = matrix("data_2");
    const std::size_t count = by_rows_ ? names.columns : names.rows;
    if ((by_rows_ ? info.columns : info.rows) != count || (by_rows_ ? info.rows : info.columns) < 2)
      throw Error(fmt::format("the MAT file '{}' is damaged", path_));
    for (std::size_t k = 0; k < count; ++k) {
      std::string name;
      for (std::size_t c = 0; c < (by_rows_ ? names.rows : names.columns); ++c)
        name += static_cast<char>(by_rows_ ? names.at(c, k) : names.at(k, c));
      name = name.substr(0, name.find('\0'));
      name.erase(name.find_last_not_of(' ') + 1);
      const double row = by_rows_ ? info.at(1, k) : info.at(k, 1);
      Signal signal{(by_rows_ ? info.at(0, k) : info.at(k, 0)) == 1.0,
                    static_cast<std::size_t>(std::abs(row)) - 1, row < 0.0 ? -1.0 : 1.0};
      const Matrix& from = signal.is_constant ? constant_ : changing_;
      if (row == 0.0 || signal.row >= (by_rows_ ? from.rows : from.columns) || points(from) == 0)
        throw Error(fmt::format("the MAT file '{}' is damaged", path_));
      signals_[name] = signal;
    }
  }
  std::size_t points(const Matrix& data) const { return by_rows_ ? data.columns : data.rows; }
  double at(const Matrix& data, std::size_t signal, std::size_t point) const {
    return by_rows_ ? data.at(signal, point) : data.at(point, signal);
  }

  std::string path_;
  std::unique_ptr<mat_t, Freed> file_;
  std::vector<std::string> vectors_;
  bool is_trajectory_ = false;
  bool by_rows_ = false;
  Matrix constant_, changing_;
  std::map<std::string, Signal> signals_;
};

}  // namespace

std::unique_ptr<SeriesFile> open_mat(const std::string& path) {
  return std::make_unique<MatFile>(path);
}

}  // namespace saltus
