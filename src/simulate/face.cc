#include "simulate/face.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "linalg/dense.h"

namespace saltus {
namespace {

// Of the larger rate: less than this is tangential, which is neither in nor out.
constexpr double kTangent = 1e-9;

// Weight of the positive side for which the flow stays on the surface, if both sides point at it.
std::optional<double> attracted(double positive_rate, double negative_rate) {
  const double tangent = kTangent * std::max(std::abs(positive_rate), std::abs(negative_rate));
  if (!(positive_rate < -tangent && negative_rate > tangent)) return {};
  return negative_rate / (negative_rate - positive_rate);
}

// The rate of one surface as a + b u + c v + d u v in the weights u, v.
struct Bilinear {
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
};

std::vector<double> roots_of_quadratic(double a, double b, double c) {  // a + b u + c u^2
  if (c == 0.0) return b == 0.0 ? std::vector<double>{} : std::vector<double>{-a / b};
  const double discriminant = b * b - 4.0 * a * c;
  if (discriminant < 0.0) return {};
  const double q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
  std::vector<double> roots = {q / c};
  if (q != 0.0) roots.push_back(a / q);
  return roots;
}

// Both rates vanish inside the unit square, and the boundary layer around both surfaces is drawn
// there: the layer's flow moves u by the first rate and v by the second.
std::optional<std::pair<double, double>> attracted_to_both(const Bilinear& first,
                                                           const Bilinear& second) {
  const auto& [a1, b1, c1, d1] = first;
  const auto& [a2, b2, c2, d2] = second;
  const auto roots = roots_of_quadratic(a2 * c1 - c2 * a1, b2 * c1 + a2 * d1 - d2 * a1 - c2 * b1,
                                        b2 * d1 - d2 * b1);
  for (const double u : roots) {
    const double by_first = c1 + d1 * u;
    const double by_second = c2 + d2 * u;
    const double v = std::abs(by_first) >= std::abs(by_second) ? -(a1 + b1 * u) / by_first
                                                               : -(a2 + b2 * u) / by_second;
    if (!(u > 0.0 && u < 1.0 && v > 0.0 && v < 1.0)) continue;
    const double trace = (b1 + d1 * v) + by_second;
    const double determinant = (b1 + d1 * v) * by_second - by_first * (b2 + d2 * v);
    if (trace < 0.0 && determinant > 0.0) return std::pair(u, v);
  }
  return {};
}

bool leaves(double rate, Place place, double scale) {
  return (place == Place::kPositive ? rate : -rate) > kTangent * scale;
}

// What the flow does at a meeting of n surfaces, as far as a face of it is concerned: the surfaces
// in `sliding` have weights, the others the side that `fixed` says.
class FaceFlow {
 public:
  FaceFlow(std::size_t surfaces, std::span<const double> rates, std::vector<std::size_t> sliding,
           std::size_t fixed)
      : n_(surfaces), rates_(rates), sliding_(std::move(sliding)), fixed_(fixed) {}

  // Weights inside (0, 1) that hold all sliding surfaces, and that the boundary layer around them
  // is drawn to: its flow moves each weight by the rate of its surface.
  std::optional<std::vector<double>> find_weights() const {
    if (sliding_.empty()) return std::vector<double>{};
    const std::size_t low = fixed_;
    const std::size_t first = std::size_t{1} << sliding_[0];
    if (sliding_.size() == 1) {
      const auto weight = attracted(rate(low | first, sliding_[0]), rate(low, sliding_[0]));
      return weight ? std::optional(std::vector{*weight}) : std::nullopt;
    }
    if (sliding_.size() == 2) {
      const std::size_t second = std::size_t{1} << sliding_[1];
      const auto bilinear = [&](std::size_t i) {
        const double none = rate(low, i);
        return Bilinear{
            none, rate(low | first, i) - none, rate(low | second, i) - none,
            none - rate(low | first, i) - rate(low | second, i) + rate(low | first | second, i)};
      };
      const auto found = attracted_to_both(bilinear(sliding_[0]), bilinear(sliding_[1]));
      return found ? std::optional(std::vector{found->first, found->second}) : std::nullopt;
    }
    // Along the layer's flow, then by Newton's method; from the middle, then from around it.
    for (std::size_t start = 0; start <= std::size_t{1} << sliding_.size(); ++start) {
      Eigen::VectorXd weights = Eigen::VectorXd::Constant(count(), 0.5);
      for (Eigen::Index k = 0; k < count() && start > 0; ++k)
        weights[k] += ((start - 1) >> k & 1U) != 0 ? 0.25 : -0.25;
      follow_layer(weights);
      if (converge(weights)) return std::vector<double>(weights.begin(), weights.end());
    }
    return {};
  }

  // Rate of a surface with these weights.
  double mixed_rate(std::size_t surface, const Eigen::VectorXd& weights) const {
    double sum = 0.0;
    for (std::size_t b = 0; b < std::size_t{1} << sliding_.size(); ++b) {
      double product = 1.0;
      for (std::size_t k = 0; k < sliding_.size(); ++k) {
        const double weight = weights[static_cast<Eigen::Index>(k)];
        product *= (b >> k & 1U) != 0 ? weight : 1.0 - weight;
      }
      sum += product * rate(side(b), surface);
    }
    return sum;
  }

