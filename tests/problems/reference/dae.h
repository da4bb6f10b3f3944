#pragma once

#include <quadmath.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Quadruple precision: 33 digits, so that neither rounding nor the difference quotients below are
// visible in the 16 digits we want.
using Real = __float128;
using Vector = std::vector<Real>;

inline Real magnitude(Real a) { return a < 0 ? -a : a; }

// F(t, y, y') = 0 with consistent y(0). Errors of component i are measured against |y_i| + floor_i.
struct Dae {
  std::string name;
  Real end = 0;
  Vector start;
  Vector floor;
  std::function<void(Real t, const Vector& y, const Vector& dy, Vector& residual)> residual;

  std::size_t size() const { return start.size(); }
};

struct Matrix {
  explicit Matrix(std::size_t n) : size(n), entries(n * n, 0) {}
  Real& operator()(std::size_t i, std::size_t j) { return entries[i * size + j]; }
  Real operator()(std::size_t i, std::size_t j) const { return entries[i * size + j]; }
  std::size_t size;
  Vector entries;
};

// LU factors with partial pivoting.
class Factors {
 public:
  explicit Factors(Matrix a) : lu_(std::move(a)), pivot_(lu_.size) {
    const std::size_t n = lu_.size;
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t p = k;
      for (std::size_t i = k + 1; i < n; ++i) {
        if (magnitude(lu_(i, k)) > magnitude(lu_(p, k))) p = i;
      }
      if (lu_(p, k) == 0) throw std::runtime_error("singular matrix");
      pivot_[k] = p;
      for (std::size_t j = 0; j < n; ++j) std::swap(lu_(k, j), lu_(p, j));
      for (std::size_t i = k + 1; i < n; ++i) {
        if (lu_(i, k) == 0) continue;
        const Real factor = lu_(i, k) /= lu_(k, k);
        for (std::size_t j = k + 1; j < n; ++j) lu_(i, j) -= factor * lu_(k, j);
      }
    }
  }

  void solve(Vector& b) const {
    const std::size_t n = lu_.size;
    for (std::size_t k = 0; k < n; ++k) std::swap(b[k], b[pivot_[k]]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) b[i] -= lu_(i, j) * b[j];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j) b[i] -= lu_(i, j) * b[j];
      b[i] /= lu_(i, i);
    }
  }

 private:
  Matrix lu_;
  std::vector<std::size_t> pivot_;
};

// dF/dy and dF/dy' by difference quotients; they steer Newton's method and do not enter the result.
inline std::pair<Matrix, Matrix> jacobians(const Dae& dae, Real t, Vector y, Vector dy) {
  const std::size_t n = dae.size();
  std::pair<Matrix, Matrix> result{Matrix(n), Matrix(n)};
  Vector base(n), moved(n);
  dae.residual(t, y, dy, base);
  const auto columns = [&](Vector& x, Matrix& out, Real least) {
    for (std::size_t j = 0; j < n; ++j) {
      const Real kept = x[j];
      const Real delta = 1e-15Q * (magnitude(kept) + (least > 0 ? least : dae.floor[j]));
      x[j] += delta;
      dae.residual(t, y, dy, moved);
      x[j] = kept;
      for (std::size_t i = 0; i < n; ++i) out(i, j) = (moved[i] - base[i]) / delta;
    }
  };
  columns(y, result.first, 0);
  columns(dy, result.second, 1);
  return result;
}

// The largest |change_i| / (|y_i| + floor_i).
inline Real weighted(const Dae& dae, const Vector& change, const Vector& y) {
  Real worst = 0;
  for (std::size_t i = 0; i < dae.size(); ++i) {
    const Real value = magnitude(change[i]) / (magnitude(y[i]) + dae.floor[i]);
    if (!(value <= worst)) worst = value;
  }
  return worst;
}

// When to stop an iteration whose last two changes are given: far below every tolerance used, or
// at the level of rounding.
inline bool settled(Real change, Real previous) {
  return change < 1e-25Q || (change < 1e-21Q && change > 0.3Q * previous);
}
