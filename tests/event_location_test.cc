// Nothing that time does is missed, and no zero of a guard, however long the steps would be. Values
// are exact: pieces with known lengths, areas of pulses.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "expr/function.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

constexpr double kPi = std::numbers::pi;

HybridSystem load(const std::string& text) { return build(load_modelica_text(text)); }

SimulateResult run(const std::string& text, double tolerance, Method method, double stop = 1.0) {
  return simulate(load(text), {.stop_time = stop, .tolerance = tolerance, .method = method});
}

struct Setting {
  double tolerance;
  Method method;
};
constexpr Setting kSettings[] = {{1e-3, Method::kRadau},
                                 {1e-6, Method::kRadau},
                                 {1e-10, Method::kRadau},
                                 {1e-4, Method::kBdf},
                                 {1e-8, Method::kBdf}};

// 100 Hz: on half of the time, 199 crossings inside a second.
TEST(EventLocation, FindsEveryCrossingOfATimeGuard) {
  const char* const writings[] = {
      "model M Real x(start = 1, fixed = true); equation"
      "  der(x) = if sin(200*3.141592653589793*time) > 0 then -x else 0; end M;",
      "model M Real x(start = 1, fixed = true), u, v; equation"
      "  v = -2*u; u = sin(200*3.141592653589793*time); der(x) = if v < 0 then -x else 0; end M;",
      "model M Real x(start = 1, fixed = true), phase; equation phase = 100*3.141592653589793*time;"
      "  der(x) = if sin(phase)*cos(phase) > 0 then -x else 0; end M;",
      "model M block Sine parameter Real f = 1; output Real y; equation"
      "  y = sin(2*3.141592653589793*f*time); end Sine; Sine s(f = 100);"
      "  Real x(start = 1, fixed = true); equation der(x) = if s.y > 0 then -x else 0; end M;"};
  for (const char* text : writings)
    for (const auto& [tolerance, method] : kSettings) {
      const SimulateResult result = run(text, tolerance, method);
      ASSERT_TRUE(result.completed()) << result.message;
      EXPECT_NEAR(result.final.at("x"), std::exp(-0.5), 1e-6 + tolerance) << text << tolerance;
      EXPECT_GE(result.statistics.events, 199) << text;
      EXPECT_LE(result.statistics.events, 202) << text;
      // Where the wave is an unknown, the error control follows it.
      if (method == Method::kRadau && tolerance > 1e-8 && text == writings[0]) {
        EXPECT_LE(result.statistics.steps, 450) << text;
      }
    }
}

// Close pairs: on for 2 acos(1 - 1e-6) / 10 = 2.83e-4 s near each crest.
TEST(EventLocation, FindsPairsOfCrossings) {
  for (const auto& [tolerance, method] : kSettings) {
    const SimulateResult result =
        run("model M Real y(start = 0, fixed = true); equation"
            "  der(y) = if sin(10*time) > 1 - 1e-6 then 1000 else 0; end M;",
            tolerance, method, 2.0);
    ASSERT_TRUE(result.completed()) << result.message;
    EXPECT_NEAR(result.final.at("y"), 3.0 * 1000.0 * 0.2 * std::acos(1.0 - 1e-6), 1e-5)
        << tolerance;
  }
}

