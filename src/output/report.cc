#include "output/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/version.h"
#include "output/file.h"
#include "output/html.h"
#include "output/page_files.h"
#include "output/report_data.h"

namespace saltus {
namespace {

constexpr std::size_t kMostEventRows = 400;  // half from the start, half from the end
constexpr std::size_t kMostValueRows = 2000;

using Out = fmt::memory_buffer;

template <class... Args>
void put(Out& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

std::string short_number(double value) {
  std::string text = fmt::format("{:.6g}", value);
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

std::string seconds(double value) {
  if (value < 1e-3) return fmt::format("{:.0f} µs", value * 1e6);
  if (value < 1.0) return fmt::format("{:.1f} ms", value * 1e3);
  return fmt::format("{:.2f} s", value);
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string result;
  for (const std::string& part : parts) {
    result += (result.empty() ? "" : separator) + escape_html(part);
  }
  return result;
}

std::string changes(const std::map<std::string, std::pair<double, double>>& values) {
  std::string result;
  for (const auto& [name, value] : values) {
    result += fmt::format("{}{}: {} → {}", result.empty() ? "" : "<br>", escape_html(name),
                          short_number(value.first), short_number(value.second));
  }
  return result;
}

struct Heading {
  const char* text;
  bool numeric = false;
};

void open_table(Out& out, std::initializer_list<Heading> headings) {
  put(out, "<div class=\"table\"><table><thead><tr>");
  for (const Heading& heading : headings) {
    put(out, "<th{}>{}</th>", heading.numeric ? " class=\"n\"" : "", heading.text);
  }
  put(out, "</tr></thead><tbody>\n");
}

void close_table(Out& out) { put(out, "</tbody></table></div>\n"); }

void write_status(Out& out, const SimulateResult& result) {
  const bool good = result.completed();
  std::string headline;
  if (result.reason == StopReason::kStopTime) {
    headline = fmt::format("✓ Completed at time {}", short_number(result.time));
  } else if (result.reason == StopReason::kTerminated) {
    headline = fmt::format("✓ Terminated by the model at time {}", short_number(result.time));
  } else {
    headline = fmt::format("✗ Stopped early at time {}: {}", short_number(result.time),
                           to_string(result.reason));
  }
  put(out, "<div class=\"banner {}\"><b>{}</b>", good ? "good" : "bad", headline);
  if (!result.message.empty()) put(out, "<br>{}", escape_html(result.message));
  put(out, "</div>\n");
  if (result.warnings.empty()) return;
  put(out, "<div class=\"banner warn\"><b>⚠ {} warning{}</b><ul>", result.warnings.size(),
      result.warnings.size() == 1 ? "" : "s");
  for (const std::string& warning : result.warnings) put(out, "<li>{}</li>", escape_html(warning));
  put(out, "</ul></div>\n");
}

void write_keys(Out& out, const SimulateResult& result) {
  const auto key = [&](const char* name, const std::string& value) {
    put(out, "<div><dt>{}</dt><dd>{}</dd></div>", name, value);
  };
  put(out, "<dl class=\"keys\">");
  key("Time reached", short_number(result.time) + " s");
  key("Events", fmt::format("{}", result.events.size()));
  key("Modes visited", fmt::format("{}", result.modes.size()));
  key("Steps", fmt::format("{}", result.statistics.steps));
  key("Stored points", fmt::format("{}", result.trajectory.size()));
  key("Tolerance", fmt::format("{:g}", result.tolerance));
  key("Wall time", seconds(result.statistics.wall_seconds));
  put(out, "</dl>\n");
}

void write_plots(Out& out, const SimulateResult& result) {
  const Trajectory& trajectory = result.trajectory;
  put(out, "<section id=\"signals\" aria-label=\"Signals\"><h2>Signals</h2>\n");
  if (trajectory.size() < 2 || trajectory.signals.empty()) {
    put(out,
        "<p class=\"note\">Fewer than two points are stored: nothing to draw.</p></section>\n");
    return;
  }
  put(out,
      "<div class=\"bar\" role=\"toolbar\" aria-label=\"Time window\">"
      "<button type=\"button\" id=\"reset\">Whole run</button>"
      "<button type=\"button\" id=\"zoom-in\" aria-label=\"Zoom in\">+</button>"
      "<button type=\"button\" id=\"zoom-out\" aria-label=\"Zoom out\">−</button>"
      "<button type=\"button\" id=\"drag\" aria-pressed=\"false\" "
      "title=\"Dragging moves the window instead of selecting a part of it\">Drag to move</button>"
      "<button type=\"button\" id=\"new-pane\">New pane</button>"
      "<label>Compare with …<input type=\"file\" id=\"compare\" accept=\".html,.csv\" "
      "aria-label=\"Compare with the report or CSV file of another run\"></label>"
      "<span id=\"compare-note\" role=\"status\"></span>"
      "<span id=\"window\"></span><span id=\"cursor-time\"></span></div>\n"
      "<div class=\"workbench\"><aside class=\"sidebar\" aria-label=\"List of signals\">"
      "<input type=\"search\" id=\"search\" placeholder=\"Find a signal\" "
      "aria-label=\"Find a signal\"><div id=\"tree\"></div></aside><div>");
  if (trajectory.mode_names.size() > 1)
    put(out, "<div id=\"timeline\" role=\"group\" aria-label=\"Modes over time\"></div>");
  if (!result.drawing.empty())
    put(out,
        "<figure id=\"drawing\" hidden aria-label=\"Drawing of the mechanism\">"
        "<figcaption><button type=\"button\" id=\"play\" aria-pressed=\"false\">▶ "
        "Play</button><label>Time <input type=\"range\" id=\"drawing-time\" min=\"0\" "
        "max=\"1000\" value=\"0\" aria-label=\"Time of the drawing\"></label>"
        "<span id=\"drawing-state\"></span></figcaption>"
        "<canvas id=\"drawing-canvas\" role=\"img\" "
        "aria-label=\"The mechanism at the chosen time\"></canvas></figure>");
  put(out,
      "<div id=\"panes\"></div><p class=\"note\" id=\"signals-note\">Drag over a plot to zoom, "
      "hold "
      "shift to move, double-click for the whole run; with the keyboard: arrows, +, − and 0. "
      "Click a signal in the list to add it to the framed pane, or drag it there.{}{}</p>"
      "<noscript><p class=\"note\">The plots need JavaScript; the tables below do not.</p>"
      "</noscript></div></div></section>\n",
      result.events.empty() ? "" : " Dotted lines are events.",
      trajectory.mode_names.size() > 1 ? " Shading shows the modes." : "");
}

void write_event(Out& out, std::size_t number, const Event& event) {
  const std::string modes = event.from == event.to
                                ? escape_html(event.to)
                                : escape_html(event.from) + " → " + escape_html(event.to);
  std::vector<std::string> tags;
  for (const std::string& tag : event.tags) {
    if (tag != event.kind) tags.push_back(tag);
  }
  std::string kind = fmt::format("<span class=\"tag\">{}</span>", escape_html(event.kind));
  if (!tags.empty()) kind += fmt::format(" {}", joined(tags, ", "));
  std::string effect = changes(event.jumps);
  for (const auto& [name, impulse] : event.impulses) {
    effect += fmt::format("{}impulse {}: {}", effect.empty() ? "" : "<br>", escape_html(name),
                          short_number(impulse));
  }
  const std::string discrete = changes(event.discrete);
  if (!discrete.empty()) effect += (effect.empty() ? "" : "<br>") + discrete;
  put(out,
      "<tr data-time=\"{}\"><td class=\"n\">{}</td><td "
      "class=\"n\">{:.10g}</td><td>{}</td><td>{}</td>"
      "<td>{}</td><td class=\"t\">{}</td><td>{}</td></tr>\n",
      event.time, number, event.time, kind, escape_html(event.ontology), modes,
      joined(event.causes, "<br>"), effect);
}

void write_events(Out& out, const SimulateResult& result) {
  const std::vector<Event>& events = result.events;
  put(out, "<h2>Events</h2>\n");
  if (events.empty()) {
    put(out, "<p class=\"note\">No events.</p>\n");
    return;
  }
  open_table(
      out, {{"#", true}, {"Time [s]", true}, {"Kind"}, {"Class"}, {"Mode"}, {"Cause"}, {"Effect"}});
  const bool all = events.size() <= kMostEventRows;
  const std::size_t head = all ? events.size() : kMostEventRows / 2;
  for (std::size_t i = 0; i < head; ++i) write_event(out, i + 1, events[i]);
  if (!all) {
    const std::size_t tail = events.size() - kMostEventRows / 2;
    put(out, "<tr><td></td><td colspan=\"6\">… {} events not shown …</td></tr>\n", tail - head);
    for (std::size_t i = tail; i < events.size(); ++i) write_event(out, i + 1, events[i]);
  }
  close_table(out);
}

void write_modes(Out& out, const SimulateResult& result) {
  if (result.modes.empty()) return;
  put(out, "<h2>Modes</h2>\n");
  open_table(out, {{"Name"},
                   {"Conditions"},
                   {"Unknowns", true},
                   {"<span title=\"strangeness index\">μ</span>", true},
                   {"<span title=\"differential\">d</span>", true},
                   {"<span title=\"algebraic\">a</span>", true},
                   {"<span title=\"redundant equations\">v</span>", true},
                   {"<span title=\"free unknowns\">u</span>", true},
                   {"Visits", true},
                   {"Steps", true},
                   {"Wall time", true}});
  const std::vector<std::string>& names = result.trajectory.mode_names;
  for (const ModeReport& mode : result.modes) {
    const auto place = std::find(names.begin(), names.end(), mode.name);
    put(out, "<tr><td");
    if (place != names.end() && names.size() > 1)
      put(out, " data-mode=\"{}\"", place - names.begin());
    put(out, ">{}</td><td class=\"t\">{}</td>", escape_html(mode.name),
        joined(mode.conditions, "<br>"));
    const auto count = [&](auto value) { put(out, "<td class=\"n\">{}</td>", value); };
    count(mode.unknowns);
    count(mode.mu);
    count(mode.d);
    count(mode.a);
    count(mode.v);
    count(mode.u);
    count(mode.visits);
    count(mode.statistics.steps);
    count(seconds(mode.seconds));
    put(out, "</tr>\n");
  }
  close_table(out);
}

void write_statistics(Out& out, const Statistics& statistics) {
  put(out, "<div><h2>Work</h2>\n");
  open_table(out, {{"Quantity"}, {"Value", true}});
  const auto row = [&](const char* name, const auto& value) {
    put(out, "<tr><td>{}</td><td class=\"n\">{}</td></tr>\n", name, value);
  };
  row("Accepted steps", statistics.steps);
  row("Rejected steps", statistics.rejected);
  row("Residual evaluations", statistics.residuals);
  row("Jacobian evaluations", statistics.jacobians);
  row("Factorizations", statistics.factorizations);
  row("Newton iterations", statistics.newton_iterations);
  row("Time to translate", seconds(statistics.translate_seconds));
  row("Time to analyse", seconds(statistics.analyse_seconds));
  row("Time to integrate", seconds(statistics.integrate_seconds));
  row("Wall time", seconds(statistics.wall_seconds));
  close_table(out);
  put(out, "</div>\n");
}

using NamedValues = std::vector<std::pair<std::string, double>>;

void write_values(Out& out, const char* title, const NamedValues& values,
                  const std::map<std::string, std::string>& units) {
  if (values.empty()) return;
  put(out, "<details{}><summary>{} ({})</summary>", values.size() <= 12 ? " open" : "", title,
      values.size());
  open_table(out, {{"Name"}, {"Value", true}, {"Unit"}});
  const std::size_t shown = std::min(values.size(), kMostValueRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, value] = values[i];
    const auto unit = units.find(name);
    put(out, "<tr><td>{}</td><td class=\"n\">{:.10g}</td><td>{}</td></tr>\n", escape_html(name),
        value, unit == units.end() ? "" : escape_html(unit->second));
  }
  if (shown < values.size()) {
    put(out, "<tr><td colspan=\"3\">… {} more in the result files</td></tr>\n",
        values.size() - shown);
  }
  close_table(out);
  put(out, "</details>\n");
}

void write_all_values(Out& out, const SimulateResult& result) {
  const Trajectory& trajectory = result.trajectory;
  if (result.final.empty() && trajectory.parameters.empty()) return;
  std::map<std::string, std::string> units;
  for (const auto* group : {&trajectory.signals, &trajectory.parameters}) {
    for (const SignalInfo& info : *group) units[info.name] = info.unit;
  }
  put(out, "<div><h2>Values</h2>\n");
  write_values(out, "Final values", {result.final.begin(), result.final.end()}, units);
  NamedValues parameters;
  for (std::size_t i = 0; i < trajectory.parameters.size(); ++i) {
    parameters.emplace_back(trajectory.parameters[i].name, trajectory.parameter_values[i]);
  }
  write_values(out, "Parameters", parameters, units);
  for (const auto& [parameter, derivatives] : result.sensitivities) {
    const std::string title = fmt::format("Derivatives by {}", escape_html(parameter));
    write_values(out, title.c_str(), {derivatives.begin(), derivatives.end()}, {});
  }
  put(out, "</div>\n");
}

}  // namespace

std::string report_html(const SimulateResult& result, const std::string& command) {
  const std::string model = escape_html(result.model.empty() ? "Simulation" : result.model);
  Out out;
  put(out,
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{} – Saltus</title><style>{}{}</style></head>\n<body><main>\n",
      model, kChartStyle, kReportStyle);
  put(out, "<h1>{}</h1><p class=\"sub\">{}{}{} · Saltus {}</p>\n", model,
      escape_html(result.method), result.formulation.empty() ? "" : " · ",
      escape_html(result.formulation), kVersion);
  write_status(out, result);
  write_keys(out, result);
  write_plots(out, result);
  write_events(out, result);
  write_modes(out, result);
  put(out, "<div class=\"pair\">\n");
  write_statistics(out, result.statistics);
  write_all_values(out, result);
  put(out, "</div>\n");
  if (!command.empty())
    put(out, "<h2>How to make it again</h2>\n<p><code>{}</code></p>\n", escape_html(command));
  put(out, "</main>\n");
  if (result.trajectory.size() >= 2 && !result.trajectory.signals.empty()) {
    const ReportData data = report_data(result);
    put(out,
        "<script type=\"application/json\" id=\"run\">{}</script>\n"
        "<script type=\"text/plain\" id=\"points\">{}</script>\n"
        "<script>{}</script>\n<script>{}</script>\n",
        data.head, data.points, kChartScript, kReportScript);
  }
  put(out, "</body></html>\n");
  return fmt::to_string(out);
}

void write_report(const SimulateResult& result, const std::string& path,
                  const std::string& command) {
  write_file(path, report_html(result, command));
}

}  // namespace saltus
