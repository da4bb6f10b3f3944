#include "integrate/radau.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "integrate/collocation.h"

// Letters as in Hairer & Wanner II, IV.8: c nodes, Z stage increments, T eigenvectors of A^-1,
// gamma, alpha +- i beta its eigenvalues, dd weights of the embedded error estimate.

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxIterations = 10;
constexpr double kSafety = 0.9;
constexpr double kLargestShrink = 5.0;
constexpr double kLargestFirstShrink = 50.0;  // what was remembered may say nothing after an event
constexpr double kLargestGrowth = 8.0;
constexpr double kLargestFirstGrowth = 100.0;  // the first step is a guess, not a measurement
constexpr double kTrustInDips = 0.9;
// A change of h within these factors is not worth new factorizations.
constexpr double kKeepStepFrom = 1.0;
constexpr double kKeepStepTo = 1.2;
// Newton updates that no longer shrink are rounding if they are below the first number, in units of
// the error tolerance; slow convergence is good enough where the second is reached.
constexpr double kRoundingUpdate = 0.03;
constexpr double kLoosestNewton = 0.03;
// Newton contracting faster than this keeps its Jacobian for the next step.
constexpr double kReuseJacobian = 1e-3;
// Where the equations are not linear, a single iteration is trusted to have at most this effect.
constexpr double kLeastContraction = 1e-3;
// Newton's contraction grows with h; a step is not made so long that it would exceed this.
constexpr double kLargestContraction = 0.3;
// Iterations at the end point go on until the update is this small, relative to the solution.
constexpr double kPolished = 1e-11;
constexpr int kMaxPolish = 5;
constexpr int kMaxFailures = 60;
// A polynomial tells nothing of a step so many times as long as its own: rounding is amplified by
// the cube of that.
constexpr double kFarthest = 10.0;

using Matrix = StageKernels::Matrix;

// The fourth row repeats the third, or is zero.
Matrix stage_matrix(const Eigen::Matrix3d& m, double factor, bool repeat) {
  Matrix result{};
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) result.column[j][i] = factor * m(i, j);
    result.column[j][3] = repeat ? result.column[j][2] : 0.0;
  }
  return result;
}

struct Tableau {
  double c[3];
  Eigen::Matrix3d inverse;    // A^-1
  Matrix eigenvectors;        // T
  Matrix minus_eigeninverse;  // -T^-1
  double gamma, alpha, beta;
  double dd[3];

  Tableau() {
    std::copy_n(radau_collocation().c, 3, c);
    inverse = radau_collocation().inverse;
    const Eigen::EigenSolver<Eigen::Matrix3d> eigen(inverse);
    Eigen::Matrix3d vectors;
    for (int k = 0; k < 3; ++k) {
      const std::complex<double> value = eigen.eigenvalues()(k);
      if (std::abs(value.imag()) < 1e-8) {
        gamma = value.real();
        vectors.col(0) = eigen.eigenvectors().col(k).real();
      } else if (value.imag() > 0.0) {
        alpha = value.real();
        beta = value.imag();
        vectors.col(1) = eigen.eigenvectors().col(k).real();
        vectors.col(2) = eigen.eigenvectors().col(k).imag();
      }
    }
    eigenvectors = stage_matrix(vectors, 1.0, true);
    minus_eigeninverse = stage_matrix(vectors.inverse(), -1.0, false);
    const double root6 = std::sqrt(6.0);
    dd[0] = -(13.0 + 7.0 * root6) / 3.0;
    dd[1] = (-13.0 + 7.0 * root6) / 3.0;
    dd[2] = -1.0 / 3.0;
  }
};

const Tableau& tableau() {
  static const Tableau instance;
  return instance;
}

Backend backend_for(const Dae& dae) {
  return dae.definition().redundant ? Backend::kLeastSquares : Backend::kAutomatic;
}

// Where the equations contradict each other by the error of a step, exact ones win by the square of
// this.
std::vector<double> row_weights(const Dae& dae) {
  constexpr double kExactWeight = 1e4;
  std::vector<double> weights;
  for (const bool exact : dae.definition().exact) weights.push_back(exact ? kExactWeight : 1.0);
  return weights;
}

