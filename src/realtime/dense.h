#pragma once

#include <cmath>
#include <cstddef>

// Small dense matrices for the fixed-step engine, by columns: entry (i, j) of a matrix of n rows is
// m[j * n + i]. Nothing here allocates or throws.

namespace saltus::dense {

// out += m v for an n x k matrix. Sums by columns, so that it vectorizes without reordering sums.
inline void multiply_add(const double* m, const double* v, std::size_t n, std::size_t k,
                         double* out) noexcept {
  for (std::size_t j = 0; j < k; ++j) {
    const double f = v[j];
    const double* column = m + j * n;
    for (std::size_t i = 0; i < n; ++i) out[i] += column[i] * f;
  }
}

inline void multiply(const double* m, const double* v, std::size_t n, std::size_t k,
                     double* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] = 0.0;
  multiply_add(m, v, n, k, out);
}

// out := a b, all n x n.
inline void product(const double* a, const double* b, std::size_t n, double* out) noexcept {
  for (std::size_t j = 0; j < n; ++j) multiply(a, b + j * n, n, n, out + j * n);
}

// LU with partial pivoting in place. False if a pivot is not finite or below `least` times the
// largest entry of the matrix.
inline bool factor(double* m, std::size_t n, std::size_t* pivots, double least = 1e-14) noexcept {
  double largest = 0.0;
  for (std::size_t i = 0; i < n * n; ++i) largest = std::fmax(largest, std::abs(m[i]));
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(m[k * n + i]) > std::abs(m[k * n + p])) p = i;
    pivots[k] = p;
    const double pivot = m[k * n + p];
    if (!(std::abs(pivot) > least * largest) || !std::isfinite(pivot)) return false;
    if (p != k)
      for (std::size_t j = 0; j < n; ++j) {
        const double swapped = m[j * n + k];
        m[j * n + k] = m[j * n + p];
        m[j * n + p] = swapped;
      }
    for (std::size_t i = k + 1; i < n; ++i) m[k * n + i] /= pivot;
    for (std::size_t j = k + 1; j < n; ++j) {
      const double f = m[j * n + k];
      if (f == 0.0) continue;
      for (std::size_t i = k + 1; i < n; ++i) m[j * n + i] -= m[k * n + i] * f;
    }
  }
  return true;
}

inline void solve(const double* lu, const std::size_t* pivots, std::size_t n, double* v) noexcept {
  for (std::size_t k = 0; k < n; ++k) {  // all exchanges first: the factors were exchanged too
    const double swapped = v[k];
    v[k] = v[pivots[k]];
    v[pivots[k]] = swapped;
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) v[i] -= lu[k * n + i] * v[k];
  for (std::size_t k = n; k-- > 0;) {
    v[k] /= lu[k * n + k];
    for (std::size_t i = 0; i < k; ++i) v[i] -= lu[k * n + i] * v[k];
  }
}

}  // namespace saltus::dense
