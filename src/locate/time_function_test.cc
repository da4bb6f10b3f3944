#include "locate/time_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "locate/time_terms.h"

namespace saltus {
namespace {

constexpr double kPi = std::numbers::pi;

struct Scene {
  Graph graph;
  DaeDefinition symbols;
  Expr t;

  Scene() : t(graph.time()) { symbols.time = t; }
  TimeFunction function(const Expr& formula) {
    TimeFunction f(formula, symbols);
    f.bind({});
    return f;
  }
};

// All falls between two times, found one after the other as a run would.
std::vector<double> falls_of(TimeFunction& f, double from, double until) {
  std::vector<double> falls;
  for (double t = from; t < until;) {
    const TimeFall next = first_fall(f, t, until);
    t = next.proven_until;
    if (!next.time) continue;
    falls.push_back(*next.time);
    // The run goes on with the relation turned round: to where it rises again.
    TimeFunction& same = f;
    double step = 1e-9;
    while (t < until && !(same.value(t) > 0.0)) {
      t += step;
      step *= 1.5;
    }
    // Back to the first positive time after the fall, to be exact.
    double below = *next.time;
    double above = t;
    if (!(same.value(t) > 0.0)) break;
    while (above - below > 1e-13) {
      const double middle = 0.5 * (above + below);
      (same.value(middle) > 0.0 ? above : below) = middle;
    }
    t = above;
  }
  return falls;
}

TEST(FirstFall, FindsTheKnownRootsOfProducts) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int k = 0; k < 300; ++k) {
    Scene scene;
    std::vector<double> roots;
    const int count = 1 + k % 9;
    for (int i = 0; i < count; ++i) roots.push_back(0.02 + 0.96 * uniform(random));
    if (k % 3 == 0) roots.push_back(roots.back() + std::pow(10.0, -2.0 - 6.0 * uniform(random)));
    std::ranges::sort(roots);
    Expr product = roots.size() % 2 == 0 ? 1.0 : -1.0;  // positive at the start
    for (const double root : roots) product = product * (scene.t - root);
    if (k % 5 == 0) product = product * pow(scene.t - 0.5, 2);  // touches zero there
    if (k % 4 == 0) product = product * exp(3.0 * scene.t);
    TimeFunction f = scene.function(product);
    const TimeFall first = first_fall(f, 0.0, 1.0);
    ASSERT_TRUE(first.time) << to_string(product);
    EXPECT_NEAR(*first.time, roots[0], 1e-12) << to_string(product);
    // Between the first two roots it is negative, then comes the third.
    if (roots.size() < 3) continue;
    const TimeFall third = first_fall(f, 0.5 * (roots[1] + roots[2]), 1.0);
    ASSERT_TRUE(third.time);
    EXPECT_NEAR(*third.time, roots[2], 1e-12) << to_string(product);
  }
}

TEST(FirstFall, FindsAllCrossingsOfOscillations) {
  for (const double frequency : {1.0, 17.3, 100.0, 4321.0}) {
    Scene scene;
    TimeFunction f = scene.function(sin(2.0 * kPi * frequency * scene.t));
    double t = 0.0;
    int found = 0;
    for (int guard = 0; guard < 100000 && t < 1.0; ++guard) {
      const TimeFall next = first_fall(f, t, 1.0);
      t = next.proven_until;
      if (!next.time) continue;
      ++found;
      EXPECT_NEAR(*next.time, (found - 0.5) / frequency, 1e-14);
      t = found / frequency;  // where it rises again
    }
    EXPECT_EQ(found, static_cast<int>(std::floor(frequency + 0.5)));
  }
}

// Sums and compositions, against sign changes of samples far denser than any feature.
TEST(FirstFall, AgreesWithDenseSamples) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int k = 0; k < 40; ++k) {
    Scene scene;
    const Expr& t = scene.t;
    const double w = 5.0 + 60.0 * uniform(random);
    const double v = 5.0 + 60.0 * uniform(random);
    const double p = 6.0 * uniform(random);
    const double level = 0.9 * uniform(random);
    const Expr candidates[] = {
        sin(w * t + p) + 0.7 * cos(v * t) + level,
        sin(w * t + 2.0 * sin(v * t)) * exp(-t) + level * t,
        level - pow(sin(w * t + p), 3) * sqrt(1.0 + t),
        abs(sin(w * t)) - level,
        max(sin(w * t), cos(v * t)) - 0.5 * level,
        tanh(5.0 * sin(w * t)) / (1.0 + t * t) + 0.3 - level,
    };
    const Expr formula = candidates[k % 6];
    TimeFunction f = scene.function(formula);
    std::vector<double> expected;
    constexpr int kSamples = 40000;
    double before = f.value(1e-9);
    for (int i = 1; i <= kSamples; ++i) {
      const double at = f.value(i / double(kSamples));
      if (before > 0.0 && at <= 0.0) expected.push_back(i / double(kSamples));
      before = at;
    }
    std::vector<double> found = falls_of(f, 0.0, 1.0);
    if (f.value(1e-9) < 0.0) {  // reported at once
      ASSERT_FALSE(found.empty());
      EXPECT_LT(found.front(), 1e-9);
      found.erase(found.begin());
    }
    ASSERT_EQ(found.size(), expected.size()) << to_string(formula);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1.1 / kSamples) << to_string(formula);
  }
}

