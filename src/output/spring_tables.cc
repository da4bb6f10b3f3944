#include "output/spring_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "output/axis.h"
#include "output/html.h"
#include "output/svg_frame.h"

namespace saltus {
namespace {

constexpr std::array kColors = {"#7f7f7f", "#8c564b", "#d62728", "#ff7f0e", "#bcbd22",
                                "#2ca02c", "#17becf", "#9467bd", "#1f77b4", "#000000"};

std::string number(double value) {
  return std::isfinite(value) && std::abs(value) < 1e9 ? fmt::format("{:.2e}", value) : "unstable";
}

}  // namespace

std::string springs_text(const SpringComparison& comparison) {
  std::string text =
      fmt::format("{}: {}, to t = {:g} s\n{:<8}  {:<15}  {:>9}  {:>9}  {:>10}  {:>7}  {:>11}\n",
                  comparison.what.name, comparison.what.description, comparison.what.stop_time,
                  "step", "method", "error m", "energy", "drift", "ns/step", "adjustments");
  std::vector<std::string> notes;
  for (const SpringRow& row : comparison.rows) {
    if (!row.refused.empty()) {
      text += fmt::format("{:<8g}  {:<15}  refused: {}\n", row.step, to_string(row.method),
                          row.refused);
      continue;
    }
    text += fmt::format(
        "{:<8g}  {:<15}  {:>9}  {:>9}  {:>10}  {:>7}  {:>11}\n", row.step, to_string(row.method),
        number(row.error), number(row.energy_error), number(row.energy_drift),
        row.seconds > 0.0 ? fmt::format("{:.1f}", 1e9 * row.seconds) : "-", row.adjustments);
  }
  return text;
}

std::string springs_csv(const SpringComparison& comparison) {
  std::string text = "step,method,time,x,v,energy\n";
  for (const SpringRow& row : comparison.rows)
    for (const SpringPoint& p : row.points)
      text += fmt::format("{},{},{},{},{},{}\n", row.step, to_string(row.method), p.t, p.x, p.v,
                          comparison.what.spring.energy(p.x, p.v));
  return text;
}

std::string springs_svg(const SpringComparison& comparison) {
  constexpr double kWidth = 420.0, kHeight = 240.0, kGapX = 70.0, kGapY = 70.0, kTop = 60.0;
  const SpringCase& what = comparison.what;
  double x_most = 0.0, v_most = 0.0, e_most = 0.0;
  for (const SpringPoint& p : comparison.reference) {
    x_most = std::max(x_most, std::abs(p.x));
    v_most = std::max(v_most, std::abs(p.v));
    e_most = std::max(e_most, what.spring.energy(p.x, p.v) / comparison.initial_energy);
  }
  const Axis time = linear_axis(0.0, what.stop_time);
  const Axis x = linear_axis(-1.3 * x_most, 1.3 * x_most);
  const Axis v = linear_axis(-1.3 * v_most, 1.3 * v_most);
  const Axis e = linear_axis(0.0, 1.5 * e_most);
  std::vector<double> steps;
  for (const SpringRow& row : comparison.rows)
    if (std::find(steps.begin(), steps.end(), row.step) == steps.end()) steps.push_back(row.step);
  const double total = kGapX + static_cast<double>(steps.size()) * (kWidth + kGapX);
  const auto energy = [&](const SpringPoint& p) {
    return std::pair(p.t, what.spring.energy(p.x, p.v) / comparison.initial_energy);
  };
  const auto deflection = [](const SpringPoint& p) { return std::pair(p.t, p.x); };
  const auto phase = [](const SpringPoint& p) { return std::pair(p.x, p.v); };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{}\" y=\"22\" font-size=\"16\">{}: {}</text>\n",
      total, kTop + 3.0 * (kHeight + kGapY) + 40.0, kGapX, escape_html(what.name),
      escape_html(what.description));
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const double left = kGapX + static_cast<double>(k) * (kWidth + kGapX);
    const SvgFrame frames[] = {{left, kTop, kWidth, kHeight, time, x},
                               {left, kTop + kHeight + kGapY, kWidth, kHeight, x, v},
                               {left, kTop + 2.0 * (kHeight + kGapY), kWidth, kHeight, time, e}};
    svg += frames[0].open(fmt::format("deflection / m, step {:g} s", steps[k]), "t / s");
    svg += frames[1].open("velocity / m/s", "deflection / m");
    svg += frames[2].open("energy over that at the start", "t / s");
    svg += frames[0].curve(comparison.reference, "#bbbbbb", 5.0, deflection);
    svg += frames[1].curve(comparison.reference, "#bbbbbb", 5.0, phase);
    svg += frames[2].curve(comparison.reference, "#bbbbbb", 5.0, energy);
    for (const SpringRow& row : comparison.rows) {
      if (row.step != steps[k]) continue;
      const char* color = kColors[static_cast<std::size_t>(row.method)];
      svg += frames[0].curve(row.points, color, 1.2, deflection);
      svg += frames[1].curve(row.points, color, 1.2, phase);
      svg += frames[2].curve(row.points, color, 1.2, energy);
    }
  }
  const double bottom = kTop + 3.0 * (kHeight + kGapY) + 10.0;
  svg += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#999\">exact</text>\n", kGapX, bottom);
  for (std::size_t k = 0; k < kSpringMethods.size(); ++k)
    svg += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n",
                       kGapX + 60.0 + 115.0 * static_cast<double>(k), bottom, kColors[k],
                       to_string(kSpringMethods[k]));
  return svg + "</svg>\n";
}

}  // namespace saltus
