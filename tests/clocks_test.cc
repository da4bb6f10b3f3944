// Clocks and clocked equations, seen in the results. Expected values come from the recursions that
// the models stand for, computed here, or from counting ticks.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

SimulateResult run(const std::string& text, double stop_time, double tolerance = 1e-9) {
  return simulate(build(load_modelica_text(text, "M", {.use_modelica_path = false}, "m.mo")),
                  {.stop_time = stop_time, .tolerance = tolerance});
}

double last(const SimulateResult& result, const std::string& name) {
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_TRUE(result.final.contains(name)) << name;
  return result.final.contains(name) ? result.final.at(name) : std::nan("");
}

// x' = u - x between ticks has the solution u + (x - u) exp(-t).
TEST(Clocks, SampledControllerFollowsItsRecursion) {
  const SimulateResult result =
      run("model M\n  Real x(start = 1, fixed = true), u, xd, ud(start = 0);\nequation\n"
          "  der(x) = u - x;\n  xd = sample(x, Clock(1, 10));\n"
          "  ud = previous(ud) + 0.3*(2 - xd);\n  u = hold(ud);\nend M;\n",
          1.05);
  double x = 1.0;
  double u = 0.0;
  for (int k = 0; k <= 10; ++k) {
    u += 0.3 * (2.0 - x);
    x = u + (x - u) * std::exp(k < 10 ? -0.1 : -0.05);
  }
  EXPECT_NEAR(last(result, "u"), u, 1e-7);
  EXPECT_NEAR(last(result, "x"), x, 1e-7);
}

// What is sampled is the value before the event, also where hold() feeds it through.
TEST(Clocks, SampleTakesTheLeftLimit) {
  const SimulateResult result =
      run("model M\n  Real y, yd, ud(start = 0);\nequation\n  yd = sample(y, Clock(0.5));\n"
          "  ud = 2 - yd;\n  y = hold(ud);\nend M;\n",
          1.2);
  // y is 0, then 2 - 0, 2 - 2, 2 - 0.
  EXPECT_EQ(last(result, "y"), 2.0);
  EXPECT_EQ(last(result, "yd"), 0.0);
}

// previous(n) is another number when the tick is over; hold() keeps what it was at the tick.
TEST(Clocks, HoldKeepsWhatLastsAnInstantOnly) {
  const SimulateResult result =
      run("model M\n  Integer n(start = 5), before, far; Boolean first; Real gap;\nequation\n"
          "  when Clock(0.1) then n = previous(n) + 1; end when;\n  before = hold(previous(n));\n"
          "  far = hold(2*previous(n) + n);\n  first = hold(firstTick(n));\n"
          "  gap = hold(if firstTick(n) then -1 else interval(n));\nend M;\n",
          0.35);
  EXPECT_EQ(last(result, "n"), 9.0);  // ticks at 0, 0.1, 0.2, 0.3
  EXPECT_EQ(last(result, "before"), 8.0);
  EXPECT_EQ(last(result, "far"), 25.0);
  EXPECT_EQ(last(result, "first"), 0.0);
  EXPECT_NEAR(last(result, "gap"), 0.1, 1e-12);
  const SimulateResult one_tick =
      run("model M\n  Integer n(start = 5), before; Boolean first;\nequation\n"
          "  when Clock(1) then n = previous(n) + 1; end when;\n  before = hold(previous(n));\n"
          "  first = hold(firstTick(n));\nend M;\n",
          0.5);
  EXPECT_EQ(last(one_tick, "before"), 5.0);
  EXPECT_EQ(last(one_tick, "first"), 1.0);
}

