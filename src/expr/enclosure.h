#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "expr/graph.h"
#include "expr/interval.h"

namespace saltus {

// Taylor coefficients of a quantity f along one variable s: coefficient[k] contains f^(k)/k! at all
// places of a cell. For a cell of one point these are the coefficients there, up to rounding; for a
// wide cell the last one bounds the remainder of the expansion about any point of the cell.
struct EnclosedSeries {
  static constexpr int kOrder = 6;
  std::array<Interval, kOrder + 1> coefficient{};
  int count = 1;  // coefficients from here on are exactly zero
  // False where f may have a kink, jump or singularity in the cell: then only coefficient[0], the
  // range, means something (and may be infinite).
  bool is_smooth = true;

  static EnclosedSeries constant(const Interval& value) {
    EnclosedSeries result;
    result.coefficient[0] = value;
    return result;
  }
};

// A formula evaluated on such series (Taylor arithmetic in intervals).
class EnclosedFormula {
 public:
  explicit EnclosedFormula(const Expr& formula);

  // The symbols the formula reads; their series are to be put in place before evaluate().
  const std::vector<Expr>& leaves() const { return leaves_; }
  EnclosedSeries& leaf(std::size_t i) { return series_[leaf_places_[i]]; }

  // From now on only these leaves change: what follows from the others is evaluated here, once, and
  // branches that they exclude are left out.
  void hold_all_but(std::span<const std::size_t> moving);

  // Coefficients up to this power. Nothing is allocated.
  const EnclosedSeries& evaluate(int highest);

 private:
  void evaluate_node(std::size_t place, int highest);

  std::vector<const Node*> order_;          // children first
  std::vector<std::uint32_t> children_;     // places, node after node
  std::vector<std::uint32_t> first_child_;  // by place: where its children begin
  std::vector<std::uint32_t> steps_;        // places that evaluate() has to go through
  std::vector<EnclosedSeries> series_;      // by place in order_
  std::vector<double> arguments_;           // of a call
  std::vector<Expr> leaves_;
  std::vector<std::uint32_t> leaf_places_;
};

// What two evaluations tell of a function on a cell c - r <= s <= c + r: at its middle, and on the
// whole of it.
struct CellCourse {
  EnclosedSeries middle;
  EnclosedSeries whole;
  double radius = 0.0;

  // Contains f on the cell, from the better of the range and the Taylor expansion.
  Interval range() const;
  // Contains df/ds on the cell.
  Interval slope() const;
  // Bounds the last term of the expansion.
  double remainder() const;
  // The largest of the terms between the constant and the last one.
  double variation() const;
};

}  // namespace saltus
