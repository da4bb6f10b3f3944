#include "analysis/consistent.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/stop_request.h"
#include "linalg/dense.h"

namespace saltus {
namespace {

constexpr int kMaxIterations = 50;
constexpr int kMaxHalvings = 12;
// Newton ends when an update is this small against what it updates, or when it no longer shrinks
// because rounding is reached, provided it is below the second number by then.
constexpr double kConverged = 1e-14;
constexpr double kConvergedToRounding = 1e-9;
// Residuals, in units of the solution.
constexpr double kSatisfied = 1e-9;
constexpr double kRounding = 1e-14;
// Equations that hold to this many roundings of their terms cannot be satisfied any better, however
// large the updates that remain (stiff springs amplify the rounding of large angles).
constexpr double kRoundings = 8.0;
constexpr int kMaxRefinements = 4;
// Updates below this leave the terms of the equations as large as they are.
constexpr double kSmallUpdate = 0.1;
// Beyond this size recording an elimination does not pay: few points are asked for.
constexpr int kLargestRecorded = 60;
// Pivots below this fraction of the largest count as zero (matrix scaled by rows and columns).
constexpr double kRankTolerance = 1e-11;

std::size_t first_not_finite(const std::vector<double>& residual) {
  for (std::size_t i = 0; i < residual.size(); ++i)
    if (!std::isfinite(residual[i])) return i;
  return residual.size();
}

Backend backend_for(const Pattern& pattern) {
  return pattern.rows == pattern.columns && pattern.rows > kLargestRecorded ? Backend::kKlu
                                                                            : Backend::kAutomatic;
}

}  // namespace

ConsistentSolver::ConsistentSolver(const Dae& dae, std::vector<bool> given)
    : dae_(dae),
      given_(std::move(given)),
      solver_(dae.pattern(), backend_for(dae.pattern())),
      jacobian_(2 * static_cast<std::size_t>(dae.pattern().nonzeros())),
      matrix_(static_cast<std::size_t>(dae.pattern().nonzeros())) {
  if (given_.empty())
    for (std::size_t j = 0; j < dae.unknown_count(); ++j) given_.push_back(dae.is_differential(j));
  fixed_.assign(given_.size(), false);
  residual_.resize(dae.equation_count());
  row_scale_.resize(dae.equation_count());
  row_terms_.resize(dae.equation_count());
  for (auto* v : {&x_, &dx_, &step_x_, &step_dx_, &base_x_, &base_dx_})
    v->resize(dae.unknown_count());
}

ConsistentOutcome ConsistentSolver::solve(DaeData& data, double t, double* x, double* dx) {
  return attempt({Direction::kUnique, Direction::kLeastChange}, data, t, x, dx);
}

ConsistentOutcome ConsistentSolver::solve_unique(DaeData& data, double t, double* x, double* dx) {
  return attempt({Direction::kUnique}, data, t, x, dx);
}

bool ConsistentSolver::determines_all(DaeData& data, double t, const double* x, const double* dx) {
  dae_.residual(data, t, x, dx, residual_.data());
  dae_.jacobian(data, t, x, dx, jacobian_.data());
  return newton_update();
}

std::optional<std::size_t> ConsistentSolver::unmet_equation(DaeData& data, double t,
                                                            const double* x, const double* dx,
                                                            double fraction) {
  std::copy_n(x, x_.size(), x_.begin());
  std::copy_n(dx, dx_.size(), dx_.begin());
  dae_.residual(data, t, x, dx, residual_.data());
  dae_.jacobian(data, t, x, dx, jacobian_.data());
  measure_rows();
  const Pattern& pattern = dae_.pattern();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  for (std::size_t k = 0; k < nonzeros; ++k)
    if (jacobian_[nonzeros + k] != 0.0) residual_[static_cast<std::size_t>(pattern.row[k])] = 0.0;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    const double off = std::abs(residual_[i]) / (row_terms_[i] + 1.0 / row_scale_[i]);
    if (off <= fraction) continue;
    fraction = off;
    found = i;
  }
  return found;
}