// Weights at the three nodes of a step of another polynomial, as fractions of its step.
Matrix weights_at_nodes(double start, double ratio) {
  const auto& c = radau_collocation().c;
  const double s[] = {start + c[0] * ratio, start + c[1] * ratio, start + ratio, start + ratio};
  Matrix result = radau_collocation().value_weights(s);
  if (start == 1.0)  // increments count from the end of that step
    for (double& weight : result.column[2]) weight -= 1.0;
  return result;
}

}  // namespace

Radau::Radau(const Dae& dae, DaeData& data, IntegratorOptions options)
    : dae_(dae),
      data_(data),
      options_(std::move(options)),
      n_(dae.unknown_count()),
      m_(dae.equation_count()),
      solver_(dae.pattern(), backend_for(dae), row_weights(dae)) {
  const double rtol = options_.tolerance;
  rtol_ = control_tolerance(rtol);
  for (const double atol : options_.absolute_tolerance) atol_.push_back(rtol_ * atol / rtol);
  watched_scale_ = 1.0 / std::sqrt(rtol);
  newton_tolerance_ = std::max(10.0 * kEpsilon / rtol_, std::min(0.03, std::sqrt(rtol_)));

  control_.assign(n_, 1.0);
  const std::vector<bool>& controlled = dae.definition().controlled;
  for (std::size_t j = 0; j < controlled.size(); ++j) control_[j] = controlled[j] ? 1.0 : 0.0;
  for (const double c : control_) control_count_ += c;
  const std::vector<int>& levels = dae.definition().levels;
  if (std::any_of(levels.begin(), levels.end(), [](int level) { return level > 0; }))
    levels_ = levels;
  for (std::size_t j = 0; j < n_; ++j)
    has_constraints_ = has_constraints_ || !dae.is_differential(j);

  const auto nonzeros = static_cast<std::size_t>(dae.pattern().nonzeros());
  jacobian_.resize(2 * nonzeros);
  values_.resize(4 * nonzeros);
  for (auto* v : {&x0_, &dx0_, &x1_, &dx1_, &point_x_, &point_dx_, &scale_, &newton_weights_})
    v->resize(n_);
  for (auto* v : {&error_, &work_}) v->resize(std::max(m_, n_));
  for (auto* v : {&stages_, &z_, &update_, &stages_x_, &stages_dx_}) v->resize(4 * n_);
  residual_.resize(4 * m_);
  both_.resize(4 * std::max(m_, n_));
  dae_.prepare_lanes(data_);
  const Pattern& pattern = dae_.pattern();
  for (int j = 0; j < pattern.columns; ++j)
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
      if (dae_.has_derivative(k))
        derivative_entries_.push_back({static_cast<std::uint32_t>(pattern.row[k]),
                                       static_cast<std::uint32_t>(j),
                                       static_cast<std::uint32_t>(k)});
  for (const Entry& e : derivative_entries_) derivative_places_.push_back(e.place);
  find_readings();
}

void Radau::find_readings() {
  is_reading_.assign(n_, false);
  if (m_ != n_) return;
  const Pattern& pattern = dae_.pattern();
  std::vector<std::vector<std::uint32_t>> columns_of(m_);
  std::vector<int> left(n_, 0);  // rows that are no reading's
  std::vector<bool> taken(m_, false);
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t j = 0; j < n_; ++j) {
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
      columns_of[static_cast<std::size_t>(pattern.row[k])].push_back(j);
    left[j] = pattern.start[j + 1] - pattern.start[j];
    if (left[j] == 1) waiting.push_back(j);
  }
  while (!waiting.empty()) {
    const std::uint32_t j = waiting.back();
    waiting.pop_back();
    if (dae_.is_differential(j) || left[j] != 1) continue;
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      const auto row = static_cast<std::uint32_t>(pattern.row[k]);
      if (taken[row]) continue;
      taken[row] = true;
      is_reading_[j] = true;
      readings_.push_back({j, row, static_cast<std::size_t>(k), 0});
      for (const std::uint32_t other : columns_of[row])
        if (--left[other] == 1) waiting.push_back(other);
    }
  }
  std::vector<int> level(n_, -1);
  for (std::size_t k = readings_.size(); k-- > 0;) {  // those that others depend on first
    Reading& r = readings_[k];
    for (const std::uint32_t other : columns_of[r.row])
      r.level = std::max(r.level, level[other] + 1);
    level[r.unknown] = r.level;
  }
  std::ranges::stable_sort(readings_, {}, &Reading::level);
}

