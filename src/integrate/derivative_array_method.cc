#include "integrate/derivative_array_method.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "expr/differentiate.h"
#include "integrate/collocation.h"
#include "linalg/dense.h"

// Letters as in HM section 4: F_mu the derivative array, M and N its Jacobian by (x', ...,
// x^(mu+1)) and by x, Z1 and Z2 the projections onto differential equations and constraints.

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxFailures = 60;
constexpr int kMaxIterations = 10;
constexpr int kMaxPolish = 5;
constexpr double kSafety = 0.9;
constexpr double kLargestShrink = 5.0;
constexpr double kLargestGrowth = 8.0;
// A change of h within these factors is not worth new factorizations.
constexpr double kKeepStepTo = 1.2;
// Iterations that contract faster than this keep their linearization for the next step.
constexpr double kReuse = 1e-3;
constexpr double kPolished = 1e-13;

// The array's own derivatives grow with powers of the speed of the solution.
void equilibrate(const Eigen::MatrixXd& jacobian, ArrayScaling& scaling) {
  const Eigen::MatrixXd sizes = jacobian.cwiseAbs();
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (Eigen::Index i = 0; i < sizes.rows(); ++i) {
      const double largest = sizes.row(i).cwiseProduct(scaling.columns.transpose()).maxCoeff();
      if (largest > 0.0) scaling.rows(i) = 1.0 / largest;
    }
    for (Eigen::Index j = 0; j < sizes.cols(); ++j) {
      const double largest = sizes.col(j).cwiseProduct(scaling.rows).maxCoeff();
      if (largest > 0.0) scaling.columns(j) = 1.0 / largest;
    }
  }
}

// A pivoted QR decomposition and the rank that its pivots tell.
struct Pivoted {
  explicit Pivoted(const Eigen::MatrixXd& a) : qr(a), rows(a.rows()) {
    const Eigen::VectorXd pivots = qr.pivots();
    const double largest = qr.largest_pivot();
    // Where pivots shrink slowly the widest gap tells more than any tolerance.
    double widest = kClearGap;
    for (Eigen::Index k = 0; k < pivots.size() && pivots(k) > kRounding * largest; ++k) {
      if (pivots(k) > kArrayRankTolerance * largest) rank = k + 1;
      const double next = k + 1 < pivots.size() ? pivots(k + 1) : 0.0;
      const double gap = pivots(k) / std::max(next, 1e-3 * kRounding * largest);
      if (next > kDoubtful * largest || gap <= widest) continue;
      widest = gap;
      clear_rank = k + 1;
    }
    if (clear_rank > 0) rank = clear_rank;
  }

  // Columns of Q: the first `rank` span the range, the rest what is left.
  Eigen::MatrixXd basis(Eigen::Index from, Eigen::Index count) const {
    return qr.q_columns(from, count);
  }
  Eigen::MatrixXd range() const { return basis(0, rank); }
  Eigen::MatrixXd left_null() const { return basis(rank, rows - rank); }
  // Between the last pivot that counts and the first that does not, relative to the largest.
  double threshold() const {
    const Eigen::VectorXd pivots = qr.pivots() / qr.largest_pivot();
    const double last = rank > 0 ? pivots(rank - 1) : 1.0;
    const double next = rank < pivots.size() ? pivots(rank) : 0.0;
    return std::sqrt(last * std::max(next, 1e-3 * kRounding));
  }

  static constexpr double kClearGap = 1e4;
  static constexpr double kDoubtful = 1e-7;
  static constexpr double kRounding = 1e-14;
  PivotedQr qr;
  Eigen::Index rows = 0;
  Eigen::Index rank = 0;
  Eigen::Index clear_rank = 0;
};

}  // namespace

