#include "modelica/table_file.h"

#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace saltus {

std::vector<std::vector<double>> read_table_file(const std::string& file, const std::string& table,
                                                 const Place& place) {
  std::ifstream in(file);
  if (!in) throw Error(fmt::format("the table file '{}' cannot be read", file), place.location());
  std::string line;
  std::getline(in, line);
  if (!line.starts_with("#1"))
    throw Error(
        fmt::format("'{}' is not a table file in text form (its first line must be #1)", file),
        place.location());
  while (std::getline(in, line)) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string::npos) continue;
    if (line.compare(start, 6, "double") != 0 && line.compare(start, 5, "float") != 0) continue;
    const std::size_t open = line.find('(');
    const std::size_t comma = line.find(',', open);
    const std::size_t close = line.find(')', open);
    if (open == std::string::npos || comma == std::string::npos || close == std::string::npos)
      continue;
    std::string name = line.substr(line.find(' ', start), open - line.find(' ', start));
    while (!name.empty() && std::isspace(static_cast<unsigned char>(name.front())) != 0)
      name.erase(name.begin());
    while (!name.empty() && std::isspace(static_cast<unsigned char>(name.back())) != 0)
      name.pop_back();
    if (name != table) continue;
    const std::size_t rows = std::stoul(line.substr(open + 1, comma - open - 1));
    const std::size_t columns = std::stoul(line.substr(comma + 1, close - comma - 1));
    std::vector<double> numbers;
    while (numbers.size() < rows * columns && std::getline(in, line)) {
      line = line.substr(0, line.find('#'));
      for (char& c : line)
        if (c == ',' || c == ';') c = ' ';
      std::istringstream words(line);
      double number = 0.0;
      while (words >> number) numbers.push_back(number);
    }
    if (rows == 0 || columns == 0 || numbers.size() < rows * columns)
      throw Error(fmt::format("table '{}' in '{}' has {} numbers, not {} x {}", table, file,
                              numbers.size(), rows, columns),
                  place.location());
    std::vector<std::vector<double>> result(rows);
    for (std::size_t i = 0; i < rows; ++i)
      result[i].assign(numbers.begin() + static_cast<std::ptrdiff_t>(i * columns),
                       numbers.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns));
    return result;
  }
  throw Error(fmt::format("'{}' has no table '{}'", file, table), place.location());
}

}  // namespace saltus