ConsistentOutcome ConsistentSolver::refine(DaeData& data, double t, double* x, double* dx) {
  if (!factored_) return solve(data, t, x, dx);
  std::copy_n(x, x_.size(), x_.begin());
  std::copy_n(dx, dx_.size(), dx_.begin());
  for (int k = 0; k <= kMaxRefinements; ++k) {
    dae_.residual(data, t, x_.data(), dx_.data(), residual_.data());
    if (holds_to_rounding()) {
      std::copy(x_.begin(), x_.end(), x);
      std::copy(dx_.begin(), dx_.end(), dx);
      return {};
    }
    solve_update();
    for (std::size_t j = 0; j < x_.size(); ++j) {
      x_[j] += step_x_[j];
      dx_[j] += step_dx_[j];
    }
  }
  return solve(data, t, x, dx);
}

ConsistentOutcome ConsistentSolver::solve_start(DaeData& data, double t, double* x, double* dx,
                                                const std::vector<bool>& fixed) {
  fixed_ = fixed;
  bool fixes_free = false;  // the regular way would change it
  for (std::size_t j = 0; j < fixed_.size(); ++j)
    fixes_free = fixes_free || (fixed_[j] && !given_[j]);
  const ConsistentOutcome outcome =
      fixes_free ? attempt({Direction::kLeastChange, Direction::kAnyChange}, data, t, x, dx)
                 : attempt({Direction::kUnique, Direction::kLeastChange, Direction::kAnyChange},
                           data, t, x, dx);
  fixed_.assign(given_.size(), false);
  return outcome;
}

ConsistentOutcome ConsistentSolver::attempt(std::initializer_list<Direction> directions,
                                            DaeData& data, double t, double* x, double* dx) {
  ConsistentOutcome first;
  contradicted_.reset();
  // Event iterations ask for the same point again and again.
  if (*directions.begin() == Direction::kUnique &&
      (is_at(asked_, data, t, x, dx) || is_at(solved_, data, t, x, dx))) {
    std::copy(solved_.x.begin(), solved_.x.end(), x);
    std::copy(solved_.dx.begin(), solved_.dx.end(), dx);
    return first;
  }
  for (const Direction direction : directions) {
    std::copy_n(x, x_.size(), x_.begin());
    std::copy_n(dx, dx_.size(), dx_.begin());
    const ConsistentOutcome outcome = iterate(direction, data, t);
    if (outcome.ok()) {
      if (direction == Direction::kUnique) {
        remember(asked_, data, t, x, dx);
        remember(solved_, data, t, x_.data(), dx_.data());
      }
      std::copy(x_.begin(), x_.end(), x);
      std::copy(dx_.begin(), dx_.end(), dx);
      return outcome;
    }
    // The most direct way tells best which equation is at fault.
    if (first.ok()) first = outcome;
    if (outcome.status == ConsistentStatus::kNotFinite) break;
  }
  if (first.status == ConsistentStatus::kNotConverged && contradicted_)
    first.index = *contradicted_;
  return first;
}

bool ConsistentSolver::is_at(const Point& point, const DaeData& data, double t, const double* x,
                             const double* dx) {
  return !point.x.empty() && point.t == t && std::equal(point.x.begin(), point.x.end(), x) &&
         std::equal(point.dx.begin(), point.dx.end(), dx) && point.held == data.held &&
         point.parameters == data.parameters;
}

void ConsistentSolver::remember(Point& point, const DaeData& data, double t, const double* x,
                                const double* dx) const {
  const std::size_t n = given_.size();
  point.t = t;
  point.x.assign(x, x + n);
  point.dx.assign(dx, dx + n);
  point.held = data.held;
  point.parameters = data.parameters;
}

