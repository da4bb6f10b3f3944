#include "output/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace saltus {
namespace {

constexpr double kWidth = 640.0;
constexpr double kHeight = 250.0;
constexpr double kLeft = 58.0;
constexpr double kRight = 14.0;
constexpr double kTop = 26.0;  // room for mode names
constexpr double kBottom = 36.0;
constexpr double kFrameWidth = kWidth - kLeft - kRight;
constexpr double kFrameHeight = kHeight - kTop - kBottom;
constexpr double kLetterWidth = 6.0;      // of a mode name, about
constexpr std::size_t kMostMarks = 60;    // jumps marked in one curve; more would be a smear
constexpr std::size_t kModeTints = 4;     // classes m1..m4 of the style sheet
constexpr double kComparableSize = 30.0;  // ratio of sizes up to which signals share a panel

using Out = fmt::memory_buffer;

template <class... Args>
void put(Out& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Range range_of(const Trajectory& trajectory, std::size_t signal) {
  Range range;
  for (std::size_t point = 0; point < trajectory.size(); ++point) {
    range.add(trajectory.value(point, signal));
  }
  return range;
}

double size_of(const Range& range) {
  if (range.low > range.high) return 0.0;
  return std::max(std::abs(range.low), std::abs(range.high));
}

bool comparable(double a, double b) {
  if (a == 0.0 || b == 0.0) return true;
  return std::max(a, b) <= kComparableSize * std::min(a, b);
}

// All points of one unit of width: reduced to the first, lowest, highest and last of each
// uninterrupted run, or of all of them where the runs are too many to be told apart.
class Column {
 public:
  void add(const PlotPoint& point) { points_.push_back(point); }

  void flush_to(std::vector<PlotPoint>& out) {
    const auto runs = std::count_if(points_.begin(), points_.end(),
                                    [](const PlotPoint& point) { return point.starts; });
    Iterator begin = points_.begin();
    while (begin != points_.cend()) {
      const Iterator end = runs > kMostRuns ? points_.cend() : end_of_run(begin);
      reduce(begin, end, out);
      begin = end;
    }
    points_.clear();
  }

 private:
  using Iterator = std::vector<PlotPoint>::const_iterator;
  static constexpr std::ptrdiff_t kMostRuns = 2;

  Iterator end_of_run(Iterator begin) const {
    return std::find_if(std::next(begin), points_.end(),
                        [](const PlotPoint& point) { return point.starts; });
  }

  static void reduce(Iterator begin, Iterator end, std::vector<PlotPoint>& out) {
    if (end - begin <= 4) {
      out.insert(out.end(), begin, end);
      return;
    }
    const auto [low, high] = std::minmax_element(
        begin, end, [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; });
    out.push_back(*begin);
    for (const Iterator kept : {std::min(low, high), std::max(low, high), std::prev(end)}) {
      out.push_back({kept->x, kept->y, false});
    }
  }

  std::vector<PlotPoint> points_;
};

// Width of a label in the drawing's letters, about.
double text_width(const std::string& text) {
  const auto letters =
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });  // UTF-8
  return kLetterWidth * static_cast<double>(letters);
}

std::string power_of_ten(const Axis& axis) {
  return axis.exponent == 0 ? std::string() : fmt::format("×10{} ", superscript(axis.exponent));
}

// `clear_of`: names start right of this, where the unit stands.
void draw_modes(Out& out, const Trajectory& trajectory, const Axis& time, double clear_of) {
  if (trajectory.mode_names.size() < 2 || trajectory.mode.size() != trajectory.size()) return;
  std::size_t begin = 0;
  double from = kLeft;
  for (std::size_t point = 1; point <= trajectory.size(); ++point) {
    const bool last = point == trajectory.size();
    if (!last && trajectory.mode[point] == trajectory.mode[begin]) continue;
    const double to = kLeft + kFrameWidth * (last ? 1.0 : time.position(trajectory.time[point]));
    const std::size_t mode = trajectory.mode[begin].index();
    begin = point;
    if (to - from < 0.3) continue;  // too short to see; the next band covers it
    const std::string name = mode < trajectory.mode_names.size() ? trajectory.mode_names[mode]
                                                                 : fmt::format("mode {}", mode);
    put(out,
        "<rect class=\"m{}\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\">"
        "<title>{}</title></rect>",
        mode % kModeTints + 1, from, kTop, to - from, kFrameHeight, escape_html(name));
    const double middle = 0.5 * (from + to);
    const double half = 0.5 * text_width(name) + 2.0;
    if (middle - half > std::max(from, clear_of) && middle + half < to) {
      put(out, "<text class=\"mode\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>", middle, kTop - 7.0,
          escape_html(name));
    }
    from = to;
  }
}

