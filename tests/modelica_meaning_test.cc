// What parts of the language mean, seen in the results.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

HybridSystem system_of(const std::string& text) {
  return build(load_modelica_text(text, "", {.use_modelica_path = false}, "m.mo"));
}

SimulateResult run(const std::string& text, SimulateOptions options = {}) {
  if (!options.stop_time) options.stop_time = 1.0;
  return simulate(system_of(text), options);
}

// Both branches have the slope of x, so y must not be taken for x itself: no run may say y = 20.
TEST(Jump, WithOneSlopeOnBothSidesIsNoAlias) {
  for (const char* value : {"noEvent(if x > 5 then x - 5 else x)", "f(x)"}) {
    const SimulateResult result =
        run(std::string("function f\n  input Real x;\n  output Real y;\nalgorithm\n"
                        "  y := if x > 5 then x - 5 else x;\nend f;\n"
                        "model M\n  Real x(start = 0, fixed = true), y = ") +
            value + ";\nequation\n  der(x) = 20;\nend M;\n");
    const double x = result.final.at("x");
    EXPECT_NEAR(result.final.at("y"), x > 5.0 ? x - 5.0 : x, 1e-6) << value << " at " << x;
  }
}

// y = (t - 1/2)^2 is below 1e-4 between 0.49 and 0.51: no step ends there.
TEST(Assertion, IsNotMissedBetweenTwoSteps) {
  const std::string text =
      "model M\n  Real x(start = 0, fixed = true), y;\nequation\n  der(x) = 1;\n"
      "  y = (x - 0.5)^2;\n  assert(y > 1e-4, \"y = \" + String(y)";
  const SimulateResult result = run(text + ");\nend M;\n");
  EXPECT_EQ(result.reason, StopReason::kAssertion);
  EXPECT_NEAR(result.time, 0.49, 1e-9);
  EXPECT_NE(result.message.find("m.mo:6:3"), std::string::npos) << result.message;
  EXPECT_NE(result.message.find("y = 0.0001"), std::string::npos) << result.message;

  const SimulateResult warned = run(text + ", AssertionLevel.warning);\nend M;\n");
  EXPECT_EQ(warned.reason, StopReason::kStopTime);
  ASSERT_EQ(warned.warnings.size(), 1U);
  EXPECT_NE(warned.warnings[0].find("at t = 0.49"), std::string::npos) << warned.warnings[0];
}

TEST(Assertion, EndsTheRunAtTheTimeItStopsToHold) {
  const SimulateResult result =
      run("model M\n  Real x = sin(time);\nequation\n  assert(abs(x) <= 0.5, \"far\");\nend M;\n",
          {.tolerance = 1e-9});
  EXPECT_EQ(result.reason, StopReason::kAssertion);
  EXPECT_NEAR(result.time, std::numbers::pi / 6.0, 1e-9);
  EXPECT_TRUE(result.events.empty());  // abs() changes its sign at 0 without an event
}

TEST(Assertion, InsideWhenIsLookedAtWhenTheClauseActs) {
  const std::string text =
      "model M\n  Real x = (time - 0.5)^2;\nequation\n  when time > 0.8 then\n"
      "    assert(x < 0.05, \"late\");\n  end when;\nend M;\n";
  const SimulateResult result = run(text);
  EXPECT_EQ(result.reason, StopReason::kAssertion);
  EXPECT_NEAR(result.time, 0.8, 1e-12);
}

TEST(Assertion, UnderNoEventIsLookedAtOnly) {
  const SimulateResult result =
      run("model M\n  Real x(start = 0, fixed = true), y = (x - 0.5)^2;\nequation\n  der(x) = 1;\n"
          "  assert(noEvent(y > 1e-4), \"small\");\nend M;\n",
          {.max_step = 0.3});
  EXPECT_EQ(result.reason, StopReason::kStopTime);
}

// h = f(T) has two solutions, -sqrt(h) and sqrt(h); the start value is next to the second, the
// inverse is the first.
const std::string kSquare =
    "function f\n  input Real x;\n  input Real k = 1;\n  output Real y;\nalgorithm\n"
    "  y := k*x^2;\n  annotation(inverse(x = g(k, y)));\nend f;\n"
    "function g\n  input Real k;\n  input Real y;\n  output Real x;\nalgorithm\n"
    "  x := -sqrt(y/k);\nend g;\n";