DerivativeArrayMethod::DerivativeArrayMethod(Graph& graph, const DaeDefinition& mode,
                                             const CharacteristicValues& values,
                                             std::vector<bool> controlled, DaeData& data,
                                             IntegratorOptions options)
    : array_(graph, mode, values.mu),
      values_(values),
      m_(static_cast<Index>(mode.residuals.size())),
      n_(static_cast<Index>(mode.unknowns.size())),
      controlled_(std::move(controlled)),
      data_(data),
      options_(std::move(options)) {
  // As Radau: the estimate is of lower order than the step.
  constexpr double kControlFactor = 0.02;
  rtol_ = kControlFactor * std::pow(options_.tolerance, 2.0 / 3.0);
  newton_tolerance_ = std::max(10.0 * kEpsilon / rtol_, std::min(0.03, std::sqrt(rtol_)));
  atol_.resize(n_);
  for (Index j = 0; j < n_; ++j)
    atol_(j) =
        rtol_ / options_.tolerance * options_.absolute_tolerance[static_cast<std::size_t>(j)];
  const auto size = static_cast<Index>(array_.symbols());
  for (Vector* v : {&z0_, &z1_, &dz1_}) *v = Vector::Zero(size);
  for (auto* increments : {&tried_, &stages_})
    for (Vector& v : *increments) v = Vector::Zero(size);
  scale_ = error_ = Vector::Zero(n_);
  std::vector<bool> differentiated(mode.unknowns.size(), false);
  for (const JacobianEntry& e : jacobian(mode.residuals, mode.derivatives))
    differentiated[e.column] = true;
  for (std::size_t j = 0; j < controlled_.size(); ++j) {
    // Without differential equations nothing is integrated, not even what is differentiated.
    watched_.push_back(controlled_[j] && (values.d == 0 || !differentiated[j]));
    watches_algebraic_ = watches_algebraic_ || watched_.back();
  }
}

void DerivativeArrayMethod::restart(double t, std::span<const double> x,
                                    std::span<const double> /*dx*/, double step) {
  t0_ = t1_ = t;
  h_ = 0.0;
  std::copy(x.begin(), x.end(), z1_.data());
  dz1_.setZero();
  dz1_.head(z1_.size() - n_) = z1_.tail(z1_.size() - n_);
  z0_ = z1_;
  next_step_ = step;
  first_ = true;
  complete_derivatives();
  is_linearized_ = false;
}

// x and x' are given; the higher derivatives follow from the array.
void DerivativeArrayMethod::complete_derivatives() {
  const Index known = 2 * n_;
  if (z1_.size() == known) return;
  z1_.tail(z1_.size() - known).setZero();
  z0_ = z1_;
  for (int k = 0; k < kMaxPolish; ++k) {
    if (!linearize()) return;
    const Vector change = change_of_derivatives(evaluate(t0_, z0_), Vector::Zero(n_));
    if (!change.allFinite()) return;
    z0_.tail(change.size()) += change;
    if (change.norm() <= kPolished * (1.0 + z0_.tail(change.size()).norm())) break;
  }
  z1_ = z0_;
  dz1_.head(z1_.size() - n_) = z1_.tail(z1_.size() - n_);
}

StepOutcome DerivativeArrayMethod::step(double limit) {
  z0_ = z1_;
  t0_ = t1_;
  for (Index j = 0; j < n_; ++j) scale_(j) = 1.0 / (atol_(j) + rtol_ * std::abs(z0_(j)));
  if (!is_linearized_ && !linearize()) return {StepStatus::kRanksChanged, 0};
  const double natural_step = next_step_ > 0.0 ? next_step_ : choose_first_step(limit);
  double h = std::min(natural_step, options_.max_step);
  bool rejected = false;
  for (int failures = 0; failures < kMaxFailures; ++failures) {
    const bool reaches_limit = t0_ + 1.0001 * h >= limit;
    if (reaches_limit) h = limit - t0_;
    const double t_end = reaches_limit ? limit : t0_ + h;
    if (failures > 0 && h <= 10.0 * kEpsilon * std::max(std::abs(t0_), kEpsilon)) break;
    factor(h);
    if (!solve_stages(t_end, h)) {
      ++counts_.rejected;
      if (!is_fresh_) {
        if (!linearize()) return {StepStatus::kRanksChanged, 0};
        continue;
      }
      h *= not_finite_ ? 0.1 : 0.5;
      rejected = true;
      continue;
    }
    const double error =
        std::max(estimate_error(h, first_ || rejected), watches_algebraic_ ? defect(h) : 0.0);
    const double growth = rejected ? 1.0 : kLargestGrowth;
    double proposal =
        h * std::clamp(kSafety * std::pow(error, -0.25), 1.0 / kLargestShrink, growth);
    if (!(error < 1.0)) {
      ++counts_.rejected;
      rejected = true;
      h = first_ && next_step_ <= 0.0 ? 0.1 * h : std::min(proposal, kSafety * h);
      if (!is_fresh_ && !linearize()) return {StepStatus::kRanksChanged, 0};
      continue;
    }
    if (proposal >= h && proposal <= kKeepStepTo * h) proposal = h;
    // A step cut by a limit says little about what the solution allows.
    if (reaches_limit && !rejected) proposal = std::max(proposal, natural_step);
    accept(t_end, h);
    ++counts_.steps;
    next_step_ = std::min(proposal, options_.max_step);
    first_ = false;
    return {};
  }
  return failure(StepStatus::kStepTooSmall);
}

