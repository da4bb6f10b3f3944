#include "study/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace saltus {

std::vector<ModeSequence> mode_sequences(const std::vector<StudyRun>& runs) {
  std::map<std::string, ModeSequence> found;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    ModeSequence& sequence = found[runs[k].modes];
    if (sequence.runs++ == 0) sequence.first = k;
  }
  std::vector<ModeSequence> sequences;
  for (auto& [modes, sequence] : found) {
    sequence.modes = modes;
    sequences.push_back(sequence);
  }
  std::ranges::stable_sort(sequences, [](const ModeSequence& a, const ModeSequence& b) {
    return a.runs != b.runs ? a.runs > b.runs : a.first < b.first;
  });
  return sequences;
}

std::vector<SequenceChange> sequence_changes(const Design& design,
                                             const std::vector<StudyRun>& runs) {
  std::vector<SequenceChange> changes;
  const auto compare = [&](std::size_t factor, std::size_t a, std::size_t b) {
    if (runs[a].modes == runs[b].modes) return;
    if (design.run(a)[factor] > design.run(b)[factor]) std::swap(a, b);
    changes.push_back({factor, a, b});
  };
  if (design.names.size() == 1) {
    std::vector<std::size_t> order(runs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return design.run(k)[0]; });
    for (std::size_t k = 1; k < order.size(); ++k) compare(0, order[k - 1], order[k]);
    return changes;
  }
  std::size_t stride = runs.size();
  for (std::size_t j = 0; j < design.shape.size(); ++j) {
    const std::size_t outer = stride;  // runs between two values of the factor before
    stride /= design.shape[j];
    // Along the values of the factor in increasing order, however they were listed.
    std::vector<std::size_t> order(design.shape[j]);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return design.run(k * stride)[j]; });
    for (std::size_t line = 0; line < runs.size(); ++line) {
      if (line % outer >= stride) continue;  // not the first of its line
      for (std::size_t k = 1; k < order.size(); ++k)
        compare(j, line + order[k - 1] * stride, line + order[k] * stride);
    }
  }
  return changes;
}

Distribution distribution(const std::vector<StudyRun>& runs, std::size_t record) {
  std::vector<double> values;
  for (const StudyRun& run : runs)
    if (run.completed && std::isfinite(run.values[record])) values.push_back(run.values[record]);
  Distribution d;
  d.runs = values.size();
  if (values.empty()) {
    d.mean = d.deviation = d.least = d.most = std::numeric_limits<double>::quiet_NaN();
    d.quantile_05 = d.median = d.quantile_95 = d.mean;
    return d;
  }
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  d.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double value : values) squares += (value - d.mean) * (value - d.mean);
  d.deviation = values.size() > 1 ? std::sqrt(squares / (n - 1.0)) : 0.0;
  const auto quantile = [&](double p) {
    const double at = p * (n - 1.0);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - std::floor(at)) * (values[above] - values[below]);
  };
  d.least = values.front();
  d.most = values.back();
  d.quantile_05 = quantile(0.05);
  d.median = quantile(0.5);
  d.quantile_95 = quantile(0.95);
  return d;
}

std::vector<SobolIndex> sobol_indices(const Design& design, const std::vector<StudyRun>& runs,
                                      std::size_t record) {
  const std::size_t factors = design.names.size();
  const std::size_t n = runs.size() / (factors + 2);
  const auto value = [&](std::size_t block, std::size_t k) {
    const StudyRun& run = runs[block * n + k];
    return run.completed ? run.values[record] : std::numeric_limits<double>::quiet_NaN();
  };
  std::vector<std::size_t> points;
  for (std::size_t k = 0; k < n; ++k) {
    bool finite = true;
    for (std::size_t block = 0; block < factors + 2; ++block)
      finite = finite && std::isfinite(value(block, k));
    if (finite) points.push_back(k);
  }
  const auto count = static_cast<double>(points.size());
  double mean = 0.0;
  for (const std::size_t k : points) mean += (value(0, k) + value(1, k)) / (2.0 * count);
  double variance = 0.0;
  for (const std::size_t k : points)
    variance += (std::pow(value(0, k) - mean, 2) + std::pow(value(1, k) - mean, 2)) / (2.0 * count);
  std::vector<SobolIndex> indices(factors);
  for (std::size_t j = 0; j < factors; ++j) {
    SobolIndex& index = indices[j];
    for (const std::size_t k : points) {
      const double changed = value(2 + j, k);
      index.first += (value(1, k) - mean) * (changed - value(0, k)) / count / variance;
      index.total += std::pow(value(0, k) - changed, 2) / (2.0 * count) / variance;
    }
  }
  return indices;
}

namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

// Hues a golden angle apart, so that neighbours in the list are told apart.
std::string colour(std::size_t k) {
  return fmt::format("hsl({:.0f} {}% {}%)",
                     std::fmod(210.0 + 137.508 * static_cast<double>(k), 360.0), 60,
                     k % 2 == 0 ? 55 : 70);
}