// The embedded estimate is of order 3 while the step is of order 5, so the raw estimate is far too
// pessimistic at tight tolerances: control with tol' ~ tol^(2/3) (Hairer & Wanner). The factor
// keeps the energy of a pendulum to 1e-5 over a thousand turns at tolerance 1e-8.
double Radau::control_tolerance(double tolerance) {
  constexpr double kControlFactor = 0.02;
  return kControlFactor * std::pow(tolerance, 2.0 / 3.0);
}

void Radau::restart(double t, std::span<const double> x, std::span<const double> dx, double step) {
  t0_ = t1_ = t;
  h_ = 0.0;
  std::copy(x.begin(), x.end(), x1_.begin());
  std::copy(dx.begin(), dx.end(), dx1_.begin());
  first_ = true;
  next_step_ = step;
  step_was_given_ = step > 0.0;
  reuse_jacobian_ = false;
  contraction_ = 1.0;
  accepted_step_ = 0.0;
  longest_step_ = 0.0;
  jumps_ = 0;
  is_after_kink_ = false;
}

StepOutcome Radau::step(double limit) {
  begin_step();
  const double natural_step = next_step_ > 0.0 ? next_step_ : choose_first_step(limit);
  double h = std::min(natural_step, options_.max_step);
  constexpr double kForget = 0.9;
  constexpr double kOfTheWay = 1e-4;  // the first step says little
  longest_step_ = std::max({h, kForget * longest_step_, kOfTheWay * (limit - t0_)});
  if (!reuse_jacobian_) evaluate_jacobian();
  Rejected rejected;
  for (int failures = 0; failures < kMaxFailures; ++failures) {
    const bool reaches_limit = t0_ + 1.0001 * h >= limit;
    if (reaches_limit) h = limit - t0_;
    const double t_end = reaches_limit ? limit : t0_ + h;
    // A tiny way to a limit is no failure: only a step the controller shrank below rounding is.
    if (failures > 0 && h <= 10.0 * kEpsilon * std::max(std::abs(t0_), h_))
      return {StepStatus::kStepTooSmall, largest_error()};

    const bool regular = factor(h);
    NewtonResult newton = NewtonResult::kDiverged;
    if (regular) {
      predict(h);
      newton = solve_stages(t_end, h);
    }
    if (newton != NewtonResult::kConverged) {
      ++counts_.rejected;
      if (failures + 1 == kMaxFailures) return give_up(newton, !regular);
      if (!jacobian_is_fresh_) {
        evaluate_jacobian();
        if (newton == NewtonResult::kTooSlow) continue;  // a fresh Jacobian may do at the same step
      } else if (regular && h <= short_step() && solve_without_readings(t_end, h)) {
        return cross_jump(t_end, h, natural_step);
      }
      h *= newton == NewtonResult::kTooSlow ? newton_shrink_ : 0.5;
      if (!regular || newton == NewtonResult::kNotFinite) h *= 0.2;
      if (h <= 10.0 * kEpsilon * std::max(std::abs(t0_), 1e-300)) return give_up(newton, !regular);
      continue;
    }

    double error = estimate_error(h, (first_ || rejected.step > 0.0) && !is_after_kink_);
    if (has_constraints_) error = std::max(error, estimate_defect(h));
    if (!(error < 1.0) && is_jump(h, error, rejected)) return cross_jump(t_end, h, natural_step);
    if (!(error < 1.0)) {
      ++counts_.rejected;
      const double shorter = first_ && !step_was_given_ ? 0.1 * h : next_step_size(h, error);
      const double by_order = rejected.step > 0.0 ? step_by_order(h, error, rejected) : shorter;
      rejected = {h, error};
      h = std::min(shorter, by_order);
      if (!jacobian_is_fresh_) evaluate_jacobian();
      continue;
    }
    double proposal = next_step_size(h, error);
    // A step cut by a limit says little about what the solution allows.
    if (reaches_limit) proposal = std::max(proposal, rejected.step > 0.0 ? 0.0 : natural_step);
    accepted_step_ = h;
    accepted_error_ = error;
    first_ = false;
    jumps_ = 0;
    is_after_kink_ = false;
    accept(t_end, h);
    next_step_ = proposal;
    return {};
  }
  return {StepStatus::kStepTooSmall, largest_error()};
}

