#include "output/selected_signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace saltus {

bool matches(std::string_view pattern, std::string_view name) {
  // Where the last '*' was, and how much of the name it stands for so far.
  std::size_t star = std::string_view::npos;
  std::size_t begin = 0;
  std::size_t p = 0;
  std::size_t n = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      begin = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++begin;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

SelectedSignals::SelectedSignals(std::vector<std::string> patterns, ResultSink& next)
    : patterns_(std::move(patterns)), next_(next) {}

bool SelectedSignals::selects(const std::string& name, std::vector<bool>& used) const {
  bool selected = false;
  for (std::size_t k = 0; k < patterns_.size(); ++k) {
    if (!matches(patterns_[k], name)) continue;
    selected = true;
    used[k] = true;
  }
  return selected;
}

void SelectedSignals::begin(const Trajectory& layout) {
  std::vector<bool> used(patterns_.size(), false);
  layout_ = Trajectory();
  columns_.clear();
  // In the order in which signals need them: what comes later is added at the end.
  std::unordered_map<std::size_t, std::size_t> place_of;
  for (std::size_t k = 0; k < layout.signals.size(); ++k) {
    if (!selects(layout.signals[k].name, used)) continue;
    Trajectory::Source source = layout.source(k);
    if (source.column != Trajectory::Source::kNoColumn) {
      const auto [place, is_new] = place_of.try_emplace(source.column, columns_.size());
      if (is_new) columns_.push_back(source.column);
      source.column = place->second;
    }
    layout_.signals.push_back(layout.signals[k]);
    layout_.sources.push_back(source);
  }
  for (std::size_t k = 0; k < layout.parameters.size(); ++k) {
    if (!selects(layout.parameters[k].name, used)) continue;
    layout_.parameters.push_back(layout.parameters[k]);
    layout_.parameter_values.push_back(layout.parameter_values[k]);
  }
  layout_.columns = columns_.size();
  layout_.mode_names = layout.mode_names;
  point_.resize(columns_.size());
  const auto idle = std::ranges::find(used, false);
  if (idle != used.end()) {
    unmatched_ = patterns_[static_cast<std::size_t>(idle - used.begin())];
    throw Error(fmt::format("--store {}: no variable has a name like this", unmatched_));
  }
  next_.begin(layout_);
}

void SelectedSignals::store(double time, ModeId mode, const double* columns) {
  for (std::size_t k = 0; k < columns_.size(); ++k) point_[k] = columns[columns_[k]];
  next_.store(time, mode, point_.data());
}

void SelectedSignals::describe(Trajectory& trajectory) const {
  trajectory.signals = layout_.signals;
  trajectory.sources = layout_.sources;
  trajectory.columns = layout_.columns;
  trajectory.parameters = layout_.parameters;
  trajectory.parameter_values = layout_.parameter_values;
}

}  // namespace saltus
