#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "modelica/clock_inference.h"
#include "modelica/flattener.h"

namespace saltus {

// What the text says about clocks. Results of operators and clocks are slots that stand for them
// until all equations are known; then the partitions are found and the slots replaced.
struct Flattener::Clocks {
  enum class Kind { kSample, kHold, kPrevious, kInterval, kFirstTick, kTransfer, kNoClock };
  struct Operator {
    Kind kind = Kind::kSample;
    Expr result;
    Expr argument;  // of kInterval and kFirstTick: the number 0 if there is none
    BasicType type = BasicType::kReal;
    std::optional<Expr> clock;       // of kSample
    std::optional<Rational> factor;  // of kTransfer; none: to be found
    Rational shift{};
    Place place{};
  };
  struct Clock {  // from a constructor
    Expr symbol;
    std::optional<ClockInference::Source> source;
    Expr condition = 0.0;  // of an event clock
    Expr start_interval = 0.0;
    std::optional<Expr> like;  // the same clock with a solver
    std::string solver{};
    Place place{};
  };
  struct Transfer {  // subSample() of a clock
    Expr from;
    Expr to;
    std::optional<Rational> factor;
    Rational shift;
    Place place;
  };

  std::vector<Operator> operators;
  std::vector<Clock> constructors;
  std::vector<Transfer> transfers;
  std::vector<std::pair<Expr, Expr>> equal;                 // clocks
  std::vector<std::pair<Expr, std::vector<Expr>>> in_when;  // clock, sides of equations
};

}  // namespace saltus
