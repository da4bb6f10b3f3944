#include "locate/roots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace {
std::atomic<long> allocations{0};
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace saltus {
namespace {

constexpr double kPi = std::numbers::pi;

struct Expected {
  double s;
  RootKind kind;
};

// Expected roots are zeros of the formula itself, known in closed form.
void expect_roots(const RootReport& report, const std::vector<Expected>& expected,
                  double tolerance) {
  EXPECT_EQ(report.status, RootStatus::kComplete);
  EXPECT_EQ(report.proven_until, 1.0);
  ASSERT_EQ(report.roots.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(report.roots[i].s, expected[i].s, tolerance) << "root " << i;
    EXPECT_EQ(report.roots[i].kind, expected[i].kind) << "root " << i;
  }
}

enum class Special { kNone, kDouble, kPair };

// scale * prod (s - r) * exp(growth s) * (1 + bump (s - center)^2), evaluated as written.
struct ProductGuard {
  std::vector<double> factors;
  std::vector<Expected> roots;
  double scale = 1.0;
  double growth = 0.0;
  double bump = 0.0;
  double center = 0.0;

  double operator()(double s) const {
    double value = scale * std::exp(growth * s) * (1.0 + bump * (s - center) * (s - center));
    for (const double r : factors) value *= s - r;
    return value;
  }
};

ProductGuard random_product(std::mt19937& random, Special special, bool pure_polynomial) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const int degree =
      std::uniform_int_distribution<int>(special == Special::kNone ? 0 : 2, 6)(random);
  const int places = special == Special::kNone ? degree : degree - 1;
  ProductGuard guard;
  std::vector<double> at;
  while (static_cast<int>(at.size()) < places) {
    const double r = unit(random);
    if (std::all_of(at.begin(), at.end(), [&](double x) { return std::abs(x - r) >= 0.02; })) {
      at.push_back(r);
    }
  }
  guard.factors = at;
  if (special == Special::kDouble) guard.factors.push_back(at[0]);
  if (special == Special::kPair) {
    at.push_back(at[0] < 0.5 ? at[0] + 1e-6 : at[0] - 1e-6);
    guard.factors = at;
  }
  guard.scale = std::pow(10.0, 12.0 * unit(random) - 6.0);
  if (!pure_polynomial && unit(random) < 0.5) {
    guard.growth = 6.0 * unit(random) - 3.0;
    guard.bump = 5.0 * unit(random);
    guard.center = unit(random);
  }
  std::sort(at.begin(), at.end());
  int sign = guard.factors.size() % 2 == 0 ? 1 : -1;
  for (const double r : at) {
    if (special == Special::kDouble && r == guard.factors[0]) {
      guard.roots.push_back({r, RootKind::kGrazing});
    } else {
      guard.roots.push_back({r, sign > 0 ? RootKind::kFalling : RootKind::kRising});
      sign = -sign;
    }
  }
  return guard;
}

struct Work {
  double sum = 0.0;
  int most = 0;
  int count = 0;
  void add(int evaluations) {
    sum += evaluations;
    most = std::max(most, evaluations);
    ++count;
  }
  double average() const { return sum / count; }
};

TEST(RootIsolator, FindsEveryRootOfRandomProducts) {
  std::mt19937 random(20);
  RootIsolator isolator;
  for (const Special special : {Special::kNone, Special::kDouble, Special::kPair}) {
    Work work;
    for (int i = 0; i < 334; ++i) {
      const ProductGuard guard = random_product(random, special, false);
      const RootReport report = isolator.isolate(guard);
      SCOPED_TRACE("guard " + std::to_string(i) + " of kind " +
                   std::to_string(static_cast<int>(special)));
      expect_roots(report, guard.roots, 1e-9);
      work.add(report.evaluations);
    }
    std::printf("  kind %d: %.1f evaluations on average, %d at most\n", static_cast<int>(special),
                work.average(), work.most);
    EXPECT_LT(work.average(), 80.0);
    EXPECT_LT(work.most, 300);
  }
}

TEST(RootIsolator, FindsSimpleRootsOfProductsToFullAccuracy) {
  std::mt19937 random(21);
  RootIsolator isolator;
  for (int i = 0; i < 300; ++i) {
    const ProductGuard guard = random_product(random, Special::kPair, false);
    expect_roots(isolator.isolate(guard), guard.roots, 2e-14);
  }
}

TEST(RootIsolator, NeedsFewerSamplesWhenTheDegreeIsKnown) {
  std::mt19937 random(22);
  RootIsolator isolator;
  Work known;
  Work unknown;
  for (int i = 0; i < 300; ++i) {
    const ProductGuard guard = random_product(random, Special(i % 3), true);
    const RootReport with = isolator.isolate(guard, {.degree = 6});
    expect_roots(with, guard.roots, 1e-9);
    known.add(with.evaluations);
    unknown.add(isolator.isolate(guard).evaluations);
  }
  std::printf("  degree known %.1f, unknown %.1f evaluations on average\n", known.average(),
              unknown.average());
  EXPECT_LE(known.average(), unknown.average());
}

struct Expanded {
  std::vector<double> coefficients;  // from the constant on
  double noise = 0.0;

  explicit Expanded(const ProductGuard& product) {
    coefficients = {product.scale};
    for (const double r : product.factors) {
      coefficients.insert(coefficients.begin(), 0.0);
      for (std::size_t k = 0; k + 1 < coefficients.size(); ++k) {
        coefficients[k] -= r * coefficients[k + 1];
      }
    }
    // Rounding of the coefficients and of Horner's rule on [0, 1]: gamma_2n sum |a_k|.
    double sum = 0.0;
    for (const double a : coefficients) sum += std::abs(a);
    noise = 3.0 * static_cast<double>(coefficients.size()) * 1.2e-16 * sum;
  }
  double operator()(double s) const {
    double value = 0.0;
    for (std::size_t k = coefficients.size(); k-- > 0;) value = value * s + coefficients[k];
    return value;
  }
};

// Near a root g = c (s - r)^m (1 + ...), so noise moves the root by (noise / |c|)^(1/m).
double conditioning(const ProductGuard& guard, double root, int multiplicity, double noise) {
  double rest = guard.scale;
  for (const double r : guard.factors) {
    if (r != root) rest *= std::abs(root - r);
  }
  return std::pow(noise / rest, 1.0 / multiplicity);
}

// A random product whose expanded form still tells its zeros apart: noise moves crossings by less
// than 1e-10 and the tangency by less than 1e-5.
ProductGuard random_separable(std::mt19937& random, Special special) {
  while (true) {
    ProductGuard product = random_product(random, special, true);
    const double noise = Expanded(product).noise;
    const auto separable = [&](const Expected& root) {
      const bool grazing = root.kind == RootKind::kGrazing;
      const double blur = conditioning(product, root.s, grazing ? 2 : 1, noise);
      return blur < (grazing ? 1e-5 : 1e-10) && root.s > 1e-3 && root.s < 1.0 - 1e-3;
    };
    if (std::all_of(product.roots.begin(), product.roots.end(), separable)) return product;
  }
}

TEST(RootIsolator, FindsRootsOfExpandedPolynomialsAboveTheirNoise) {
  std::mt19937 random(23);
  RootIsolator isolator;
  Work work;
  for (int i = 0; i < 1000; ++i) {
    const ProductGuard product =
        random_separable(random, i % 2 == 0 ? Special::kNone : Special::kDouble);
    const Expanded guard(product);
    const RootReport report = isolator.isolate(guard, {.noise = guard.noise});
    SCOPED_TRACE("guard " + std::to_string(i));
    ASSERT_EQ(report.roots.size(), product.roots.size());
    for (std::size_t k = 0; k < product.roots.size(); ++k) {
      const Expected& root = product.roots[k];
      const bool grazing = root.kind == RootKind::kGrazing;
      EXPECT_EQ(report.roots[k].kind, root.kind);
      EXPECT_NEAR(report.roots[k].s, root.s,
                  grazing ? conditioning(product, root.s, 2, guard.noise) : 1e-9);
    }
    work.add(report.evaluations);
  }
  std::printf("  %.1f evaluations on average, %d at most\n", work.average(), work.most);
  EXPECT_LT(work.most, 300);
}

// Rounded coefficients lift or lower a tangency, so without a declared noise it may be a near miss
// or a pair; but it stays in its place, keeps its parity and costs little.
TEST(RootIsolator, IsNotLedAstrayByUndeclaredNoise) {
  std::mt19937 random(25);
  RootIsolator isolator;
  Work work;
  for (int i = 0; i < 1000; ++i) {
    const ProductGuard product =
        random_separable(random, i % 2 == 0 ? Special::kNone : Special::kDouble);
    const Expanded guard(product);
    const RootReport report = isolator.isolate(guard);
    SCOPED_TRACE("guard " + std::to_string(i));
    std::size_t explained = 0;
    for (const Expected& root : product.roots) {
      const bool grazing = root.kind == RootKind::kGrazing;
      const double reach = grazing ? conditioning(product, root.s, 2, guard.noise) : 1e-9;
      int crossings = 0;
      std::size_t here = 0;
      for (const Root& found : report.roots) {
        if (std::abs(found.s - root.s) > reach) continue;
        ++here;
        if (found.kind != RootKind::kGrazing) ++crossings;
        EXPECT_TRUE(grazing || found.kind == root.kind);
      }
      EXPECT_EQ(crossings % 2, grazing ? 0 : 1);
      EXPECT_LE(here, grazing ? 2u : 1u);
      explained += here;
    }
    EXPECT_EQ(explained, report.roots.size());
    work.add(report.evaluations);
  }
  std::printf("  %.1f evaluations on average, %d at most\n", work.average(), work.most);
  EXPECT_LT(work.most, 300);
}

TEST(RootIsolator, FindsAllRootsOfAnOscillation) {
  RootIsolator isolator;
  const RootReport report = isolator.isolate([](double s) { return std::sin(40.0 * s); });
  std::vector<Expected> expected;
  for (int k = 0; k * kPi / 40.0 <= 1.0; ++k) {
    expected.push_back({k * kPi / 40.0, k % 2 == 0 ? RootKind::kRising : RootKind::kFalling});
  }
  ASSERT_EQ(expected.size(), 13u);
  expect_roots(report, expected, 2e-14);
  EXPECT_EQ(report.roots[0].s, 0.0);
  std::printf("  sin(40 s): %d evaluations\n", report.evaluations);
}

// cos(w s + phase) + offset: roots from the inverse cosine, signs by the phase.
TEST(RootIsolator, FindsAllRootsOfRandomShiftedOscillations) {
  std::mt19937 random(24);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  RootIsolator isolator;
  for (int i = 0; i < 3000; ++i) {
    const double w = 100.0 * unit(random);
    const double phase = 2.0 * kPi * unit(random);
    const double offset = 2.4 * unit(random) - 1.2;
    std::vector<Expected> expected;
    if (std::abs(offset) < 1.0) {
      const double angle = std::acos(-offset);
      for (int k = -1; k < 20; ++k) {
        for (const double side : {-1.0, 1.0}) {
          const double s = (2.0 * kPi * k + side * angle - phase) / w;
          if (s >= 0.0 && s <= 1.0) {
            expected.push_back({s, side > 0.0 ? RootKind::kFalling : RootKind::kRising});
          }
        }
      }
    }
    const auto guard = [&](double s) { return std::cos(w * s + phase) + offset; };
    SCOPED_TRACE("w " + std::to_string(w) + " offset " + std::to_string(offset));
    expect_roots(isolator.isolate(guard), expected, 1e-11);
  }
}

TEST(RootIsolator, FindsTheRootOfASteepExponential) {
  RootIsolator isolator;
  const RootReport up =
      isolator.isolate([](double s) { return std::exp(200.0 * s) - std::exp(70.0); });
  expect_roots(up, {{0.35, RootKind::kRising}}, 1e-14);
  const RootReport down =
      isolator.isolate([](double s) { return std::exp(-500.0 * s) - std::exp(-5.0); });
  expect_roots(down, {{0.01, RootKind::kFalling}}, 1e-14);
  std::printf("  exp: %d and %d evaluations\n", up.evaluations, down.evaluations);
}

TEST(RootIsolator, TellsANearMissFromAPair) {
  RootIsolator isolator;
  const auto above = [](double s) { return (s - 0.3) * (s - 0.3) + 1e-12; };
  expect_roots(isolator.isolate(above), {}, 0.0);
  const auto below = [](double s) { return (s - 0.3) * (s - 0.3) - 1e-12; };
  expect_roots(isolator.isolate(below),
               {{0.3 - 1e-6, RootKind::kFalling}, {0.3 + 1e-6, RootKind::kRising}}, 1e-10);
  const auto exact = [](double s) { return -(s - 0.3) * (s - 0.3); };
  expect_roots(isolator.isolate(exact), {{0.3, RootKind::kGrazing}}, 1e-9);
}

TEST(RootIsolator, TakesAnOddMultipleRootForACrossing) {
  RootIsolator isolator;
  const auto cube = [](double s) { return std::pow(0.3 - s, 3); };
  expect_roots(isolator.isolate(cube), {{0.3, RootKind::kFalling}}, 1e-9);
  const auto fourth = [](double s) { return std::pow(s - 0.3, 4); };
  expect_roots(isolator.isolate(fourth), {{0.3, RootKind::kGrazing}}, 1e-9);
}

TEST(RootIsolator, HandlesKinksAndJumps) {
  RootIsolator isolator;
  const RootReport kink = isolator.isolate([](double s) { return std::abs(s - 0.3); });
  expect_roots(kink, {{0.3, RootKind::kGrazing}}, 1e-9);
  std::printf("  |s - 0.3|: %d evaluations\n", kink.evaluations);
  const RootReport lifted = isolator.isolate([](double s) { return std::abs(s - 0.3) + 1e-6; });
  expect_roots(lifted, {}, 0.0);
  const RootReport lowered = isolator.isolate([](double s) { return std::abs(s - 0.3) - 1e-6; });
  expect_roots(lowered, {{0.3 - 1e-6, RootKind::kFalling}, {0.3 + 1e-6, RootKind::kRising}}, 2e-14);
  const RootReport crossing =
      isolator.isolate([](double s) { return s < 0.3 ? s - 0.3 : 5.0 * (s - 0.3); });
  expect_roots(crossing, {{0.3, RootKind::kRising}}, 1e-14);
  const RootReport jump = isolator.isolate([](double s) { return s < 0.3 ? 1.0 : -2.0; });
  expect_roots(jump, {{0.3, RootKind::kFalling}}, 1e-14);
  std::printf("  jump: %d evaluations\n", jump.evaluations);
}

TEST(RootIsolator, FindsTheRootOfASteepStep) {
  RootIsolator isolator;
  const auto centred = [](double s) { return std::tanh((s - 0.5) / 1e-4); };
  const RootReport report = isolator.isolate(centred);
  expect_roots(report, {{0.5, RootKind::kRising}}, 1e-14);
  std::printf("  tanh: %d evaluations\n", report.evaluations);
  const auto shifted = [](double s) { return std::tanh((0.123 - s) / 1e-4); };
  expect_roots(isolator.isolate(shifted), {{0.123, RootKind::kFalling}}, 1e-14);
}

TEST(RootIsolator, ReportsRootsAtBothEndsByTheInnerSide) {
  RootIsolator isolator;
  const RootReport ends = isolator.isolate([](double s) { return s * (s - 1.0); });
  expect_roots(ends, {{0.0, RootKind::kFalling}, {1.0, RootKind::kRising}}, 0.0);
  EXPECT_EQ(ends.roots[0].before, 0);
  EXPECT_EQ(ends.roots[0].after, -1);
  EXPECT_EQ(ends.roots[1].before, -1);
  EXPECT_EQ(ends.roots[1].after, 0);
  const RootReport tangent = isolator.isolate([](double s) { return s * s * (1.0 - s); });
  expect_roots(tangent, {{0.0, RootKind::kRising}, {1.0, RootKind::kFalling}}, 0.0);
  const RootReport near = isolator.isolate([](double s) { return s - 1e-12; });
  expect_roots(near, {{1e-12, RootKind::kRising}}, 1e-14);
  const RootReport outside = isolator.isolate([](double s) { return s + 1e-12; });
  expect_roots(outside, {}, 0.0);
}

TEST(RootIsolator, FindsARootOnASplitPointOnce) {
  RootIsolator isolator;
  const auto at = [](double r) {
    return [r](double s) { return (s - r) * (2.0 + std::sin(90.0 * s)); };
  };
  for (int k = 1; k < 64; ++k) {
    const double r = k / 64.0;
    expect_roots(isolator.isolate(at(r)), {{r, RootKind::kRising}}, 1e-14);
  }
  for (const double r : nine_sample_points().subspan(1, 7)) {
    expect_roots(isolator.isolate(at(r)), {{r, RootKind::kRising}}, 1e-14);
    const auto twice = [r](double s) { return (s - r) * (s - r); };
    expect_roots(isolator.isolate(twice), {{r, RootKind::kGrazing}}, 1e-9);
  }
}

TEST(RootIsolator, RecognizesAFlatGuard) {
  RootIsolator isolator;
  const RootReport zero = isolator.isolate([](double) { return 0.0; });
  expect_roots(zero, {{0.0, RootKind::kFlat}}, 0.0);
  EXPECT_EQ(zero.roots[0].width, 1.0);
  EXPECT_LE(zero.evaluations, 9);

  const RootReport half = isolator.isolate([](double s) { return std::max(0.0, s - 0.5); });
  expect_roots(half, {{0.0, RootKind::kFlat}}, 0.0);
  EXPECT_NEAR(half.roots[0].width, 0.5, 1e-8);
  EXPECT_EQ(half.roots[0].after, 1);
  std::printf("  max(0, s - 0.5): %d evaluations\n", half.evaluations);

  const RootReport middle =
      isolator.isolate([](double s) { return std::max(0.0, s - 0.7) + std::min(0.0, s - 0.4); });
  expect_roots(middle, {{0.4, RootKind::kFlat}}, 1e-8);
  EXPECT_NEAR(middle.roots[0].width, 0.3, 1e-8);
  EXPECT_EQ(middle.roots[0].before, -1);
  EXPECT_EQ(middle.roots[0].after, 1);

  const RootReport noisy =
      isolator.isolate([](double s) { return 1e-13 * std::sin(1e5 * s); }, {.noise = 1e-13});
  expect_roots(noisy, {{0.0, RootKind::kFlat}}, 0.0);
}

TEST(RootIsolator, StopsAtNotFiniteValues) {
  RootIsolator isolator;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(isolator.isolate([&](double) { return nan; }).status, RootStatus::kNotFinite);
  const RootReport part = isolator.isolate([](double s) { return std::sqrt(0.8 - s); });
  EXPECT_EQ(part.status, RootStatus::kNotFinite);
  EXPECT_LE(part.proven_until, 1.0);
  const RootReport pole = isolator.isolate([](double s) { return 1.0 / (s - 0.5); });
  EXPECT_EQ(pole.status, RootStatus::kNotFinite);
}

TEST(RootIsolator, StopsWithinItsBudget) {
  RootIsolator isolator(500);
  const RootReport wild =
      isolator.isolate([](double s) { return std::sin(1e6 * s) + 3.0 * (0.6 - s); });
  EXPECT_EQ(wild.status, RootStatus::kBudget);
  EXPECT_LE(wild.evaluations, 620);
  EXPECT_LT(wild.proven_until, 1.0);
  ASSERT_FALSE(wild.roots.empty());  // g(0) > 0 > g(1)
  EXPECT_EQ(wild.roots.back().kind, RootKind::kFalling);

  RootIsolator patient(100000);
  const RootReport many = patient.isolate([](double s) { return std::sin(1000.0 * s + 0.5); });
  EXPECT_EQ(many.status, RootStatus::kTooMany);
  ASSERT_EQ(many.roots.size(), RootIsolator::kMaxRoots);
  // The first that was left out is (65 pi - 0.5) / 1000.
  EXPECT_NEAR(many.proven_until, (65.0 * kPi - 0.5) / 1000.0, 1e-12);
}

TEST(RootIsolator, IsCheapFarFromZero) {
  RootIsolator isolator;
  const auto far = [](double s) { return 3.0 + 0.1 * s + 0.01 * s * s; };
  EXPECT_LE(isolator.isolate(far).evaluations, 5);
  EXPECT_LE(isolator.isolate(far, {.at_start = far(0.0), .at_end = far(1.0)}).evaluations, 3);
  const auto moving = [](double s) { return std::exp(s) + 0.5 * std::sin(3.0 * s); };
  const RootReport report = isolator.isolate(moving);
  expect_roots(report, {}, 0.0);
  EXPECT_LE(report.evaluations, 9);
}

TEST(RootIsolator, UsesTheEndValuesItIsGiven) {
  RootIsolator isolator;
  const auto guard = [](double s) {
    EXPECT_TRUE(s > 0.0 && s < 1.0);
    return std::cos(5.0 * s);
  };
  const RootReport report = isolator.isolate(guard, {.at_start = 1.0, .at_end = std::cos(5.0)});
  expect_roots(report, {{0.1 * kPi, RootKind::kFalling}, {0.3 * kPi, RootKind::kRising}}, 1e-14);
}

TEST(RootIsolator, DoesNotAllocate) {
  RootIsolator isolator;
  nine_sample_points();
  const long before = allocations;
  std::size_t roots = 0;
  roots += isolator.isolate([](double s) { return std::sin(40.0 * s); }).roots.size();
  roots += isolator.isolate([](double s) { return (s - 0.3) * (s - 0.3); }).roots.size();
  roots += isolator.isolate([](double s) { return std::abs(s - 0.3) - 1e-6; }).roots.size();
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(roots, 16u);
  ::operator delete(::operator new(1));
  EXPECT_GT(allocations, before);  // the counter does count
}

// Guards that are far from zero, near it and across it; some with a value that is not finite.
TEST(MeasureClearance, ClaimsWhatSurelyNoRootClaimsAndNoMore) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  constexpr std::size_t kCount = 10007;
  std::vector<double> rows(5 * kCount);
  std::vector<double> unproven(kCount);
  std::vector<double> clearance(kCount);
  for (std::size_t g = 0; g < kCount; ++g) {
    const double offset = 3.0 * uniform(random);
    const double linear = uniform(random);
    const double bent = uniform(random) * (g % 3 == 0 ? 1e-5 : 1.0);
    for (std::size_t k = 0; k < 5; ++k) {
      const double x = 2.0 * five_sample_points()[k] - 1.0;
      rows[k * kCount + g] = offset + linear * x + bent * (x * x * x - 0.3 * x * x * x * x);
    }
    unproven[g] = g % 2 == 0 ? 0.0 : 1.0;
  }
  rows[1 * kCount + 100] = std::numeric_limits<double>::quiet_NaN();
  rows[2 * kCount + 200] = std::numeric_limits<double>::infinity();
  rows[4 * kCount + 301] = -std::numeric_limits<double>::infinity();
  measure_clearance(rows.data(), kCount, unproven.data(), clearance.data());
  std::array<std::size_t, 2> clear = {0, 0};
  for (std::size_t g = 0; g < kCount; ++g) {
    std::array<double, 5> samples;
    for (std::size_t k = 0; k < 5; ++k) samples[k] = rows[k * kCount + g];
    const bool claimed = clearance[g] > 0.0;
    EXPECT_EQ(claimed, surely_no_root(samples, unproven[g] == 0.0 ? 4 : -1)) << g;
    if (claimed) ++clear[g % 2];
  }
  EXPECT_GT(clear[0], kCount / 5);
  EXPECT_GT(clear[1], kCount / 50);
}

