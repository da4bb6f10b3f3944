#include "study/data_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/readable_file.h"
#include "base/run_apart.h"
#include "base/suggest.h"
#include "study/data_file_formats.h"

namespace saltus {
namespace {

constexpr std::array<const char*, 3> kTimeNames = {"time", "Time", "t"};

bool ends_with(std::string path, const std::vector<std::string>& ends) {
  std::ranges::transform(path, path.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(ends, [&](const std::string& end) { return path.ends_with(end); });
}

bool is_text(const std::string& path) { return ends_with(path, {".csv", ".tsv", ".txt"}); }
bool is_mat(const std::string& path) { return ends_with(path, {".mat"}); }
bool is_hdf5(const std::string& path) { return ends_with(path, {".h5", ".hdf5", ".nc"}); }

std::vector<std::string> cells_of(const std::string& line, char separator) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (c == '"' && quoted && k + 1 < line.size() && line[k + 1] == '"') {
      cells.back() += line[++k];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  for (std::string& text : cells) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
  }
  return cells;
}

double number_of(const std::string& text, const SourceLocation& where) {
  if (text == "true" || text == "false") return text == "true" ? 1.0 : 0.0;
  double value = 0.0;
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, problem] = std::from_chars(first, text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw Error(fmt::format("'{}' is not a finite number", text), where);
  return value;
}

std::size_t place_of(const std::string& path, const std::string& name,
                     const std::vector<std::string>& known) {
  const auto found = std::ranges::find(known, name);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  constexpr std::size_t kShown = 20;
  const std::vector<std::string> shown(
      known.begin(), known.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, known.size())));
  throw Error(fmt::format("the data '{}' have no column '{}'{}; there are {}{}", path, name,
                          did_you_mean(name, known), fmt::join(shown, ", "),
                          known.size() > kShown ? ", ..." : ""));
}

std::optional<std::size_t> time_column(const std::vector<std::string>& names) {
  for (const char* name : kTimeNames) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

void require_order(const std::vector<double>& times, const std::vector<int>& lines,
                   const std::string& path) {
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (times[k] >= times[k - 1]) continue;
    throw Error(fmt::format("time {} comes after {}; the times of data must increase", times[k],
                            times[k - 1]),
                {path, k < lines.size() ? lines[k] : 0, k < lines.size() ? 1 : 0});
  }
}

DataColumns read_text(const std::string& path, const std::vector<std::string>& wanted) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(fmt::format("cannot read the data '{}'", path));
  DataColumns data;
  std::vector<std::string> heading;
  std::vector<std::size_t> places;
  std::size_t time = 0;
  char separator = ',';
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with('#')) continue;
    const SourceLocation where{path, number, 1};
    if (heading.empty()) {
      if (line.find(',') == std::string::npos)
        separator = line.find(';') != std::string::npos    ? ';'
                    : line.find('\t') != std::string::npos ? '\t'
                                                           : ',';
      heading = cells_of(line, separator);
      if (heading.size() < 2)
        throw Error("the data need a column of times and at least one of values", where);
      double first = 0.0;
      const auto [end, problem] =
          std::from_chars(heading[0].data(), heading[0].data() + heading[0].size(), first);
      if (problem == std::errc() && end == heading[0].data() + heading[0].size())
        throw Error("the data need a first line with the names of their columns", where);
      for (std::size_t k = 0; k < heading.size(); ++k)
        if (std::ranges::count(heading, heading[k]) > 1 &&
            (wanted.empty() || std::ranges::find(wanted, heading[k]) != wanted.end()))
          throw Error(fmt::format("there are two columns '{}'", heading[k]), where);
      time = time_column(heading).value_or(0);
      for (std::size_t k = 0; wanted.empty() && k < heading.size(); ++k)
        if (k != time) data.names.push_back(heading[k]);
      if (!wanted.empty()) data.names = wanted;
      for (const std::string& name : data.names) places.push_back(place_of(path, name, heading));
      data.values.resize(places.size());
      continue;
    }
    const std::vector<std::string> cells = cells_of(line, separator);
    if (cells.size() != heading.size())
      throw Error(fmt::format("{} cells, where the heading has {}", cells.size(), heading.size()),
                  where);
    data.times.push_back(number_of(cells[time], where));
    data.lines.push_back(number);
    for (std::size_t k = 0; k < places.size(); ++k)
      data.values[k].push_back(cells[places[k]].empty() ? std::numeric_limits<double>::quiet_NaN()
                                                        : number_of(cells[places[k]], where));
  }
  if (heading.empty()) throw Error(fmt::format("the data '{}' are empty", path));
  return data;
}