TEST(FirstFall, TellsPairsFromContacts) {
  Scene scene;
  const Expr& t = scene.t;
  TimeFunction pair = scene.function(1.0 - 1e-13 - sin(t));  // below zero for 9e-7 s
  const TimeFall fall = first_fall(pair, 0.0, 3.0);
  ASSERT_TRUE(fall.time);
  EXPECT_NEAR(*fall.time, 0.5 * kPi - std::sqrt(2e-13), 1e-9);
  TimeFunction contact = scene.function(1.0 - sin(t));
  EXPECT_FALSE(first_fall(contact, 0.0, 3.0).time);
  EXPECT_EQ(first_fall(contact, 0.0, 3.0).proven_until, 3.0);
  TimeFunction never = scene.function(pow(sin(t), 2) + pow(cos(t), 2) - 1.0);  // zero
  EXPECT_FALSE(first_fall(never, 0.0, 1.0).time);
}

TEST(FirstFall, EndsAfterABoundedAmountOfWork) {
  Scene scene;
  TimeFunction f = scene.function(1.5 + sin(1e9 * scene.t) + cos(1e9 * scene.t));
  const TimeFall next = first_fall(f, 0.0, 1.0);
  EXPECT_FALSE(next.time);
  EXPECT_GT(next.proven_until, 1e-9);
  EXPECT_LT(next.proven_until, 1e-3);
}

// Steps that are as long as allowed: between them the function is what a polynomial through six
// points says, up to a part of its change within the step.
int count_steps(TimeFunction& f, double size) {
  constexpr int kPoints = 6;
  int steps = 0;
  for (double t = 0.0; t < 1.0; ++steps) {
    const double end = resolved_until(f, t, 1.0, 1e-9 * size);
    EXPECT_GT(end, t);
    if (!(end > t) || steps > 5000) break;
    double x[kPoints];
    double y[kPoints];
    double low = 1e300;
    double high = -1e300;
    for (int i = 0; i < kPoints; ++i) {
      x[i] = t + (end - t) * 0.5 * (1.0 - std::cos(kPi * i / (kPoints - 1)));
      y[i] = f.value(x[i]);
    }
    double worst = 0.0;
    for (int k = 0; k <= 400; ++k) {
      const double s = t + (end - t) * k / 400.0;
      double p = 0.0;
      for (int i = 0; i < kPoints; ++i) {
        double basis = y[i];
        for (int j = 0; j < kPoints; ++j)
          if (j != i) basis *= (s - x[j]) / (x[i] - x[j]);
        p += basis;
      }
      const double value = f.value(s);
      low = std::min(low, value);
      high = std::max(high, value);
      worst = std::max(worst, std::abs(value - p));
    }
    if (end - t < 1e-11) worst = 0.0;  // no shorter steps are asked for
    EXPECT_LE(worst, 0.2 * (high - low) + 1e-8 * size) << "from " << t << " to " << end;
    t = end;
  }
  return steps;
}

TEST(ResolvedUntil, LetsNoPulsePassUnseen) {
  for (const double width : {0.05, 1e-3, 1e-6, 1e-8}) {
    for (const double place : {0.37, 0.5, 0.123456}) {
      Scene scene;
      const Expr z = (scene.t - place) / width;
      TimeFunction gauss = scene.function(exp(-(z * z)) / (width * std::sqrt(kPi)));
      EXPECT_LT(count_steps(gauss, 1.0 / width), 120) << width;
      TimeFunction lorentz = scene.function(1.0 / (1.0 + z * z));
      EXPECT_LT(count_steps(lorentz, 1.0), 120) << width;
      TimeFunction front = scene.function(2.0 + tanh(z));
      EXPECT_LT(count_steps(front, 1.0), 120) << width;
      TimeFunction logistic = scene.function(1.0 / (1.0 + exp(-z)));
      EXPECT_LT(count_steps(logistic, 1.0), 120) << width;
    }
  }
}

TEST(ResolvedUntil, EndsAtKinks) {
  Scene scene;
  TimeFunction f = scene.function(abs(sin(10.0 * scene.t)));
  EXPECT_NEAR(resolved_until(f, 0.2, 0.4, 1e-9), 0.1 * kPi, 1e-12);
  EXPECT_GT(resolved_until(f, resolved_until(f, 0.2, 0.4, 1e-9), 0.6, 1e-9), 0.4);
  EXPECT_LT(count_steps(f, 1.0), 40);
  TimeFunction root = scene.function(sqrt(abs(scene.t - 0.5)));
  EXPECT_LT(count_steps(root, 1.0), 200);
}

TEST(ResolvedUntil, LeavesSmoothFunctionsAlone) {
  Scene scene;
  const Expr& t = scene.t;
  TimeFunction wave = scene.function(sin(2.0 * kPi * t));
  EXPECT_GE(resolved_until(wave, 0.0, 1.0, 1e-9), 0.5);
  TimeFunction line = scene.function(min(t, 5.0) * 3.0 + exp(-t));
  EXPECT_EQ(resolved_until(line, 0.0, 1.0, 1e-9), 1.0);
}

}  // namespace
}  // namespace saltus