// Source at 10, three pipes in a row without any storage, sink at 20. What flows has the enthalpy
// of where it comes from, in every node between, whichever way the connectors point; at rest too.
const std::string kPipes = R"(
connector Port
  Real p;
  flow Real m;
  Real h;
  flow Real H;
end Port;
model Ambient
  Port p;
  parameter Real h;
equation
  p.p = 1;
  p.H = semiLinear(p.m, p.h, h);
end Ambient;
model Pipe
  Port a, b;
  Real h;
  parameter Boolean pumps = false;
  Real flow_rate = 0;
equation
  if pumps then
    a.m = flow_rate;
  else
    a.p = b.p;
  end if;
  a.m + b.m = 0;
  a.H + b.H = 0;
  a.H = semiLinear(a.m, a.h, h);
  b.H = semiLinear(b.m, b.h, h);
end Pipe;
)";

TEST(SemiLinear, PassesOnWhatFlowsInEitherDirectionAndAtRest) {
  const std::string text = kPipes + R"(
model M
  Ambient left(h = 10), right(h = 20);
  Pipe p1(pumps = true,
          flow_rate = if time < 1 then 0 elseif time < 2 then time - 1 elseif time < 4 then 3 - time
                      elseif time < 5 then time - 5 else 0);
  Pipe p2, p3;
  Real flow_in = p1.a.m;
  Real area(start = 0, fixed = true);
equation
  connect(left.p, p1.a);
  connect(p1.b, p2.b);
  connect(p2.a, p3.a);
  connect(p3.b, right.p);
  der(area) = p2.h;
end M;
)";
  // A flow of zero counts as positive.
  const auto at = [&](double stop) { return run(text, {.stop_time = stop}).final; };
  for (const double stop : {0.0, 0.5, 1.5, 2.5, 3.5, 4.5, 6.0}) {
    const auto final = at(stop);
    const double carried = stop > 3.0 && stop < 5.0 ? 20.0 : 10.0;
    for (const char* name : {"p1.h", "p2.h", "p3.h", "p1.b.h", "p3.a.h"})
      EXPECT_NEAR(final.at(name), carried, 1e-9) << name << " at " << stop;
    EXPECT_NEAR(final.at("left.p.H"), -final.at("flow_in") * carried, 1e-9) << stop;
  }
  EXPECT_NEAR(at(6.0).at("area"), 3.0 * 10.0 + 2.0 * 20.0 + 10.0, 1e-6);
}

TEST(SemiLinear, LeavesAClosedEndAsWarmAsWhatIsBehindIt) {
  const SimulateResult result = run(kPipes + R"(
model M
  Ambient left(h = 10);
  Pipe pipe;
equation
  connect(left.p, pipe.a);
end M;
)");
  for (const char* name : {"pipe.h", "pipe.a.h", "pipe.b.h"})
    EXPECT_NEAR(result.final.at(name), 10.0, 1e-12) << name;
}

TEST(Derivative, MayBeDifferentiated) {
  const SimulateResult result = run(R"(
model M
  Real w = 2*time^3, d = der(der(w)), e = der(der(der(w)));
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  v = der(x);
  der(der(x)) = -4*x;
end M;
)",
                                    {.tolerance = 1e-9});
  EXPECT_NEAR(result.final.at("d"), 12.0, 1e-6);
  EXPECT_NEAR(result.final.at("e"), 12.0, 1e-6);
  EXPECT_NEAR(result.final.at("x"), std::cos(2.0), 1e-7);
}

// What follows from a parameter that the initial equations give is a start value, too.
TEST(Start, MayDependOnParametersThatAreFound) {
  const SimulateResult result = run(R"(
model M
  parameter Real p(fixed = false, start = 1), q = 3*p;
  Real x(start = q - 2, fixed = true), y(start = q, fixed = true), z(start = p);
initial equation
  p = 2;
equation
  der(x) = 0;
  der(y) = -y;
  z^2 = p^2;
end M;
)",
                                    {.tolerance = 1e-9});
  EXPECT_NEAR(result.final.at("x"), 4.0, 1e-9);
  EXPECT_NEAR(result.final.at("y"), 6.0 * std::exp(-1.0), 1e-7);
  EXPECT_NEAR(result.final.at("z"), 2.0, 1e-9);
}