StepOutcome DerivativeArrayMethod::retake(double t) {
  const double h = t - t0_;
  factor(h);
  if (!solve_stages(t, h, true)) {
    if (!linearize()) return {StepStatus::kRanksChanged, 0};
    factor(h);
    if (!solve_stages(t, h, true)) return failure(StepStatus::kStepTooSmall);
  }
  accept(t, h);
  return {};
}

bool DerivativeArrayMethod::linearize() {
  const Matrix jacobian = array_.jacobian(t0_, z0_, data_.parameters, data_.held);
  ++counts_.jacobians;
  if (!jacobian.allFinite()) return false;
  ArrayScaling scaling = balance_array(array_, jacobian, m_, n_);
  equilibrate(jacobian, scaling);
  const Index higher = jacobian.cols() - n_;
  row_scale_ = scaling.rows;
  column_scale_ = scaling.columns.tail(higher);
  by_x_ = jacobian.topLeftCorner(m_, n_);
  by_dx_ = jacobian.block(0, n_, m_, n_);
  array_by_x_ = jacobian.leftCols(n_);
  scaled_higher_ =
      row_scale_.asDiagonal() * jacobian.rightCols(higher) * column_scale_.asDiagonal();
  const Pivoted derivatives(scaled_higher_);
  higher_.emplace(scaled_higher_, derivatives.threshold());
  const Matrix without_derivatives = derivatives.left_null();
  const Matrix scaled_x =
      row_scale_.asDiagonal() * array_by_x_ * scaling.columns.head(n_).asDiagonal();
  const Matrix constraints = without_derivatives.transpose() * scaled_x;
  constraints_ = Matrix::Zero(jacobian.rows(), 0);
  Matrix free = Matrix::Identity(n_, n_);
  if (constraints.rows() > 0) {
    free = Pivoted(constraints.transpose()).left_null();
    constraints_ = row_scale_.asDiagonal() * (without_derivatives * Pivoted(constraints).range());
  }
  const Vector rows = row_scale_.head(m_);
  differential_ = Matrix::Zero(m_, 0);
  if (free.cols() > 0)
    differential_ =
        rows.asDiagonal() *
        Pivoted(rows.asDiagonal() * by_dx_ * scaling.columns.head(n_).asDiagonal() * free).range();
  if (constraints_.cols() != values_.a || differential_.cols() != values_.d) return false;
  is_linearized_ = is_fresh_ = true;
  factored_step_ = 0.0;
  settle_free_derivatives();
  return true;
}

// Derivatives that the array leaves free are to be as small as they can be, lest they add up.
void DerivativeArrayMethod::settle_free_derivatives() {
  if (values_.mu == 0) return;
  leave_out_free(z0_);
  for (int k = 0; k < 2; ++k)
    z0_.tail(z0_.size() - n_) += change_of_derivatives(evaluate(t0_, z0_), Vector::Zero(n_));
}

void DerivativeArrayMethod::leave_out_free(Vector& z) const {
  const Vector scaled = z.tail(z.size() - n_).cwiseQuotient(column_scale_);
  z.tail(z.size() - n_) = column_scale_.asDiagonal() * higher_->solve(scaled_higher_ * scaled);
}

// The linearized equations for the x of the three nodes, and those of the error estimate.
void DerivativeArrayMethod::factor(double h) {
  if (h == factored_step_) return;
  const Collocation& formula = radau_collocation();
  const Index d = differential_.cols();
  const Matrix slope_part = differential_.transpose() * by_dx_;
  Matrix value_part(n_, n_);
  value_part.topRows(d) = differential_.transpose() * by_x_;
  value_part.bottomRows(n_ - d) = constraints_.transpose() * array_by_x_;
  Matrix all = Matrix::Zero(3 * n_, 3 * n_);
  for (Index i = 0; i < 3; ++i) {
    all.block(i * n_, i * n_, n_, n_) = value_part;
    for (Index k = 0; k < 3; ++k)
      all.block(i * n_, k * n_, d, n_) += formula.inverse(i, k) / h * slope_part;
  }
  stage_system_.factor(all);
  value_part.topRows(d) += formula.real_eigenvalue / h * slope_part;
  error_system_.factor(value_part);
  factored_step_ = h;
  ++counts_.factorizations;
}

DerivativeArrayMethod::Vector DerivativeArrayMethod::evaluate(double t, const Vector& z) {
  ++counts_.residuals;
  return array_.residual(t, z, data_.parameters, data_.held);
}

