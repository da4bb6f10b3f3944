#include "locate/time_function.h"

#include <algorithm>
#include <cmath>

#include "expr/graph.h"

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Cells looked at in one search.
constexpr int kBudget = 2000;
// What lies so near to a start, in roundings of time, belongs to the event or kink that was there.
constexpr double kGrace = 64.0;
// The last term of an expansion against the largest of the others where it counts as decreasing.
constexpr double kDecrease = 0.1;
// Shortest cells that are asked for, against the time in question.
constexpr double kShortest = 1e-12;

double rounding_of(double from, double until) {
  return kEpsilon * std::max(std::abs(from), std::abs(until));
}

class FallSearch {
 public:
  FallSearch(TimeFunction& function, double resolution)
      : function_(function), resolution_(resolution) {}

  // Looks at a cell, with all before it looked at. True if the search is over.
  bool scan(double begin, double end) {
    if (--budget_ < 0) {
      proven_until_ = begin;
      return true;
    }
    const Interval rough = function_.range_over(begin, end).coefficient[0];
    if (rough.low > 0.0) return note_positive();
    if (rough.high < 0.0) return note_negative(begin);
    const CellCourse& course = function_.over(begin, end);
    const Interval range = course.range();
    if (range.low > 0.0) return note_positive();
    if (range.high < 0.0) return note_negative(begin);
    // Zero up to rounding: it has no sign here.
    const Interval& middle = course.middle.coefficient[0];
    if (range.magnitude() <= 4.0 * middle.width() || range.magnitude() == 0.0) return false;
    const Interval slope = course.slope();
    if (slope.low > 0.0) {
      if (function_.value(end) > 0.0) return note_positive();
      return function_.value(begin) < 0.0 ? note_negative(begin) : false;
    }
    if (slope.high < 0.0) {
      if (function_.value(begin) <= 0.0) return note_negative(begin);
      return function_.value(end) < 0.0 ? note_negative(crossing(begin, end)) : note_positive();
    }
    if (end - begin <= resolution_) return false;  // it touches zero, or jumps: what follows tells
    const double middle_time = 0.5 * (begin + end);
    return scan(begin, middle_time) || scan(middle_time, end);
  }

  std::optional<double> fall() const { return fall_; }
  std::optional<double> proven_until() const { return proven_until_; }

 private:
  bool note_positive() {
    is_positive_ = true;
    return false;
  }
  bool note_negative(double since) {
    if (is_positive_) fall_ = since;
    is_positive_ = false;
    return fall_.has_value();
  }
  // The first time that is not above zero, between one above and one below it.
  double crossing(double above, double below) {
    for (;;) {
      const double t = 0.5 * (above + below);
      if (!(t > above && t < below)) return below;
      (function_.value(t) > 0.0 ? above : below) = t;
    }
  }

  TimeFunction& function_;
  double resolution_;
  int budget_ = kBudget;
  bool is_positive_ = true;
  std::optional<double> fall_, proven_until_;
};

}  // namespace

TimeFunction::TimeFunction(const Expr& formula, const DaeDefinition& symbols) : formula_(formula) {
  const auto place_of = [](const std::vector<Expr>& list, const Expr& leaf) {
    const auto found =
        std::ranges::find_if(list, [&](const Expr& other) { return other.same_as(leaf); });
    return static_cast<std::size_t>(found - list.begin());
  };
  for (std::size_t i = 0; i < formula_.leaves().size(); ++i) {
    const Expr& leaf = formula_.leaves()[i];
    if (leaf.same_as(symbols.time)) {
      time_ = i;
      continue;
    }
    const std::size_t parameter = leaf.is_parameter() ? place_of(symbols.parameters, leaf) : 0;
    if (leaf.is_parameter() && parameter < symbols.parameters.size())
      constants_.push_back({i, false, parameter});
    else
      constants_.push_back({i, true, place_of(symbols.held, leaf)});
  }
}

bool TimeFunction::bind(const DaeData& data) {
  bool changed = !is_bound_;
  is_bound_ = true;
  numbers_.resize(constants_.size());
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    const Source& source = constants_[i];
    const std::vector<double>& numbers = source.is_held ? data.held : data.parameters;
    const bool is_given = source.index < numbers.size();
    const double number = is_given ? numbers[source.index] : 0.0;
    changed = changed || number != numbers_[i];
    numbers_[i] = number;
    formula_.leaf(source.leaf) =
        EnclosedSeries::constant(is_given ? Interval(number) : Interval::everything());
  }
  if (changed)
    formula_.hold_all_but(time_ ? std::span(&*time_, 1) : std::span<const std::size_t>());
  return changed;
}

