#pragma once

#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "locate/time_function.h"

namespace saltus {

// Unknowns of a mode that its equations give by formulas, directly or through one another: of time,
// parameters and held values alone, or of differentiated unknowns too.
class TimeCourses {
 public:
  // With functions of differentiated unknowns only where they are wanted.
  TimeCourses(const DaeDefinition& written, bool with_states);

  // The formula with functions of time in the place of unknowns that are such.
  Expr insert(const Expr& formula) const { return insert(formula, of_time_); }
  // The same for all unknowns that formulas give.
  Expr insert_all(const Expr& formula) const { return insert(formula, courses_.size()); }
  // Whether a formula depends on time and on no unknown.
  bool is_of_time(const Expr& formula) const;

 private:
  Expr insert(const Expr& formula, std::size_t count) const;

  const DaeDefinition& written_;
  std::unordered_map<const Node*, std::size_t> places_;  // by unknown, in courses_
  std::vector<Expr> courses_;
  std::size_t of_time_ = 0;  // so many of them, the first ones, are functions of time
};

// What the equations of a mode read of time alone, apart from polynomials: pulses, oscillations,
// tables. An error control that looks at a few points of a step can miss them, so that the step is
// limited beforehand to where their enclosures say that it cannot.
class TimeTerms {
 public:
  TimeTerms(const DaeDefinition& written, const TimeCourses& courses, const DaeDefinition& symbols);

  // To be called when held values have changed.
  void bind(const DaeData& data);

  // The latest end, up to `limit`, of a step from t that may be `wanted` long.
  double limit_step(double t, double wanted, double limit, double tolerance);
  // Whether a term has a kink at the end that was found last: what a method remembers of the steps
  // before says nothing of those after it.
  bool ends_at_kink() const { return ends_at_kink_; }
  // The term that has a pole where the next step would begin.
  const std::optional<std::string>& pole() const { return pole_; }

  // Functions of time that nothing is known of between points.
  const std::vector<std::string>& opaque() const { return opaque_; }

 private:
  struct Term {
    TimeFunction function;
    Expr formula;
    double size = 0.0;  // the largest it has been or may be in a step that was asked about
    double resolved_until = -std::numeric_limits<double>::infinity();
    double reach = 0.0;     // of the next search, in steps
    int stuck = 0;          // searches in a row that have hardly got on
    bool has_kink = false;  // where it is resolved until
  };
  std::vector<Term> terms_;
  std::vector<std::string> opaque_;
  double resolved_until_ = -std::numeric_limits<double>::infinity();  // all of them
  bool ends_at_kink_ = false;
  std::optional<std::string> pole_;
};

}  // namespace saltus
