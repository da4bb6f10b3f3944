#include "linalg/lane_lu.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/avx_assembler.h"
#include "base/processor_time.h"

namespace saltus {
namespace {

using Complex = std::complex<double>;

// What both matrices have in one place.
struct Number {
  double real = 0.0;
  Complex complex;
};

// Without the checks for infinities of std::complex: factors are checked once.
Complex multiply(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
Number multiply(const Number& a, const Number& b) {
  return {a.real * b.real, multiply(a.complex, b.complex)};
}
void subtract(Number& from, const Number& a) {
  from.real -= a.real;
  from.complex -= a.complex;
}
Number reciprocal(const Number& a) {
  return {1.0 / a.real, std::conj(a.complex) / std::norm(a.complex)};
}

Number number_at(const double* lanes, std::size_t k = 0) {
  return {lanes[4 * k], {lanes[4 * k + 1], lanes[4 * k + 2]}};
}
void put(double* lanes, const Number& a) {
  lanes[0] = a.real;
  lanes[1] = a.complex.real();
  lanes[2] = a.complex.imag();
  lanes[3] = 0.0;
}
Number number_of(const LaneFactor& factor) { return {factor.real(), factor.complex()}; }
LaneFactor to_factor(const Number& a) {
  const double re = a.complex.real();
  const double im = a.complex.imag();
  return {{{a.real, a.real, re, re}}, {{0.0, 0.0, im, im}}};
}
void subtract_product(LaneFactor& from, const Number& a, const Number& b) {
  Number difference = number_of(from);
  subtract(difference, multiply(a, b));
  from = to_factor(difference);
}

}  // namespace

bool LaneLu::is_available() { return AvxAssembler::is_available(); }

LaneLu::LaneLu(const Pattern& pattern) : pivots_(pattern), n_(pattern.rows) {
  real_values_.resize(pattern.row.size());
  work_.resize(static_cast<std::size_t>(std::max(n_, 1)));
}

LaneLu::Outcome LaneLu::factor(const double* values) {
  if (recorded_ && replay(values)) return Outcome::kDone;
  machine_ = {};
  replays_ = 0;
  for (std::size_t k = 0; k < real_values_.size(); ++k) real_values_[k] = values[4 * k];
  {
    std::optional<BuildingTime> building;
    if (pivots_.recordings() == 0) building.emplace();  // later ones are the numbers' doing
    recorded_ = pivots_.choose_pivots(real_values_.data());
  }
  if (!recorded_) return Outcome::kSingular;
  const LuLayout& layout = pivots_.layout();
  if (!layout.is_short()) return Outcome::kUnfit;
  factors_.resize(static_cast<std::size_t>(layout.reciprocal(0)));
  table_ = LaneLuMachine::make_table(pivots_.multiplier_weights());
  recorded_ = replay(values);
  return recorded_ ? Outcome::kDone : Outcome::kUnfit;
}

void LaneLu::compile() {
  if (!recorded_ || machine_.code != nullptr) return;
  const BuildingTime building;
  machine_ = LaneLuMachine::compile(pivots_.layout());
}

bool LaneLu::replay(const double* values) {
  // Steps come in numbers: the second one pays for it.
  if (++replays_ == 2) compile();
  Lanes squares;
  if (machine_.code != nullptr) {
    machine_.factor(values, factors_.data(), table_.data(), &squares);
  } else {
    squares = eliminate(values);
  }
  // A sum of squares in place of the largest: cheaper, never less strict, and a NaN stays one.
  constexpr double kLimit = kLargestMultiplier * kLargestMultiplier;
  return squares.lane[0] <= kLimit && squares.lane[2] + squares.lane[3] <= kLimit;
}

Lanes LaneLu::eliminate(const double* values) {
  const LuLayout& layout = pivots_.layout();
  std::fill(factors_.begin(), factors_.end(), LaneFactor{});
  for (std::size_t k = 0; k < layout.scatter.size(); ++k)
    factors_[layout.scatter[k]] = to_factor(number_at(values, k));
  Lanes squares;
  const int* target = layout.targets.data();
  const double* weight = pivots_.multiplier_weights().data();
  for (int i = 0; i < n_; ++i) {
    for (int l = layout.lower_begin[i]; l < layout.upper_begin[i]; ++l, ++weight) {
      const int k = layout.entry_column[l];
      const Number factor = multiply(number_of(factors_[l]), number_of(factors_[layout.pivot(k)]));
      factors_[l] = to_factor(factor);
      const double w = *weight * *weight;
      squares.lane[0] += factor.real * factor.real * w;
      squares.lane[2] += std::norm(factor.complex) * w;
      for (int u = layout.upper_begin[k]; u < layout.lower_begin[k + 1]; ++u, ++target)
        subtract_product(factors_[*target], factor, number_of(factors_[u]));
    }
    LaneFactor& pivot = factors_[layout.pivot(i)];
    const Number inverse = reciprocal(number_of(pivot));
    pivot = to_factor(inverse);
    squares.lane[0] += 0.0 * inverse.real;
    squares.lane[2] += 0.0 * inverse.complex.real() + 0.0 * inverse.complex.imag();
  }
  return squares;
}

void LaneLu::solve(double* b) const {
  if (machine_.code != nullptr) {
    machine_.solve(factors_.data(), work_.data(), b);
    return;
  }
  const LuLayout& layout = pivots_.layout();
  const auto product = [&](int e) {
    return multiply(number_of(factors_[e]), number_at(work_[layout.entry_column[e]].lane));
  };
  for (int i = 0; i < n_; ++i) {
    Number sum = number_at(b, layout.row_of[i]);
    for (int l = layout.lower_begin[i]; l < layout.upper_begin[i]; ++l) subtract(sum, product(l));
    put(work_[i].lane, sum);
  }
  for (int i = n_ - 1; i >= 0; --i) {
    Number sum = number_at(work_[i].lane);
    for (int u = layout.upper_begin[i]; u < layout.lower_begin[i + 1]; ++u)
      subtract(sum, product(u));
    put(work_[i].lane, multiply(sum, number_of(factors_[layout.pivot(i)])));
  }
  for (int i = 0; i < n_; ++i)
    std::copy_n(work_[i].lane, 4, b + std::size_t{4} * layout.column_of[i]);
}

void LaneLu::solve_real(double* b) const {
  if (machine_.code != nullptr) {
    machine_.solve_real(factors_.data(), work_.data()->lane, b);
    return;
  }
  const LuLayout& layout = pivots_.layout();
  const auto product = [&](int e) {
    return factors_[e].real() * work_[layout.entry_column[e]].lane[0];
  };
  for (int i = 0; i < n_; ++i) {
    double& sum = work_[i].lane[0] = b[layout.row_of[i]];
    for (int l = layout.lower_begin[i]; l < layout.upper_begin[i]; ++l) sum -= product(l);
  }
  for (int i = n_ - 1; i >= 0; --i) {
    double& sum = work_[i].lane[0];
    for (int u = layout.upper_begin[i]; u < layout.lower_begin[i + 1]; ++u) sum -= product(u);
    sum *= factors_[layout.pivot(i)].real();
  }
  for (int i = 0; i < n_; ++i) b[layout.column_of[i]] = work_[i].lane[0];
}

void LaneLu::solve_four(double* b) const { machine_.solve_four(factors_.data(), work_.data(), b); }

double LaneLu::pivot_ratio() const {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (int i = 0; i < n_; ++i) {
    const double size = std::abs(factors_[pivots_.layout().pivot(i)].real());
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  return n_ == 0 ? 1.0 : smallest / largest;  // of reciprocals as of pivots
}

}  // namespace saltus