const std::string kState = R"(
record State
  Real h;
  Integer phase;
end State;
function state_of
  input Real h;
  output State s;
algorithm
  s.h := h;
  s.phase := if h > 2 then 2 else 1;
end state_of;
function density
  input State s;
  output Real d;
algorithm
  d := if s.phase == 2 then 10 else 1;
end density;
)";

// A record that a function gives is as the function gives it at every time, its Integers too.
TEST(Record, MayHoldIntegersThatAFunctionGives) {
  for (const double stop : {1.0, 3.0}) {
    const SimulateResult result = run(kState + R"(
model M
  State s = state_of(h), t;
  Real h = time, d = density(t), sum = s.phase + 10*t.phase;
equation
  t = s;
end M;
)",
                                      {.stop_time = stop});
    const double phase = stop > 2.0 ? 2.0 : 1.0;
    EXPECT_EQ(result.final.at("s.phase"), phase);
    EXPECT_EQ(result.final.at("t.phase"), phase);
    EXPECT_EQ(result.final.at("d"), phase == 2.0 ? 10.0 : 1.0);
    EXPECT_EQ(result.final.at("sum"), 11.0 * phase);
  }
}

TEST(Record, WhoseIntegersChangeAtAnyTimeMakesNoEvents) {
  for (const char* reader : {"Integer n(start = 0, fixed = true); equation when s.phase == 2 then "
                             "n = pre(n) + 1; end when;",
                             "Integer n = s.phase + 1;",
                             "Real x; equation if s.phase == 2 then x = 1; else x = 2; end if;"})
    EXPECT_THROW(run(kState + "model M\n  State s = state_of(time);\n  " + reader + "\nend M;\n"),
                 Error)
        << reader;
}

TEST(Assignment, MayChooseARowThatVaries) {
  const SimulateResult result = run(R"(
model M
  Integer k(start = 0, fixed = true), m[3, 4](each start = 0, each fixed = true);
  Real r[2, 3];
algorithm
  when sample(0.1, 0.3) then
    k := pre(k) + 1;
    m[k, 2:3] := {10*k, 10*k + 1};
    m[k, :] := m[k, :] + {1, 0, 0, 2};
    m[4 - k, {4, 1}] := m[4 - k, {4, 1}] + {100, 200};
  end when;
algorithm
  r := zeros(2, 3);
  r[if time > 0.5 then 2 else 1, 3:-1:2] := {1, 2};
end M;
)",
                                    {.stop_time = 0.9});
  // k = 1, 2, 3 at 0.1, 0.4, 0.7; a fourth at 1.0 would leave the array.
  const double m[3][4] = {{201, 10, 11, 102}, {201, 20, 21, 102}, {201, 30, 31, 102}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      const std::string name = "m[" + std::to_string(i + 1) + "," + std::to_string(j + 1) + "]";
      EXPECT_EQ(result.final.at(name), m[i][j]) << name;
    }
  EXPECT_EQ(result.final.at("r[1,2]"), 0.0);
  EXPECT_EQ(result.final.at("r[2,2]"), 2.0);
  EXPECT_EQ(result.final.at("r[2,3]"), 1.0);
}

TEST(Inverse, GivesTheUnknownOfAKnownResult) {
  const SimulateResult result = run(
      kSquare +
      "model M\n  Real h(start = 4, fixed = true), T(start = 1), u(start = 2), w(start = 1);\n"
      "  Real b(start = 1), c = f(b, 2);\nequation\n  der(h) = 1;\n  h = f(T, 1);\n  f(u, 4) = 9;\n"
      "  w = u - 1;\n  c = 2 + time;\nend M;\n");
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("T"), -std::sqrt(5.0), 1e-6);
  EXPECT_NEAR(result.final.at("u"), -1.5, 1e-12);
  EXPECT_NEAR(result.final.at("w"), -2.5, 1e-12);
  EXPECT_NEAR(result.final.at("b"), -std::sqrt(1.5), 1e-9);
}

