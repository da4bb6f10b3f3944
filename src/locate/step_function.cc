#include "locate/step_function.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "expr/traverse.h"

namespace saltus {
namespace {

// Cells looked at in one step.
constexpr int kBudget = 400;
// The last term of an expansion against the largest of the others where it counts as decreasing.
constexpr double kDecrease = 0.1;
constexpr double kShortest = 1e-7;

bool excludes_zero(const Interval& range) { return range.low > 0.0 || range.high < 0.0; }

Interval shifted(const Interval& range, double offset) {
  return offset == 0.0 ? range : range + Interval(offset);
}

// The polynomial expanded about all points of a cell.
void expand(std::span<const double> p, const Interval& cell, EnclosedSeries& series) {
  const int n = static_cast<int>(p.size());
  series.is_smooth = true;
  series.count = std::min(n, EnclosedSeries::kOrder + 1);
  double factors[StepPolynomials::kMostCoefficients];  // binomial(j, k) for the present k
  std::fill_n(factors, n, 1.0);
  for (int k = 0; k < series.count; ++k) {
    Interval sum = p[static_cast<std::size_t>(n - 1)] * factors[n - 1];
    for (int j = n - 2; j >= k; --j)
      sum = sum * cell + Interval(p[static_cast<std::size_t>(j)] * factors[j]);
    series.coefficient[static_cast<std::size_t>(k)] = sum;
    for (int j = n - 1; j > k; --j) factors[j] *= static_cast<double>(j - k) / (k + 1);
  }
}

}  // namespace

StepPolynomials::StepPolynomials(std::vector<std::uint32_t> unknowns, std::size_t unknown_count)
    : unknowns_(std::move(unknowns)),
      x_(unknown_count),
      dx_(unknown_count),
      samples_(2 * unknowns_.size() * kMostCoefficients),
      rows_(2 * unknown_count * kMostCoefficients) {
  points_.reserve(kMostCoefficients);
  to_powers_.reserve(std::size_t{kMostCoefficients} * kMostCoefficients);
}

// Chebyshev coefficients from samples at Lobatto points, then powers from these.
void StepPolynomials::prepare(int degree) {
  const int n = degree + 1;
  count_ = n;
  points_.resize(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    points_[static_cast<std::size_t>(i)] =
        degree == 0 ? 0.0 : -std::cos(i * std::numbers::pi / degree);
  double powers[kMostCoefficients][kMostCoefficients] = {};  // of the Chebyshev polynomials
  powers[0][0] = 1.0;
  if (n > 1) powers[1][1] = 1.0;
  for (int k = 2; k < n; ++k)
    for (int j = 0; j <= k; ++j)
      powers[k][j] = (j > 0 ? 2.0 * powers[k - 1][j - 1] : 0.0) - powers[k - 2][j];
  to_powers_.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      const double ends = (i == 0 || i == degree ? 0.5 : 1.0) * (k == 0 || k == degree ? 0.5 : 1.0);
      const double t = (k % 2 == 0 ? 1.0 : -1.0) * std::cos(k * i * std::numbers::pi / degree);
      const double weight = degree == 0 ? 1.0 : 2.0 / degree * ends * t;
      for (int j = 0; j <= k; ++j)
        to_powers_[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) +
                   static_cast<std::size_t>(i)] += weight * powers[k][j];
    }
}

bool StepPolynomials::read(const Integrator& integrator) {
  const int degree = integrator.extension_degree();
  if (degree < 0 || degree >= kMostCoefficients) return false;
  if (degree + 1 != count_) prepare(degree);
  const auto n = static_cast<std::size_t>(count_);
  const double begin = integrator.previous_time();
  const double end = integrator.time();
  time_ = {0.5 * (begin + end), 0.5 * (end - begin)};
  for (std::size_t i = 0; i < n; ++i) {
    const double t = i + 1 == n ? end : begin + 0.5 * (1.0 + points_[i]) * (end - begin);
    integrator.interpolate(t, unknowns_, x_.data(), dx_.data());
    for (std::size_t u = 0; u < unknowns_.size(); ++u) {
      samples_[2 * u * n + i] = x_[unknowns_[u]];
      samples_[(2 * u + 1) * n + i] = dx_[unknowns_[u]];
    }
  }
  for (std::size_t u = 0; u < 2 * unknowns_.size(); ++u) {
    const std::size_t place = unknowns_[u / 2] + (u % 2 == 1 ? x_.size() : 0);
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (std::size_t i = 0; i < n; ++i) sum += to_powers_[j * n + i] * samples_[u * n + i];
      rows_[place * kMostCoefficients + j] = sum;
    }
  }
  return true;
}

