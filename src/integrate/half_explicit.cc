#include "integrate/half_explicit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

// Letters as in Hairer & Wanner II, VII.6: c nodes, a and b weights; g constraints on position
// level, g' and g'' their derivatives.

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxFailures = 60;
constexpr int kMaxIterations = 8;
constexpr int kMaxProjections = 5;
// Updates of a stage end below this, in units of the error tolerance.
constexpr double kStageTolerance = 1e-3;
// Updates that shrink less than this call for a new matrix.
constexpr double kSlow = 0.1;
constexpr double kSafety = 0.9;
constexpr double kLargestShrink = 5.0;
constexpr double kLargestGrowth = 3.0;
constexpr double kInner[] = {1.0 / 3.0, 2.0 / 3.0};

// Row i: the weights of stage i + 1, at last those of the step. The third order holds for what is
// constrained, too, because Sum_j w_ij (2 c_j) = c_(i+1)^2 for i > 0.
constexpr double kNodes[] = {0.0, 1.0 / 3.0, 1.0, 1.0};
constexpr double kWeights[][3] = {{1.0 / 3.0, 0.0, 0.0}, {-1.0, 2.0, 0.0}, {0.0, 0.75, 0.25}};

std::vector<std::size_t> square_rows(const Dae& dae, const LevelRows& rows) {
  std::vector<std::size_t> all(dae.equation_count() - rows.velocity.size() - rows.position.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::size_t> motion_rows(const Dae& dae, const LevelRows& rows) {
  std::vector<std::size_t> all = square_rows(dae, rows);
  std::erase_if(all, [&](std::size_t i) {
    return std::find(rows.highest.begin(), rows.highest.end(), i) != rows.highest.end();
  });
  return all;
}

// The rows of one pattern above those of another.
Pattern stacked(const Pattern& above, const Pattern& below) {
  Pattern both{above.rows + below.rows, above.columns, {0}, {}};
  for (int j = 0; j < above.columns; ++j) {
    for (int k = above.start[j]; k < above.start[j + 1]; ++k) both.row.push_back(above.row[k]);
    for (int k = below.start[j]; k < below.start[j + 1]; ++k)
      both.row.push_back(above.rows + below.row[k]);
    both.start.push_back(static_cast<int>(both.row.size()));
  }
  return both;
}

std::size_t nonzeros(const Dae& dae) { return static_cast<std::size_t>(dae.pattern().nonzeros()); }

}  // namespace

HalfExplicit::HalfExplicit(const Dae& dae, DaeData& data, IntegratorOptions options,
                           const LevelRows& rows)
    : square_(dae.with_equations(square_rows(dae, rows))),
      motion_(dae.with_equations(motion_rows(dae, rows))),
      velocity_(dae.with_equations(rows.velocity)),
      position_(dae.with_equations(rows.position)),
      rows_(rows),
      data_(data),
      options_(std::move(options)),
      n_(dae.unknown_count()),
      motion_rows_(motion_.equation_count()),
      consistent_(square_),
      pattern_(stacked(motion_.pattern(), velocity_.pattern())),
      solver_(pattern_) {
  controlled_ = dae.definition().controlled;
  if (std::find(controlled_.begin(), controlled_.end(), true) == controlled_.end())
    controlled_.assign(n_, true);
  const Pattern& above = motion_.pattern();
  const Pattern& below = velocity_.pattern();
  for (std::size_t j = 0; j < n_; ++j) {
    differential_.push_back(square_.is_differential(j));
    is_position_.push_back(position_.pattern().start[j + 1] > position_.pattern().start[j]);
    watches_algebraic_ = watches_algebraic_ || (controlled_[j] && !differential_[j]);
    const std::size_t shift = differential_[j] ? nonzeros(motion_) : 0;
    for (int k = above.start[j]; k < above.start[j + 1]; ++k)
      places_.push_back(shift + static_cast<std::size_t>(k));
    for (int k = below.start[j]; k < below.start[j + 1]; ++k)
      places_.push_back(static_cast<std::size_t>(k));
  }
  motion_jacobian_.resize(2 * nonzeros(motion_));
  velocity_jacobian_.resize(2 * nonzeros(velocity_));
  matrix_.resize(places_.size());
  factored_.resize(places_.size());
  for (auto* v : {&x0_, &dx0_, &x1_, &dx1_, &new_x_, &new_dx_, &stage_x_, &next_x_, &middle_x_,
                  &last_stage_x_, &residual_, &scale_, &error_, &inner_dx_, &slopes_[0],
                  &slopes_[1], &slopes_[2], &inner_x_[0], &inner_x_[1]})
    v->resize(n_);
  constraint_.resize(std::max(rows_.velocity.size(), rows_.position.size()));
}

void HalfExplicit::restart(double t, std::span<const double> x, std::span<const double> dx,
                           double step) {
  t0_ = t1_ = t;
  std::copy(x.begin(), x.end(), x1_.begin());
  std::copy(dx.begin(), dx.end(), dx1_.begin());
  x0_ = x1_;
  dx0_ = dx1_;
  // Slopes that the form of the mode does not share with where it comes from.
  consistent_.solve_unique(data_, t, x1_.data(), dx1_.data());
  next_step_ = step;
  first_ = true;
  stable_step_ = std::numeric_limits<double>::infinity();
  has_inner_points_ = false;
}

StepOutcome HalfExplicit::step(double limit) {
  t0_ = t1_;
  x0_ = x1_;
  dx0_ = dx1_;
  const double natural_step = next_step_ > 0.0 ? next_step_ : choose_first_step(limit);
  double h = std::min(natural_step, options_.max_step);
  bool rejected = false;
  StepOutcome outcome;
  for (int failures = 0; failures < kMaxFailures; ++failures) {
    const bool reaches_limit = t0_ + 1.0001 * h >= limit;
    if (reaches_limit) h = limit - t0_;
    const double t_end = reaches_limit ? limit : t0_ + h;
    if (failures > 0 && h <= 10.0 * kEpsilon * std::max(std::abs(t0_), kEpsilon))
      return outcome.ok() ? StepOutcome{StepStatus::kStepTooSmall, 0} : outcome;
    outcome = attempt(t_end, h);
    if (!outcome.ok()) {
      ++counts_.rejected;
      rejected = true;
      h *= 0.25;
      continue;
    }
    stand_at(t_end);
    const double error = estimate_error(h);
    const double largest = rejected ? 1.0 : first_ ? 10.0 * kLargestGrowth : kLargestGrowth;
    const double factor =
        std::clamp(kSafety * std::pow(error, -1.0 / 3.0), 1.0 / kLargestShrink, largest);
    if (!(error <= 1.0)) {
      ++counts_.rejected;
      rejected = true;
      const auto worst = std::max_element(error_.begin(), error_.end());
      outcome = {StepStatus::kStepTooSmall, static_cast<std::size_t>(worst - error_.begin())};
      h *= std::isfinite(error) ? std::min(factor, kSafety) : 0.1;
      stand_at(t0_);
      continue;
    }
    next_step_ = std::min(h * factor, options_.max_step);
    // A step cut by a limit says little about what the solution allows.
    if (reaches_limit && !rejected) next_step_ = std::max(next_step_, natural_step);
    limit_by_stability();
    next_step_ = std::min(next_step_, stable_step_);
    first_ = false;
    ++counts_.steps;
    return {};
  }
  return outcome;
}

StepOutcome HalfExplicit::retake(double t) {
  const StepOutcome outcome = attempt(t, t - t0_);
  if (!outcome.ok()) return outcome;
  stand_at(t);
  return {};
}

// Exchanges the point the integrator stands at with the one that was tried.
void HalfExplicit::stand_at(double t) {
  x1_.swap(new_x_);
  dx1_.swap(new_dx_);
  t1_ = t;
  has_inner_points_ = false;
}

// A step to (t_end, new_x_, new_dx_).
StepOutcome HalfExplicit::attempt(double t_end, double h) {
  for (std::size_t j = 0; j < n_; ++j)
    scale_[j] = 1.0 / (options_.absolute_tolerance[j] + options_.tolerance * std::abs(x0_[j]));
  stage_x_ = x0_;
  for (std::size_t i = 0; i < kStages; ++i) {
    slopes_[i] = i == 0 ? dx0_ : slopes_[i - 1];
    last_stage_x_ = stage_x_;
    const StepOutcome outcome = solve_stage(i, t_end, h);
    if (!outcome.ok()) return outcome;
    for (std::size_t j = 0; j < n_; ++j)
      if (differential_[j]) stage_x_[j] = next_x_[j];
  }
  new_x_ = stage_x_;
  new_dx_ = slopes_.back();
  const StepOutcome outcome = project(t_end);
  if (!outcome.ok()) return outcome;
  const ConsistentOutcome solved = consistent_.refine(data_, t_end, new_x_.data(), new_dx_.data());
  counts_.residuals += 2;
  if (solved.status == ConsistentStatus::kNotFinite) return {StepStatus::kNotFinite, solved.index};
  if (!solved.ok()) return {StepStatus::kSingular, 0};
  for (std::size_t j = 0; j < n_; ++j)
    if (!differential_[j]) new_dx_[j] = (new_x_[j] - x0_[j]) / h;
  return {};
}

// Slopes and algebraic unknowns of a stage, such that the next stage (next_x_) satisfies the
// constraints on velocity level.
StepOutcome HalfExplicit::solve_stage(std::size_t stage, double t_end, double h) {
  const double t = t0_ + kNodes[stage] * h;
  const double t_next = kNodes[stage + 1] == 1.0 ? t_end : t0_ + kNodes[stage + 1] * h;
  const double* weights = kWeights[stage];
  std::vector<double>& slopes = slopes_[stage];
  double previous = 0.0;
  bool fresh = false;
  for (int iteration = 0;; ++iteration) {
    for (std::size_t j = 0; j < n_; ++j) {
      next_x_[j] = differential_[j] ? x0_[j] : stage_x_[j];
      if (differential_[j])
        for (std::size_t l = 0; l <= stage; ++l) next_x_[j] += h * weights[l] * slopes_[l][j];
    }
    if (!fresh) {
      if (!update_matrix(t, stage_x_.data(), slopes.data(), t_next, next_x_.data()))
        return {StepStatus::kSingular,
                static_cast<std::size_t>(std::max(solver_.dependent_column(), 0))};
      fresh = true;
    }
    motion_.residual(data_, t, stage_x_.data(), slopes.data(), residual_.data());
    if (!rows_.velocity.empty())
      velocity_.residual(data_, t_next, next_x_.data(), slopes.data(), constraint_.data());
    ++counts_.residuals;
    ++counts_.newton_iterations;
    for (std::size_t k = 0; k < rows_.velocity.size(); ++k)
      residual_[motion_rows_ + k] = constraint_[k] / (h * weights[stage]);
    for (std::size_t i = 0; i < n_; ++i)
      if (!std::isfinite(residual_[i])) return {StepStatus::kNotFinite, i};
    solver_.solve(residual_.data());
    double size = 0.0;
    for (std::size_t j = 0; j < n_; ++j) {
      (differential_[j] ? slopes : stage_x_)[j] -= residual_[j];
      size = std::max(size, std::abs(h * residual_[j]) * scale_[j]);
    }
    if (size <= kStageTolerance) break;
    if (iteration == kMaxIterations || !std::isfinite(size)) return {StepStatus::kStepTooSmall, 0};
    fresh = iteration == 0 || size < kSlow * previous;
    previous = size;
  }
  for (std::size_t j = 0; j < n_; ++j) {
    if (!differential_[j]) continue;
    next_x_[j] = x0_[j];
    for (std::size_t l = 0; l <= stage; ++l) next_x_[j] += h * weights[l] * slopes_[l][j];
  }
  return {};
}

// The matrix of a stage at a point, factored anew where its entries have changed.
bool HalfExplicit::update_matrix(double t, const double* x, const double* dx, double t_next,
                                 const double* x_next) {
  motion_.jacobian(data_, t, x, dx, motion_jacobian_.data());
  if (!rows_.velocity.empty())
    velocity_.jacobian(data_, t_next, x_next, dx, velocity_jacobian_.data());
  ++counts_.jacobians;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const bool of_motion = static_cast<std::size_t>(pattern_.row[k]) < motion_rows_;
    matrix_[k] = (of_motion ? motion_jacobian_ : velocity_jacobian_)[places_[k]];
  }
  if (is_factored_ && matrix_ == factored_) return true;
  ++counts_.factorizations;
  is_factored_ = solver_.factor(matrix_.data());
  factored_ = matrix_;
  return is_factored_;
}