// -M^+ (F_mu + N dx).
DerivativeArrayMethod::Vector DerivativeArrayMethod::change_of_derivatives(const Vector& array,
                                                                           const Vector& dx) const {
  const Vector right = row_scale_.asDiagonal() * (array + array_by_x_ * dx);
  return -(column_scale_.asDiagonal() * higher_->solve(right));
}

// `again`: the last step is taken again.
bool DerivativeArrayMethod::solve_stages(double t_end, double h, bool again) {
  const Collocation& formula = radau_collocation();
  const Index d = differential_.cols();
  not_finite_ = false;
  for (int i = 0; i < 3; ++i) {
    // From the polynomial of the last step, or along the slopes after a restart.
    if (h_ > 0.0) {
      const CollocationWeights w = formula.weights((again ? 0.0 : 1.0) + formula.c[i] * h / h_);
      tried_[i] = w.value[0] * stages_[0] + w.value[1] * stages_[1] + w.value[2] * stages_[2];
      if (!again) tried_[i] -= stages_[2];
    } else {
      tried_[i].setZero();
      const Index known = z0_.size() - n_;
      tried_[i].head(known) = formula.c[i] * h * z0_.tail(known);
    }
    if (values_.mu > 0) leave_out_free(tried_[i]);
  }
  theta_ = 0.0;
  double previous = 0.0;
  std::array<Vector, 3> arrays;
  Vector right(3 * n_);
  for (int iteration = 1; iteration <= kMaxIterations; ++iteration) {
    for (int i = 0; i < 3; ++i) {
      const double t = i == 2 ? t_end : t0_ + formula.c[i] * h;
      Vector z = z0_ + tried_[i];
      arrays[i] = evaluate(t, z);
      z.segment(n_, n_) =
          (formula.inverse(i, 0) * tried_[0].head(n_) + formula.inverse(i, 1) * tried_[1].head(n_) +
           formula.inverse(i, 2) * tried_[2].head(n_)) /
          h;
      const Vector discrete = evaluate(t, z).head(m_);
      right.segment(i * n_, d) = differential_.transpose() * discrete;
      right.segment(i * n_ + d, n_ - d) = constraints_.transpose() * arrays[i];
    }
    ++counts_.newton_iterations;
    if (!right.allFinite()) {
      not_finite_ = true;
      for (const Vector& values : arrays)
        for (Index k = 0; k < values.size(); ++k)
          if (!std::isfinite(values(k))) bad_equation_ = static_cast<std::size_t>(k);
      return false;
    }
    const Vector update = stage_system_.solve(right);
    const double slack = std::min(1.0, h);
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
      const Vector dx = -update.segment(i * n_, n_);
      tried_[i].head(n_) += dx;
      tried_[i].tail(tried_[i].size() - n_) += change_of_derivatives(arrays[i], dx);
      for (Index j = 0; j < n_; ++j) {
        const double weighed =
            dx(j) * scale_(j) * (controlled_[static_cast<std::size_t>(j)] ? 1.0 : slack);
        sum += weighed * weighed;
      }
    }
    const double size = std::sqrt(sum / (3.0 * static_cast<double>(n_)));
    if (!std::isfinite(size)) return false;
    if (iteration > 1) {
      theta_ = size / previous;
      if (theta_ >= 0.99 && size > newton_tolerance_) return false;
      if (theta_ / (1.0 - std::min(theta_, 0.99)) * size <= newton_tolerance_) return true;
    }
    if (size <= 1e-3 * newton_tolerance_) return true;
    previous = size;
  }
  return false;
}

// The difference to an embedded formula of order 3, as in Radau.
double DerivativeArrayMethod::estimate_error(double h, bool filter) {
  const double root6 = std::sqrt(6.0);
  const double dd[] = {-(13.0 + 7.0 * root6) / 3.0, (-13.0 + 7.0 * root6) / 3.0, -1.0 / 3.0};
  const Index d = differential_.cols();
  const Vector slope =
      z0_.segment(n_, n_) +
      (dd[0] * tried_[0].head(n_) + dd[1] * tried_[1].head(n_) + dd[2] * tried_[2].head(n_)) / h;
  Vector right = Vector::Zero(n_);
  right.head(d) = differential_.transpose() * (by_dx_ * slope);
  error_ = error_system_.solve(right);
  double error = norm(error_);
  if (error >= 1.0 && filter) {
    Vector z = z0_;
    z.head(n_) += error_;
    const Vector array = evaluate(t0_, z);
    right.head(d) -= differential_.transpose() * array.head(m_);
    right.tail(n_ - d) -= constraints_.transpose() * array;
    error_ = error_system_.solve(right);
    error = norm(error_);
  }
  return std::max(error, 1e-10);
}

