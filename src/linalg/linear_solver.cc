#include "linalg/linear_solver.h"

#include <klu.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>
#include <vector>

namespace saltus {
namespace {

// Measured with benchmarks/linear_solver: a full factor + solve is cheaper dense up to this size
// for the patterns of circuit and drivetrain models.
constexpr int kLargestDense = 20;

// A pivot below this fraction of its row scale counts as zero.
constexpr double kSingularPivot = 4.0 * std::numeric_limits<double>::epsilon();

template <class Scalar>
class DenseLu {
 public:
  explicit DenseLu(const Pattern& pattern)
      : pattern_(pattern),
        matrix_(pattern.rows, pattern.rows),
        row_scale_(pattern.rows),
        right_side_(pattern.rows),
        lu_(pattern.rows) {}

  bool factor(const Scalar* values) {
    const int n = pattern_.rows;
    matrix_.setZero();
    row_scale_.setZero();
    dependent_column_ = -1;
    for (int j = 0; j < n; ++j) {
      for (int k = pattern_.start[j]; k < pattern_.start[j + 1]; ++k) {
        const int i = pattern_.row[k];
        matrix_(i, j) = values[k];
        row_scale_(i) = std::max(row_scale_(i), std::abs(values[k]));
        if (!std::isfinite(std::abs(values[k]))) return false;
      }
    }
    // Rows of a DAE carry different units; equilibrated rows make partial pivoting meaningful.
    for (int i = 0; i < n; ++i) row_scale_(i) = row_scale_(i) > 0.0 ? 1.0 / row_scale_(i) : 1.0;
    for (int j = 0; j < n; ++j) matrix_.col(j).array() *= row_scale_.array().template cast<Scalar>();
    lu_.compute(matrix_);
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0.0;
    for (int j = 0; j < n; ++j) {
      const double pivot = std::abs(lu_.matrixLU()(j, j));
      if (pivot < smallest) {
        smallest = pivot;
        dependent_column_ = j;
      }
      largest = std::max(largest, pivot);
    }
    pivot_ratio_ = n == 0 ? 1.0 : (largest > 0.0 ? smallest / largest : 0.0);
    return n == 0 || smallest > kSingularPivot * column_scale(dependent_column_);
  }

  void solve(Scalar* b) const {
    const int n = pattern_.rows;
    for (int i = 0; i < n; ++i) right_side_(i) = b[i] * row_scale_(i);
    right_side_ = lu_.permutationP() * right_side_;
    lu_.matrixLU().template triangularView<Eigen::UnitLower>().solveInPlace(right_side_);
    lu_.matrixLU().template triangularView<Eigen::Upper>().solveInPlace(right_side_);
    for (int i = 0; i < n; ++i) b[i] = right_side_(i);
  }

  int dependent_column() const { return dependent_column_; }
  double pivot_ratio() const { return pivot_ratio_; }

 private:
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  double column_scale(int j) const { return matrix_.col(j).cwiseAbs().maxCoeff(); }

  Pattern pattern_;
  Matrix matrix_;
  Eigen::VectorXd row_scale_;
  mutable Vector right_side_;
  Eigen::PartialPivLU<Matrix> lu_;
  int dependent_column_ = -1;
  double pivot_ratio_ = 0.0;
};

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
    return reciprocal_condition() > kSingularPivot * 1e-6;
  }

  void solve(Scalar* b) const {
    klu_common common = common_;
    if constexpr (kComplex) {
      klu_z_solve(symbolic_, numeric_, pattern_.rows, 1, reinterpret_cast<double*>(b), &common);
    } else {
      klu_solve(symbolic_, numeric_, pattern_.rows, 1, b, &common);
    }
  }

  int dependent_column() const { return common_.singular_col < pattern_.rows ? common_.singular_col : -1; }
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

template <class Scalar>
struct LinearSolver<Scalar>::Impl {
  std::variant<std::monostate, DenseLu<Scalar>, SparseLu<Scalar>> lu;

  Impl(const Pattern& pattern, bool dense) {
    if (dense) {
      lu.template emplace<DenseLu<Scalar>>(pattern);
    } else {
      lu.template emplace<SparseLu<Scalar>>(pattern);
    }
  }

  template <class Action>
  auto apply(Action&& action) {
    if (auto* dense = std::get_if<DenseLu<Scalar>>(&lu)) return action(*dense);
    return action(std::get<SparseLu<Scalar>>(lu));
  }
};

template <class Scalar>
LinearSolver<Scalar>::LinearSolver(const Pattern& pattern, Storage storage)
    : impl_(std::make_unique<Impl>(pattern, storage == Storage::kDense ||
                                                (storage == Storage::kAutomatic &&
                                                 pattern.rows <= kLargestDense))) {}
template <class Scalar>
LinearSolver<Scalar>::~LinearSolver() = default;
template <class Scalar>
LinearSolver<Scalar>::LinearSolver(LinearSolver&&) noexcept = default;
template <class Scalar>
LinearSolver<Scalar>& LinearSolver<Scalar>::operator=(LinearSolver&&) noexcept = default;

template <class Scalar>
bool LinearSolver<Scalar>::factor(const Scalar* values) {
  return impl_->apply([&](auto& lu) { return lu.factor(values); });
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