TEST(Clocks, SubAndSuperSampledPartsTickTogether) {
  const SimulateResult result = run(
      "model M\n  Integer a(start = 0), b(start = 0), c(start = 0), d, e, n(start = 0);\n"
      "equation\n  when Clock(0.1) then a = previous(a) + 1; end when;\n  b = subSample(a, 3);\n"
      "  c = previous(c) + (if superSample(a, 2) > 0 then 1 else 0);\n"
      "  d = shiftSample(a, 1, 2);\n  e = backSample(d, 1, 2);\n"
      "  n = previous(n) + (if d > 0 then 1 else 0);\nend M;\n",
      1.01);
  EXPECT_EQ(last(result, "a"), 11.0);  // 0, 0.1 ... 1
  EXPECT_EQ(last(result, "b"), 10.0);  // the last of 0, 0.3, 0.6, 0.9
  EXPECT_EQ(last(result, "c"), 21.0);  // 0, 0.05 ... 1
  EXPECT_EQ(last(result, "d"), 10.0);  // at 0.95
  EXPECT_EQ(last(result, "n"), 10.0);  // 0.05 ... 0.95
  EXPECT_EQ(last(result, "e"), 10.0);  // the last of d, at 1
}

TEST(Clocks, FactorsAreInferredFromExactIntervals) {
  const SimulateResult other =
      run("model M\n  Integer a(start = 0), b; Real s;\nequation\n"
          "  when Clock(20, 1000) then a = previous(a) + 1; end when;\n  b = subSample(a);\n"
          "  s = sample(time, Clock(60, 1000)) + b;\nend M;\n",
          0.17);
  EXPECT_EQ(last(other, "a"), 9.0);           // 0, 0.02 ... 0.16
  EXPECT_EQ(last(other, "b"), 7.0);           // at 0.12
  EXPECT_NEAR(last(other, "s"), 7.12, 1e-9);  // no rounding of time between the two clocks
}

TEST(Clocks, IntervalAndFirstTickOfAnEventClock) {
  const SimulateResult result = run(
      "model M\n  Real s = sin(time); Integer n(start = 0); Real first(start = 0), iv;\nequation\n"
      "  when Clock(s > 0.5, 7) then\n    n = previous(n) + 1;\n    iv = interval(n);\n"
      "    first = if firstTick(n) then iv else previous(first);\n  end when;\nend M;\n",
      20.0);
  EXPECT_EQ(last(result, "n"), 4.0);  // pi/6 + 2 pi k
  EXPECT_EQ(last(result, "first"), 7.0);
  EXPECT_NEAR(last(result, "iv"), 2.0 * M_PI, 1e-6);
}

// What is held from tick to tick makes the condition false again at the instant of the tick.
TEST(Clocks, ATickMayEndItsOwnCondition) {
  const auto ticks = [](const std::string& angle, const std::string& distance) {
    return run("model M\n  Real phi = " + angle + ", s, off(start = 0); Integer n(start = 0);\n" +
                   "  Clock c = Clock(abs(phi - off) > " + distance + ");\nequation\n" +
                   "  s = sample(phi, c);\n  off = hold(s);\n" +
                   "  when c then n = previous(n) + 1; end when;\nend M;\n",
               2.2);
  };
  const SimulateResult steady = ticks("2*time", "1");
  EXPECT_EQ(last(steady, "n"), 4.0);  // every 0.5 s
  EXPECT_NEAR(last(steady, "off"), 4.0, 1e-8);
  // From 0 up in 9 ticks (at 10 it turns before the tenth), then 18 each way.
  const SimulateResult turning = ticks("10*sin(2*3.141592653589793*time)", "1.0001");
  EXPECT_EQ(last(turning, "n"), 9.0 + 18.0 + 18.0 + 18.0 + 18.0);
  EXPECT_NEAR(last(turning, "off"), 9.0 * 1.0001, 1e-6);
}

TEST(Clocks, AConditionThatHoldsAtTheStartTicksThere) {
  const SimulateResult result =
      run("model M\n  Real phi = 5 + 2*time, s, off(start = 0); Integer n(start = 0);\n"
          "  Clock c = Clock(phi - off > 1.5);\nequation\n  s = sample(phi, c);\n"
          "  off = hold(s);\n  when c then n = previous(n) + 1; end when;\nend M;\n",
          2.0);
  EXPECT_EQ(last(result, "n"), 3.0);  // at 0, 0.75 and 1.5 s
  EXPECT_NEAR(last(result, "off"), 8.0, 1e-8);
}

