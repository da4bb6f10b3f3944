#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "output/axis.h"
#include "output/html.h"

namespace saltus {

// One frame of an SVG file with its axes; curves are added in its coordinates.
struct SvgFrame {
  double left, top, width, height;
  Axis x, y;

  std::string open(const std::string& title, const std::string& x_name) const {
    std::string svg = fmt::format(
        "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"none\" stroke=\"#999\"/>\n"
        "<text x=\"{0}\" y=\"{4}\">{5}</text>\n<text x=\"{6}\" y=\"{7}\" "
        "text-anchor=\"end\">{8}</text>\n",
        left, top, width, height, top - 6.0, escape_html(title), left + width, top + height + 32.0,
        escape_html(x_name));
    for (const double tick : x.ticks)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         left + width * x.position(tick), top + height + 16.0, x.label(tick));
    for (const double tick : y.ticks)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                         left - 5.0, top + height * (1.0 - y.position(tick)) + 4.0, y.label(tick));
    return svg;
  }

  // `of`: the two coordinates of a point. The curve ends at the first one that is not finite.
  template <typename Point, typename Of>
  std::string curve(const std::vector<Point>& points, const char* color, double stroke,
                    Of of) const {
    std::string path;
    for (const Point& p : points) {
      const auto [u, v] = of(p);
      if (!std::isfinite(u) || !std::isfinite(v)) break;
      path += fmt::format("{:.1f},{:.1f} ", left + width * x.position(u),
                          top + height * (1.0 - y.position(v)));
    }
    return fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n", path, color,
        stroke);
  }
};

}  // namespace saltus