// Brings new_x_ onto g = 0 and g' = 0.
StepOutcome HalfExplicit::project(double t) {
  if (rows_.velocity.empty()) return {};
  if (!update_matrix(t, new_x_.data(), new_dx_.data(), t, new_x_.data()))
    return {StepStatus::kSingular,
            static_cast<std::size_t>(std::max(solver_.dependent_column(), 0))};
  double previous = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kMaxProjections && !rows_.position.empty(); ++k) {
    const double size = project_positions(t);
    if (!std::isfinite(size)) return {StepStatus::kNotFinite, rows_.position.front()};
    if (size <= 4.0 * kEpsilon || size > 0.5 * previous) break;
    previous = size;
  }
  for (int k = 0; k < 2; ++k) {  // once for what the positions changed, once for rounding
    velocity_.residual(data_, t, new_x_.data(), new_dx_.data(), constraint_.data());
    ++counts_.residuals;
    std::fill(residual_.begin(), residual_.end(), 0.0);
    std::copy_n(constraint_.begin(), rows_.velocity.size(),
                residual_.begin() + static_cast<std::ptrdiff_t>(motion_rows_));
    solver_.solve(residual_.data());
    for (std::size_t j = 0; j < n_; ++j)
      if (differential_[j] && !is_position_[j]) new_x_[j] -= residual_[j];
  }
  return {};
}

