#include "output/report_data.h"

#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "output/axis.h"
#include "output/panels.h"

namespace saltus {
namespace {

using Bytes = std::vector<unsigned char>;

std::string base64(const Bytes& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < left ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= left ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

Bytes deflated(const Bytes& bytes) {
  uLongf size = compressBound(bytes.size());
  Bytes result(size);
  constexpr int kLevel = 6;
  if (compress2(result.data(), &size, bytes.data(), bytes.size(), kLevel) != Z_OK)
    throw Error("the points of the report could not be compressed: not enough memory");
  result.resize(size);
  return result;
}

// Neighbouring values share their exponent and leading digits, so equal bytes come to stand side by
// side.
template <class Value>
void append_by_byte(Bytes& bytes, std::size_t count, const Value& value) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + 8 * count);
  for (std::size_t k = 0; k < count; ++k) {
    const double number = value(k);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    for (std::size_t b = 0; b < 8; ++b)
      bytes[begin + b * count + k] = static_cast<unsigned char>(bits >> (8 * b));
  }
}

std::string packed_points(const Trajectory& trajectory) {
  const std::size_t count = trajectory.size();
  const std::size_t width = trajectory.width();
  Bytes bytes;
  bytes.reserve(8 * count * (width + 2));
  append_by_byte(bytes, count, [&](std::size_t k) { return trajectory.time[k]; });
  append_by_byte(bytes, count,
                 [&](std::size_t k) { return static_cast<double>(trajectory.mode[k].index()); });
  for (std::size_t c = 0; c < width; ++c)
    append_by_byte(bytes, count, [&](std::size_t k) { return trajectory.values[k * width + c]; });
  return base64(deflated(bytes));
}

bool is_numbered(const std::string& name) {
  return name.size() > 1 && name[0] == 'm' &&
         std::all_of(name.begin() + 1, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

std::vector<std::string> mode_labels(const SimulateResult& result) {
  std::map<std::string, std::size_t> modes_with;  // by condition
  for (const ModeReport& mode : result.modes)
    for (const std::string& condition : mode.conditions) ++modes_with[condition];
  std::map<std::string, std::string> labels;
  for (const ModeReport& mode : result.modes) {
    std::vector<std::string> distinct;
    for (const std::string& condition : mode.conditions)
      if (modes_with[condition] < result.modes.size()) distinct.push_back(condition);
    if (is_numbered(mode.name) && !distinct.empty())
      labels[mode.name] = fmt::format("{}: {}", mode.name, fmt::join(distinct, ", "));
  }
  std::vector<std::string> names = result.trajectory.mode_names;
  for (std::string& name : names)
    if (const auto label = labels.find(name); label != labels.end()) name = label->second;
  return names;
}

namespace {

// One coordinate of a drawing: a number, also that of a parameter, or the name of a signal.
std::optional<nlohmann::json> coordinate(const Trajectory& trajectory, const std::string& text) {
  for (const SignalInfo& signal : trajectory.signals)
    if (signal.name == text) return nlohmann::json(text);
  for (std::size_t k = 0; k < trajectory.parameters.size(); ++k)
    if (trajectory.parameters[k].name == text)
      return nlohmann::json(trajectory.parameter_values[k]);
  double value = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size()) return nlohmann::json(value);
  return std::nullopt;
}

// "0,0 x,y" as [[0, 0], ["x", "y"]]; empty if a coordinate is not known.
nlohmann::json line_of(const Trajectory& trajectory, const std::string& text) {
  nlohmann::json line = nlohmann::json::array();
  std::istringstream points(text);
  for (std::string point; points >> point;) {
    const std::size_t comma = point.find(',');
    if (comma == std::string::npos) return nlohmann::json::array();
    const auto x = coordinate(trajectory, point.substr(0, comma));
    const auto y = coordinate(trajectory, point.substr(comma + 1));
    if (!x || !y) return nlohmann::json::array();
    line.push_back({*x, *y});
  }
  return line;
}

}  // namespace

ReportData report_data(const SimulateResult& result) {
  const Trajectory& trajectory = result.trajectory;
  nlohmann::json head;
  head["points"] = trajectory.size();
  head["columns"] = trajectory.width();
  head["modes"] = mode_labels(result);
  head["logarithmic"] = trajectory.size() > 1 && time_axis(trajectory.time).logarithmic;
  nlohmann::json signals = nlohmann::json::array();
  for (std::size_t k = 0; k < trajectory.signals.size(); ++k) {
    const SignalInfo& info = trajectory.signals[k];
    const Trajectory::Source source = trajectory.source(k);
    const bool stored = source.column != Trajectory::Source::kNoColumn;
    signals.push_back({info.name, info.unit, info.description,
                       stored ? static_cast<std::int64_t>(source.column) : -1, source.factor});
  }
  head["signals"] = std::move(signals);
  std::vector<double> events;
  for (const Event& event : result.events)
    if (events.empty() || events.back() != event.time) events.push_back(event.time);
  head["events"] = events;
  nlohmann::json panels = nlohmann::json::array();
  for (const Panel& panel : choose_panels(trajectory, kMostPanels)) {
    nlohmann::json names = nlohmann::json::array();
    for (const std::size_t signal : panel.signals) names.push_back(trajectory.signals[signal].name);
    panels.push_back(std::move(names));
  }
  head["panels"] = std::move(panels);
  nlohmann::json drawing = nlohmann::json::array();
  for (const std::string& text : result.drawing)
    if (nlohmann::json line = line_of(trajectory, text); !line.empty())
      drawing.push_back(std::move(line));
  head["drawing"] = std::move(drawing);
  // Names are text of the model: bytes that are no UTF-8 are replaced, and no tag can end the
  // element.
  const std::string text = head.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  ReportData data{.head = {}, .points = packed_points(trajectory)};
  for (const char c : text) {
    if (c == '<')
      data.head += "\\u003c";
    else
      data.head += c;
  }
  return data;
}

}  // namespace saltus
