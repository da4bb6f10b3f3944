#include "modelica/table_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "modelica/matrix_file.h"

namespace saltus {
namespace {

constexpr std::string_view kBlank = " \t\r";
constexpr std::size_t kMostNumbers = 50'000'000;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

// Lines of a file that is read once from its beginning.
class Lines {
 public:
  Lines(const std::string& file, const Place& place) : file_(file) {
    std::error_code problem;
    if (!std::filesystem::exists(file, problem))
      throw Error(fmt::format("there is no table file '{}'", file), place.location());
    if (!std::filesystem::is_regular_file(file, problem))
      throw Error(fmt::format("the table file '{}' is no file but a folder, pipe or device", file),
                  place.location());
    in_.open(file);
    if (!in_)
      throw Error(fmt::format("the table file '{}' cannot be read", file), place.location());
  }

  // Without comment; false at the end.
  bool next() {
    if (!std::getline(in_, line_)) return false;
    ++number_;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of files in UTF-8
    if (number_ == 1 && line_.starts_with(kByteOrderMark)) line_.erase(0, kByteOrderMark.size());
    if (number_ > 1) line_.resize(std::min(line_.find('#'), line_.size()));
    return true;
  }
  const std::string& line() const { return line_; }
  int number() const { return number_; }
  [[noreturn]] void fail(const std::string& message, std::size_t column = 0) const {
    throw Error(message, {file_, number_, static_cast<int>(column) + 1});
  }

 private:
  std::string file_;
  std::ifstream in_;
  std::string line_;
  int number_ = 0;
};

double number_at(const Lines& lines, std::string_view word, std::size_t column) {
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  double value = 0.0;
  const char* const last = digits.data() + digits.size();
  const auto [end, problem] = std::from_chars(digits.data(), last, value);
  if (problem == std::errc::result_out_of_range)
    lines.fail(fmt::format("{} is beyond what a number can be", word), column);
  if (problem != std::errc() || end != last || word.empty() || digits.starts_with('+'))
    lines.fail(fmt::format("'{}' is not a number", word), column);
  if (!std::isfinite(value)) lines.fail(fmt::format("{} is no value for a table", word), column);
  return value;
}

std::optional<std::size_t> count_of(std::string_view text) {
  text = trimmed(text);
  std::size_t count = 0;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, count);
  if (problem != std::errc() || end != last || count > kMostNumbers) return std::nullopt;
  return count;
}

struct Header {
  std::string name;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

// "double name(3,2)"; nothing: the line is no such header. The size is read of the wanted one only.
std::optional<Header> header_of(const Lines& lines, const std::string& wanted) {
  const std::string_view line = trimmed(lines.line());
  std::size_t type = 0;
  for (const std::string_view word : {"double", "float"})
    if (line.starts_with(word)) type = word.size();
  if (type == 0 || line.size() == type || kBlank.find(line[type]) == std::string_view::npos)
    return std::nullopt;
  const std::size_t open = line.find('(');
  const std::size_t comma = line.find(',', std::min(open, line.size()));
  const std::size_t close = line.find(')', std::min(comma, line.size()));
  if (close == std::string_view::npos || close + 1 != line.size())
    lines.fail("the head of a table reads: double name(rows,columns)");
  std::string name(trimmed(line.substr(type, open - type)));
  if (name != wanted) return Header{std::move(name), 0, 0};
  const auto rows = count_of(line.substr(open + 1, comma - open - 1));
  const auto columns = count_of(line.substr(comma + 1, close - comma - 1));
  if (!rows || !columns || *rows == 0 || *columns == 0 || *rows > kMostNumbers / *columns)
    lines.fail("rows and columns of a table are whole numbers from 1 on, and not too many");
  return Header{std::move(name), *rows, *columns};
}

FileTable matrix_table(const std::string& file, const std::string& table, const Place& place) {
  const FileMatrix matrix = read_matrix_file(file, table, place);
  if (matrix.numbers.empty())
    throw Error(fmt::format("table '{}' of '{}' is empty", table, file), place.location());
  FileTable result;
  for (auto at = matrix.numbers.begin(); at != matrix.numbers.end();
       at += static_cast<std::ptrdiff_t>(matrix.columns))
    result.rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(matrix.columns));
  return result;
}

}  // namespace

FileTable read_table_file(const std::string& file, const std::string& table, const Place& place) {
  if (is_matrix_file(file)) return matrix_table(file, table, place);
  Lines lines(file, place);
  if (!lines.next() || !lines.line().starts_with("#1"))
    throw Error(
        fmt::format("'{}' is not a table file in text form (its first line must be #1)", file),
        place.location());
  std::optional<Header> header;
  while (!header && lines.next()) {
    header = header_of(lines, table);
    if (header && header->name != table) header.reset();
  }
  if (!header) throw Error(fmt::format("'{}' has no table '{}'", file, table), place.location());

  // A row may span several lines and need not begin with one.
  FileTable result;
  const std::size_t wanted = header->rows * header->columns;
  std::size_t count = 0;
  while (lines.next() && !header_of(lines, table)) {
    const std::string_view line = lines.line();
    constexpr std::string_view kBetween = " \t\r,;";
    for (std::size_t at = line.find_first_not_of(kBetween); at != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
      const double value = number_at(lines, line.substr(at, end - at), at);
      if (count == wanted)
        lines.fail(fmt::format("table '{}' has {} x {} numbers, and here follow more; commas "
                               "separate numbers, decimals are written with a point",
                               table, header->rows, header->columns),
                   at);
      if (count++ % header->columns == 0) {
        result.rows.emplace_back();
        result.lines.push_back(lines.number());
      }
      result.rows.back().push_back(value);
      at = line.find_first_not_of(kBetween, end);
    }
  }
  if (count < wanted)
    lines.fail(fmt::format("table '{}' ends here with {} numbers; {} x {} were announced", table,
                           count, header->rows, header->columns));
  return result;
}

FileTable read_table_csv(const std::string& file, const std::string& delimiter, int header_lines,
                         const Place& place) {
  Lines lines(file, place);
  FileTable result;
  while (lines.next()) {
    if (lines.number() <= header_lines || trimmed(lines.line()).empty()) continue;
    const std::string_view line = lines.line();
    std::vector<double>& row = result.rows.emplace_back();
    result.lines.push_back(lines.number());
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(delimiter, at), line.size());
      row.push_back(number_at(lines, trimmed(line.substr(at, end - at)), at));
      at = end + delimiter.size();
    }
    if (row.size() != result.rows.front().size())
      lines.fail(fmt::format("this line has {} numbers, the first had {}", row.size(),
                             result.rows.front().size()));
  }
  if (result.rows.empty())
    throw Error(fmt::format("'{}' holds no numbers", file), place.location());
  return result;
}

}  // namespace saltus
