#include "linalg/linear_solver.h"

#include <klu.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "linalg/least_squares.h"
#include "linalg/recorded_lu.h"

namespace saltus {
namespace {

// Up to this size the recorded elimination beats KLU (benchmarks/linear_solver), and recording it
// is cheap enough.
constexpr int kLargestRecorded = 200;
// Above this size a recording that had to be made so often is given up for KLU.
constexpr int kSmallestReconsidered = 40;
constexpr int kMostRecordings = 4;

// A matrix with a smaller ratio of pivots (rows equilibrated) counts as singular.
constexpr double kSmallestCondition = 16.0 * std::numeric_limits<double>::epsilon();

template <class Scalar>
class SparseLu {
 public:
  explicit SparseLu(const Pattern& pattern) : pattern_(pattern) {
    klu_defaults(&common_);
    symbolic_ = klu_analyze(pattern_.rows, pattern_.start.data(), pattern_.row.data(), &common_);
  }
  ~SparseLu() {
    free_numeric();
    klu_free_symbolic(&symbolic_, &common_);
  }
  SparseLu(const SparseLu&) = delete;
  SparseLu& operator=(const SparseLu&) = delete;

  bool factor(const Scalar* values) {
    if (symbolic_ == nullptr) return false;  // structurally singular beyond KLU's analysis
    if (numeric_ != nullptr && refactor(values) && pivots_still_good(values)) return true;
    free_numeric();
    if constexpr (kComplex) {
      numeric_ = klu_z_factor(start(), rows(), data(values), symbolic_, &common_);
    } else {
      numeric_ = klu_factor(start(), rows(), data(values), symbolic_, &common_);
    }
    if (numeric_ == nullptr || common_.status == KLU_SINGULAR) {
      free_numeric();
      return false;
    }
    return reciprocal_condition() > kSmallestCondition || pivots_stand_out(values);
  }

  void solve(Scalar* b) const {
    klu_common common = common_;
    if constexpr (kComplex) {
      klu_z_solve(symbolic_, numeric_, pattern_.rows, 1, reinterpret_cast<double*>(b), &common);
    } else {
      klu_solve(symbolic_, numeric_, pattern_.rows, 1, b, &common);
    }
  }

  int dependent_column() const {
    return common_.singular_col < pattern_.rows ? common_.singular_col : -1;
  }
  double pivot_ratio() const { return reciprocal_condition(); }

 private:
  static constexpr bool kComplex = !std::is_same_v<Scalar, double>;

  int* start() { return pattern_.start.data(); }
  int* rows() { return pattern_.row.data(); }
  static double* data(const Scalar* values) {
    return const_cast<double*>(reinterpret_cast<const double*>(values));
  }

  // New values with the old pivots; no allocation.
  bool refactor(const Scalar* values) {
    int ok = 0;
    if constexpr (kComplex) {
      ok = klu_z_refactor(start(), rows(), data(values), symbolic_, numeric_, &common_);
    } else {
      ok = klu_refactor(start(), rows(), data(values), symbolic_, numeric_, &common_);
    }
    return ok != 0 && common_.status == KLU_OK;
  }

  // Old pivots serve as long as the factors do not grow.
  bool pivots_still_good(const Scalar* values) {
    constexpr double kSmallestGrowth = 1e-8;
    if constexpr (kComplex) {
      klu_z_rgrowth(start(), rows(), data(values), symbolic_, numeric_, &common_);
    } else {
      klu_rgrowth(start(), rows(), data(values), symbolic_, numeric_, &common_);
    }
    return common_.rgrowth > kSmallestGrowth;
  }

  // Whether every pivot is more than rounding of its column (rows equilibrated): columns of small
  // units have small pivots.
  bool pivots_stand_out(const Scalar* values) const {
    const auto n = static_cast<std::size_t>(pattern_.rows);
    std::vector<double> row_size(n, 0.0);
    for (std::size_t k = 0; k < pattern_.row.size(); ++k) {
      double& size = row_size[static_cast<std::size_t>(pattern_.row[k])];
      size = std::max(size, std::abs(values[k]));
    }
    const auto* pivots = static_cast<const Scalar*>(numeric_->Udiag);
    for (std::size_t step = 0; step < n; ++step) {
      const int column = symbolic_->Q[step];
      double column_size = 0.0;
      for (int k = pattern_.start[column]; k < pattern_.start[column + 1]; ++k)
        column_size = std::max(column_size, std::abs(values[k]) / row_size[pattern_.row[k]]);
      if (!(std::abs(pivots[step]) > kSmallestCondition * column_size)) return false;
    }
    return true;
  }

