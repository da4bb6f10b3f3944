#include "oracle/first_root.h"

#include <algorithm>

namespace saltus::oracle {
namespace {

std::optional<double> search(std::vector<double> b, double from, double to, int depth) {
  if (b.front() < 0.0) return from;
  if (*std::min_element(b.begin(), b.end()) >= 0.0) return {};
  const double middle = 0.5 * (from + to);
  if (depth == 0 || middle <= from || middle >= to)
    return b.back() < 0.0 ? std::optional(to) : std::nullopt;
  // De Casteljau at the middle: `left` collects the first, b keeps the last of each row.
  const std::size_t n = b.size();
  std::vector<double> left(n);
  for (std::size_t k = 0; k < n; ++k) {
    left[k] = b[0];
    for (std::size_t i = 0; i + k + 1 < n; ++i) b[i] = 0.5 * (b[i] + b[i + 1]);
  }
  // b[i] is now row n-1-i's last entry: the right half, in order.
  if (const auto root = search(std::move(left), from, middle, depth - 1)) return root;
  return search(std::move(b), middle, to, depth - 1);
}

}  // namespace

std::optional<double> first_negative(const std::vector<double>& c, double h) {
  const std::size_t n = c.size();
  // b_i = sum over k <= i of C(i,k)/C(n-1,k) c_k h^k
  std::vector<double> scaled(n);
  double power = 1.0;
  double binomial = 1.0;  // C(n-1, k)
  for (std::size_t k = 0; k < n; ++k) {
    scaled[k] = c[k] * power / binomial;
    power *= h;
    binomial *= static_cast<double>(n - 1 - k) / static_cast<double>(k + 1);
  }
  std::vector<double> b(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double choose = 1.0;  // C(i, k)
    for (std::size_t k = 0; k <= i; ++k) {
      b[i] += choose * scaled[k];
      choose *= static_cast<double>(i - k) / static_cast<double>(k + 1);
    }
  }
  return search(std::move(b), 0.0, h, 60);
}

}  // namespace saltus::oracle
