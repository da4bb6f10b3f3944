#include "study/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <random>

#include "base/error.h"

namespace saltus {
namespace {

constexpr const char* kForms =
    "FROM:STEP:TO, lin:FROM:TO:N, log:FROM:TO:N, a list A,B,C, or an interval FROM:TO for samples";

double number(const std::string& text, const std::string& whole) {
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  double value = 0.0;
  const auto [end, problem] = std::from_chars(first, last, value);
  if (problem != std::errc() || end != last || first == last)
    throw Error(fmt::format("{}: '{}' is not a number; write it like 1.5 or 2e-3", whole, text));
  if (!std::isfinite(value)) throw Error(fmt::format("{}: '{}' is not finite", whole, text));
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::size_t count(const std::string& text, const std::string& whole) {
  const double n = number(text, whole);
  if (n < 1.0 || n != std::floor(n))
    throw Error(fmt::format("{}: '{}' is no number of values; it is a whole number from 1 on",
                            whole, text));
  if (n > static_cast<double>(kMostRuns))
    throw Error(fmt::format("{}: {} values are more than the {} runs a study may have", whole, text,
                            kMostRuns));
  return static_cast<std::size_t>(n);
}

std::pair<std::string, std::string> name_and_rest(const std::string& option,
                                                  const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
    throw Error(fmt::format(
        "{} {}: write {}", option, text,
        option == "--normal" ? "NAME=MEAN,DEVIATION" : fmt::format("NAME= and {}", kForms)));
  return {text.substr(0, sign), text.substr(sign + 1)};
}

// Values of FROM:STEP:TO. The end counts if it is reached up to rounding, and is then given
// exactly.
std::vector<double> steps(double from, double step, double to, const std::string& whole) {
  if (step == 0.0 || (to - from) / step < 0.0)
    throw Error(fmt::format("{}: the range is empty, steps of {:g} do not lead from {:g} to {:g}",
                            whole, step, from, to));
  const double n = std::floor((to - from) / step * (1.0 + 1e-12) + 1e-9);
  if (!(n < static_cast<double>(kMostRuns)))
    throw Error(fmt::format("{}: {:g} values are more than the {} runs a study may have", whole,
                            n + 1.0, kMostRuns));
  std::vector<double> values;
  for (std::size_t k = 0; k <= static_cast<std::size_t>(n); ++k)
    values.push_back(from + static_cast<double>(k) * step);
  if (std::abs(values.back() - to) <= 1e-9 * std::abs(step)) values.back() = to;
  return values;
}

void check_interval(const Factor& factor, const std::string& whole) {
  if (!(factor.from < factor.to))
    throw Error(fmt::format("{}: the range is empty, {:g} is not below {:g}", whole, factor.from,
                            factor.to));
}

std::vector<double> spread(const Factor& factor, std::size_t n) {
  std::vector<double> values;
  for (std::size_t k = 0; k < n; ++k) {
    const double u = n == 1 ? 0.0 : static_cast<double>(k) / static_cast<double>(n - 1);
    values.push_back(k + 1 == n && n > 1 ? factor.to : factor.quantile(u));
  }
  return values;
}

// The same numbers everywhere: distributions of the standard library differ by implementation.
class UniformGenerator {
 public:
  explicit UniformGenerator(std::uint64_t seed) : engine_(seed) {}
  // In (0, 1).
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  std::size_t below(std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>(uniform() * static_cast<double>(n)));
  }

 private:
  std::mt19937_64 engine_;
};

// One sample of every factor in [0, 1) a row.
std::vector<double> unit_samples(Plan plan, std::size_t n, std::size_t factors,
                                 std::uint64_t seed) {
  UniformGenerator random(seed);
  std::vector<double> u(n * factors);
  if (plan == Plan::kRandom)
    for (double& value : u) value = random.uniform();
  for (std::size_t j = 0; plan == Plan::kLatin && j < factors; ++j) {
    std::vector<std::size_t> part(n);
    std::iota(part.begin(), part.end(), std::size_t{0});
    for (std::size_t k = n; k > 1; --k) std::swap(part[k - 1], part[random.below(k)]);
    for (std::size_t k = 0; k < n; ++k)
      u[k * factors + j] =
          (static_cast<double>(part[k]) + random.uniform()) / static_cast<double>(n);
  }
  for (std::size_t k = 0; plan == Plan::kSobol && k < n; ++k)
    for (std::size_t j = 0; j < factors; ++j)
      // The sequence starts at zero, where distributions without bounds are infinite. In the middle
      // of its cells every point is as evenly spread.
      u[k * factors + j] = sobol_point(k, j) + 0x1p-33;
  return u;
}

// A, B, and for each factor A with that column of B.
std::vector<double> index_samples(std::size_t n, std::size_t factors) {
  const std::vector<double> both = unit_samples(Plan::kSobol, n, 2 * factors, 0);
  std::vector<double> u;
  const auto add = [&](const auto& from_b) {
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < factors; ++j)
        u.push_back(both[k * 2 * factors + j + (from_b(j) ? factors : 0)]);
  };
  add([](std::size_t) { return false; });
  add([](std::size_t) { return true; });
  for (std::size_t i = 0; i < factors; ++i) add([i](std::size_t j) { return i == j; });
  return u;
}

void require_lists(const std::vector<Factor>& factors) {
  for (const Factor& factor : factors)
    if (factor.values.empty())
      throw Error(fmt::format(
          "'{}' is given as {}; say how many samples to take, with --latin N, "
          "--sobol N or --random N, or list its values",
          factor.name, factor.law == Factor::Law::kNormal ? "a distribution" : "an interval"));
}

void fill_grid(const std::vector<Factor>& factors, Design& design) {
  double runs = 1.0;
  for (const Factor& factor : factors) runs *= static_cast<double>(factor.values.size());
  if (runs > static_cast<double>(kMostRuns))
    throw Error(
        fmt::format("the grid has {:g} runs, more than the {} a study may have; take "
                    "samples instead, with --latin N or --sobol N",
                    runs, kMostRuns));
  for (const Factor& factor : factors) design.shape.push_back(factor.values.size());
  const auto n = static_cast<std::size_t>(runs);
  design.values.reserve(n * factors.size());
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t rest = n;
    std::size_t at = k;
    for (const Factor& factor : factors) {
      rest /= factor.values.size();
      design.values.push_back(factor.values[at / rest]);
      at %= rest;
    }
  }
}