// An algebraic unknown that jumps (inside noEvent or a function; an angle that is not defined where
// its phasor is zero) is as far off however short the step is. What is integrated does not notice:
// a step too short for anything else to happen goes over it.
bool Radau::is_jump(double h, double error, const Rejected& rejected) const {
  constexpr double kSmooth = 0.75;  // a root's vertical slope is no better than a jump
  // Between two events that rounding alone keeps apart no shorter step can be tried.
  const bool is_shortest = h <= 100.0 * kEpsilon * std::abs(t0_);
  if (!is_shortest && (h > short_step() || rejected.step <= h ||
                       error < std::pow(h / rejected.step, kSmooth) * rejected.error))
    return false;
  for (std::size_t j = 0; j < n_; ++j)
    if ((dae_.is_differential(j) || (jumps_ > 0 && !is_reading_[j])) &&
        !(control_[j] * std::abs(error_[j]) * scale_[j] < 1.0))
      return false;
  return true;
}

// Too short for anything else to happen. Where step after step is like that, what jumps is rounding
// (the angle of a phasor that vanishes): no step is too long for readings then.
double Radau::short_step() const {
  constexpr double kShort = 1e-6;
  constexpr double kMoreEachTime = 100.0;
  return longest_step_ * std::min(1.0, kShort * std::pow(kMoreEachTime, jumps_));
}

StepOutcome Radau::cross_jump(double t_end, double h, double natural_step) {
  ++jumps_;
  accepted_step_ = 0.0;
  first_ = false;
  accept(t_end, h);
  next_step_ = std::max(natural_step, longest_step_);
  return {};
}

// Newton's method for all but the readings, which then follow from the rest one after the other.
bool Radau::solve_without_readings(double t_end, double h) {
  if (readings_.empty()) return false;
  predict(h);
  leaves_readings_ = true;
  const NewtonResult newton = solve_stages(t_end, h);
  leaves_readings_ = false;
  if (newton != NewtonResult::kConverged || !settle_readings(t_end, h)) return false;
  const double error = estimate_error(h, true);
  if (!std::isfinite(error)) return false;
  for (std::size_t j = 0; j < n_; ++j)
    if (!is_reading_[j] && !(control_[j] * std::abs(error_[j]) * scale_[j] < 1.0)) return false;
  return true;
}

// Each once, when all that it depends on has its value: a sum that is nothing but rounding is
// another one every time.
bool Radau::settle_readings(double t_end, double h) {
  constexpr double kSettled = 1e-3;  // of the tolerance
  const int last = readings_.back().level;
  for (int level = 0; level <= last + 1; ++level) {
    evaluate_stages(t_end, h);
    if (!kernels_.all_finite(residual_.size(), residual_.data())) return false;
    for (const Reading& r : readings_) {
      if (r.level > level) continue;
      const double slope = jacobian_[r.place];
      if (slope == 0.0) return false;
      for (std::size_t i = 0; i < 4; ++i) {
        const double off = residual_[4 * r.row + i] / slope;
        if (r.level == level) {
          z_[4 * r.unknown + i] -= off;
        } else if (!(std::abs(off) * scale_[r.unknown] <= kSettled)) {
          return false;
        }
      }
    }
  }
  return true;
}

void Radau::evaluate_stages(double t_end, double h) {
  const Tableau& tab = tableau();
  const Matrix to_slopes = stage_matrix(tab.inverse, 1.0 / h, true);
  const double times[4] = {t0_ + tab.c[0] * h, t0_ + tab.c[1] * h, t_end, t_end};
  kernels_.add_start_and_multiply(n_, x0_.data(), to_slopes, z_.data(), stages_x_.data(),
                                  stages_dx_.data());
  dae_.residual_lanes(data_, times, stages_x_.data(), stages_dx_.data(), residual_.data());
  counts_.residuals += 3;
}

StepOutcome Radau::retake(double t) {
  const double h = t - t0_;
  NewtonResult newton = NewtonResult::kDiverged;
  for (;;) {
    guess_again(h);
    const bool regular = factor(h);
    if (regular) newton = solve_stages(t, h);
    if (newton == NewtonResult::kConverged) break;
    if (jacobian_is_fresh_) {
      if (regular && solve_without_readings(t, h)) break;
      return give_up(newton, !regular);
    }
    evaluate_jacobian();
  }
  accept(t, h);
  --counts_.steps;  // it replaces one that was counted
  return {};
}