// A guard of states is enclosed along the step, too: 2 b sqrt(log 2) wide, in steps of half a
// second.
TEST(EventLocation, FindsNarrowPulsesOfStates) {
  const auto texts = [](const std::string& b) {
    return std::array{
        "model M Real x(start = 0, fixed = true), y(start = 0, fixed = true); equation der(x) = 1;"
        "  der(y) = if exp(-((x - 0.37)/" +
            b + ")^2) > 0.5 then 1/" + b + " else 0; end M;",
        "model M Real x(start = 0, fixed = true), y(start = 0, fixed = true), g; equation der(x) = "
        "1;"
        "  g = exp(-((x - 0.37)/" +
            b + ")^2); der(y) = if g > 0.5 then 1/" + b + " else 0; end M;",
        "model M Real x(start = 0, fixed = true), y(start = 0, fixed = true); Boolean on(start = "
        "false);"
        " equation der(x) = 1; on = 1/(1 + ((x - 0.37)/" +
            b +
            ")^2) > 1/(1 + log(2));"
            "  der(y) = if on then 1/" +
            b + " else 0; end M;"};
  };
  for (const char* b : {"1e-2", "1e-3", "1e-5"})
    for (const std::string& text : texts(b))
      for (const auto& [tolerance, method] : kSettings) {
        const SimulateResult result = run(text, tolerance, method);
        ASSERT_TRUE(result.completed()) << result.message;
        EXPECT_NEAR(result.final.at("y"), 2.0 * std::sqrt(std::log(2.0)), 1e-5 + 100 * tolerance)
            << text << tolerance;
        EXPECT_EQ(result.statistics.events, 2) << text << tolerance;
      }
}

TEST(EventLocation, MissesNoPulse) {
  const auto text = [](const std::string& b) {
    return "model M parameter Real b = " + b +
           "; Real x(start = 0, fixed = true); equation"
           "  der(x) = exp(-((time - 0.37)/b)^2)/(b*sqrt(3.141592653589793)); end M;";
  };
  const auto through_others = [](const std::string& b) {
    return "model M parameter Real b = " + b +
           "; Real x(start = 0, fixed = true), z, u; equation z = (time - 0.37)/b;"
           "  u = exp(-z*z); der(x) = u/(b*sqrt(3.141592653589793)); end M;";
  };
  for (const std::string b : {"0.05", "1e-3", "1e-6"})
    for (const std::string& model : {text(b), through_others(b)})
      for (const Method method :
           {Method::kRadau, Method::kBdf, Method::kHalfExplicit, Method::kDerivativeArray}) {
        const SimulateResult result = run(model, 1e-6, method);
        ASSERT_TRUE(result.completed()) << result.message;
        EXPECT_NEAR(result.final.at("x"), 1.0, 1e-5) << model << static_cast<int>(method);
        EXPECT_LE(result.statistics.steps, 600);
      }
}

// A front, a train of pulses, kinks by time alone; areas in closed form.
TEST(EventLocation, MissesNothingElseThatTimeDoes) {
  struct Case {
    const char* rate;
    double area;
  };
  const Case cases[] = {
      {"1 + tanh((time - 0.8)/1e-6)", 0.4},
      {"1/(1 + exp(-(time - 0.25)/1e-5))", 0.75},
      {"noEvent(abs(sin(50*time)))", (31.0 - std::cos(50.0 - 15.0 * kPi)) / 50.0},
      {"noEvent(max(0, 1 - abs(time - 0.6)/1e-4))", 1e-4},
      {"1e-3/(1e-6 + (time - 0.5)^2)", std::atan(0.5 / 1e-3) * 2.0},
      {"exp(-((mod(time, 0.1) - 0.05)/1e-3)^2)", 10.0 * 1e-3 * std::sqrt(kPi)},
  };
  for (const Case& c : cases)
    for (const Method method : {Method::kRadau, Method::kBdf}) {
      const SimulateResult result =
          run("model M Real x(start = 0, fixed = true); equation der(x) = " + std::string(c.rate) +
                  "; end M;",
              1e-6, method);
      ASSERT_TRUE(result.completed()) << c.rate << result.message;
      const double allowed = method == Method::kBdf && c.area > 1e-3 ? 4e-5 : 1e-5;
      EXPECT_NEAR(result.final.at("x"), c.area, allowed) << c.rate;
    }
}

// How long sin(w t + p) > level holds between 0 and 1: on a grid of 2e6 cells, straight in each.
double time_above(double w, double p, double level_start, double level_slope) {
  constexpr int kCount = 2'000'000;
  const auto excess = [&](int i) {
    const double t = double(i) / kCount;
    return std::sin(w * t + p) - level_start - level_slope * t;
  };
  double above = 0.0;
  for (int i = 0; i < kCount; ++i) {
    const double a = excess(i);
    const double b = excess(i + 1);
    if (a > 0.0 && b > 0.0) above += 1.0;
    if ((a > 0.0) != (b > 0.0)) above += std::max(a, b) / (std::max(a, b) - std::min(a, b));
  }
  return above / kCount;
}