// One rectangle a value of a factor, or a dot a sample, over the first two factors.
std::string map_of(const Design& design, const std::vector<StudyRun>& runs,
                   const std::map<std::string, std::size_t>& number) {
  constexpr double kWidth = 760.0, kHeight = 420.0, kMargin = 70.0;
  const bool plane = design.names.size() > 1;
  const auto place = [&](std::size_t j) {
    std::vector<double> values;
    for (std::size_t k = 0; k < runs.size(); ++k) values.push_back(design.run(k)[j]);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  };
  const std::vector<double> xs = place(0);
  const std::vector<double> ys = plane ? place(1) : std::vector<double>{0.0};
  const bool cells = !design.shape.empty() || !plane;
  const auto position = [&](const std::vector<double>& all, double value) {
    if (cells)
      return static_cast<double>(std::ranges::lower_bound(all, value) - all.begin()) /
             static_cast<double>(all.size());
    return (value - all.front()) / std::max(all.back() - all.front(), 1e-300);
  };
  const double height = plane ? kHeight : 60.0;
  std::string svg = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">",
                                kWidth + 2 * kMargin, height + 2 * kMargin);
  const double w = kWidth / static_cast<double>(xs.size());
  const double h = height / static_cast<double>(ys.size());
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const double x = kMargin + kWidth * position(xs, design.run(k)[0]);
    const double y = plane ? position(ys, design.run(k)[1]) : 0.0;
    const std::string fill = runs[k].completed ? colour(number.at(runs[k].modes)) : "#000";
    const std::string title =
        fmt::format("<title>run {}: {}</title>", k,
                    escaped(runs[k].completed ? runs[k].modes : runs[k].message));
    if (cells) {
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
          "fill=\"{}\">{}</rect>",
          x, kMargin + height - height * y - h, w, h, fill, title);
    } else {
      svg += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3\" fill=\"{}\">{}</circle>", x,
                         kMargin + height - height * y, fill, title);
    }
  }
  svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{} from {:g} to {:g}</text>", kMargin,
                     kMargin + height + 30.0, escaped(design.names[0]), xs.front(), xs.back());
  if (plane)
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{} from {:g} (below) to {:g}</text>",
                       kMargin, kMargin - 15.0, escaped(design.names[1]), ys.front(), ys.back());
  return svg + "</svg>";
}

}  // namespace

std::string study_report(const PreparedStudy& study, const std::vector<StudyRun>& runs) {
  const Design& design = study.study().design;
  const std::vector<ModeSequence> sequences = mode_sequences(runs);
  std::map<std::string, std::size_t> number;
  for (std::size_t k = 0; k < sequences.size(); ++k) number[sequences[k].modes] = k;
  std::string page = fmt::format(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Study of {0}</title>"
      "<style>body{{font:15px sans-serif;margin:2em auto;max-width:60em}}td,th{{padding:.2em .8em;"
      "text-align:left}}i{{display:inline-block;width:1em;height:1em}}</style>"
      "<h1>Study of {0}</h1><p>{1} runs.</p><h2>Sequences of modes</h2>{2}<table><tr><th><th>runs"
      "<th>modes",
      escaped(study.model()), runs.size(), map_of(design, runs, number));
  for (std::size_t k = 0; k < sequences.size() && k < 200; ++k)
    page += fmt::format("<tr><td><i style=\"background:{}\"></i><td>{}<td>{}", colour(k),
                        sequences[k].runs, escaped(sequences[k].modes));
  page +=
      "</table><h2>Recorded values</h2><table><tr><th>record<th>runs<th>mean<th>deviation<th>"
      "least<th>5 %<th>median<th>95 %<th>most";
  for (std::size_t j = 0; j < study.study().records.size(); ++j) {
    const Distribution d = distribution(runs, j);
    page += fmt::format(
        "<tr><td>{}<td>{}<td>{:.6g}<td>{:.6g}<td>{:.6g}<td>{:.6g}<td>{:.6g}<td>{:.6g}<td>{:.6g}",
        escaped(study.study().records[j].name), d.runs, d.mean, d.deviation, d.least, d.quantile_05,
        d.median, d.quantile_95, d.most);
  }
  page += "</table>";
  std::size_t failed = 0;
  for (const StudyRun& run : runs) failed += run.completed ? 0 : 1;
  if (failed > 0) {
    page += fmt::format("<h2>{} runs failed</h2><ul>", failed);
    std::size_t shown = 0;
    for (std::size_t k = 0; k < runs.size() && shown < 100; ++k)
      if (!runs[k].completed && ++shown > 0)
        page += fmt::format("<li>run {}: {}", k, escaped(runs[k].message));
    page += "</ul>";
  }
  return page + "</html>\n";
}

}  // namespace saltus