// Starts from the polynomial of the step that is taken again, unless that was so much shorter that
// it tells nothing.
void Radau::guess_again(double h) {
  const double ratio = h / h_;
  if (ratio > kFarthest) {
    follow_slope(h);
  } else {
    kernels_.multiply(n_, weights_at_nodes(0.0, ratio), stages_.data(), z_.data());
  }
}

// Along the slope at the start of the step.
void Radau::follow_slope(double h) {
  const auto& c = tableau().c;
  for (std::size_t j = 0; j < n_; ++j)
    for (std::size_t i = 0; i < 4; ++i)
      z_[4 * j + i] = c[std::min<std::size_t>(i, 2)] * h * dx0_[j];
}

void Radau::begin_step() {
  // Copied, not swapped: if the step fails the integrator still stands at its last good point.
  x0_ = x1_;
  dx0_ = dx1_;
  t0_ = t1_;
  for (std::size_t j = 0; j < n_; ++j) scale_[j] = 1.0 / (atol_[j] + rtol_ * std::abs(x0_[j]));
}

// What lies behind constraints is determined through quotients by h and is that much less accurate
// (Hairer & Wanner II, VII.4): its errors count as what they do to the positions.
void Radau::weigh(double h) {
  const double factor = std::min(1.0, h);
  for (std::size_t j = 0; j < levels_.size(); ++j)
    if (levels_[j] > 0 && control_[j] == 0.0)
      scale_[j] = std::pow(factor, levels_[j]) / (atol_[j] + rtol_ * std::abs(x0_[j]));
}

void Radau::accept(double t_end, double h) {
  const auto& inverse = tableau().inverse;
  z_.swap(stages_);
  t1_ = t_end;
  h_ = h;
  for (std::size_t j = 0; j < n_; ++j) {
    const double* z = &stages_[4 * j];
    x1_[j] = x0_[j] + z[2];
    dx1_[j] = (inverse(2, 0) * z[0] + inverse(2, 1) * z[1] + inverse(2, 2) * z[2]) / h;
  }
  if (has_constraints_) polish(h);
  jacobian_is_fresh_ = false;
  // Where equations contradict each other by the error of a step, the point that satisfies them
  // best depends on the Jacobian.
  reuse_jacobian_ =
      dae_.has_constant_jacobian() || (theta_ < kReuseJacobian && !dae_.definition().redundant);
  ++counts_.steps;
}

// Newton stops where its error is small against the tolerance, but constraints are to hold far
// better than that: a few more iterations at the end point alone, with the factors at hand.
void Radau::polish(double h) {
  const double gamma = tableau().gamma / h;
  const std::vector<bool>& exact = dae_.definition().exact;
  for (int k = 0; k < kMaxPolish; ++k) {
    dae_.residual(data_, t1_, x1_.data(), dx1_.data(), work_.data());
    ++counts_.residuals;
    for (std::size_t j = 0; j < m_; ++j)
      if (!std::isfinite(work_[j])) return;
    // Equations that cannot hold all at once were weighed against each other over the whole step.
    for (std::size_t j = 0; j < exact.size(); ++j)
      if (!exact[j]) work_[j] = 0.0;
    solve_real(work_.data());
    double largest = 0.0;
    for (std::size_t j = 0; j < n_; ++j) {
      x1_[j] -= work_[j];
      dx1_[j] -= gamma * work_[j];
      stages_[4 * j + 2] -= work_[j];
      stages_[4 * j + 3] -= work_[j];
      largest = std::max(largest, std::abs(work_[j]) * scale_[j]);
    }
    if (largest * rtol_ <= kPolished) return;
  }
}

void Radau::evaluate_jacobian() {
  dae_.jacobian(data_, t0_, x0_.data(), dx0_.data(), jacobian_.data());
  ++counts_.jacobians;
  jacobian_is_fresh_ = true;
  is_spread_ = false;
  factored_step_ = 0.0;
}