TEST(EventLocation, ResolvesGuardsOfStatesWithinLongSteps) {
  struct Case {
    const char* equations;
    double expected;
  };
  const Case cases[] = {
      {"der(x) = 1; der(y) = if sin(50*x) > 0 then 1 else 0;", time_above(50.0, 0.0, 0.0, 0.0)},
      {"der(x) = 1; der(y) = if sin(300*time) > x then 1 else 0;",
       time_above(300.0, 0.0, 0.0, 1.0)},
      {"der(x) = 1; der(y) = if sin(90*x + 2*time) - 0.3*x > 0.2 then 1 else 0;",
       time_above(92.0, 0.0, 0.2, 0.3)},
      {"der(x) = 1; u = sin(50*x); der(y) = if u > 0 then 1 else 0;",
       time_above(50.0, 0.0, 0.0, 0.0)},
      {"der(x) = 1; der(y) = if (x-0.1)*(x-0.2)*(x-0.21)*(x-0.35)*(x-0.5)*(x-0.52)*(x-0.7)"
       "*(x-0.7001) < 0 then 1 else 0;",
       0.1 + 0.14 + 0.02 + 0.0001},
  };
  for (const Case& c : cases)
    for (const auto& [tolerance, method] : kSettings) {
      const std::string unknowns =
          std::string(c.equations).find("u = ") == std::string::npos ? "" : ", u";
      const SimulateResult result =
          run("model M Real x(start = 0, fixed = true), y(start = 0, fixed = true)" + unknowns +
                  "; equation " + c.equations + " end M;",
              tolerance, method);
      ASSERT_TRUE(result.completed()) << c.equations << result.message;
      EXPECT_NEAR(result.final.at("y"), c.expected, 2e-6 + 10.0 * tolerance) << c.equations;
    }
}

// A system in C++: the guard is a composition of time, the mode is left at each fall.
TEST(EventLocation, FindsTimeGuardsOfModesInCpp) {
  HybridSystem system("pwm");
  const Expr x = system.variable("x", {.start = 0.0, .fixed = true});
  const Expr wave = sin(40.0 * kPi * pow(system.time(), 2));
  Mode& on = system.mode("on");
  on.equations = {der(x) == 1.0};
  on.guards = {{.name = "falls", .value = wave, .to = "off"}};
  Mode& off = system.mode("off");
  off.equations = {der(x) == 0.0};
  off.guards = {{.name = "rises", .value = -wave, .to = "on"}};
  system.initial_mode = "on";
  const SimulateResult result = simulate(system, {.stop_time = 1.0});
  ASSERT_TRUE(result.completed()) << result.message;
  double expected = 0.0;  // on where 40 t^2 lies between 2k and 2k + 1
  for (int k = 0; k < 20; ++k)
    expected += std::sqrt((2.0 * k + 1.0) / 40.0) - std::sqrt(2.0 * k / 40.0);
  EXPECT_NEAR(result.final.at("x"), expected, 1e-9);
}

// What nothing is known of is named.
TEST(EventLocation, NamesFunctionsThatHideTheirCourse) {
  HybridSystem system("hidden");
  const Expr x = system.variable("x", {.start = 0.0, .fixed = true});
  const auto secret = std::make_shared<Function>(
      Function{"secret", 1, [](const double* a) { return std::sin(a[0]); },
               [](std::size_t, const std::vector<Expr>& a) { return cos(a[0]); }, ""});
  Mode& only = system.mode("only");
  only.equations = {der(x) == call(secret, {system.time()})};
  system.initial_mode = "only";
  const SimulateResult result = simulate(system, {.stop_time = 1.0});
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings.front().find("'secret'"), std::string::npos);
  EXPECT_TRUE(simulate(system, {.stop_time = 1.0, .max_step = 0.1}).warnings.empty());
}

}  // namespace
}  // namespace saltus