void fill_zip(const std::vector<Factor>& factors, Design& design) {
  const std::size_t n = factors.front().values.size();
  for (const Factor& factor : factors)
    if (factor.values.size() != n)
      throw Error(fmt::format("--zip takes values of equal number: '{}' has {}, '{}' has {}",
                              factors.front().name, n, factor.name, factor.values.size()));
  for (std::size_t k = 0; k < n; ++k)
    for (const Factor& factor : factors) design.values.push_back(factor.values[k]);
}

}  // namespace

double Factor::quantile(double u) const {
  if (law == Law::kNormal) return from + to * normal_quantile(u);
  if (law == Law::kLogarithmic) return from * std::pow(to / from, u);
  return from + (to - from) * u;
}

Factor parse_factor(const std::string& text) {
  const auto [name, rest] = name_and_rest("--vary", text);
  const std::string whole = "--vary " + text;
  Factor factor;
  factor.name = name;
  if (rest.find(':') == std::string::npos) {
    for (const std::string& part : split(rest, ',')) factor.values.push_back(number(part, whole));
    const auto [low, high] = std::minmax_element(factor.values.begin(), factor.values.end());
    factor.from = *low;
    factor.to = *high;
    return factor;
  }
  std::vector<std::string> parts = split(rest, ':');
  const bool is_log = parts[0] == "log";
  const bool is_named = is_log || parts[0] == "lin";
  if (is_named) parts.erase(parts.begin());
  if (parts.size() < 2 || parts.size() > 3)
    throw Error(fmt::format("{}: write NAME= and {}", whole, kForms));
  factor.from = number(parts[0], whole);
  if (parts.size() == 3 && !is_named) {
    factor.values = steps(factor.from, number(parts[1], whole), number(parts[2], whole), whole);
    factor.to = factor.values.back();
    if (factor.to < factor.from) std::swap(factor.from, factor.to);
    return factor;
  }
  factor.to = number(parts[1], whole);
  const std::size_t n = parts.size() == 3 ? count(parts[2], whole) : 0;
  if (n != 1) check_interval(factor, whole);
  if (is_log) {
    if (factor.from <= 0.0)
      throw Error(fmt::format("{}: a logarithmic range needs positive ends", whole));
    factor.law = Factor::Law::kLogarithmic;
  }
  if (n > 0) factor.values = spread(factor, n);
  return factor;
}

Factor parse_normal(const std::string& text) {
  const auto [name, rest] = name_and_rest("--normal", text);
  const std::string whole = "--normal " + text;
  const std::vector<std::string> parts = split(rest, ',');
  if (parts.size() != 2) throw Error(fmt::format("{}: write NAME=MEAN,DEVIATION", whole));
  Factor factor;
  factor.name = name;
  factor.law = Factor::Law::kNormal;
  factor.from = number(parts[0], whole);
  factor.to = number(parts[1], whole);
  if (!(factor.to > 0.0))
    throw Error(fmt::format("{}: the standard deviation must be positive", whole));
  return factor;
}