bool Radau::factor(double h) {
  if (h == factored_step_) return true;
  const std::size_t nonzeros = values_.size() / 4;
  const double* by_dx = jacobian_.data() + nonzeros;
  const double along_dx[4] = {tableau().gamma / h, tableau().alpha / h, -tableau().beta / h, 0.0};
  if (!is_spread_) kernels_.spread(nonzeros, jacobian_.data(), values_.data());
  is_spread_ = levels_.empty();  // below, they change what was spread
  kernels_.mix(derivative_places_.size(), derivative_places_.data(), jacobian_.data(), by_dx,
               along_dx, values_.data());
  // Columns of unknowns behind constraints: without this the pivots shrink like powers of h.
  const Pattern& pattern = dae_.pattern();
  for (std::size_t j = 0; j < levels_.size(); ++j) {
    if (levels_[j] == 0) continue;
    const double factor = std::pow(h, -levels_[j]);
    for (int k = 4 * pattern.start[j]; k < 4 * pattern.start[j + 1]; ++k) values_[k] *= factor;
  }
  ++counts_.factorizations;
  const bool ok = solver_.factor(values_.data());
  factored_step_ = ok ? h : 0.0;
  return ok;
}

void Radau::solve_real(double* b) const {
  solver_.solve_real(b);
  for (std::size_t j = 0; j < levels_.size(); ++j)
    if (levels_[j] > 0) b[j] *= std::pow(factored_step_, -levels_[j]);
}

void Radau::solve_both() {
  solver_.solve(both_.data());
  for (std::size_t j = 0; j < levels_.size(); ++j)
    if (levels_[j] > 0)
      for (std::size_t i = 0; i < 3; ++i) both_[4 * j + i] *= std::pow(factored_step_, -levels_[j]);
}

// Stage values from the polynomial of the step before, or along the slope after a restart.
void Radau::predict(double h) {
  if (h_ == 0.0 || h > kFarthest * h_) {
    follow_slope(h);
  } else {
    kernels_.multiply(n_, weights_at_nodes(1.0, h / h_), stages_.data(), z_.data());
  }
}

// Slopes and multipliers act on what is integrated through the step size only, and where springs
// are stiff their rounding alone exceeds the tolerance: Newton need not find them any better
// (Hairer & Wanner II, VII.3, scale components of higher index in the same way).
double Radau::slack_of_uncontrolled(double h) const {
  return control_count_ == 0.0 ? 1.0 : std::min(1.0, h);
}

Radau::NewtonResult Radau::solve_stages(double t_end, double h) {
  const Tableau& tab = tableau();
  weigh(h);
  const double slack = slack_of_uncontrolled(h);
  for (std::size_t j = 0; j < n_; ++j) newton_weights_[j] = scale_[j] * (is_slack(j) ? slack : 1.0);
  if (leaves_readings_)
    for (const Reading& r : readings_) newton_weights_[r.unknown] = 0.0;
  // What the last step showed, unless that was so good that it says nothing of this one: its first
  // update may have been a long way along a straight line.
  const double floor = dae_.has_constant_jacobian() ? kEpsilon : kLeastContraction;
  contraction_ = contraction_ <= floor ? floor : std::max(std::pow(contraction_, 0.8), floor);
  theta_ = kReuseJacobian;
  double previous_norm = 0.0;
  double previous_ratio = 0.0;
  for (iterations_ = 1; iterations_ <= kMaxIterations; ++iterations_) {
    evaluate_stages(t_end, h);
    ++counts_.newton_iterations;
    if (!kernels_.all_finite(residual_.size(), residual_.data())) {
      for (std::size_t k = 0; k < residual_.size(); ++k)
        if (!std::isfinite(residual_[k])) bad_equation_ = k / 4;
      return NewtonResult::kNotFinite;
    }
    kernels_.multiply(m_, tab.minus_eigeninverse, residual_.data(), both_.data());
    solve_both();
    const double sum = kernels_.multiply_and_measure(n_, tab.eigenvectors, both_.data(),
                                                     newton_weights_.data(), update_.data());
    const double size = n_ == 0 ? 0.0 : std::sqrt(sum / (3.0 * static_cast<double>(n_)));
    if (!std::isfinite(size)) return NewtonResult::kDiverged;

    const int left = kMaxIterations - 1 - iterations_;
    if (iterations_ > 1 && iterations_ < kMaxIterations) {
      const double ratio = size / previous_norm;
      theta_ = iterations_ == 2 ? ratio : std::sqrt(ratio * previous_ratio);
      previous_ratio = ratio;
      if (theta_ >= 0.99) {
        if (size > kRoundingUpdate) return NewtonResult::kDiverged;
        theta_ = kReuseJacobian;
        return NewtonResult::kConverged;
      }
      contraction_ = theta_ / (1.0 - theta_);
      double expected = contraction_ * size / newton_tolerance_;
      for (int k = 0; k < left; ++k) expected *= theta_;
      if (expected >= 1.0 && contraction_ * size > kLoosestNewton && size > kRoundingUpdate) {
        const double excess = std::clamp(expected, 1e-4, 20.0);
        newton_shrink_ = 0.8 * std::pow(excess, -1.0 / (4.0 + left));
        return NewtonResult::kTooSlow;
      }
    }
    previous_norm = std::max(size, kEpsilon);
    kernels_.add(n_, update_.data(), z_.data());
    if (contraction_ * size <= newton_tolerance_) return NewtonResult::kConverged;
  }
  iterations_ = kMaxIterations;
  if (contraction_ * previous_norm <= kLoosestNewton) return NewtonResult::kConverged;
  newton_shrink_ = 0.5;
  return NewtonResult::kTooSlow;
}

