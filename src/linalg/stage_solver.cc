#include "linalg/stage_solver.h"

#include <algorithm>
#include <complex>
#include <optional>
#include <utility>

#include "linalg/lane_lu.h"

namespace saltus {
namespace {

using Complex = std::complex<double>;

// Both systems one after the other.
class SolverPair {
 public:
  SolverPair(const Pattern& pattern, Backend backend, const std::vector<double>& weights)
      : real_(pattern, backend, weights),
        complex_(pattern, backend, weights),
        real_values_(pattern.row.size()),
        complex_values_(pattern.row.size()),
        real_b_(static_cast<std::size_t>(std::max(pattern.rows, pattern.columns))),
        complex_b_(real_b_.size()) {}

  bool factor(const double* values) {
    split(values, real_values_, complex_values_);
    if (!real_.factor(real_values_.data())) return false;
    complex_.take_pivots(real_);
    return complex_.factor(complex_values_.data());
  }
  void expect_many_solutions() {
    real_.expect_many_solutions();
    complex_.expect_many_solutions();
  }
  void solve(double* b) const {
    split(b, real_b_, complex_b_);
    real_.solve(real_b_.data());
    complex_.solve(complex_b_.data());
    for (std::size_t j = 0; j < real_b_.size(); ++j) {
      b[4 * j] = real_b_[j];
      b[4 * j + 1] = complex_b_[j].real();
      b[4 * j + 2] = complex_b_[j].imag();
      b[4 * j + 3] = 0.0;
    }
  }
  const LinearSolver<double>& real() const { return real_; }

 private:
  static void split(const double* lanes, std::vector<double>& real, std::vector<Complex>& complex) {
    for (std::size_t k = 0; k < real.size(); ++k) {
      real[k] = lanes[4 * k];
      complex[k] = {lanes[4 * k + 1], lanes[4 * k + 2]};
    }
  }

  LinearSolver<double> real_;
  LinearSolver<Complex> complex_;
  std::vector<double> real_values_;
  std::vector<Complex> complex_values_;
  mutable std::vector<double> real_b_;
  mutable std::vector<Complex> complex_b_;
};

}  // namespace

struct StageSolver::Impl {
  Pattern pattern;
  Backend backend;
  // One of them; both while the pair is tried.
  std::optional<LaneLu> lanes;
  std::optional<SolverPair> pair;
  int dependent_column = -1;   // found by a pair that failed as well
  std::vector<double> column;  // one of four right-hand sides
};

StageSolver::StageSolver(const Pattern& pattern, Backend backend,
                         const std::vector<double>& weights)
    : impl_(std::make_unique<Impl>(Impl{pattern, backend, {}, {}, -1, {}})) {
  impl_->column.resize(static_cast<std::size_t>(std::max(pattern.rows, pattern.columns)));
  if (choose_backend(pattern, backend) == Backend::kRecorded && LaneLu::is_available()) {
    impl_->lanes.emplace(pattern);
  } else {
    impl_->pair.emplace(pattern, backend, weights);
  }
}
StageSolver::~StageSolver() = default;
StageSolver::StageSolver(StageSolver&&) noexcept = default;
StageSolver& StageSolver::operator=(StageSolver&&) noexcept = default;

bool StageSolver::factor(const double* values) {
  Impl& impl = *impl_;
  if (impl.lanes && impl.backend == Backend::kAutomatic &&
      is_klu_better(impl.pattern.rows, impl.lanes->recordings())) {
    impl.lanes.reset();
    impl.pair.emplace(impl.pattern, Backend::kKlu, std::vector<double>{});
  }
  if (impl.pair) return impl.pair->factor(values);
  impl.dependent_column = -1;
  const LaneLu::Outcome outcome = impl.lanes->factor(values);
  if (outcome == LaneLu::Outcome::kSingular) impl.dependent_column = impl.lanes->dependent_column();
  if (outcome != LaneLu::Outcome::kUnfit) return outcome == LaneLu::Outcome::kDone;
  impl.pair.emplace(impl.pattern, impl.backend, std::vector<double>{});
  if (impl.pair->factor(values)) {
    impl.lanes.reset();
    return true;
  }
  // A singular matrix says nothing of those to come.
  impl.dependent_column = impl.pair->real().dependent_column();
  impl.pair.reset();
  return false;
}

void StageSolver::expect_many_solutions() {
  if (impl_->pair) {
    impl_->pair->expect_many_solutions();
  } else {
    impl_->lanes->compile();
  }
}

void StageSolver::solve(double* b) const {
  if (impl_->pair) {
    impl_->pair->solve(b);
  } else {
    impl_->lanes->solve(b);
  }
}

void StageSolver::solve_real(double* b) const {
  if (impl_->pair) {
    impl_->pair->real().solve(b);
  } else {
    impl_->lanes->solve_real(b);
  }
}

void StageSolver::solve_real_lanes(double* b) const {
  if (is_fused()) {
    impl_->lanes->solve_four(b);
    return;
  }
  std::vector<double>& column = impl_->column;
  for (std::size_t lane = 0; lane < 4; ++lane) {
    for (std::size_t j = 0; j < column.size(); ++j) column[j] = b[4 * j + lane];
    solve_real(column.data());
    for (std::size_t j = 0; j < column.size(); ++j) b[4 * j + lane] = column[j];
  }
}

int StageSolver::dependent_column() const {
  return impl_->pair ? impl_->pair->real().dependent_column() : impl_->dependent_column;
}

double StageSolver::pivot_ratio() const {
  return impl_->pair ? impl_->pair->real().pivot_ratio() : impl_->lanes->pivot_ratio();
}

bool StageSolver::is_fused() const { return impl_->lanes && impl_->lanes->is_compiled(); }

}  // namespace saltus
