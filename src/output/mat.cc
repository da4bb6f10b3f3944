#include "output/mat.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "output/file.h"

// The headers are written by hand rather than through matio: data_2 then streams point by point
// instead of being copied whole, its column count can be rewritten as points come, and a full disk
// is noticed. The tests read back with matio.

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

// As in the file; the format code says that the machine is little-endian.
template <class T>
std::string_view bytes_of(const T& value) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::int32_t count(std::size_t n) {
  if (n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw Error("a MAT file cannot count more than 2^31 rows or columns; use --format csv");
  return static_cast<std::int32_t>(n);
}

class MatWriter {
 public:
  // Returns where the number of columns is.
  std::size_t header(std::string_view name, Format format, std::size_t rows, std::size_t columns) {
    const std::array<std::int32_t, 5> fields = {static_cast<std::int32_t>(format), count(rows),
                                                count(columns), 0, count(name.size() + 1)};
    const std::size_t begin = bytes_.size();
    bytes_ += bytes_of(fields);
    bytes_ += name;
    bytes_ += '\0';
    return begin + 2 * sizeof(std::int32_t);
  }

  void value(double number) { bytes_ += bytes_of(number); }

  // binTrans: every text is one matrix column. Blanks pad, as readers strip them.
  void texts(std::string_view name, const std::vector<std::string>& lines) {
    std::size_t width = 1;
    for (const std::string& line : lines) width = std::max(width, line.size());
    header(name, Format::kText, width, lines.size());
    for (std::string line : lines) {
      line.resize(width, ' ');
      bytes_ += line;
    }
  }

  void infos(const std::vector<DataInfo>& columns) {
    header("dataInfo", Format::kInt32, 4, columns.size());
    for (const DataInfo& info : columns) bytes_ += bytes_of(info);
  }

  void aclass() {
    // The one matrix that is never transposed: rows are the lines, stored column by column.
    const std::array<std::string_view, 4> lines = {"Atrajectory", "1.1", "", "binTrans"};
    const std::size_t width = lines[0].size();
    header("Aclass", Format::kText, lines.size(), width);
    for (std::size_t column = 0; column < width; ++column)
      for (const std::string_view line : lines) bytes_ += column < line.size() ? line[column] : ' ';
  }

  std::size_t size() const { return bytes_.size(); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

std::string described(const SignalInfo& info) {
  if (info.unit.empty()) return info.description;
  return info.description + (info.description.empty() ? "[" : " [") + info.unit + "]";
}

}  // namespace

MatHeader mat_header(const Trajectory& layout, double start_time) {
  std::vector<std::string> names = {"time"};
  std::vector<std::string> descriptions = {"Simulation time [s]"};
  std::vector<DataInfo> infos = {{0, 1, 0, -1}};
  // The first row of either matrix is time.
  std::vector<double> constants = layout.parameter_values;  // rows of data_1
  const auto declare = [&](const SignalInfo& info, DataInfo where) {
    names.push_back(info.name);
    descriptions.push_back(described(info));
    infos.push_back(where);
  };
  for (std::size_t k = 0; k < layout.signals.size(); ++k) {
    const Trajectory::Source from = layout.source(k);
    if (from.column == Trajectory::Source::kNoColumn) {
      constants.push_back(from.factor);
      declare(layout.signals[k], {1, static_cast<std::int32_t>(constants.size()) + 1, 0, 0});
      continue;
    }
    const auto row = static_cast<std::int32_t>(from.column) + 2;
    declare(layout.signals[k], {2, from.factor < 0.0 ? -row : row, 0, -1});
  }
  for (std::size_t k = 0; k < layout.parameters.size(); ++k)
    declare(layout.parameters[k], {1, static_cast<std::int32_t>(k) + 2, 0, 0});

  MatHeader result;
  MatWriter out;
  out.aclass();
  out.texts("name", names);
  out.texts("description", descriptions);
  out.infos(infos);
  result.names_end = out.size();
  out.header("data_1", Format::kDouble, constants.size() + 1, 2);
  for (int column = 0; column < 2; ++column) {
    result.stop_time = out.size();  // the second one stays
    out.value(start_time);
    for (const double constant : constants) out.value(constant);
  }
  result.point_count = out.header("data_2", Format::kDouble, layout.width() + 1, 0);
  result.bytes = out.take();
  return result;
}

void append_mat_point(const Trajectory& layout, double time, const double* columns,
                      std::string& bytes) {
  bytes += bytes_of(time);
  bytes.append(reinterpret_cast<const char*>(columns), layout.width() * sizeof(double));
}

std::string mat_count(std::size_t points) { return std::string(bytes_of(count(points))); }

void write_mat(const Trajectory& trajectory, const std::string& path) {
  const bool empty = trajectory.size() == 0;
  MatHeader header = mat_header(trajectory, empty ? 0.0 : trajectory.time.front());
  const double stop = empty ? 0.0 : trajectory.time.back();
  header.bytes.replace(header.stop_time, sizeof(stop), bytes_of(stop));
  header.bytes.replace(header.point_count, sizeof(std::int32_t), mat_count(trajectory.size()));
  OutputFile out(path);
  out.write(header.bytes);
  const std::size_t width = trajectory.width();
  for (std::size_t point = 0; point < trajectory.size(); ++point) {
    out.write(&trajectory.time[point], sizeof(double));
    out.write(trajectory.values.data() + point * width, width * sizeof(double));
  }
  out.finish();
}

}  // namespace saltus
