#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulate/trajectory.h"

namespace saltus {

// Whether a name fits a pattern in which '*' stands for any characters and '?' for one. Brackets
// are brackets: names of array elements have them.
bool matches(std::string_view pattern, std::string_view name);

// Hands on only the signals and parameters that fit one of the patterns, with the columns that
// these need.
class SelectedSignals : public ResultSink {
 public:
  // `next` must outlive this.
  SelectedSignals(std::vector<std::string> patterns, ResultSink& next);

  // Throws Error if a pattern fits nothing.
  void begin(const Trajectory& layout) override;
  void store(double time, ModeId mode, const double* columns) override;

  // A pattern that fits nothing; empty: there is none.
  const std::string& unmatched() const { return unmatched_; }
  // Gives a trajectory the names and sources that points have after the selection.
  void describe(Trajectory& trajectory) const;

 private:
  bool selects(const std::string& name, std::vector<bool>& used) const;

  std::vector<std::string> patterns_;
  ResultSink& next_;
  std::string unmatched_;
  Trajectory layout_;                 // selected, without points
  std::vector<std::size_t> columns_;  // by column after the selection: which it was
  std::vector<double> point_;
};

}  // namespace saltus