ConsistentOutcome ConsistentSolver::iterate(Direction direction, DaeData& data, double t) {
  const std::size_t n = x_.size();
  const auto evaluate = [&] { dae_.residual(data, t, x_.data(), dx_.data(), residual_.data()); };
  const auto worst_equation = [&] {
    std::size_t worst = 0;
    for (std::size_t i = 0; i < residual_.size(); ++i)
      if (std::abs(residual_[i]) * row_scale_[i] > std::abs(residual_[worst]) * row_scale_[worst])
        worst = i;
    return worst;
  };

  evaluate();
  if (n == 0) {  // an equation holds or it does not
    if (const std::size_t bad = first_not_finite(residual_); bad < residual_.size())
      return {ConsistentStatus::kNotFinite, bad};
    const auto fails = std::ranges::find_if(residual_, [](double r) { return std::abs(r) > 1e-9; });
    if (fails == residual_.end()) return {};
    return {ConsistentStatus::kNotConverged, static_cast<std::size_t>(fails - residual_.begin())};
  }
  double previous_size = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    check_stop();
    if (const std::size_t bad = first_not_finite(residual_); bad < residual_.size())
      return {ConsistentStatus::kNotFinite, bad};
    // Where little has changed, the rows are what they were measured to be.
    bool holds = previous_size <= kSmallUpdate && holds_to_rounding();
    if (!holds) {
      dae_.jacobian(data, t, x_.data(), dx_.data(), jacobian_.data());
      measure_rows();
      holds = holds_to_rounding();
    }
    if (holds) {
      if (iteration > 0 && direction == Direction::kUnique) polish(data, t);
      return {};
    }
    if (iteration == 0 && direction == Direction::kUnique && step_by_old_factors(data, t))
      return {};
    const bool solvable =
        direction == Direction::kUnique ? newton_update() : least_change_update(direction);
    if (!solvable) return {ConsistentStatus::kNotConverged, worst_equation()};

    const double size = update_size();
    bool finite = true;  // std::max drops what is not a number
    for (std::size_t j = 0; j < n; ++j)
      finite = finite && std::isfinite(step_x_[j]) && std::isfinite(step_dx_[j]);
    if (!finite) return {ConsistentStatus::kNotConverged, worst_equation()};

    // Full step, halved while it makes the equations worse or undefined.
    base_x_ = x_;
    base_dx_ = dx_;
    const double before = scaled_residual();
    double fraction = 1.0;
    for (int halving = 0; halving <= kMaxHalvings; ++halving, fraction *= 0.5) {
      for (std::size_t j = 0; j < n; ++j) {
        x_[j] = base_x_[j] + fraction * step_x_[j];
        dx_[j] = base_dx_[j] + fraction * step_dx_[j];
      }
      evaluate();
      if (size <= kConvergedToRounding && std::isfinite(scaled_residual())) break;
      if (scaled_residual() <= before) break;
      // The product of two unknowns that both move is put right by the next step: what the same
      // factors say of that one counts (the natural monotonicity test of Deuflhard).
      if (direction == Direction::kUnique && std::isfinite(scaled_residual()) &&
          next_update_size() <= (1.0 - 0.5 * fraction) * size)
        break;
    }
    // Updates that no longer shrink are rounding, if small; where springs are stiff, accelerations
    // are differences of large numbers, and only the residuals tell.
    const bool stands =
        size <= kConverged ||
        (size >= 0.25 * previous_size && (size <= kConvergedToRounding || satisfied(kRounding)));
    if (stands && satisfied(kSatisfied)) return {};
    if (stands) return {ConsistentStatus::kNotConverged, worst_equation()};
    previous_size = size;
  }
  return {ConsistentStatus::kNotConverged, worst_equation()};
}

// Of the update that the factors at hand give at the present point; the last update stays.
double ConsistentSolver::next_update_size() {
  const std::vector<double> last_x = step_x_;
  const std::vector<double> last_dx = step_dx_;
  solve_update();
  const double size = update_size();
  step_x_ = last_x;
  step_dx_ = last_dx;
  return size;
}

