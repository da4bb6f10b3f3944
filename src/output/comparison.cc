#include "output/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "output/axis.h"
#include "output/html.h"

namespace saltus {
namespace {

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.1e}", value) : std::string("-");
}

std::string residual(double at_steps, double at_switches) {
  if (!(at_switches > 10.0 * at_steps)) return number(at_steps);
  return fmt::format("{} ({})", number(at_steps), number(at_switches));
}

std::string field(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

std::string quoted(std::string text) {
  for (std::size_t k = text.find('"'); k != std::string::npos; k = text.find('"', k + 2))
    text.insert(k, 1, '"');
  return '"' + text + '"';
}

// Decades that cover the positive values.
std::pair<int, int> decades(const std::vector<double>& values) {
  double low = 1e300;
  double high = 1e-300;
  for (const double v : values) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  if (low > high) return {-1, 1};
  const auto first = static_cast<int>(std::floor(std::log10(low)));
  const auto last = static_cast<int>(std::ceil(std::log10(high)));
  return {first, std::max(last, first + 1)};
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  constexpr std::size_t kColumns = 11;
  std::vector<std::array<std::string, kColumns>> table;
  table.push_back({"method", "formulation", "tolerance", "cpu s", "steps", "rejected", "position",
                   "velocity", "acceleration", "switch s", "final"});
  std::vector<std::string> notes;
  for (const CompareRow& row : comparison.rows) {
    std::array<std::string, kColumns> line = {to_string(row.method), to_string(row.formulation),
                                              fmt::format("{:g}", row.tolerance)};
    const bool ran = row.verdict != CompareVerdict::kNotPossible;
    line[3] = ran ? fmt::format("{:.3g}", row.seconds) : "-";
    line[4] = ran ? fmt::format("{}", row.steps) : "-";
    line[5] = ran ? fmt::format("{}", row.rejected) : "-";
    for (std::size_t k = 0; k < 3; ++k)
      line[6 + k] =
          ran ? residual(row.residuals.absolute_at_steps[k], row.residuals.absolute_at_switches[k])
              : "-";
    line[9] = number(row.switch_error);
    line[10] = number(row.final_error);
    if (row.verdict != CompareVerdict::kRight) line[10] = to_string(row.verdict);
    if (!row.note.empty()) {
      const auto known = std::find(notes.begin(), notes.end(), row.note);
      line[10] += fmt::format(" [{}]", known - notes.begin() + 1);
      if (known == notes.end()) notes.push_back(row.note);
    }
    table.push_back(std::move(line));
  }
  std::array<std::size_t, kColumns> width{};
  for (const auto& line : table)
    for (std::size_t k = 0; k < kColumns; ++k) width[k] = std::max(width[k], line[k].size());
  std::string text = fmt::format(
      "{} to t = {:g}; reference: radau, reduced, tolerance {:g}; modes {}\n", comparison.model,
      comparison.stop_time, comparison.reference_tolerance, fmt::join(comparison.modes, " "));
  for (const auto& line : table) {
    for (std::size_t k = 0; k < kColumns; ++k)
      text += fmt::format("{:<{}}{}", line[k], k + 1 < kColumns ? width[k] : 0,
                          k + 1 < kColumns ? "  " : "\n");
  }
  for (std::size_t k = 0; k < notes.size(); ++k) text += fmt::format("[{}] {}\n", k + 1, notes[k]);
  return text;
}

std::string comparison_csv(const Comparison& comparison) {
  std::string text =
      "method,formulation,tolerance,verdict,processor_seconds,wall_seconds,steps,rejected,"
      "position,velocity,acceleration,"
      "position_at_switches,velocity_at_switches,acceleration_at_switches,"
      "relative_position,relative_velocity,relative_acceleration,"
      "relative_position_at_switches,relative_velocity_at_switches,"
      "relative_acceleration_at_switches,switch_error,final_error,note\n";
  for (const CompareRow& row : comparison.rows) {
    text += fmt::format("{},{},{},{},{},{},{},{}", to_string(row.method),
                        to_string(row.formulation), row.tolerance, to_string(row.verdict),
                        row.seconds, row.wall_seconds, row.steps, row.rejected);
    const LevelResiduals& r = row.residuals;
    for (const auto& levels :
         {r.absolute_at_steps, r.absolute_at_switches, r.at_steps, r.at_switches})
      for (const double value : levels) text += ',' + field(value);
    text += fmt::format(",{},{},{}\n", field(row.switch_error), field(row.final_error),
                        quoted(row.note));
  }
  return text;
}

std::string comparison_svg(const Comparison& comparison) {
  constexpr double kWidth = 560.0, kHeight = 400.0, kLeft = 70.0, kTop = 40.0, kLegend = 190.0;
  constexpr std::array kColors = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                                  "#17becf", "#8c564b", "#7f7f7f", "#000000"};  // by formulation
  constexpr std::array kDashes = {"", " stroke-dasharray=\"6 4\"", " stroke-dasharray=\"2 3\"",
                                  " stroke-dasharray=\"9 3 2 3\""};  // by method
  using Series = std::pair<Method, Formulation>;
  std::vector<Series> order;
  std::map<Series, std::vector<std::pair<double, double>>> points;
  std::vector<double> errors, times;
  for (const CompareRow& row : comparison.rows) {
    if (row.verdict != CompareVerdict::kRight || !(row.final_error > 0.0) || !(row.seconds > 0.0))
      continue;
    const Series series{row.method, row.formulation};
    if (points.count(series) == 0) order.push_back(series);
    points[series].emplace_back(row.final_error, row.seconds);
    errors.push_back(row.final_error);
    times.push_back(row.seconds);
  }
  const auto [x_low, x_high] = decades(errors);
  const auto [y_low, y_high] = decades(times);
  const auto x = [&, low = x_low, high = x_high](double v) {
    return kLeft + kWidth * (std::log10(v) - low) / (high - low);
  };
  const auto y = [&, low = y_low, high = y_high](double v) {
    return kTop + kHeight * (1.0 - (std::log10(v) - low) / (high - low));
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{}\" y=\"24\" font-size=\"16\">{}: work and precision</text>\n",
      kLeft + kWidth + kLegend, kTop + kHeight + 60.0, kLeft, escape_html(comparison.model));
  for (int k = x_low; k <= x_high; ++k) {
    const double at = x(std::pow(10.0, k));
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" "
        "text-anchor=\"middle\">10{4}</text>\n",
        at, kTop, kTop + kHeight, kTop + kHeight + 20.0, superscript(k));
  }
  for (int k = y_low; k <= y_high; ++k) {
    const double at = y(std::pow(10.0, k));
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1:.1f}H{2:.1f}\" stroke=\"#ddd\"/><text x=\"{3:.1f}\" y=\"{1:.1f}\" "
        "text-anchor=\"end\" dy=\"4\">10{4}</text>\n",
        kLeft, at, kLeft + kWidth, kLeft - 8.0, superscript(k));
  }
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">error of the final values</text>\n"
      "<text x=\"18\" y=\"{:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {:.1f})\">"
      "processor time, s</text>\n",
      kLeft + 0.5 * kWidth, kTop + kHeight + 44.0, kTop + 0.5 * kHeight, kTop + 0.5 * kHeight);
  for (std::size_t k = 0; k < order.size(); ++k) {
    auto& line = points[order[k]];
    const char* color = kColors[static_cast<std::size_t>(order[k].second) % kColors.size()];
    const char* dash = kDashes[static_cast<std::size_t>(order[k].first) % kDashes.size()];
    std::string path;
    for (const auto& [error, seconds] : line) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x(error), y(seconds));
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x(error),
                         y(seconds), color);
    }
    const double row = kTop + 18.0 * static_cast<double>(k) + 10.0;
    svg += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n"
        "<path d=\"M{:.1f} {:.1f}h24\" stroke=\"{}\" stroke-width=\"2\"{}/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{} {}</text>\n",
        path, color, dash, kLeft + kWidth + 12.0, row, color, dash, kLeft + kWidth + 42.0,
        row + 4.0, to_string(order[k].first), to_string(order[k].second));
  }
  return svg + "</svg>\n";
}

}  // namespace saltus