// Where the argument is the known one, the function is used as it is.
TEST(Inverse, IsLeftAloneWhereTheArgumentIsKnown) {
  const SimulateResult result =
      run(kSquare + "model M\n  Real T(start = 1, fixed = true), h;\nequation\n  der(T) = 1;\n" +
          "  h = f(T, 1);\nend M;\n");
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("T"), 2.0, 1e-9);
  EXPECT_NEAR(result.final.at("h"), 4.0, 1e-8);
}

TEST(Inverse, IsCheckedWhereTheFunctionIsUsed) {
  const auto message = [](const std::string& inverse) -> std::string {
    try {
      system_of(
          "function f\n  input Real x;\n  output Real y;\nalgorithm\n  y := x^3;\n"
          "  annotation(inverse" +
          inverse + ");\nend f;\nmodel M\n  Real z = f(time);\nend M;\n");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("(x = y^(1/3))"), "");
  EXPECT_NE(message("(z = y)").find("m.mo:6:22: error: the inverse of 'f': 'z' is no input"),
            std::string::npos)
      << message("(z = y)");
  EXPECT_NE(message("(x = x)").find("gives 'x' by itself"), std::string::npos);
  EXPECT_NE(message("(x = 3)").find("does not depend on its output 'y'"), std::string::npos);
  EXPECT_NE(message("(x)").find("'x' has no value"), std::string::npos);
  EXPECT_NE(message(" = g").find("is written inverse(x = g(y))"), std::string::npos);
}

// Section 3.7.2: integer() and the like make events outside of `when` only.
TEST(ModelicaMeaning, WhatIsReadInAWhenMakesNoEvents) {
  const SimulateResult result = run(R"(
model X
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
  Boolean high(start = false, fixed = true);
equation
  when sample(0.25, 0.25) then n = integer(30*time + 0.1); end when;
algorithm
  when sample(0.25, 0.25) then
    m := mod(integer(100*time + 0.5), 7);
    high := sin(50*time) > 0.2;
  end when;
end X;)",
                                    {.stop_time = 0.9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_EQ(result.events.size(), 3u);
  EXPECT_EQ(result.final.at("n"), 22.0);  // of 22.6, at 0.75
  EXPECT_EQ(result.final.at("m"), 75 % 7);
  EXPECT_EQ(result.final.at("high"), std::sin(37.5) > 0.2 ? 1.0 : 0.0);
}

// At the start time stands still: what an initial algorithm makes of it needs no events later.
TEST(ModelicaMeaning, InitialAlgorithmsMakeNoEventsLater) {
  const SimulateResult result = run(R"(
model X
  Integer count; Real y = count;
initial algorithm
  count := integer((time + 0.25)/0.2);
equation
  when time >= 2 then count = pre(count) + 1; end when;
end X;)");
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_EQ(result.final.at("y"), 1.0);
  EXPECT_TRUE(result.events.empty());
}

// The voltage and what follows from it pass zero together, at instants that differ by rounding.
// The thyristor is fired 2.7 ms after each rise.
TEST(ModelicaMeaning, RelationsThatCrossTogetherDoNotUndoEachOther) {
  const SimulateResult result = run(R"(
model Thyristor
  constant Real pi = 3.141592653589793;
  Real u = 155.56*sin(2*pi*50*time), v, i, s(start = 0), q(start = 0, fixed = true);
  Boolean off(start = true, fixed = true), rises = u > 0, falls = u < 0;
  discrete Real t0(start = 0, fixed = true);
  Boolean fire = rises and time - t0 > 0.0027;
equation
  off = s < 0 or pre(off) and not fire;
  v = s*(if off then 1 else 1e-5);
  i = s*(if off then 1e-5 else 1);
  u = v + 20*i;
  when rises then t0 = time; end when;
  der(q) = i;
end Thyristor;)",
                                    {.stop_time = 4.0, .tolerance = 1e-8});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const double w = 2.0 * std::numbers::pi * 50.0;
  const double on = 155.56 / (20.0 + 1e-5) * (1.0 + std::cos(0.0027 * w)) / w;
  const double off = 155.56 / (1e5 + 20.0) * (-1.0 - std::cos(0.0027 * w)) / w;  // the rest
  EXPECT_NEAR(result.final.at("q"), 200.0 * (on + off), 1e-6);
}

}  // namespace
}  // namespace saltus