// How far algebraic unknowns that count are from the constraints in the middle of the step: one
// driven by time alone would go unnoticed otherwise.
double DerivativeArrayMethod::defect(double h) {
  constexpr double kMiddle = 0.4;  // between the nodes, where collocation says nothing
  const CollocationWeights w = radau_collocation().weights(kMiddle);
  const Vector z = z0_ + w.value[0] * tried_[0] + w.value[1] * tried_[1] + w.value[2] * tried_[2];
  const Index d = differential_.cols();
  Vector right = Vector::Zero(n_);
  right.tail(n_ - d) = constraints_.transpose() * evaluate(t0_ + kMiddle * h, z);
  const Vector dx = error_system_.solve(right);
  double sum = 0.0;
  double count = 0.0;
  for (Index j = 0; j < n_; ++j) {
    if (!watched_[static_cast<std::size_t>(j)]) continue;
    sum += std::pow(dx(j) * scale_(j), 2);
    count += 1.0;
  }
  return count == 0.0 ? 0.0 : std::sqrt(sum / count);
}

void DerivativeArrayMethod::accept(double t_end, double h) {
  tried_.swap(stages_);
  t1_ = t_end;
  h_ = h;
  z1_ = z0_ + stages_[2];
  polish();
  stages_[2] = z1_ - z0_;
  dz1_.head(z1_.size() - n_) = z1_.tail(z1_.size() - n_);
  is_fresh_ = false;
  is_linearized_ = theta_ < kReuse;
}

// The array is to hold far better than the tolerance asks for: more iterations at the end point.
void DerivativeArrayMethod::polish() {
  const Index d = differential_.cols();
  for (int k = 0; k < kMaxPolish; ++k) {
    const Vector array = evaluate(t1_, z1_);
    if (!array.allFinite()) return;
    Vector right = Vector::Zero(n_);
    right.tail(n_ - d) = constraints_.transpose() * array;
    const Vector dx = -error_system_.solve(right);
    const Vector dy = change_of_derivatives(array, dx);
    z1_.head(n_) += dx;
    z1_.tail(dy.size()) += dy;
    if (dx.norm() <= kPolished * (1.0 + z1_.head(n_).norm()) &&
        dy.norm() <= kPolished * (1.0 + z1_.tail(dy.size()).norm()))
      return;
  }
}

double DerivativeArrayMethod::norm(const Vector& x) const {
  double sum = 0.0;
  double count = 0.0;
  for (Index j = 0; j < n_; ++j) {
    if (!controlled_[static_cast<std::size_t>(j)]) continue;
    sum += std::pow(x(j) * scale_(j), 2);
    count += 1.0;
  }
  return count == 0.0 ? 0.0 : std::sqrt(sum / count);
}

double DerivativeArrayMethod::choose_first_step(double limit) const {
  if (options_.first_step > 0.0) return options_.first_step;
  double rate = 0.0;
  for (Index j = 0; j < n_; ++j) {
    if (!controlled_[static_cast<std::size_t>(j)]) continue;
    const double size = std::max(std::abs(z0_(j)), atol_(j) / rtol_);
    rate = std::max(rate, std::abs(z0_(n_ + j)) / size);
  }
  const double span = limit - t0_;
  const double longest = std::isfinite(span) ? 1e-2 * span : 1.0;
  return rate > 0.0 ? std::min(longest, 0.3 * std::pow(rtol_, 0.25) / rate) : longest;
}

StepOutcome DerivativeArrayMethod::failure(StepStatus status) const {
  if (not_finite_) return {StepStatus::kNotFinite, bad_equation_};
  Index worst = 0;
  error_.cwiseProduct(scale_).cwiseAbs().maxCoeff(&worst);
  return {status, static_cast<std::size_t>(worst)};
}

void DerivativeArrayMethod::interpolate(double t, std::span<const std::uint32_t> unknowns,
                                        double* x, double* dx) const {
  if (h_ == 0.0 || t == t1_) {
    for (const std::uint32_t j : unknowns) {
      x[j] = z1_(j);
      dx[j] = dz1_(j);
    }
    return;
  }
  const CollocationWeights w = radau_collocation().weights((t - t0_) / h_);
  for (const std::uint32_t j : unknowns) {
    const double z[] = {stages_[0](j), stages_[1](j), stages_[2](j)};
    x[j] = z0_(j) + w.value[0] * z[0] + w.value[1] * z[1] + w.value[2] * z[2];
    dx[j] = (w.slope[0] * z[0] + w.slope[1] * z[1] + w.slope[2] * z[2]) / h_;
  }
}

}  // namespace saltus
