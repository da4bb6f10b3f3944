#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "expr/enclosure.h"
#include "integrate/integrator.h"
#include "model/dae.h"

namespace saltus {

// The continuous extension of a step as polynomials in s, -1 at its start and 1 at its end.
class StepPolynomials {
 public:
  static constexpr int kMostCoefficients = 13;

  // For these unknowns; nothing is allocated afterwards.
  StepPolynomials(std::vector<std::uint32_t> unknowns, std::size_t unknown_count);

  // Reads the integrator's last step. False if its degree is beyond what there is room for.
  bool read(const Integrator& integrator);

  int coefficient_count() const { return count_; }
  // Coefficients of 1, s, s^2 ... of time, an unknown or its derivative.
  std::span<const double> time() const { return {time_.data(), time_.size()}; }
  std::span<const double> value(std::size_t unknown) const { return row(unknown); }
  std::span<const double> derivative(std::size_t unknown) const { return row(x_.size() + unknown); }

 private:
  std::span<const double> row(std::size_t i) const {
    return {rows_.data() + i * kMostCoefficients, static_cast<std::size_t>(count_)};
  }
  void prepare(int degree);

  std::vector<std::uint32_t> unknowns_;
  int count_ = 0;
  std::vector<double> points_, to_powers_;  // sample points, and the map from samples to powers
  std::array<double, 2> time_{};
  std::vector<double> x_, dx_, samples_;
  std::vector<double> rows_;
};

// A guard along such a step, enclosed: what is said of it holds between any points as well.
class StepFunction {
 public:
  static constexpr std::size_t kMostCuts = 1024;

  // None if the formula may have kinks, or calls a function.
  static std::optional<StepFunction> make(const Expr& formula, const DaeDefinition& symbols);

  // Takes over the numbers; to be called when held values have changed.
  void bind(const DaeData& data);

  // Whether value + offset is proved to have no zero in the step.
  bool is_clear(const StepPolynomials& step, double offset);
  // Fractions of the step between which few samples tell its course: its Taylor expansion
  // decreases, or it has no zero there. Nothing is allocated once `cuts` is large enough.
  void cut(const StepPolynomials& step, double offset, std::vector<double>& cuts);

 private:
  explicit StepFunction(const Expr& formula) : formula_(formula) {}
  void place(const StepPolynomials& step, const Interval& cell);
  const CellCourse& over(const StepPolynomials& step, double begin, double end);
  bool is_clear(const StepPolynomials& step, double offset, double begin, double end, int& budget);
  void cut(const StepPolynomials& step, double offset, double begin, double end, int& budget,
           std::vector<double>& cuts);

  enum class Kind { kTime, kUnknown, kDerivative, kParameter, kHeld };
  struct Leaf {
    Kind kind;
    std::size_t index;
  };
  EnclosedFormula formula_;
  std::vector<Leaf> leaves_;  // as those of the formula
  CellCourse course_;
};

}  // namespace saltus
