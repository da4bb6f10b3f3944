#include "output/terminal_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace saltus {
namespace {

// A grid of dots, two by four in each character.
class Dots {
 public:
  Dots(int width, int height)
      : width_(width),
        cells_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0) {}

  void set(int x, int y) {
    // Unicode numbers the dots of a braille character column by column, the last row apart.
    constexpr unsigned char kBit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    cells_[place(x / 2, y / 4)] |= kBit[y % 4][x % 2];
  }
  std::string row(int y) const {
    std::string text;
    for (int x = 0; x < width_; ++x) {
      const unsigned code = 0x2800U + cells_[place(x, y)];
      text += static_cast<char>(0xE0U | code >> 12);
      text += static_cast<char>(0x80U | (code >> 6 & 0x3FU));
      text += static_cast<char>(0x80U | (code & 0x3FU));
    }
    return text;
  }

 private:
  std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }

  int width_;
  std::vector<unsigned char> cells_;
};

// Which of `count` equal parts of [low, high] holds the value.
int part(double value, double low, double high, int count) {
  const double share = (value - low) / (high - low);
  return std::clamp(static_cast<int>(share * count), 0, count - 1);
}

}  // namespace

std::string terminal_plot(const SimulateResult& result, const std::string& signal, int width,
                          int height) {
  const Trajectory& trajectory = result.trajectory;
  const std::size_t index = trajectory.find(signal);
  const SignalInfo& info = trajectory.signals[index];
  const std::string title =
      info.unit.empty() ? info.name : fmt::format("{} [{}]", info.name, info.unit);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t k = 0; k < trajectory.size(); ++k) {
    const double value = trajectory.value(k, index);
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) return title + ": no values\n";
  if (low == high) return fmt::format("{}: {:.6g} throughout\n", title, low);
  const double from = trajectory.time.front();
  const double to = std::max(trajectory.time.back(), std::nextafter(from, from + 1.0));

  Dots dots(width, height);
  const int columns = 2 * width;
  const int rows = 4 * height;
  bool joined = false;  // to the point before
  int last_x = 0;
  int last_y = 0;
  for (std::size_t k = 0; k < trajectory.size(); ++k) {
    const double value = trajectory.value(k, index);
    if (!std::isfinite(value)) {
      joined = false;
      continue;
    }
    const int x = part(trajectory.time[k], from, to, columns);
    const int y = rows - 1 - part(value, low, high, rows);
    if (!joined) {
      last_x = x;
      last_y = y;
    }
    const int steps = std::max({1, x - last_x, std::abs(y - last_y)});
    for (int s = 1; s <= steps; ++s)
      dots.set(last_x + (x - last_x) * s / steps, last_y + (y - last_y) * s / steps);
    joined = true;
    last_x = x;
    last_y = y;
  }

  std::string marks(static_cast<std::size_t>(width), ' ');
  for (const Event& event : result.events)
    marks[static_cast<std::size_t>(part(event.time, from, to, width))] = '^';
  const std::string top = fmt::format("{:.6g}", high);
  const bool is_zero = std::abs(low) < 1e-9 * high;  // but for rounding
  const std::string bottom = fmt::format("{:.6g}", is_zero ? 0.0 : low);
  const std::size_t margin = std::max(top.size(), bottom.size());
  std::string text = title + "\n";
  for (int y = 0; y < height; ++y)
    text += fmt::format("{:>{}} ┤{}\n",
                        y == 0            ? top
                        : y == height - 1 ? bottom
                                          : "",
                        margin, dots.row(y));
  if (!result.events.empty()) text += fmt::format("{:>{}}  {}  events\n", "", margin, marks);
  const std::string first = fmt::format("{:.6g}", from);
  text += fmt::format("{:>{}}  {}{:>{}}  time [s]\n", "", margin, first,
                      fmt::format("{:.6g}", trajectory.time.back()),
                      width - static_cast<int>(first.size()));
  return text;
}

}  // namespace saltus
