#include "realtime/affine_step.h"

#include <algorithm>
#include <cmath>

#include "realtime/dense.h"

namespace saltus {

AffineStep::AffineStep(std::size_t n)
    : n_(n),
      a_(n * n),
      first_((kLevels + 1) * n * n),
      second_((kLevels + 1) * n * n),
      z_(n * n),
      p1_(n * n),
      p2_(n * n),
      d_(n * n),
      product_(n * n) {}

// From a step so short that a series of a few terms is exact, upwards by doubling:
//   e^2z - 1 = 2 d + d^2 with d = e^z - 1 = z phi1,
//   phi1(2z) = phi1 + d phi1 / 2,   phi2(2z) = (2 phi2 + phi1 + d phi2) / 4.
// It is d that is carried, not e^z, so that nothing is lost next to one.
void AffineStep::prepare(const double* a, double step) noexcept {
  const std::size_t size = n_ * n_;
  std::copy_n(a, size, a_.data());
  double norm = 0.0;
  for (std::size_t j = 0; j < n_; ++j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n_; ++i) sum += std::abs(a[j * n_ + i]);
    norm = std::max(norm, sum);
  }
  int level = kLevels;
  while (level < 400 && std::ldexp(norm * step, -level) > 0.05) ++level;
  double h = std::ldexp(step, -level);
  for (std::size_t i = 0; i < size; ++i) z_[i] = h * a_[i];
  // Horner: phi1 = sum z^k / (k + 1)!, phi2 = sum z^k / (k + 2)!
  const auto series = [&](std::vector<double>& sum, int shift) {
    constexpr int kTerms = 9;
    std::fill(sum.begin(), sum.end(), 0.0);
    for (int k = kTerms; k >= 0; --k) {
      dense::product(z_.data(), sum.data(), n_, product_.data());
      const double factor = 1.0 / (k + shift);
      for (std::size_t i = 0; i < size; ++i) sum[i] = factor * product_[i];
      for (std::size_t i = 0; i < n_; ++i) sum[i * n_ + i] += factor;
    }
  };
  series(p1_, 1);
  // phi2 = 1/2 + z/6 + ...: the same nest with another shift, and one factor less.
  series(p2_, 2);
  for (;;) {
    if (level <= kLevels) {
      double* first = first_.data() + static_cast<std::size_t>(level) * size;
      double* second = second_.data() + static_cast<std::size_t>(level) * size;
      for (std::size_t i = 0; i < size; ++i) first[i] = h * p1_[i];
      for (std::size_t i = 0; i < size; ++i) second[i] = h * p2_[i];
    }
    if (level == 0) break;
    for (std::size_t i = 0; i < size; ++i) z_[i] = h * a_[i];
    dense::product(z_.data(), p1_.data(), n_, d_.data());
    dense::product(d_.data(), p2_.data(), n_, product_.data());
    for (std::size_t i = 0; i < size; ++i) p2_[i] = 0.25 * (2.0 * p2_[i] + p1_[i] + product_[i]);
    dense::product(d_.data(), p1_.data(), n_, product_.data());
    for (std::size_t i = 0; i < size; ++i) p1_[i] += 0.5 * product_[i];
    h *= 2.0;
    --level;
  }
}

void AffineStep::advance(int level, double* z, const double* b0, const double* b1,
                         double* work) const noexcept {
  const std::size_t size = n_ * n_;
  double* slope = work;
  double* change = work + n_;
  for (std::size_t i = 0; i < n_; ++i) slope[i] = b0[i];
  for (std::size_t i = 0; i < n_; ++i) change[i] = b1[i] - b0[i];
  dense::multiply_add(a_.data(), z, n_, n_, slope);
  dense::multiply_add(first_.data() + static_cast<std::size_t>(level) * size, slope, n_, n_, z);
  dense::multiply_add(second_.data() + static_cast<std::size_t>(level) * size, change, n_, n_, z);
}

}  // namespace saltus
