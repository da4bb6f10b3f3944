#include "output/collision_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "output/svg_frame.h"

namespace saltus {
namespace {

constexpr std::array kColors = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"};
constexpr double kWidth = 460.0, kHeight = 240.0, kGap = 70.0, kTop = 60.0;

std::string open_svg(std::size_t columns, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{}\" y=\"22\" font-size=\"16\">{}</text>\n",
      kGap + static_cast<double>(columns) * (kWidth + kGap), kTop + 2.0 * (kHeight + kGap) + 20.0,
      kGap, escape_html(title));
}

std::string nanoseconds(double seconds) {
  return seconds > 0.0 ? fmt::format("{:.0f}", 1e9 * seconds) : "-";
}

}  // namespace

std::string collisions_text(const CollisionCase& what, const std::vector<CollisionRun>& runs) {
  std::string text = fmt::format(
      "case {}: {}; step {:g} s, to t = {:g} s\n{:<6}  {:>7}  {:>12}  {:>13}  {:>9}  {:>12}  "
      "{:>12}  {:>7}  {:>9}\n",
      what.name, what.description, what.step, what.stop_time, "method", "impacts", "first at s",
      "contact steps", "overlap m", "energy lost", "energy at end", "ns/step", "ns/impact");
  for (const CollisionRun& run : runs) {
    if (!run.refused.empty()) {
      text += fmt::format("{:<6}  refused: {}\n", to_string(run.method), run.refused);
      continue;
    }
    double lost = 0.0;
    for (const Impact& impact : run.impacts) lost += impact.loss;
    text +=
        fmt::format("{:<6}  {:>7}  {:>12}  {:>13}  {:>9.1e}  {:>12.6g}  {:>12.6g}  {:>7}  {:>9}\n",
                    to_string(run.method), run.impacts.size(),
                    run.impacts.empty() ? "-" : fmt::format("{:.9f}", run.impacts.front().t),
                    run.contact_steps, run.overlap, lost, run.points.back().energy,
                    nanoseconds(run.seconds), nanoseconds(run.impact_seconds));
  }
  return text;
}

std::string collisions_csv(const std::vector<CollisionRun>& runs) {
  std::string text = "method,time,energy";
  if (!runs.empty())
    for (const CollisionRun& run : runs)
      if (!run.points.empty()) {
        for (std::size_t i = 0; i < run.points[0].x.size(); ++i)
          text += fmt::format(",x{0},v{0}", i + 1);
        break;
      }
  text += '\n';
  for (const CollisionRun& run : runs)
    for (const CollisionPoint& p : run.points) {
      text += fmt::format("{},{},{}", to_string(run.method), p.t, p.energy);
      for (std::size_t i = 0; i < p.x.size(); ++i) text += fmt::format(",{},{}", p.x[i], p.v[i]);
      text += '\n';
    }
  return text;
}

std::string collisions_svg(const CollisionCase& what, const std::vector<CollisionRun>& runs) {
  double low = 0.0, high = 0.0, most = 0.0;
  for (const CollisionRun& run : runs)
    for (const CollisionPoint& p : run.points) {
      low = std::min(low, std::ranges::min(p.x));
      high = std::max(high, std::ranges::max(p.x));
      most = std::max(most, p.energy);
    }
  const Axis time = linear_axis(0.0, what.stop_time);
  const Axis place = linear_axis(low, high);
  const Axis energy = linear_axis(0.0, most);
  std::string svg =
      open_svg(runs.size(), fmt::format("Collisions, case {}: {}", what.name, what.description));
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const CollisionRun& run = runs[k];
    const double left = kGap + static_cast<double>(k) * (kWidth + kGap);
    const SvgFrame above{left, kTop, kWidth, kHeight, time, place};
    const SvgFrame below{left, kTop + kHeight + kGap, kWidth, kHeight, time, energy};
    svg += above.open(fmt::format("position / m, {}{}", to_string(run.method),
                                  run.refused.empty() ? "" : ": refused"),
                      "t / s");
    svg += below.open("energy / J", "t / s");
    for (std::size_t i = 0; i < what.masses.size(); ++i)
      svg += above.curve(run.points, kColors[i % kColors.size()], 1.5,
                         [&](const CollisionPoint& p) { return std::pair(p.t, p.x[i]); });
    svg += below.curve(run.points, kColors[0], 1.5,
                       [](const CollisionPoint& p) { return std::pair(p.t, p.energy); });
  }
  return svg + "</svg>\n";
}

std::string delta_text(const std::vector<DeltaErrorRow>& rows) {
  const auto order = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.2f}", value) : "exact";
  };
  std::string text = fmt::format("{:<8}  {:>4}  {:>10}  {:>6}  {:>10}  {:>6}\n", "step s", "eta",
                                 "one step", "order", "eta, 2-eta", "order");
  for (const DeltaErrorRow& row : rows)
    text += fmt::format("{:<8g}  {:>4.1f}  {:>10.2e}  {:>6}  {:>10.2e}  {:>6}\n", row.step, row.eta,
                        row.single, order(row.order), row.twice, order(row.order_twice));
  return text;
}

std::string delta_svg(const std::vector<DeltaErrorRow>& rows) {
  double single = 0.0, twice = 0.0;
  std::vector<double> steps;
  for (const DeltaErrorRow& row : rows) {
    single = std::max(single, row.single);
    twice = std::max(twice, row.twice);
    if (std::ranges::find(steps, row.step) == steps.end()) steps.push_back(row.step);
  }
  const Axis eta = linear_axis(0.0, 2.0);
  const SvgFrame above{kGap, kTop, kWidth, kHeight, eta, linear_axis(0.0, single)};
  const SvgFrame below{kGap, kTop + kHeight + kGap, kWidth, kHeight, eta, linear_axis(0.0, twice)};
  std::string svg = open_svg(1, "Error of the line between the ends of a step");
  svg += above.open("one step of eta T", "eta");
  svg += below.open("steps of eta T and (2 - eta) T", "eta");
  for (std::size_t k = 0; k < steps.size(); ++k) {
    std::vector<DeltaErrorRow> of_step;
    for (const DeltaErrorRow& row : rows)
      if (row.step == steps[k]) of_step.push_back(row);
    const char* color = kColors[k % kColors.size()];
    svg += above.curve(of_step, color, 1.5,
                       [](const DeltaErrorRow& r) { return std::pair(r.eta, r.single); });
    svg += below.curve(of_step, color, 1.5,
                       [](const DeltaErrorRow& r) { return std::pair(r.eta, r.twice); });
    svg += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">T = {:g} s</text>\n", kGap + 10.0,
                       kTop + 20.0 + 16.0 * static_cast<double>(k), color, steps[k]);
  }
  return svg + "</svg>\n";
}

}  // namespace saltus