void TimeFunction::place(const Interval& time) {
  if (!time_) return;
  EnclosedSeries& series = formula_.leaf(*time_);
  series = EnclosedSeries::constant(time);
  series.coefficient[1] = 1.0;
  series.count = 2;
}

const CellCourse& TimeFunction::over(double begin, double end) {
  const double middle = 0.5 * (begin + end);
  place(middle);
  course_.middle = formula_.evaluate(EnclosedSeries::kOrder);
  place({begin, end});
  course_.whole = formula_.evaluate(EnclosedSeries::kOrder);
  course_.radius = std::max(end - middle, middle - begin);
  return course_;
}

const EnclosedSeries& TimeFunction::range_over(double begin, double end) {
  place({begin, end});
  return formula_.evaluate(0);
}

double TimeFunction::value(double t) {
  place(t);
  const Interval range = formula_.evaluate(0).coefficient[0];
  return 0.5 * (range.low + range.high);
}

TimeFall first_fall(TimeFunction& function, double from, double until) {
  const double rounding = rounding_of(from, from);
  const double begin = from + kGrace * rounding;
  if (begin >= until) return {{}, until};
  if (function.range_over(begin, begin).coefficient[0].high < 0.0) return {begin, begin};
  FallSearch search(function, 4.0 * rounding_of(from, until));
  search.scan(begin, until);
  return {search.fall(), search.fall().value_or(search.proven_until().value_or(until))};
}

double resolved_until(TimeFunction& function, double from, double until, double negligible) {
  const double rounding = rounding_of(from, until);
  const double begin = from + kGrace * rounding;
  const double nearest = from + std::max(2.0 * kGrace * rounding, kShortest * (until - from));
  if (nearest >= until) return until;
  double end = until;
  const auto is_tame = [&](double t) {
    const EnclosedSeries& range = function.range_over(begin, t);
    return range.is_smooth || range.coefficient[0].width() <= negligible;
  };
  if (!is_tame(end)) {
    // Up to the kink.
    double tame = begin;
    while (end - tame > 4.0 * rounding) {
      const double t = 0.5 * (tame + end);
      (is_tame(t) ? tame : end) = t;
    }
    end = std::max(tame, nearest);
  }
  const auto is_resolved = [&](double t) {
    const CellCourse& course = function.over(begin, t);
    const double value = course.middle.coefficient[0].magnitude();
    if (!std::isfinite(value)) return true;  // nothing to resolve; the equations will tell
    if (course.whole.coefficient[0].width() <= negligible) return true;
    const double remainder = course.remainder();
    const double allowed =
        std::max(negligible + 64.0 * kEpsilon * value, kDecrease * course.variation());
    return std::isfinite(remainder) && remainder <= allowed;
  };
  double failed = end;
  while (end > nearest && !is_resolved(end)) {
    failed = end;
    end = std::max(nearest, from + 0.5 * (end - from));
  }
  // The feature may begin anywhere between.
  for (int k = 0; k < 3 && failed > end; ++k) {
    const double t = 0.5 * (end + failed);
    (is_resolved(t) ? end : failed) = t;
  }
  return end;
}

bool has_kink_at(TimeFunction& function, double t) {
  const double near = kGrace * rounding_of(t, t);
  return !function.range_over(t - near, t + near).is_smooth;
}

bool has_pole_at(TimeFunction& function, double t, double reach) {
  const double near = kGrace * rounding_of(t, t);
  if (function.range_over(t - near, t + near).coefficient[0].is_finite()) return false;
  // With the power of the distance that divides the two orders.
  constexpr double kCloser = 1e-3;
  constexpr double kLeastGrowth = 500.0;
  const auto size_at = [&](double distance) { return std::abs(function.value(t - distance)); };
  double distance = std::min(1e-2 * reach, 1e9 * near);
  double size = size_at(distance);
  for (int k = 0; k < 2; ++k) {
    const double closer = size_at(distance *= kCloser);
    if (!(closer >= kLeastGrowth * size)) return false;
    size = closer;
  }
  return true;
}

}  // namespace saltus