 private:
  Eigen::Index count() const { return static_cast<Eigen::Index>(sliding_.size()); }
  double rate(std::size_t b, std::size_t i) const { return rates_[b * n_ + i]; }
  // The side whose k-th sliding surface is positive where bit k of `bits` is set.
  std::size_t side(std::size_t bits) const {
    std::size_t b = fixed_;
    for (std::size_t k = 0; k < sliding_.size(); ++k) b |= (bits >> k & 1U) << sliding_[k];
    return b;
  }
  Eigen::VectorXd residual(const Eigen::VectorXd& weights) const {
    Eigen::VectorXd r(count());
    for (Eigen::Index k = 0; k < count(); ++k)
      r[k] = mixed_rate(sliding_[static_cast<std::size_t>(k)], weights);
    return r;
  }
  // Exact: rates are linear in each weight.
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& weights) const {
    Eigen::MatrixXd j(count(), count());
    for (Eigen::Index k = 0; k < count(); ++k) {
      Eigen::VectorXd at = weights;
      at[k] = 1.0;
      j.col(k) = residual(at);
      at[k] = 0.0;
      j.col(k) -= residual(at);
    }
    return j;
  }
  double largest_rate() const {
    double largest = 0.0;
    for (std::size_t b = 0; b < std::size_t{1} << sliding_.size(); ++b)
      for (const std::size_t i : sliding_) largest = std::max(largest, std::abs(rate(side(b), i)));
    return largest;
  }
  void follow_layer(Eigen::VectorXd& weights) const {
    constexpr int kSteps = 200;
    constexpr double kStep = 0.1;
    const double largest = largest_rate();
    if (largest == 0.0) return;
    for (int k = 0; k < kSteps; ++k)
      weights = (weights + kStep / largest * residual(weights)).cwiseMax(0.0).cwiseMin(1.0);
  }
  bool converge(Eigen::VectorXd& weights) const {
    constexpr int kIterations = 30;
    for (int k = 0; k < kIterations; ++k) {
      const Eigen::VectorXd step = FullLu(jacobian(weights)).solve(residual(weights));
      if (!step.allFinite()) return false;
      weights -= step;
      if (step.cwiseAbs().maxCoeff() < 1e-14) break;
    }
    const bool inside = (weights.array() > 0.0).all() && (weights.array() < 1.0).all();
    if (!inside || residual(weights).cwiseAbs().maxCoeff() > kTangent * largest_rate())
      return false;
    return (eigenvalues(jacobian(weights), false).values.real().array() < 0.0).all();
  }

  std::size_t n_;
  std::span<const double> rates_;
  std::vector<std::size_t> sliding_;
  std::size_t fixed_;
};

Face choose_from_many(std::size_t n, std::span<const double> rates) {
  const std::size_t sides = std::size_t{1} << n;
  std::vector<double> scale(n, 0.0);
  for (std::size_t b = 0; b < sides; ++b)
    for (std::size_t i = 0; i < n; ++i) scale[i] = std::max(scale[i], std::abs(rates[b * n + i]));
  for (std::size_t count = 0; count <= n; ++count) {
    for (std::size_t mask = 0; mask < sides; ++mask) {  // of the surfaces that slide
      if (static_cast<std::size_t>(std::popcount(mask)) != count) continue;
      std::vector<std::size_t> sliding;
      for (std::size_t i = 0; i < n; ++i)
        if ((mask >> i & 1U) != 0) sliding.push_back(i);
      for (std::size_t fixed = 0; fixed < sides; ++fixed) {  // sides of those that are left
        if ((fixed & mask) != 0) continue;
        const FaceFlow flow(n, rates, sliding, fixed);
        const auto weights = flow.find_weights();
        if (!weights) continue;
        const Eigen::VectorXd mixture =
            Eigen::Map<const Eigen::VectorXd>(weights->data(), static_cast<Eigen::Index>(count));
        Face face{true, {}, {}};
        for (std::size_t i = 0, k = 0; i < n && face.found; ++i) {
          const bool positive = (fixed >> i & 1U) != 0;
          const bool slides = (mask >> i & 1U) != 0;
          const Place place = positive ? Place::kPositive : Place::kNegative;
          face.places.push_back(slides ? Place::kSliding : place);
          face.weights.push_back(slides ? (*weights)[k++] : (positive ? 1.0 : 0.0));
          face.found = slides || leaves(flow.mixed_rate(i, mixture), place, scale[i]);
        }
        if (face.found) return face;
      }
    }
  }
  return {};
}

}  // namespace

bool Face::slides() const {
  return std::find(places.begin(), places.end(), Place::kSliding) != places.end();
}

Face choose_face(std::size_t surfaces, std::span<const double> rates) {
  if (surfaces > 1) return choose_from_many(surfaces, rates);
  const double negative_rate = rates[0];
  const double positive_rate = rates[1];
  if (const auto weight = attracted(positive_rate, negative_rate))
    return {true, {Place::kSliding}, {*weight}};
  if (negative_rate < 0.0) return {true, {Place::kNegative}, {0.0}};
  if (positive_rate > 0.0) return {true, {Place::kPositive}, {1.0}};
  return {};
}

}  // namespace saltus
