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

void write_csv(const Trajectory& trajectory, const std::string& path) {
  OutputFile file(path);
  std::string header = "time";
  for (const SignalInfo& signal : trajectory.signals) header += ',' + quoted(signal.name);
  file.write(header + '\n');

  fmt::memory_buffer text;
  const auto flush = [&] {
    file.write(text.data(), text.size());
    text.clear();
  };
  for (std::size_t point = 0; point < trajectory.size(); ++point) {
    fmt::format_to(std::back_inserter(text), "{}", trajectory.time[point]);
    for (std::size_t signal = 0; signal < trajectory.signals.size(); ++signal) {
      fmt::format_to(std::back_inserter(text), ",{}", trajectory.value(point, signal));
    }
    text.push_back('\n');
    if (text.size() >= kFlushBytes) flush();
  }
  flush();
  file.finish();
}

}  // namespace saltus