// (gamma/h F_x' + F_x)^-1 F_x' (x0' + sum dd_i Z_i / h): the difference to an embedded formula of
// order 3. `filter` repeats it once from x0 + error, which tames the estimate on stiff transients.
double Radau::estimate_error(double h, bool filter) {
  const auto& dd = tableau().dd;
  const double* by_dx = jacobian_.data() + values_.size() / 4;
  for (std::size_t j = 0; j < n_; ++j) {
    const double* z = &z_[4 * j];
    point_dx_[j] = dx0_[j] + (dd[0] * z[0] + dd[1] * z[1] + dd[2] * z[2]) / h;
  }
  std::fill(work_.begin(), work_.end(), 0.0);
  for (const Entry& e : derivative_entries_) work_[e.row] += by_dx[e.place] * point_dx_[e.column];
  std::copy(work_.begin(), work_.end(), error_.begin());
  solve_real(error_.data());
  double error = norm(error_.data());
  if (error >= 1.0 && filter) {
    for (std::size_t j = 0; j < n_; ++j) point_x_[j] = x0_[j] + error_[j];
    dae_.residual(data_, t0_, point_x_.data(), dx0_.data(), error_.data());
    ++counts_.residuals;
    for (std::size_t j = 0; j < m_; ++j) error_[j] = work_[j] - error_[j];
    solve_real(error_.data());
    error = norm(error_.data());
  }
  return std::max(error, 1e-10);
}

// How far the continuous output is from satisfying the equations in the middle of the step, in the
// algebraic unknowns. The embedded estimate only sees the differential ones, but outputs and guards
// read both inside the step: an algebraic unknown driven by time alone would go unnoticed.
double Radau::estimate_defect(double h) {
  constexpr double kMiddle = 0.4;  // between the nodes, where collocation says nothing
  const CollocationWeights w = radau_collocation().weights(kMiddle);
  for (std::size_t j = 0; j < n_; ++j) {
    const double* z = &z_[4 * j];
    point_x_[j] = x0_[j] + w.value_of(z);
    point_dx_[j] = w.slope_of(z) / h;
  }
  dae_.residual(data_, t0_ + kMiddle * h, point_x_.data(), point_dx_.data(), work_.data());
  ++counts_.residuals;
  solve_real(work_.data());
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t j = 0; j < n_; ++j) {
    if (control_[j] == 0.0 || dae_.is_differential(j)) continue;
    const double weighted = work_[j] * scale_[j];
    sum += weighted * weighted;
    count += 1.0;
  }
  double defect = count == 0.0 ? 0.0 : std::sqrt(sum / count);
  // What only guards read (multipliers, weights of a mixture) must show where it may cross zero;
  // how exactly is then found by real steps.
  for (const std::uint32_t j : options_.watched)
    if (control_[j] == 0.0 && !dae_.is_differential(j))
      defect = std::max(defect, std::abs(work_[j]) * watched_scale_ /
                                    (dae_.definition().nominal[j] + std::abs(x0_[j])));
  return std::isfinite(defect) ? defect : 1e10;
}

