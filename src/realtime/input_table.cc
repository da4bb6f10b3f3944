#include "realtime/input_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/readable_file.h"

namespace saltus {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (const char c : line) {
    is_quoted = is_quoted != (c == '"');
    if (c == ',' && !is_quoted)
      cells.emplace_back();
    else if (c != '"' && c != '\r')
      cells.back() += c;
  }
  for (std::string& cell : cells) {
    const std::size_t first = cell.find_first_not_of(" \t");
    const std::size_t last = cell.find_last_not_of(" \t");
    cell = first == std::string::npos ? "" : cell.substr(first, last - first + 1);
  }
  return cells;
}

}  // namespace

InputTable::InputTable(const std::string& path, const std::vector<RealtimeInput>& inputs)
    : width_(inputs.size()) {
  require_file(path);
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("cannot read '{}'", path));
  int number = 0;
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format("{}:{}: {}", path, number, what));
  };
  std::string line;
  std::vector<std::size_t> places;  // by column; width_: time
  for (const RealtimeInput& input : inputs) values_.push_back(input.start);
  while (std::getline(file, line)) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (places.empty()) {
      for (const std::string& name : cells) {
        const auto found = std::ranges::find(inputs, name, &RealtimeInput::name);
        if (name != "time" && found == inputs.end())
          refuse(fmt::format("'{}' is no input of the model", name));
        const std::size_t place =
            name == "time" ? width_ : static_cast<std::size_t>(found - inputs.begin());
        if (std::ranges::find(places, place) != places.end())
          refuse(fmt::format("'{}' comes twice", name));
        places.push_back(place);
      }
      if (std::ranges::find(places, width_) == places.end()) refuse("there is no column 'time'");
      continue;
    }
    if (cells.size() != places.size())
      refuse(fmt::format("{} values instead of {}", cells.size(), places.size()));
    const std::size_t row = values_.size();
    values_.resize(row + width_);
    std::copy_n(values_.begin(), width_, values_.begin() + static_cast<std::ptrdiff_t>(row));
    for (std::size_t k = 0; k < cells.size(); ++k) {
      char* end = nullptr;
      double value = std::strtod(cells[k].c_str(), &end);
      if (cells[k] == "true" || cells[k] == "false") {
        value = cells[k] == "true" ? 1.0 : 0.0;
      } else if (cells[k].empty() || *end != '\0') {
        refuse(fmt::format("'{}' is no number", cells[k]));
      }
      if (!std::isfinite(value)) refuse(fmt::format("'{}' is not finite", cells[k]));
      if (places[k] < width_) {
        values_[row + places[k]] = value;
        continue;
      }
      if (!times_.empty() && value < times_.back()) refuse("times must not decrease");
      times_.push_back(value);
    }
  }
  if (places.empty()) throw Error(fmt::format("{}: the file is empty", path));
}

const double* InputTable::at(double t) noexcept {
  // A sample whose time is that of a row but for rounding has it.
  const double latest = t + 1e-9 * (1.0 + std::abs(t));
  while (row_ < times_.size() && times_[row_] <= latest) ++row_;
  return values_.data() + row_ * width_;
}

void InputTable::reset() noexcept { row_ = 0; }

}  // namespace saltus