Design make_design(const std::vector<Factor>& factors, Plan plan, std::size_t samples,
                   std::uint64_t seed) {
  Design design;
  design.plan = plan;
  if (factors.empty())
    throw Error(fmt::format("nothing is varied; say --vary NAME= and {}", kForms));
  for (const Factor& factor : factors) {
    if (std::ranges::find(design.names, factor.name) != design.names.end())
      throw Error(fmt::format("'{}' is varied twice", factor.name));
    design.names.push_back(factor.name);
  }
  if (plan == Plan::kGrid || plan == Plan::kZip) {
    require_lists(factors);
    plan == Plan::kGrid ? fill_grid(factors, design) : fill_zip(factors, design);
    return design;
  }
  if (samples == 0) throw Error("a sampled study needs at least one run");
  const std::size_t most = plan == Plan::kIndices ? kMostRuns / (factors.size() + 2) : kMostRuns;
  if (samples > most)
    throw Error(
        fmt::format("{} samples make more than the {} runs a study may have", samples, kMostRuns));
  const std::size_t dimensions = plan == Plan::kIndices ? kSobolDimensions / 2 : kSobolDimensions;
  if ((plan == Plan::kSobol || plan == Plan::kIndices) && factors.size() > dimensions)
    throw Error(
        fmt::format("Sobol's sequence serves up to {} parameters here, not {}; use "
                    "--latin N",
                    dimensions, factors.size()));
  for (const Factor& factor : factors)
    if (factor.law != Factor::Law::kNormal && !(factor.from < factor.to))
      throw Error(fmt::format("'{}' is to be sampled but has one value only", factor.name));
  design.values = plan == Plan::kIndices ? index_samples(samples, factors.size())
                                         : unit_samples(plan, samples, factors.size(), seed);
  for (std::size_t k = 0; k < design.values.size(); ++k)
    design.values[k] = factors[k % factors.size()].quantile(design.values[k]);
  return design;
}

double sobol_point(std::size_t index, std::size_t dimension) {
  struct Direction {
    unsigned degree, coefficients;
    std::uint32_t first[7];
  };
  static constexpr Direction kDirections[] = {
      {1, 0, {1}},
      {2, 1, {1, 3}},
      {3, 1, {1, 3, 1}},
      {3, 2, {1, 1, 1}},
      {4, 1, {1, 1, 3, 3}},
      {4, 4, {1, 3, 5, 13}},
      {5, 2, {1, 1, 5, 5, 17}},
      {5, 4, {1, 1, 5, 5, 5}},
      {5, 7, {1, 1, 7, 11, 19}},
      {5, 11, {1, 1, 5, 1, 1}},
      {5, 13, {1, 1, 1, 3, 11}},
      {5, 14, {1, 3, 5, 5, 31}},
      {6, 1, {1, 3, 3, 9, 7, 49}},
      {6, 13, {1, 1, 1, 15, 21, 21}},
      {6, 16, {1, 3, 1, 13, 27, 49}},
      {6, 19, {1, 1, 1, 15, 7, 5}},
      {6, 22, {1, 3, 1, 15, 13, 25}},
      {6, 25, {1, 1, 5, 5, 19, 61}},
      {7, 1, {1, 3, 7, 11, 23, 15, 103}},
      {7, 4, {1, 3, 7, 13, 13, 15, 69}},
  };
  constexpr unsigned kBits = 32;
  std::uint32_t v[kBits];
  if (dimension == 0) {
    for (unsigned i = 0; i < kBits; ++i) v[i] = std::uint32_t{1} << (31 - i);
  } else {
    const Direction& d = kDirections[dimension - 1];
    for (unsigned i = 0; i < kBits; ++i) {
      if (i < d.degree) {
        v[i] = d.first[i] << (31 - i);
        continue;
      }
      v[i] = v[i - d.degree] ^ (v[i - d.degree] >> d.degree);
      for (unsigned k = 1; k < d.degree; ++k)
        if (((d.coefficients >> (d.degree - 1 - k)) & 1U) != 0) v[i] ^= v[i - k];
    }
  }
  const auto gray = static_cast<std::uint32_t>(index ^ (index >> 1));
  std::uint32_t x = 0;
  for (unsigned i = 0; i < kBits; ++i)
    if (((gray >> i) & 1U) != 0) x ^= v[i];
  return static_cast<double>(x) * 0x1p-32;
}

double normal_quantile(double u) {
  // Acklam's rational approximation (relative error 1e-9), then one step of Halley's method.
  static constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                                 -2.759285104469687e+02, 1.383577518672690e+02,
                                 -3.066479806614716e+01, 2.506628277459239e+00};
  static constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                                 -1.556989798598866e+02, 6.680131188771972e+01,
                                 -1.328068155288572e+01};
  static constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                                 -2.400758277161838e+00, -2.549732539343734e+00,
                                 4.374664141464968e+00,  2.938163982698783e+00};
  static constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01,
                                 2.445134137142996e+00, 3.754408661907416e+00};
  constexpr double kTail = 0.02425;
  double x = 0.0;
  if (u < kTail || u > 1.0 - kTail) {
    const double q = std::sqrt(-2.0 * std::log(std::min(u, 1.0 - u)));
    x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
        ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
    if (u > 0.5) x = -x;
  } else {
    const double q = u - 0.5;
    const double r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
  }
  const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - u;
  const double step = error * std::sqrt(2.0 * 3.141592653589793) * std::exp(x * x / 2.0);
  return x - step / (1.0 + x * step / 2.0);
}

}  // namespace saltus
