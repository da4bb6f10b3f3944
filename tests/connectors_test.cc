// Stream and expandable connectors, inner components that are added, iterators without a range.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

SimulateResult run(const std::string& text, double stop_time = 1.0) {
  return simulate(build(load_modelica_text(text, "M", {.use_modelica_path = false}, "m.mo")),
                  {.stop_time = stop_time, .tolerance = 1e-9});
}

double last(const SimulateResult& result, const std::string& name) {
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_TRUE(result.final.contains(name)) << name;
  return result.final.contains(name) ? result.final.at(name) : std::nan("");
}

const char* const kPorts = R"(
package P
  connector Port
    Real p; flow Real m; stream Real h;
  end Port;
  model Source
    Port c; parameter Real h = 10; input Real m = 1;
  equation
    c.m = -m; c.h = h;
  end Source;
  model Sink
    Port c; Real arriving = inStream(c.h); Real carried = actualStream(c.h);
  equation
    c.p = 1; c.h = 77;
  end Sink;
  model Pipe
    Port a, b;
  equation
    a.m + b.m = 0; a.p - b.p = 0.1*a.m; a.h = inStream(b.h); b.h = inStream(a.h);
  end Pipe;
  model Pair
    Port c; Source s1(m = 1, h = 10), s2(m = 3, h = 20);
  equation
    connect(s1.c, c); connect(s2.c, c);
  end Pair;
)";

// 1 at 10 and 3 at 20 mix to 17.5; with 4 at 30 to 23.75.
TEST(Streams, MixByTheirFlowsThroughLevelsOfComponents) {
  const SimulateResult result = run(std::string(kPorts) +
                                    "  model M\n    Pair pair; Pipe pipe; Sink k;\n"
                                    "    Source s3(m = 4, h = 30);\n  equation\n"
                                    "    connect(pair.c, pipe.a);\n    connect(pipe.b, k.c);\n"
                                    "    connect(s3.c, k.c);\n  end M;\nend P;\n");
  EXPECT_NEAR(last(result, "pair.c.h"), 17.5, 1e-9);
  EXPECT_NEAR(last(result, "pipe.b.h"), 17.5, 1e-9);
  EXPECT_NEAR(last(result, "k.arriving"), 23.75, 1e-9);
  EXPECT_NEAR(last(result, "k.carried"), 23.75, 1e-9);
}

// The flow turns at t = 0.5: then it carries what the sink holds.
TEST(Streams, ActualStreamFollowsTheFlow) {
  const SimulateResult result = run(std::string(kPorts) +
                                    "  model M\n    Source s(m = 0.5 - time); Sink k;\n"
                                    "    Real q(start = 0, fixed = true);\n  equation\n"
                                    "    connect(s.c, k.c);\n    der(q) = k.carried;\n"
                                    "  end M;\nend P;\n");
  EXPECT_NEAR(last(result, "q"), 0.5 * 10.0 + 0.5 * 77.0, 1e-6);
  EXPECT_EQ(last(result, "k.arriving"), 10.0);
}

TEST(Streams, OfAnUnconnectedPortAreItsOwn) {
  const SimulateResult result =
      run(std::string(kPorts) + "  model M\n    Sink k;\n  end M;\nend P;\n");
  EXPECT_EQ(last(result, "k.arriving"), 77.0);
}

const char* const kBuses = R"(
package P
  connector RI = input Real;
  connector RO = output Real;
  expandable connector Bus
    Real declared; Real unused;
  end Bus;
  model A
    Bus bus; RO y = 3*time; RO z[2] = {time, 2*time};
  equation
    connect(y, bus.speed);
    connect(bus.declared, z[1]);
    for i in 1:2 loop connect(bus.v[i], z[i]); end for;
  end A;
  model B
    Bus bus; RI u; RI w; RI d;
  equation
    connect(u, bus.speed); connect(w, bus.v[2]); connect(bus.declared, d);
  end B;
)";

TEST(ExpandableConnectors, HaveWhatIsConnectedToThem) {
  const SimulateResult result = run(std::string(kBuses) +
                                    "  model M\n    A a; B b; Bus bus;\n  equation\n"
                                    "    connect(a.bus, bus); connect(bus, b.bus);\n"
                                    "  end M;\nend P;\n");
  EXPECT_NEAR(last(result, "b.u"), 3.0, 1e-12);
  EXPECT_NEAR(last(result, "b.w"), 2.0, 1e-12);
  EXPECT_NEAR(last(result, "b.d"), 1.0, 1e-12);
  EXPECT_NEAR(last(result, "bus.speed"), 3.0, 1e-12);
  EXPECT_FALSE(result.final.contains("bus.unused"));
}

TEST(InnerOuter, AddsAnInnerComponentThatIsMissingAndSaysSo) {
  const std::string text =
      "package P\n  model World\n    parameter Real g = 9.81;\n"
      "    annotation(missingInnerMessage = \"a world of its own\");\n  end World;\n"
      "  model A\n    outer World world; Real x = world.g;\n  end A;\n"
      "  model M\n    A a, b;\n  end M;\nend P;\n";
  FlatModel flat = load_modelica_text(text, "M", {.use_modelica_path = false}, "m.mo");
  ASSERT_EQ(flat.warnings.size(), 1U);
  EXPECT_EQ(flat.warnings[0], "m.mo:7:17: warning: a world of its own");
  const SimulateResult result = simulate(build(std::move(flat)), {.stop_time = 1.0});
  EXPECT_NEAR(last(result, "b.x"), 9.81, 1e-12);
}

TEST(Iterators, TakeTheirRangeFromTheArraysTheySubscript) {
  const SimulateResult result =
      run("model M\n  parameter Real a[3] = {1, 2, 4}; Real x[3], y[3], s;\nequation\n"
          "  for i loop x[i] = 2*a[i]; end for;\n  s = sum(x[i]*i for i);\nalgorithm\n"
          "  for k loop y[k] := x[k] + k; end for;\nend M;\n");
  EXPECT_NEAR(last(result, "x[3]"), 8.0, 1e-12);
  EXPECT_NEAR(last(result, "y[2]"), 6.0, 1e-12);
  EXPECT_NEAR(last(result, "s"), 2.0 + 8.0 + 24.0, 1e-12);
}

// c[:] takes its size from an expression of variables.
TEST(Arrays, TakeTheirSizeFromValuesThatVary) {
  const SimulateResult result =
      run("model M\n  Real x[2] = {time, 2*time}; Boolean b[2] = {time > 2, time < 2};\n"
          "  Real y[:] = 3*x; Boolean n[:] = not b; Real z[Boolean] = {1, 2};\nend M;\n");
  EXPECT_NEAR(last(result, "y[2]"), 6.0, 1e-12);
  EXPECT_EQ(last(result, "n[1]"), 1.0);
  EXPECT_EQ(last(result, "n[2]"), 0.0);
}

}  // namespace
}  // namespace saltus