void draw_axes(Out& out, const Axis& time, const Axis& value, const std::string& unit) {
  for (const double tick : value.ticks) {
    const double y = kTop + kFrameHeight * (1.0 - value.position(tick));
    put(out, "<path class=\"{}\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>", tick == 0.0 ? "zero" : "grid",
        kLeft, y, kLeft + kFrameWidth);
    put(out, "<text class=\"tick y\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", kLeft - 7.0, y + 3.5,
        value.label(tick));
  }
  const double bottom = kTop + kFrameHeight;
  for (const double tick : time.ticks) {
    const double x = kLeft + kFrameWidth * time.position(tick);
    put(out, "<path class=\"axis\" d=\"M{:.1f},{:.1f}v4\"/>", x, bottom);
    put(out, "<text class=\"tick x\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, bottom + 16.0,
        time.label(tick));
  }
  put(out, "<path class=\"axis\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>", kLeft, bottom,
      kLeft + kFrameWidth);
  put(out, "<text class=\"unit\" x=\"2\" y=\"{:.1f}\">{}</text>", kTop - 7.0, escape_html(unit));
  put(out, "<text class=\"unit x\" x=\"{:.1f}\" y=\"{:.1f}\">time [{}s]</text>",
      kLeft + 0.5 * kFrameWidth, kHeight - 4.0, power_of_ten(time));
}

void draw_events(Out& out, std::span<const Event> events, const Axis& time) {
  std::string path;
  double previous = -1.0;
  for (const Event& event : events) {
    const double x = kLeft + kFrameWidth * time.position(event.time);
    if (x - previous < 0.5 && previous >= 0.0) continue;
    previous = x;
    path += fmt::format("M{:.1f},{:.0f}v{:.0f}", x, kTop, kFrameHeight);
  }
  if (!path.empty()) put(out, "<path class=\"event\" d=\"{}\"/>", path);
}

void draw_curve(Out& out, const std::vector<PlotPoint>& points, std::size_t color) {
  std::string path;
  for (const PlotPoint& point : points) {
    path +=
        fmt::format("{}{:.1f},{:.2f}", point.starts ? 'M' : 'L', kLeft + point.x, kTop + point.y);
  }
  put(out, "<path class=\"curve s{}\" d=\"{}\"/>", color, path);
  // Open circle: the left limit belongs to the past; full circle: the value from here on.
  Out marks;
  std::size_t count = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const PlotPoint& before = points[i - 1];
    const PlotPoint& after = points[i];
    const bool jump = after.starts && after.x == before.x && std::abs(after.y - before.y) > 4.0;
    if (!jump) continue;
    ++count;
    put(marks, "<circle class=\"left s{}\" cx=\"{:.1f}\" cy=\"{:.2f}\" r=\"2.4\"/>", color,
        kLeft + before.x, kTop + before.y);
    put(marks, "<circle class=\"right s{}\" cx=\"{:.1f}\" cy=\"{:.2f}\" r=\"2.4\"/>", color,
        kLeft + after.x, kTop + after.y);
  }
  if (count <= kMostMarks) out.append(marks.data(), marks.data() + marks.size());
}

}  // namespace