std::optional<StepFunction> StepFunction::make(const Expr& formula, const DaeDefinition& symbols) {
  if (formula.node() == nullptr) return {};
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(formula.node(), position, order);
  // The side on which a relation of a flat model lies is a held value, which chooses the sign.
  const auto has_kinks = [](const Node* node) {
    if (node->op == Op::kSelect) return node->children[0]->op != Op::kSlot;
    return node->op > Op::kSelect || node->op == Op::kMin || node->op == Op::kMax ||
           (node->op >= Op::kAbs && node->op <= Op::kNot) || is_boolean(node->op);
  };
  if (std::ranges::any_of(order, has_kinks)) return {};
  StepFunction result(formula);
  const std::pair<Kind, const std::vector<Expr>*> lists[] = {
      {Kind::kUnknown, &symbols.unknowns},
      {Kind::kDerivative, &symbols.derivatives},
      {Kind::kParameter, &symbols.parameters},
      {Kind::kHeld, &symbols.held}};
  for (const Expr& leaf : result.formula_.leaves()) {
    std::optional<Leaf> place;
    if (leaf.same_as(symbols.time)) place = Leaf{Kind::kTime, 0};
    for (const auto& [kind, list] : lists) {
      if (place) break;
      const auto found =
          std::ranges::find_if(*list, [&](const Expr& other) { return other.same_as(leaf); });
      if (found != list->end()) place = Leaf{kind, static_cast<std::size_t>(found - list->begin())};
    }
    if (!place) return {};
    result.leaves_.push_back(*place);
  }
  return result;
}

void StepFunction::bind(const DaeData& data) {
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const auto& [kind, index] = leaves_[i];
    if (kind == Kind::kParameter)
      formula_.leaf(i) = EnclosedSeries::constant(data.parameters[index]);
    if (kind == Kind::kHeld) formula_.leaf(i) = EnclosedSeries::constant(data.held[index]);
    if (kind != Kind::kParameter && kind != Kind::kHeld) moving.push_back(i);
  }
  formula_.hold_all_but(moving);
}

void StepFunction::place(const StepPolynomials& step, const Interval& cell) {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const auto& [kind, index] = leaves_[i];
    if (kind == Kind::kTime) expand(step.time(), cell, formula_.leaf(i));
    if (kind == Kind::kUnknown) expand(step.value(index), cell, formula_.leaf(i));
    if (kind == Kind::kDerivative) expand(step.derivative(index), cell, formula_.leaf(i));
  }
}

const CellCourse& StepFunction::over(const StepPolynomials& step, double begin, double end) {
  const double middle = 0.5 * (begin + end);
  place(step, middle);
  course_.middle = formula_.evaluate(EnclosedSeries::kOrder);
  place(step, {begin, end});
  course_.whole = formula_.evaluate(EnclosedSeries::kOrder);
  course_.radius = std::max(end - middle, middle - begin);
  return course_;
}

bool StepFunction::is_clear(const StepPolynomials& step, double offset) {
  int budget = kBudget;
  return is_clear(step, offset, -1.0, 1.0, budget);
}

bool StepFunction::is_clear(const StepPolynomials& step, double offset, double begin, double end,
                            int& budget) {
  if (--budget < 0) return false;
  place(step, {begin, end});
  if (excludes_zero(shifted(formula_.evaluate(0).coefficient[0], offset))) return true;
  const CellCourse& course = over(step, begin, end);
  if (excludes_zero(shifted(course.range(), offset))) return true;
  // The middle has another sign, or none.
  if (end - begin < kShortest || !excludes_zero(shifted(course.middle.coefficient[0], offset)))
    return false;
  const double middle = 0.5 * (begin + end);
  return is_clear(step, offset, begin, middle, budget) &&
         is_clear(step, offset, middle, end, budget);
}

void StepFunction::cut(const StepPolynomials& step, double offset, std::vector<double>& cuts) {
  cuts.clear();
  int budget = kBudget;
  cut(step, offset, -1.0, 1.0, budget, cuts);
  if (!cuts.empty()) cuts.pop_back();  // the end of the step
}

void StepFunction::cut(const StepPolynomials& step, double offset, double begin, double end,
                       int& budget, std::vector<double>& cuts) {
  const CellCourse& course = over(step, begin, end);
  const double size = course.middle.coefficient[0].magnitude();
  const bool is_resolved =
      course.remainder() <= std::max(kDecrease * course.variation(),
                                     64.0 * std::numeric_limits<double>::epsilon() * size);
  if (is_resolved || --budget < 0 || end - begin < kShortest ||
      excludes_zero(shifted(course.range(), offset))) {
    cuts.push_back(0.5 * (1.0 + end));
    return;
  }
  const double middle = 0.5 * (begin + end);
  cut(step, offset, begin, middle, budget, cuts);
  cut(step, offset, middle, end, budget, cuts);
}

}  // namespace saltus
