#pragma once

#include <optional>
#include <vector>

#include "expr/enclosure.h"
#include "model/dae.h"

namespace saltus {

// A formula of time, parameters and held values, as a function of time that is enclosed rather than
// sampled: what is said of it holds between any points as well.
class TimeFunction {
 public:
  // Pre: the formula reads nothing else.
  TimeFunction(const Expr& formula, const DaeDefinition& symbols);

  // Takes over the numbers; to be called when held values may have changed. True if those have that
  // it reads.
  bool bind(const DaeData& data);

  // On a cell of time. Valid until the next call.
  const CellCourse& over(double begin, double end);
  // The range alone, at a fraction of the cost, and whether it is smooth there.
  const EnclosedSeries& range_over(double begin, double end);
  double value(double t);

 private:
  struct Source {
    std::size_t leaf;
    bool is_held;
    std::size_t index;
  };
  void place(const Interval& time);

  EnclosedFormula formula_;
  std::vector<Source> constants_;
  std::vector<double> numbers_;  // bound last, by constant
  bool is_bound_ = false;
  std::optional<std::size_t> time_;  // leaf
  CellCourse course_;
};

// Where a function that is positive after `from` falls below zero first: `from` itself, or a time
// just after it, if it is negative there. All crossings are found, pairs included, and none is
// reported where zero is only touched.
struct TimeFall {
  std::optional<double> time;
  double
      proven_until;  // no fall before; less than asked for if that would be too much work at once
};
TimeFall first_fall(TimeFunction& function, double from, double until);

// How far from `from` on, at most to `until`, a function does nothing that a step of this length
// would not notice: its Taylor expansion decreases, and it has no kink inside. Changes that are
// `negligible` do not count. Later than `from` in any case.
double resolved_until(TimeFunction& function, double from, double until, double negligible);

// Whether a kink, jump or pole lies within a few roundings of t.
bool has_kink_at(TimeFunction& function, double t);

// Whether the function grows without bound towards t, as the inverse of what is left or faster.
// `reach` is how far before t it is known.
bool has_pole_at(TimeFunction& function, double t, double reach);

}  // namespace saltus