TEST(Clocks, LinearLoopsAndEulerStepsAreSolved) {
  const SimulateResult result = run(
      "model M\n  Real y, z, q(start = 0), x(start = 1), w(start = 1);\nequation\n"
      "  when Clock(0.1) then q = previous(q) + 1; end when;\n  2*y + z = q;\n  y - z = 3;\n"
      "  when Clock(Clock(0.01), solverMethod = \"ExplicitEuler\") then der(x) = -x; end when;\n"
      "  when Clock(Clock(0.02), solverMethod = \"ImplicitEuler\") then der(w) = -w; end when;\n"
      "end M;\n",
      0.2001);
  EXPECT_NEAR(last(result, "y"), 2.0, 1e-12);  // q = 3
  EXPECT_NEAR(last(result, "z"), -1.0, 1e-12);
  EXPECT_NEAR(last(result, "x"), std::pow(0.99, 20), 1e-12);
  EXPECT_NEAR(last(result, "w"), std::pow(1.02, -10), 1e-12);
}

TEST(Clocks, AreHandedOnByConnectors) {
  const SimulateResult result =
      run("package P\n  connector CI = input Clock;\n  connector CO = output Clock;\n"
          "  block Source\n    CO y = Clock(1, 4);\n  end Source;\n"
          "  block Count\n    CI u; output Integer n(start = 0);\n  equation\n"
          "    when u then n = previous(n) + 1; end when;\n  end Count;\n"
          "  model M\n    Source s; Count c; Count half; CI k = subSample(s.y, 2);\n  equation\n"
          "    connect(s.y, c.u);\n    connect(k, half.u);\n  end M;\nend P;\n",
          1.1);
  EXPECT_EQ(last(result, "c.n"), 5.0);     // 0, 0.25 ... 1
  EXPECT_EQ(last(result, "half.n"), 3.0);  // 0, 0.5, 1
}

TEST(Terminal, IsTrueOnceAtTheEnd) {
  const SimulateResult result =
      run("model M\n  Real x(start = 1, fixed = true); discrete Real end_(start = -1);\n"
          "  Integer n(start = 0, fixed = true);\nequation\n  der(x) = -x;\n"
          "  when terminal() then end_ = x; n = pre(n) + 1; end when;\nend M;\n",
          1.0);
  EXPECT_NEAR(last(result, "end_"), std::exp(-1.0), 1e-7);
  EXPECT_EQ(last(result, "n"), 1.0);
}

// u = 2 - y and y = u hold together at the instant of the clause.
TEST(When, FindsSampledValuesTogetherWithUnknowns) {
  const SimulateResult result =
      run("model M\n  discrete Real u(start = 0, fixed = true); Real y;\nequation\n"
          "  when sample(0.5, 1) then u = 2 - y; end when;\n  y = u;\nend M;\n",
          1.0);
  EXPECT_NEAR(last(result, "u"), 1.0, 1e-12);
  EXPECT_NEAR(last(result, "y"), 1.0, 1e-12);
}

TEST(When, FindsTwoSampledValuesThatFeedThrough) {
  const SimulateResult result =
      run("model M\n  discrete Real u(start = 0, fixed = true), v(start = 0, fixed = true);\n"
          "  Real y, x(start = 0, fixed = true);\nequation\n  der(x) = 1;\n"
          "  when sample(0.5, 1) then v = 3*y; u = v - 4*x; end when;\n  y = u + x;\nend M;\n",
          1.0);
  // At 0.5: u = 3 y - 2, y = u + 0.5, so y = 0.75 and u = 0.25.
  EXPECT_NEAR(last(result, "v"), 2.25, 1e-9);
  EXPECT_NEAR(last(result, "u"), 0.25, 1e-9);
}

TEST(When, SolvesLoopsOfDiscreteRealsThatAreNotLinear) {
  const SimulateResult result = run(
      "model M\n  discrete Real a(start = 1, fixed = true), b(start = 1, fixed = true);\nequation\n"
      "  when time > 0.5 then a = cos(b); b = a; end when;\nend M;\n",
      1.0);
  EXPECT_NEAR(last(result, "a"), 0.73908513321516067, 1e-8);  // the fixed point of cos
}

}  // namespace
}  // namespace saltus