std::vector<Panel> choose_panels(const Trajectory& trajectory, std::size_t most) {
  std::vector<std::size_t> order(trajectory.signals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // What the model itself declares, then what its components do, then derivatives, then what never
  // changes (without a unit, those are settings of the model and keep to themselves).
  const auto is_inner = [&](std::size_t signal) {
    return trajectory.signals[signal].name.find('.') != std::string::npos;
  };
  constexpr int kConstant = 3;
  const auto rank = [&](std::size_t signal) {
    const Range range = range_of(trajectory, signal);
    constexpr double kNothing = 1e-15;  // zero but for rounding, in any unit
    if (range.low == range.high || size_of(range) < kNothing) return kConstant;
    return trajectory.signals[signal].name.starts_with("der(") ? 2 : is_inner(signal) ? 1 : 0;
  };
  std::vector<int> ranks;
  for (const std::size_t signal : order) ranks.push_back(rank(signal));
  std::ranges::stable_sort(order, {}, [&](std::size_t signal) { return ranks[signal]; });
  const auto unitless =
      static_cast<std::size_t>(std::count_if(order.begin(), order.end(), [&](std::size_t signal) {
        return trajectory.signals[signal].unit.empty();
      }));
  // Without a unit nothing says that two signals belong on one scale: share only if space is short.
  const std::size_t unitless_share = std::clamp<std::size_t>(
      (unitless + most - 1) / std::max<std::size_t>(most, 1), 1, kSeriesColors);
  std::vector<Panel> panels;
  std::vector<double> sizes;
  for (const std::size_t signal : order) {
    const std::string& unit = trajectory.signals[signal].unit;
    const double size = size_of(range_of(trajectory, signal));
    const std::size_t share = unit.empty() ? unitless_share : kSeriesColors;
    std::size_t home = panels.size();
    for (std::size_t i = 0; i < panels.size() && home == panels.size(); ++i) {
      const bool fits = panels[i].unit == unit && panels[i].signals.size() < share &&
                        is_inner(panels[i].signals.front()) == is_inner(signal) &&
                        (unit.empty() && ranks[signal] == kConstant) ==
                            (unit.empty() && ranks[panels[i].signals.front()] == kConstant) &&
                        comparable(sizes[i], size);
      if (fits) home = i;
    }
    if (home == panels.size()) {
      if (panels.size() == most) continue;
      panels.push_back({unit, {}});
      sizes.push_back(size);
    }
    panels[home].signals.push_back(signal);
    sizes[home] = std::max(sizes[home], size);
  }
  return panels;
}

std::vector<PlotPoint> place(const Trajectory& trajectory, std::size_t signal, const Axis& time,
                             const Axis& value, double width, double height) {
  std::vector<PlotPoint> result;
  Column column;
  double column_index = -1.0;
  bool starts = true;
  for (std::size_t point = 0; point < trajectory.size(); ++point) {
    const double y = trajectory.value(point, signal);
    if (point > 0 && trajectory.time[point] == trajectory.time[point - 1]) starts = true;
    const bool before_axis = trajectory.time[point] < time.low;  // time 0 on a logarithmic axis
    if (!std::isfinite(y) || before_axis) {
      starts = true;
      continue;
    }
    const double x = width * time.position(trajectory.time[point]);
    if (std::floor(x) != column_index) {
      column.flush_to(result);
      column_index = std::floor(x);
    }
    column.add({x, height * (1.0 - value.position(y)), starts});
    starts = false;
  }
  column.flush_to(result);
  return result;
}

std::string plot_svg(const Trajectory& trajectory, const Panel& panel,
                     std::span<const Event> events) {
  const Axis time = time_axis(trajectory.time);
  Range range;
  for (const std::size_t signal : panel.signals) {
    const Range one = range_of(trajectory, signal);
    range.add(one.low);
    range.add(one.high);
  }
  const double margin = 0.05 * (range.high - range.low);
  const Axis value = linear_axis(range.low - margin, range.high + margin);

  std::string names;
  for (const std::size_t signal : panel.signals) {
    names += (names.empty() ? "" : ", ") + trajectory.signals[signal].name;
  }
  Out out;
  put(out,
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{} over time\" "
      "data-frame=\"{:.0f} {:.0f} {:.0f} {:.0f}\" "
      "data-time=\"{} {} {}\" data-value=\"{} {}\">",
      kWidth, kHeight, escape_html(names), kLeft, kTop, kFrameWidth, kFrameHeight, time.low,
      time.high, time.logarithmic ? 1 : 0, value.low, value.high);
  const std::string unit = power_of_ten(value) + panel.unit;
  draw_modes(out, trajectory, time, text_width(unit) + 6.0);
  draw_axes(out, time, value, unit);
  draw_events(out, events, time);
  for (std::size_t i = 0; i < panel.signals.size(); ++i) {
    const std::size_t signal = panel.signals[i];
    draw_curve(out, place(trajectory, signal, time, value, kFrameWidth, kFrameHeight), i + 1);
  }
  put(out, "<path class=\"cursor\" d=\"\"/></svg>");
  return fmt::to_string(out);
}

std::string escape_html(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace saltus