// One Newton step towards g = 0 along velocities u with M u + G^T mu = 0; relative size.
double HalfExplicit::project_positions(double t) {
  position_.residual(data_, t, new_x_.data(), new_dx_.data(), constraint_.data());
  ++counts_.residuals;
  std::fill(residual_.begin(), residual_.end(), 0.0);
  for (std::size_t k = 0; k < rows_.position.size(); ++k)
    residual_[motion_rows_ + rows_.velocity_of_position[k]] = constraint_[k];
  solver_.solve(residual_.data());
  // Z u: what the kinematic equations make of u.
  std::vector<double>& moved = next_x_;
  std::fill(moved.begin(), moved.end(), 0.0);
  const Pattern& pattern = motion_.pattern();
  for (std::size_t j = 0; j < n_; ++j) {
    if (!differential_[j] || is_position_[j]) continue;
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
      moved[static_cast<std::size_t>(pattern.row[k])] -=
          motion_jacobian_[static_cast<std::size_t>(k)] * residual_[j];
  }
  solver_.solve(moved.data());
  double size = 0.0;
  const std::vector<double>& nominal = square_.definition().nominal;
  for (std::size_t j = 0; j < n_; ++j) {
    if (!is_position_[j]) continue;
    new_x_[j] -= moved[j];
    const double relative = std::abs(moved[j]) / (std::abs(new_x_[j]) + nominal[j]);
    if (!(relative <= size)) size = relative;
  }
  return size;
}