// Predictive control (Gustafsson): looks at the last two errors; Newton's iteration count caps it.
double Radau::next_step_size(double h, double error) {
  const double cap = std::min(
      kSafety, kSafety * (1.0 + 2.0 * kMaxIterations) / (iterations_ + 2.0 * kMaxIterations));
  const double growth = first_ && !step_was_given_ ? kLargestFirstGrowth : kLargestGrowth;
  const double shrink = first_ ? kLargestFirstShrink : kLargestShrink;
  double quotient = std::clamp(std::sqrt(std::sqrt(error)) / cap, 1.0 / growth, shrink);
  if (error < 1.0 && accepted_step_ > 0.0) {
    const double predicted = accepted_step_ / h *
                             std::sqrt(std::sqrt(error * error / std::max(1e-2, accepted_error_))) /
                             kSafety;
    quotient = std::max(quotient, std::clamp(predicted, 1.0 / growth, kLargestShrink));
    // Along oscillations the estimate passes through zero now and then: the error before, at this
    // length, says how far that can be trusted.
    const double before =
        kTrustInDips * h / accepted_step_ * std::sqrt(std::sqrt(accepted_error_)) / cap;
    quotient = std::max(quotient, std::min(before, 1.0));
  }
  double proposal = h / quotient;
  if (theta_ > 0.0) proposal = std::min(proposal, h * std::max(1.0, kLargestContraction / theta_));
  const double ratio = proposal / h;
  if (error < 1.0 && ratio >= kKeepStepFrom && ratio <= kKeepStepTo) return h;
  return std::min(proposal, options_.max_step);
}

// Just after an event fast parts still settle, and the error shrinks like a lower power of h than
// the order of the estimate: two rejections tell which.
double Radau::step_by_order(double h, double error, const Rejected& before) {
  const double order = std::log(before.error / error) / std::log(before.step / h);
  const double shrink = std::pow(error, 1.0 / std::clamp(order, 1.0, 4.0)) / kSafety;
  return h / std::min(shrink, kLargestFirstShrink);
}

double Radau::choose_first_step(double limit) const {
  if (options_.first_step > 0.0) return options_.first_step;
  // Follow the slope over the change at which an error of order 4 would reach the tolerance.
  double rate = 0.0;
  for (std::size_t j = 0; j < n_; ++j) {
    if (!dae_.is_differential(j)) continue;
    const double size = std::max(std::abs(x0_[j]), atol_[j] / rtol_);
    rate = std::max(rate, std::abs(dx0_[j]) / size);
  }
  const double span = limit - t0_;
  const double longest = std::isfinite(span) ? 1e-2 * span : 1.0;
  return rate > 0.0 ? std::min(longest, 0.3 * std::pow(rtol_, 0.25) / rate) : longest;
}

void Radau::interpolate(double t, std::span<const std::uint32_t> unknowns, double* x,
                        double* dx) const {
  if (h_ == 0.0) {
    for (const std::uint32_t j : unknowns) {
      x[j] = x1_[j];
      dx[j] = dx1_[j];
    }
    return;
  }
  const CollocationWeights w = radau_collocation().weights(t == t1_ ? 1.0 : (t - t0_) / h_);
  for (const std::uint32_t j : unknowns) {
    const double* z = &stages_[4 * std::size_t{j}];
    x[j] = x0_[j] + w.value_of(z);
    dx[j] = w.slope_of(z) / h_;
  }
}

bool Radau::interpolate_lanes(std::span<const double, 4> times,
                              std::span<const std::uint32_t> unknowns, double* x) const {
  if (h_ == 0.0) return false;
  collocation_lanes({t0_, t1_, h_, x0_, stages_}, times, unknowns, x);
  return true;
}

double Radau::norm(const double* v) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < n_; ++j) {
    const double weighted = v[j] * scale_[j];  // before it is squared: values may be huge
    sum += control_[j] * weighted * weighted;
  }
  return control_count_ == 0.0 ? 0.0 : std::sqrt(sum / control_count_);
}

std::size_t Radau::largest_error() const {
  std::size_t worst = 0;
  for (std::size_t j = 0; j < n_; ++j)
    if (std::abs(error_[j]) * scale_[j] > std::abs(error_[worst]) * scale_[worst]) worst = j;
  return worst;
}

StepOutcome Radau::give_up(NewtonResult newton, bool singular) const {
  if (singular) {
    const int column = std::max(solver_.dependent_column(), 0);
    return {StepStatus::kSingular, static_cast<std::size_t>(column)};
  }
  if (newton == NewtonResult::kNotFinite) return {StepStatus::kNotFinite, bad_equation_};
  return {StepStatus::kStepTooSmall, largest_error()};
}

}  // namespace saltus
