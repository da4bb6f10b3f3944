#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <limits>
#include <memory>
#include <span>

#include "expr/expr.h"

namespace saltus {

// The past of one signal, as delay() reads it: a polynomial for each accepted step. Where the
// signal is not smooth (a jump, a kink) it has a *break*. It arrives `duration` later, where the
// equations that read the delayed signal are not smooth either. Between two arrivals the delayed
// signal is a smooth function of time: reading does not look across the break that comes next, or
// behind the one that came last.
class DelayLine {
 public:
  static constexpr std::size_t kPoints = 5;  // of a step, at the places of points()
  static std::array<double, kPoints> points(double from, double to);

  // The memory serves one run at a time; false if it is in use.
  bool claim() { return !in_use_.test_and_set(); }
  void release() { in_use_.clear(); }

  // Forgets everything: the signal is constant before `start`, which is the first break.
  // Pre: duration > 0.
  void begin(double start, double duration);
  double duration() const { return duration_; }
  // The course of the signal over a step that follows what is stored. `small`: differences that do
  // not count.
  void append(double from, double to, std::span<const double, kPoints> values, double small);
  // An event at t, the end of what is stored. How smooth the signal is there is found with the next
  // step; where it has no jump and no kink, it is one order smoother than what caused it: an
  // arrival, or another event (order 1).
  void add_break(double t, int order_of_cause);

  // When the next break arrives; infinite if none is on its way.
  double next_arrival() const;
  // The breaks that have arrived at t; the least order of those that did so just now, or none (-1).
  int arrive(double t);

  // The signal, or its derivative of some order, at s; `before`: its value before the start.
  double value(double s, double before, int derivative = 0) const;

 private:
  struct Piece {
    double from = 0.0;
    double to = 0.0;
    std::array<double, kPoints> coefficients{};  // of ((s - from) / (to - from))^k
    double at(double s, int derivative) const;
  };
  struct Break {
    double time = 0.0;
    int order = 0;  // 0: a jump, 1: a kink, k: of the k-th derivative
    int order_of_cause = 0;
    bool measured = false;
  };
  void measure(Break& at, const Piece& next, double small) const;

  std::atomic_flag in_use_;
  double duration_ = std::numeric_limits<double>::infinity();
  std::deque<Piece> pieces_;
  std::deque<Break> breaks_;                                // on their way
  double left_ = -std::numeric_limits<double>::infinity();  // the last one that has arrived
};

// Where delay() has its memory: made by FlatModel::delay().
struct Delay {
  Expr value;
  Expr duration;  // of parameters
  Expr delayed;   // what the equations read
  std::shared_ptr<DelayLine> line;
  std::size_t sample = 0;  // whose instants are the arrivals
};

// The signal `duration` ago as an expression of time; `before`: its value before the start.
Expr delayed(const std::shared_ptr<DelayLine>& line, const Expr& time, const Expr& duration,
             const Expr& before);

}  // namespace saltus