// Relative to what it updates.
double ConsistentSolver::update_size() const {
  const auto& nominal = dae_.definition().nominal;
  double size = 0.0;
  for (std::size_t j = 0; j < x_.size(); ++j) {
    size = std::max(size, std::abs(step_x_[j]) / (std::abs(x_[j]) + nominal[j]));
    size = std::max(size, std::abs(step_dx_[j]) / (std::abs(dx_[j]) + nominal[j]));
  }
  return size;
}

// At most events next to nothing is amiss, and the factors of an earlier point do.
bool ConsistentSolver::step_by_old_factors(DaeData& data, double t) {
  constexpr double kTinyUpdate = 1e-6;
  if (!factored_) return false;
  solve_update();
  if (!(update_size() <= kTinyUpdate)) return false;
  base_x_ = x_;
  base_dx_ = dx_;
  for (std::size_t j = 0; j < x_.size(); ++j) {
    x_[j] += step_x_[j];
    dx_[j] += step_dx_[j];
  }
  dae_.residual(data, t, x_.data(), dx_.data(), residual_.data());
  if (holds_to_rounding()) return true;
  x_ = base_x_;
  dx_ = base_dx_;
  dae_.residual(data, t, x_.data(), dx_.data(), residual_.data());
  return false;
}

// Where a long step ended beside the solution by rounding, one more with the same factors meets it,
// if it makes the residuals smaller.
void ConsistentSolver::polish(DaeData& data, double t) {
  const double before = scaled_residual();
  if (before == 0.0) return;
  base_x_ = x_;
  base_dx_ = dx_;
  solve_update();
  for (std::size_t j = 0; j < x_.size(); ++j) {
    x_[j] += step_x_[j];
    dx_[j] += step_dx_[j];
  }
  dae_.residual(data, t, x_.data(), dx_.data(), residual_.data());
  if (scaled_residual() < before) return;
  x_ = base_x_;
  dx_ = base_dx_;
}

// Row scales that make residuals of different units comparable: what one nominal change of one
// unknown does to the equation. And the size of the terms of each equation.
void ConsistentSolver::measure_rows() {
  const Pattern& pattern = dae_.pattern();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  const auto& nominal = dae_.definition().nominal;
  std::fill(row_scale_.begin(), row_scale_.end(), 0.0);
  std::fill(row_terms_.begin(), row_terms_.end(), 0.0);
  for (int j = 0; j < pattern.columns; ++j) {
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      row_terms_[pattern.row[k]] +=
          std::abs(jacobian_[k] * x_[j]) + std::abs(jacobian_[nonzeros + k] * dx_[j]);
      const double effect =
          nominal[j] * std::max(std::abs(jacobian_[k]), std::abs(jacobian_[nonzeros + k]));
      row_scale_[pattern.row[k]] = std::max(row_scale_[pattern.row[k]], effect);
    }
  }
  for (double& scale : row_scale_) scale = scale > 0.0 ? 1.0 / scale : 1.0;
}

bool ConsistentSolver::holds_to_rounding() const {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    const double size = row_terms_[i] + 1.0 / row_scale_[i];
    if (!(std::abs(residual_[i]) <= kRoundings * kEpsilon * size)) return false;
  }
  return true;
}

double ConsistentSolver::scaled_residual() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < residual_.size(); ++i)
    sum += residual_[i] * residual_[i] * row_scale_[i] * row_scale_[i];
  return std::sqrt(sum);
}

// A least-squares iteration also comes to rest where the equations contradict each other.
bool ConsistentSolver::satisfied(double tolerance) const {
  const auto& nominal = dae_.definition().nominal;
  double size = 1.0;
  for (std::size_t j = 0; j < x_.size(); ++j)
    size = std::max(size, (std::abs(x_[j]) + std::abs(dx_[j])) / nominal[j]);
  return scaled_residual() <= tolerance * size;
}

bool ConsistentSolver::newton_update() {
  const Pattern& pattern = dae_.pattern();
  if (pattern.rows != pattern.columns) return false;
  const int nonzeros = pattern.nonzeros();
  for (int j = 0; j < pattern.columns; ++j) {
    const int offset = given_[j] ? nonzeros : 0;
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
      matrix_[k] = jacobian_[offset + k];
  }
  factored_ = solver_.factor(matrix_.data());
  if (!factored_) return false;
  solve_update();
  return true;
}

