#include "simulate/face.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

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

double mixed(double weight, double positive, double negative) {
  return weight * positive + (1.0 - weight) * negative;
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

Face choose_from_two(std::span<const double> rates) {
  const auto rate = [&](std::size_t side, std::size_t surface) {
    return rates[2 * side + surface];
  };
  double scale[2] = {0.0, 0.0};
  for (std::size_t b = 0; b < 4; ++b)
    for (std::size_t i = 0; i < 2; ++i) scale[i] = std::max(scale[i], std::abs(rate(b, i)));
  const Place both[] = {Place::kNegative, Place::kPositive};
  for (std::size_t b = 0; b < 4; ++b)
    if (leaves(rate(b, 0), both[b & 1U], scale[0]) && leaves(rate(b, 1), both[b >> 1U], scale[1]))
      return {true, {both[b & 1U], both[b >> 1U]}, {double(b & 1U), double(b >> 1U)}};
  for (std::size_t i = 0; i < 2; ++i) {  // slides on i, leaves the other to side k
    const std::size_t other = 1 - i;
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t low = k << other;
      const std::size_t high = low | (std::size_t{1} << i);
      const auto weight = attracted(rate(high, i), rate(low, i));
      if (!weight) continue;
      if (!leaves(mixed(*weight, rate(high, other), rate(low, other)), both[k], scale[other]))
        continue;
      Face face{true, {both[k], both[k]}, {double(k), double(k)}};
      face.places[i] = Place::kSliding;
      face.weights[i] = *weight;
      return face;
    }
  }
  const auto bilinear = [&](std::size_t i) {
    return Bilinear{rate(0, i), rate(1, i) - rate(0, i), rate(2, i) - rate(0, i),
                    rate(0, i) - rate(1, i) - rate(2, i) + rate(3, i)};
  };
  if (const auto weights = attracted_to_both(bilinear(0), bilinear(1)))
    return {true, {Place::kSliding, Place::kSliding}, {weights->first, weights->second}};
  return {};
}

}  // namespace

bool Face::slides() const {
  return std::find(places.begin(), places.end(), Place::kSliding) != places.end();
}

Face choose_face(std::size_t surfaces, std::span<const double> rates) {
  if (surfaces == 2) return choose_from_two(rates);
  const double negative_rate = rates[0];
  const double positive_rate = rates[1];
  if (const auto weight = attracted(positive_rate, negative_rate))
    return {true, {Place::kSliding}, {*weight}};
  if (negative_rate < 0.0) return {true, {Place::kNegative}, {0.0}};
  if (positive_rate > 0.0) return {true, {Place::kPositive}, {1.0}};
  return {};
}

}  // namespace saltus