// Against the trapezoidal rule, of order 2. Algebraic unknowns that count are looked at in the
// middle of the step: one driven by time alone would go unnoticed.
double HalfExplicit::estimate_error(double h) {
  double sum = 0.0;
  double count = 0.0;
  if (watches_algebraic_) {
    make_inner_points();
    solve_at(0.5, middle_x_);
  }
  for (std::size_t j = 0; j < n_; ++j) {
    error_[j] = 0.0;
    if (!controlled_[j]) continue;
    if (differential_[j]) {
      error_[j] = x1_[j] - x0_[j] - 0.5 * h * (dx0_[j] + dx1_[j]);
    } else {
      lagrange(j, 0.5, next_x_.data(), stage_x_.data());
      error_[j] = next_x_[j] - middle_x_[j];
    }
    const double size = std::max(std::abs(x0_[j]), std::abs(x1_[j]));
    error_[j] = std::abs(error_[j]) / (options_.absolute_tolerance[j] + options_.tolerance * size);
    sum += error_[j] * error_[j];
    count += 1.0;
  }
  return std::max(count == 0.0 ? 0.0 : std::sqrt(sum / count), 1e-10);
}

// The error control alone would let stiff components swing at the size of the tolerance, through
// guards that are near zero. The last stage and the step end at the same time: the ratio of the
// differences in slope and value is the fastest rate that shows.
void HalfExplicit::limit_by_stability() {
  constexpr double kStable = 2.0;  // the region of stability ends at -2.51
  constexpr double kRelease = 1.05;
  double slopes = 0.0;
  double values = 0.0;
  for (std::size_t j = 0; j < n_; ++j) {
    if (!differential_[j]) continue;
    const double slope = (dx1_[j] - slopes_.back()[j]) * scale_[j];
    const double value = (x1_[j] - last_stage_x_[j]) * scale_[j];
    slopes += slope * slope;
    values += value * value;
  }
  stable_step_ *= kRelease;
  if (slopes > 0.0) stable_step_ = std::min(stable_step_, kStable * std::sqrt(values / slopes));
}