void ConsistentSolver::solve_update() {
  std::copy(residual_.begin(), residual_.end(), step_x_.begin());
  solver_.solve(step_x_.data());
  for (std::size_t j = 0; j < x_.size(); ++j) {
    step_dx_[j] = given_[j] ? -step_x_[j] : 0.0;
    step_x_[j] = given_[j] ? 0.0 : -step_x_[j];
  }
}

// With J1 the columns of what may change freely (derivatives, algebraic unknowns) and J2 those of
// the given values: directions Z of the equations that J1 cannot reach are constraints Z^T F = 0 on
// the given values; they get the smallest change that satisfies them, the rest follows from J1.
bool ConsistentSolver::least_change_update(Direction direction) {
  const Pattern& pattern = dae_.pattern();
  const auto& nominal = dae_.definition().nominal;
  const int n = pattern.columns;
  const int nonzeros = pattern.nonzeros();
  if (static_cast<std::size_t>(n) > kLargestLeastChange) return false;
  Eigen::MatrixXd free = Eigen::MatrixXd::Zero(pattern.rows, n);
  Eigen::MatrixXd given = Eigen::MatrixXd::Zero(pattern.rows, n);
  for (int j = 0; j < n; ++j) {
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      const double scale = row_scale_[pattern.row[k]] * nominal[j];
      if (given_[j] || !fixed_[j])
        free(pattern.row[k], j) = scale * jacobian_[given_[j] ? nonzeros + k : k];
      if (given_[j] && !fixed_[j]) given(pattern.row[k], j) = scale * jacobian_[k];
    }
  }
  Eigen::VectorXd r(pattern.rows);
  for (int i = 0; i < pattern.rows; ++i) r(i) = -residual_[i] * row_scale_[i];
  if (!free.allFinite() || !given.allFinite()) return false;

  if (direction == Direction::kAnyChange) {
    // Both at once, the given ones at a price.
    constexpr double kReluctance = 0.1;
    Eigen::MatrixXd both(pattern.rows, 2 * n);
    both << free, kReluctance * given;
    const Eigen::VectorXd step = LeastNorm(both, kRankTolerance).solve(r);
    for (int j = 0; j < n; ++j) {
      step_x_[j] = nominal[j] * (given_[j] ? kReluctance * step(n + j) : step(j));
      step_dx_[j] = given_[j] ? nominal[j] * step(j) : 0.0;
    }
    return true;
  }
  const LeastNorm reach(free, kRankTolerance);
  const Eigen::MatrixXd all_directions = reach.q();
  const Eigen::MatrixXd z = all_directions.rightCols(pattern.rows - reach.rank());
  Eigen::VectorXd given_step = Eigen::VectorXd::Zero(n);
  if (z.cols() > 0) {
    // Rows and columns are scaled: what is left of terms that cancel is no effect.
    Eigen::MatrixXd effect = z.transpose() * given;
    effect = (effect.cwiseAbs().array() > kRankTolerance).select(effect, 0.0);
    given_step = LeastNorm(effect).solve(z.transpose() * r);
    // Constraints that no change of the given values can satisfy either: contradictory equations.
    const Eigen::VectorXd left = z * (z.transpose() * (r - given * given_step));
    if (left.norm() > 1e-8 * (1.0 + r.norm())) {
      Eigen::Index worst = 0;
      left.cwiseAbs().maxCoeff(&worst);
      contradicted_ = static_cast<std::size_t>(worst);
      return false;
    }
  }
  const Eigen::VectorXd free_step = reach.solve(r - given * given_step);
  for (int j = 0; j < n; ++j) {
    const bool is_given = given_[j];
    step_x_[j] = nominal[j] * (is_given ? given_step(j) : free_step(j));
    step_dx_[j] = is_given ? nominal[j] * free_step(j) : 0.0;
  }
  return true;
}

}  // namespace saltus