  double reciprocal_condition() const {
    klu_common common = common_;
    if (numeric_ == nullptr) return 0.0;
    if constexpr (kComplex) {
      klu_z_rcond(symbolic_, numeric_, &common);
    } else {
      klu_rcond(symbolic_, numeric_, &common);
    }
    return common.rcond;
  }

  void free_numeric() {
    if (numeric_ == nullptr) return;
    if constexpr (kComplex) {
      klu_z_free_numeric(&numeric_, &common_);
    } else {
      klu_free_numeric(&numeric_, &common_);
    }
    numeric_ = nullptr;
  }

  Pattern pattern_;
  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
};

}  // namespace

Backend choose_backend(const Pattern& pattern, Backend wanted) {
  if (wanted != Backend::kAutomatic) return wanted;
  if (pattern.rows != pattern.columns) return Backend::kLeastSquares;
  return pattern.rows <= kLargestRecorded ? Backend::kRecorded : Backend::kKlu;
}

bool is_klu_better(int rows, int recordings) {
  return rows >= kSmallestReconsidered && recordings >= kMostRecordings;
}

template <class Scalar>
struct LinearSolver<Scalar>::Impl {
  std::variant<std::monostate, RecordedLu<Scalar>, SparseLu<Scalar>, LeastSquares<Scalar>> chosen;
  std::optional<Pattern> pattern;  // where the choice may change

  template <class Action>
  auto apply(Action&& action) {
    if (auto* recorded = std::get_if<RecordedLu<Scalar>>(&chosen)) return action(*recorded);
    if (auto* sparse = std::get_if<SparseLu<Scalar>>(&chosen)) return action(*sparse);
    return action(std::get<LeastSquares<Scalar>>(chosen));
  }
};

template <class Scalar>
LinearSolver<Scalar>::LinearSolver(const Pattern& pattern, Backend backend,
                                   std::vector<double> weights)
    : impl_(std::make_unique<Impl>()) {
  if (backend == Backend::kAutomatic) impl_->pattern = pattern;
  backend = choose_backend(pattern, backend);
  if (backend == Backend::kRecorded) impl_->chosen.template emplace<RecordedLu<Scalar>>(pattern);
  if (backend == Backend::kKlu) impl_->chosen.template emplace<SparseLu<Scalar>>(pattern);
  if (backend == Backend::kLeastSquares)
    impl_->chosen.template emplace<LeastSquares<Scalar>>(pattern, std::move(weights));
}
template <class Scalar>
LinearSolver<Scalar>::~LinearSolver() = default;
template <class Scalar>
LinearSolver<Scalar>::LinearSolver(LinearSolver&&) noexcept = default;
template <class Scalar>
LinearSolver<Scalar>& LinearSolver<Scalar>::operator=(LinearSolver&&) noexcept = default;

template <class Scalar>
void LinearSolver<Scalar>::take_pivots(const LinearSolver<double>& other) {
  auto* mine = std::get_if<RecordedLu<Scalar>>(&impl_->chosen);
  const auto* theirs = std::get_if<RecordedLu<double>>(&other.impl_->chosen);
  if (mine != nullptr && theirs != nullptr) mine->take_pivots(*theirs);
}

template <class Scalar>
bool LinearSolver<Scalar>::factor(const Scalar* values) {
  const auto* recorded = std::get_if<RecordedLu<Scalar>>(&impl_->chosen);
  if (recorded != nullptr && impl_->pattern &&
      is_klu_better(impl_->pattern->rows, recorded->recordings())) {
    const Pattern pattern = *impl_->pattern;
    impl_->chosen.template emplace<SparseLu<Scalar>>(pattern);
  }
  return impl_->apply([&](auto& lu) { return lu.factor(values); });
}

template <class Scalar>
void LinearSolver<Scalar>::expect_many_solutions() {
  if (auto* recorded = std::get_if<RecordedLu<Scalar>>(&impl_->chosen)) recorded->compile();
}

template <class Scalar>
void LinearSolver<Scalar>::solve(Scalar* b) const {
  impl_->apply([&](auto& lu) { lu.solve(b); });
}

template <class Scalar>
int LinearSolver<Scalar>::dependent_column() const {
  return impl_->apply([](auto& lu) { return lu.dependent_column(); });
}

template <class Scalar>
double LinearSolver<Scalar>::pivot_ratio() const {
  return impl_->apply([](auto& lu) { return lu.pivot_ratio(); });
}

template class LinearSolver<double>;
template class LinearSolver<std::complex<double>>;

}  // namespace saltus