// Shifted so that they miss zero by a rounding or two, either way.
TEST(MeasureClearance, ClaimsNothingThatRoundingDecides) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  constexpr double kEps = std::numeric_limits<double>::epsilon();
  const double polynomial = 0.0;
  for (int trial = 0; trial < 10000; ++trial) {
    const double linear = uniform(random);
    const double least = std::abs(linear) * (1.0 + 100.0 * kEps * uniform(random));
    std::array<double, 5> samples;
    for (std::size_t k = 0; k < 5; ++k)
      samples[k] = least + linear * (2.0 * five_sample_points()[k] - 1.0);
    double clearance = 0.0;
    measure_clearance(samples.data(), 1, &polynomial, &clearance);
    EXPECT_TRUE(clearance <= 0.0 || surely_no_root(samples, 4)) << trial;
  }
}

TEST(SurelyNoRoot, IsSharpForPolynomials) {
  const auto sample = [](auto points, auto g) {
    std::vector<double> values;
    for (const double s : points) values.push_back(g(s));
    return values;
  };
  // T4 on [0, 1] lies between -1 and 1.
  const auto t4 = [](double offset) {
    return [offset](double s) {
      const double x = 2.0 * s - 1.0;
      return offset + 8.0 * x * x * x * x - 8.0 * x * x + 1.0;
    };
  };
  EXPECT_TRUE(surely_no_root(sample(five_sample_points(), t4(1.001)), 4));
  EXPECT_FALSE(surely_no_root(sample(five_sample_points(), t4(0.999)), 4));
  EXPECT_FALSE(surely_no_root(sample(five_sample_points(), t4(1.001))));
  EXPECT_TRUE(surely_no_root(sample(nine_sample_points(), t4(-1.001))));
  EXPECT_FALSE(surely_no_root(sample(nine_sample_points(), t4(1.001)), 4, 1e-3));
  // A dip between the samples: 1 - 1.1 exp(-((s - 0.6) / 0.05)^2) has two roots.
  const auto dip = [](double s) { return 1.0 - 1.1 * std::exp(-std::pow((s - 0.6) / 0.05, 2)); };
  EXPECT_FALSE(surely_no_root(sample(five_sample_points(), dip)));
  EXPECT_FALSE(surely_no_root(sample(nine_sample_points(), dip)));
  const double half = 0.05 * std::sqrt(std::log(1.1));
  RootIsolator isolator;
  expect_roots(isolator.isolate(dip),
               {{0.6 - half, RootKind::kFalling}, {0.6 + half, RootKind::kRising}}, 1e-13);
}

}  // namespace
}  // namespace saltus
