// Start values that need blocks in order, slopes that do not exist, and first values of discrete
// variables: small models with exact solutions.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

SimulateResult run(const std::string& text, double stop_time, SimulateOptions options = {}) {
  options.stop_time = stop_time;
  SimulateResult result =
      simulate(build(load_modelica_text(text, "", {.use_modelica_path = false})), options);
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  return result;
}

double first(const SimulateResult& result, const char* name) {
  return result.trajectory.column(name).front();
}

// The matrix of a rotation is zero where Newton's method would begin, and so are its products with
// currents: all at once have no regular Jacobian there. In order, each follows from those before.
TEST(StartValues, FollowFromBlocksInOrder) {
  const SimulateResult result =
      run("model M\n"
          "  Real g(start = 0.7, fixed = true), c, s, i1, i2, j1, j2;\n"
          "initial equation\n  j1 = 1;\n  j2 = 2;\n"
          "equation\n"
          "  der(g) = 1;\n  c = cos(g);\n  s = sin(g);\n"
          "  j1 = c*i1 - s*i2;\n  j2 = s*i1 + c*i2;\n"
          "  der(i1) = -i1;\n  der(i2) = -2*i2;\nend M;\n",
          1.0);
  // The rotation turned back.
  const double i1 = std::cos(0.7) + 2.0 * std::sin(0.7);
  const double i2 = -std::sin(0.7) + 2.0 * std::cos(0.7);
  EXPECT_NEAR(first(result, "i1"), i1, 1e-12);
  EXPECT_NEAR(first(result, "i2"), i2, 1e-12);
  EXPECT_NEAR(result.final.at("i1"), i1 * std::exp(-1.0), 1e-5);
}

// What is not defined at the guesses (1/0, the logarithm and the angle of what is not yet known) is
// asked once the rest is known.
TEST(StartValues, AskForQuotientsOfWhatIsKnown) {
  const SimulateResult result =
      run("model M\n"
          "  Real x(start = 3, fixed = true), u, v, g, r, l, a;\n"
          "equation\n"
          "  der(x) = -x;\n  u + v = 4*x;\n  u - v = 2*x;\n  g = u*v;\n  r = 1/g;\n"
          "  l = log(r);\n  a = atan2(v, u);\nend M;\n",
          1.0);
  EXPECT_NEAR(first(result, "r"), 1.0 / 27.0, 1e-14);
  EXPECT_NEAR(first(result, "l"), -std::log(27.0), 1e-12);
  EXPECT_NEAR(first(result, "a"), std::atan(1.0 / 3.0), 1e-12);
}

// sqrt(x^2 + y^2) and atan2(y, x) have values at the origin, but no slopes.
TEST(StartValues, MayLieWhereAnglesHaveNoSlope) {
  {
    const SimulateResult result =
        run("model M\n"
            "  Real x(start = 0, fixed = true), y(start = 0, fixed = true), r, a;\n"
            "equation\n"
            "  der(x) = 3;\n  der(y) = 4;\n  r = sqrt(x^2 + y^2);\n  a = atan2(y, x);\nend M;\n",
            1.0);
    EXPECT_EQ(first(result, "r"), 0.0);
    EXPECT_NEAR(result.final.at("r"), 5.0, 1e-5);
    EXPECT_NEAR(result.final.at("a"), std::atan2(4.0, 3.0), 1e-5);
  }
}

// Two states and one initial equation: what is fixed stays, the other gives way, whatever the size.
TEST(StartValues, KeepWhatIsFixed) {
  const SimulateResult result =
      run("model M\n"
          "  parameter Integer n = 150;\n"
          "  Real x[n](each start = 1), y[n](each start = 2, each fixed = true);\n"
          "initial equation\n  for k in 1:n loop\n    x[k]^3 + y[k] = 10;\n  end for;\n"
          "equation\n  der(x) = -x;\n  der(y) = -y;\nend M;\n",
          0.1);
  EXPECT_NEAR(first(result, "x[1]"), 2.0, 1e-10);
  EXPECT_NEAR(first(result, "x[150]"), 2.0, 1e-10);
  EXPECT_EQ(first(result, "y[77]"), 2.0);
}

// A step of a sequence is active at the start; its memory has to follow from that, through names
// that stand for each other (localActive = pre(newActive) of StateGraph).
TEST(StartValues, OfBooleansReachTheMemoriesTheyComeFrom) {
  const SimulateResult result =
      run("model M\n"
          "  Boolean active, inner_active, next, fires;\n  Real t0(start = 0, fixed = true);\n"
          "initial equation\n  active = true;\n  pre(next) = pre(inner_active);\n"
          "equation\n"
          "  der(t0) = if active then 1 else 0;\n"
          "  active = inner_active;\n  inner_active = pre(next);\n"
          "  fires = active and time >= 0.25;\n"
          "  next = inner_active and not fires;\nend M;\n",
          1.0);
  EXPECT_NEAR(result.final.at("t0"), 0.25, 1e-9);
}

TEST(StartValues, OfDiscreteRealsMayDependOnTime) {
  const SimulateResult result =
      run("model M\n"
          "  discrete Real t;\n  Real x(start = 5, fixed = true);\n  Boolean late;\n"
          "initial equation\n  t = time - 0.5;\n"
          "equation\n  der(x) = -1;\n"
          "  when x < 4.5 then\n    t = time;\n  end when;\n"
          "  late = time >= t + 0.75;\nend M;\n",
          2.0);
  // late from 0.25 to 0.5, when t becomes 0.5, and from 1.25 on.
  EXPECT_EQ(result.final.at("late"), 1.0);
  EXPECT_NEAR(result.final.at("t"), 0.5, 1e-9);
  EXPECT_EQ(first(result, "t"), -0.5);
}

}  // namespace
}  // namespace saltus
