#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "model/mat_reader.h"
#include "study/data_file_formats.h"

namespace saltus {
namespace {

char letter(double code) { return code >= 1.0 && code <= 255.0 ? static_cast<char>(code) : '\0'; }

class MatFile : public SeriesFile {
 public:
  explicit MatFile(const std::string& path) : path_(path), file_(path, {}) {
    for (const MatReader::Entry& entry : file_.entries()) {
      if (entry.is_series) vectors_.push_back(entry.name);
      is_trajectory_ = is_trajectory_ || entry.name == "Aclass";
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
    if (!is_trajectory_) return file_.matrix(name).numbers;
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

  // Names, places and points of all results, each signal in a row or, transposed, in a column.
  void read_trajectory() {
    const MatMatrix kind = file_.matrix("Aclass");
    std::string last;
    for (std::size_t j = 0; j < kind.columns && kind.rows > 3; ++j) last += letter(kind.at(3, j));
    by_rows_ = last.starts_with("binTrans");
    const MatMatrix names = file_.matrix("name");
    const MatMatrix info = file_.matrix("dataInfo");
    constant_ = file_.matrix("data_1");
    changing_ = file_.matrix("data_2");
    const std::size_t count = by_rows_ ? names.columns : names.rows;
    if ((by_rows_ ? info.columns : info.rows) != count || (by_rows_ ? info.rows : info.columns) < 2)
      throw Error(fmt::format("the MAT file '{}' is damaged", path_));
    for (std::size_t k = 0; k < count; ++k) {
      std::string name;
      for (std::size_t c = 0; c < (by_rows_ ? names.rows : names.columns); ++c)
        name += letter(by_rows_ ? names.at(c, k) : names.at(k, c));
      name = name.substr(0, name.find('\0'));
      name.erase(name.find_last_not_of(' ') + 1);
      const double row = by_rows_ ? info.at(1, k) : info.at(k, 1);
      const bool is_constant = (by_rows_ ? info.at(0, k) : info.at(k, 0)) == 1.0;
      const MatMatrix& from = is_constant ? constant_ : changing_;
      const std::size_t rows = by_rows_ ? from.rows : from.columns;
      if (!(std::abs(row) >= 1.0 && std::abs(row) <= static_cast<double>(rows)) ||
          points(from) == 0)
        throw Error(fmt::format("the MAT file '{}' is damaged", path_));
      signals_[name] = {is_constant, static_cast<std::size_t>(std::abs(row)) - 1,
                        row < 0.0 ? -1.0 : 1.0};
    }
  }
  std::size_t points(const MatMatrix& data) const { return by_rows_ ? data.columns : data.rows; }
  double at(const MatMatrix& data, std::size_t signal, std::size_t point) const {
    return by_rows_ ? data.at(signal, point) : data.at(point, signal);
  }

  std::string path_;
  MatReader file_;
  std::vector<std::string> vectors_;
  bool is_trajectory_ = false;
  bool by_rows_ = false;
  MatMatrix constant_, changing_;
  std::map<std::string, Signal> signals_;
};

}  // namespace

std::unique_ptr<SeriesFile> open_mat(const std::string& path) {
  return std::make_unique<MatFile>(path);
}

}  // namespace saltus
