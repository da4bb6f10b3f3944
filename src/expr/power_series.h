#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "expr/graph.h"

namespace saltus {

// A quantity along a solution near an instant: value[k] is the coefficient of (t - t0)^k, just
// after t0. size[k] says what rounding can do to it, in units of the relative rounding error:
// errors of what it was formed from are carried along to first order, so it is at least the sum of
// the absolute terms.
struct PowerSeries {
  static constexpr int kHighest = 8;
  std::array<double, kHighest + 1> value{};
  std::array<double, kHighest + 1> size{};
  int known = kHighest + 1;  // so many coefficients mean something

  static PowerSeries constant(double number, double magnitude);
};

// Formulas evaluated on power series (Taylor arithmetic). Conditions, min(), abs() and the like
// follow the branch that holds just after the instant. Nothing is known of what is formed from a
// series of which nothing is known (known = 0), but for products with zero.
class SeriesFormulas {
 public:
  explicit SeriesFormulas(std::span<const Expr> formulas);

  // The symbols the formulas read; their series are to be put in place before evaluate().
  const std::vector<Expr>& leaves() const { return leaves_; }
  PowerSeries& leaf(std::size_t i) { return series_[leaf_places_[i]]; }

  // Leaves that are not marked are constant: what follows from them alone is evaluated by
  // evaluate_constants() and left out by evaluate().
  void mark_moving(const std::vector<bool>& leaves);
  void evaluate_constants();
  // All coefficients up to this power.
  void evaluate(int highest);
  const PowerSeries& result(std::size_t formula) const { return series_[results_[formula]]; }

 private:
  void evaluate_node(std::size_t place, int highest);

  std::vector<const Node*> order_;          // children first
  std::vector<std::uint32_t> constants_;    // places of operations, in order
  std::vector<std::uint32_t> moving_;       // the same
  std::vector<std::uint32_t> children_;     // places, node after node
  std::vector<std::uint32_t> first_child_;  // by place: where its children begin
  std::vector<double> arguments_;
  std::vector<PowerSeries> series_;  // by place in order_
  std::vector<Expr> leaves_;
  std::vector<std::uint32_t> leaf_places_;
  std::vector<std::uint32_t> results_;
};

}  // namespace saltus