double HalfExplicit::choose_first_step(double limit) const {
  if (options_.first_step > 0.0) return options_.first_step;
  double rate = 0.0;
  for (std::size_t j = 0; j < n_; ++j) {
    if (!differential_[j]) continue;
    const double nominal = options_.absolute_tolerance[j] / options_.tolerance;
    rate = std::max(rate, std::abs(dx1_[j]) / std::max(std::abs(x1_[j]), nominal));
  }
  const double span = limit - t1_;
  const double longest = std::isfinite(span) ? 1e-2 * span : 1.0;
  return rate > 0.0 ? std::min(longest, 0.1 * std::cbrt(options_.tolerance) / rate) : longest;
}

// Cubic through values and slopes at both ends; s from 0 to 1.
void HalfExplicit::hermite(std::size_t j, double s, double* x, double* dx) const {
  const double h = t1_ - t0_;
  const double r = 1.0 - s;
  const double change = x1_[j] - x0_[j];
  x[j] = x0_[j] + s * s * (3.0 - 2.0 * s) * change + h * s * r * (r * dx0_[j] - s * dx1_[j]);
  dx[j] = 6.0 * s * r * change / h + r * (1.0 - 3.0 * s) * dx0_[j] - s * (3.0 * r - 1.0) * dx1_[j];
}

// Cubic through the values at both ends and the inner points.
void HalfExplicit::lagrange(std::size_t j, double s, double* x, double* dx) const {
  const double nodes[] = {0.0, kInner[0], kInner[1], 1.0};
  const double values[] = {x0_[j], inner_x_[0][j], inner_x_[1][j], x1_[j]};
  x[j] = dx[j] = 0.0;
  for (int i = 0; i < 4; ++i) {
    double value = values[i];
    double slope = 0.0;
    for (int k = 0; k < 4; ++k) {
      if (k == i) continue;
      const double width = nodes[i] - nodes[k];
      slope = (slope * (s - nodes[k]) + value) / width;
      value *= (s - nodes[k]) / width;
    }
    x[j] += value;
    dx[j] += slope / (t1_ - t0_);
  }
}

// Algebraic unknowns inside the step follow from what is integrated.
void HalfExplicit::make_inner_points() const {
  if (has_inner_points_) return;
  for (std::size_t i = 0; i < inner_x_.size(); ++i) solve_at(kInner[i], inner_x_[i]);
  has_inner_points_ = true;
}

void HalfExplicit::solve_at(double s, std::vector<double>& x) const {
  for (std::size_t j = 0; j < n_; ++j) {
    x[j] = x0_[j] + s * (x1_[j] - x0_[j]);
    inner_dx_[j] = dx1_[j];
    if (differential_[j]) hermite(j, s, x.data(), inner_dx_.data());
  }
  // Where that fails the straight line between the ends remains.
  consistent_.refine(data_, t0_ + s * (t1_ - t0_), x.data(), inner_dx_.data());
}

void HalfExplicit::interpolate(double t, std::span<const std::uint32_t> unknowns, double* x,
                               double* dx) const {
  const bool inside = t1_ > t0_ && t < t1_;
  const double s = inside ? (t - t0_) / (t1_ - t0_) : 1.0;
  for (const std::uint32_t j : unknowns) {
    if (!inside) {
      x[j] = x1_[j];
      dx[j] = dx1_[j];
    } else if (differential_[j]) {
      hermite(j, s, x, dx);
    } else {
      make_inner_points();
      lagrange(j, s, x, dx);
    }
  }
}

}  // namespace saltus
