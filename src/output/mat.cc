#include "output/mat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "output/file.h"

// The headers are written by hand rather than through matio: data_2 then streams point by point
// instead of being copied whole, and a full disk is noticed. The tests read back with matio.

namespace saltus {
namespace {

// MAT-file level 4 "MOPT": O and M zero for IEEE little endian, P the number format, T = 1 for
// text.
enum class Format : std::int32_t { kDouble = 0, kInt32 = 20, kText = 51 };

// Where a variable lives, one column of dataInfo.
struct DataInfo {
  std::int32_t matrix;         // 1: data_1, 2: data_2, 0: the abscissa, valid for both
  std::int32_t row;            // from 1; a negative row means the negated values
  std::int32_t interpolation;  // 0: linear
  std::int32_t outside;        // -1: undefined outside the time range, 0: the first or last value
};

class MatWriter {
 public:
  explicit MatWriter(const std::string& path) : path_(path), file_(path) {}

  void header(std::string_view name, Format format, std::size_t rows, std::size_t columns) {
    static_assert(std::endian::native == std::endian::little, "the format code says so");
    const std::array<std::int32_t, 5> fields = {static_cast<std::int32_t>(format), count(rows),
                                                count(columns), 0, count(name.size() + 1)};
    file_.write(fields.data(), sizeof(fields));
    file_.write(name);
    file_.write("\0", 1);
  }

  void values(const double* data, std::size_t size) { file_.write(data, size * sizeof(double)); }

  // binTrans: every text is one matrix column. Blanks pad, as readers strip them.
  void texts(std::string_view name, const std::vector<std::string>& lines) {
    std::size_t width = 1;
    for (const std::string& line : lines) width = std::max(width, line.size());
    header(name, Format::kText, width, lines.size());
    for (std::string line : lines) {
      line.resize(width, ' ');
      file_.write(line);
    }
  }

  void infos(const std::vector<DataInfo>& columns) {
    header("dataInfo", Format::kInt32, 4, columns.size());
    file_.write(columns.data(), columns.size() * sizeof(DataInfo));
  }

  void aclass() {
    // The one matrix that is never transposed: rows are the lines, stored column by column.
    const std::array<std::string_view, 4> lines = {"Atrajectory", "1.1", "", "binTrans"};
    const std::size_t width = lines[0].size();
    header("Aclass", Format::kText, lines.size(), width);
    for (std::size_t column = 0; column < width; ++column) {
      for (const std::string_view line : lines) {
        const char letter = column < line.size() ? line[column] : ' ';
        file_.write(&letter, 1);
      }
    }
  }

  void finish() { file_.finish(); }

 private:
  std::int32_t count(std::size_t n) const {
    if (n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      throw Error("cannot write '" + path_ + "': more than 2^31 rows or columns; use --format csv");
    }
    return static_cast<std::int32_t>(n);
  }

  std::string path_;
  OutputFile file_;
};

std::string described(const SignalInfo& info) {
  if (info.unit.empty()) return info.description;
  return info.description + (info.description.empty() ? "[" : " [") + info.unit + "]";
}

}  // namespace

void write_mat(const Trajectory& trajectory, const std::string& path) {
  std::vector<std::string> names = {"time"};
  std::vector<std::string> descriptions = {"Simulation time [s]"};
  std::vector<DataInfo> infos = {{0, 1, 0, -1}};
  // The first row of either matrix is time.
  std::vector<double> constants = trajectory.parameter_values;  // rows of data_1
  const auto declare = [&](const SignalInfo& info, DataInfo where) {
    names.push_back(info.name);
    descriptions.push_back(described(info));
    infos.push_back(where);
  };
  for (std::size_t k = 0; k < trajectory.signals.size(); ++k) {
    const Trajectory::Source from = trajectory.source(k);
    if (from.column == Trajectory::Source::kNoColumn) {
      constants.push_back(from.factor);
      declare(trajectory.signals[k], {1, static_cast<std::int32_t>(constants.size()) + 1, 0, 0});
      continue;
    }
    const auto row = static_cast<std::int32_t>(from.column) + 2;
    declare(trajectory.signals[k], {2, from.factor < 0.0 ? -row : row, 0, -1});
  }
  for (std::size_t k = 0; k < trajectory.parameters.size(); ++k)
    declare(trajectory.parameters[k], {1, static_cast<std::int32_t>(k) + 2, 0, 0});

  MatWriter out(path);
  out.aclass();
  out.texts("name", names);
  out.texts("description", descriptions);
  out.infos(infos);

  out.header("data_1", Format::kDouble, constants.size() + 1, 2);
  const double start = trajectory.size() == 0 ? 0.0 : trajectory.time.front();
  const double stop = trajectory.size() == 0 ? 0.0 : trajectory.time.back();
  for (const double time : {start, stop}) {
    out.values(&time, 1);
    out.values(constants.data(), constants.size());
  }

  const std::size_t width = trajectory.width();
  out.header("data_2", Format::kDouble, width + 1, trajectory.size());
  for (std::size_t point = 0; point < trajectory.size(); ++point) {
    out.values(&trajectory.time[point], 1);
    out.values(trajectory.values.data() + point * width, width);
  }
  out.finish();
}

}  // namespace saltus
