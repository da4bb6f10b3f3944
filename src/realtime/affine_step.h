#pragma once

#include <cstddef>
#include <vector>

namespace saltus {

// Exact steps of z' = A z + b(t) with b affine over the step, of the lengths T / 2^k for k from 0
// to kLevels. So a partial step of any length to 2^-kLevels of T is a composition of them, and an
// event is found by halving without another matrix exponential (RE (13), where RE takes a line
// instead because Phi(eta T) would be too dear).
//
//   z(h) = z + h phi1(A h) (A z + b0) + h phi2(A h) (b1 - b0)
class AffineStep {
 public:
  static constexpr int kLevels = 32;

  explicit AffineStep(std::size_t n);

  // Nothing below allocates or throws. `a`: A by columns.
  void prepare(const double* a, double step) noexcept;
  // z := z(T / 2^level). `work`: room for two vectors.
  void advance(int level, double* z, const double* b0, const double* b1,
               double* work) const noexcept;
  const double* matrix() const { return a_.data(); }

 private:
  std::size_t n_;
  std::vector<double> a_;
  std::vector<double> first_, second_;  // h phi1, h phi2 by level
  std::vector<double> z_, p1_, p2_, d_, product_;
};

}  // namespace saltus
