#include "output/csv.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string_view>

#include "output/file.h"

namespace saltus {
namespace {

constexpr std::size_t kFlushBytes = 1 << 16;

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string result = "\"";
  for (const char c : name) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace

void append_csv_names(const Trajectory& layout, std::string& text) {
  text += "time";
  for (const SignalInfo& signal : layout.signals) text += ',' + quoted(signal.name);
  text += '\n';
}

void append_csv_row(const Trajectory& layout, double time, const double* columns,
                    std::string& text) {
  fmt::format_to(std::back_inserter(text), "{}", time);
  for (std::size_t signal = 0; signal < layout.signals.size(); ++signal)
    fmt::format_to(std::back_inserter(text), ",{}", layout.source(signal).read(columns));
  text += '\n';
}

void write_csv(const Trajectory& trajectory, const std::string& path) {
  OutputFile file(path);
  std::string text;
  append_csv_names(trajectory, text);
  for (std::size_t point = 0; point < trajectory.size(); ++point) {
    append_csv_row(trajectory, trajectory.time[point],
                   trajectory.values.data() + point * trajectory.width(), text);
    if (text.size() < kFlushBytes) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.finish();
}

}  // namespace saltus