DataColumns read_series_here(const std::string& path, std::vector<std::string> wanted) {
  for (std::string& name : wanted) name.erase(0, name.find_first_not_of('/'));
  const std::unique_ptr<SeriesFile> file = is_mat(path) ? open_mat(path) : open_hdf5(path);
  const std::vector<std::string> names = file->names();
  DataColumns data;
  // The times lie beside the first of the columns.
  std::string folder;
  if (!wanted.empty()) {
    place_of(path, wanted.front(), names);
    folder = wanted.front().substr(0, wanted.front().rfind('/') + 1);
  }
  std::string time;
  for (const char* name : kTimeNames)
    if (time.empty() && std::ranges::find(names, folder + name) != names.end())
      time = folder + name;
  if (time.empty())
    throw Error(fmt::format("the data '{}' have no times: a column 'time' or 't'", path));
  data.times = file->values(time);
  for (const double t : data.times)
    if (!std::isfinite(t)) throw Error(fmt::format("the times of '{}' are not all finite", path));
  data.names = wanted;
  if (wanted.empty())
    std::ranges::copy_if(names, std::back_inserter(data.names),
                         [&](const std::string& name) { return name != time; });
  for (const std::string& name : data.names) {
    place_of(path, name, names);
    data.values.push_back(file->values(name));
    if (data.values.back().size() != data.times.size())
      throw Error(fmt::format("the data '{}': '{}' has {} values, but there are {} times", path,
                              name, data.values.back().size(), data.times.size()));
  }
  return data;
}

DataColumns read_series(const std::string& path, const std::vector<std::string>& wanted) {
  Bytes bytes = run_apart(fmt::format("the data '{}' cannot be read", path), [&](Bytes& to) {
    const DataColumns found = read_series_here(path, wanted);
    to.put(found.times);
    to.put(found.names.size());
    for (std::size_t k = 0; k < found.names.size(); ++k) {
      to.put(found.names[k]);
      to.put(found.values[k]);
    }
  });
  DataColumns data;
  data.times = bytes.numbers();
  data.names.resize(bytes.count());
  for (std::string& name : data.names) {
    name = bytes.text();
    data.values.push_back(bytes.numbers());
  }
  return data;
}

}  // namespace

bool is_data_file(const std::string& path) {
  return is_text(path) || is_mat(path) || is_hdf5(path);
}

DataColumns read_columns(const std::string& path, const std::vector<std::string>& names) {
  if (!is_data_file(path))
    throw Error(
        fmt::format("the data '{}' are none of the kinds that can be read: .csv, .tsv, "
                    ".txt, .mat, .h5, .hdf5, .nc",
                    path));
  require_file(path);
  if (!std::ifstream(path)) throw Error(fmt::format("cannot read the data '{}'", path));
  DataColumns data = is_text(path) ? read_text(path, names) : read_series(path, names);
  require_order(data.times, data.lines, path);
  return data;
}

bool read_input_data(const std::string& text, InputData& data) {
  std::size_t colon = text.find(':');
  while (colon != std::string::npos && !is_data_file(text.substr(0, colon)))
    colon = text.find(':', colon + 1);
  if (colon == std::string::npos) {
    if (!is_data_file(text) || text.find_first_of("(\"") != std::string::npos) return false;
    std::error_code problem;
    if (!std::filesystem::exists(text, problem)) return false;  // `a.t`: the member of a component
    throw Error(fmt::format("which column of '{0}'? Write {0}:COLUMN", text));
  }
  const std::string path = text.substr(0, colon);
  std::string column = text.substr(colon + 1);
  data.joining = Joining::kLinear;
  const std::array<std::pair<const char*, Joining>, 3> kinds = {
      {{":hold", Joining::kHold}, {":linear", Joining::kLinear}, {":spline", Joining::kSpline}}};
  for (const auto& [end, joining] : kinds) {
    if (!column.ends_with(end)) continue;
    data.joining = joining;
    column.resize(column.size() - std::string_view(end).size());
    break;
  }
  if (column.empty()) throw Error(fmt::format("which column of '{0}'? Write {0}:COLUMN", path));
  data.source = fmt::format("{}, column '{}'", path, column);
  DataColumns columns = read_columns(path, {column});
  const std::vector<double>& values = columns.values.front();
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      throw Error(
          fmt::format("column '{}' has no finite number at t = {}", column, columns.times[k]),
          {path, k < columns.lines.size() ? columns.lines[k] : 0,
           k < columns.lines.size() ? 1 : 0});
  data.times = std::move(columns.times);
  data.values = std::move(columns.values.front());
  check(data);
  return true;
}

}  // namespace saltus
