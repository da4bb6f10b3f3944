#include <gtest/gtest.h>

#include <string>

#include "exported_c.h"
#include "model/build.h"
#include "modelica/load.h"
#include "realtime/export_c.h"

// The exported C99, compiled without a warning and run beside the engine: the same numbers, to the
// last bit.

namespace saltus {
namespace {

HybridSystem from_library(const std::string& name) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  return build(load_modelica(name, options));
}

void expect_same(const HybridSystem& system, const RealtimeOptions& options, int samples) {
  int events = 0;
  EXPECT_TRUE(runs_as_exported(system, options, samples, "-O1", events));
  EXPECT_GT(events, 0);
}

TEST(RealtimeExport, AffineModesAgreeToTheLastBit) {
  expect_same(from_library("Saltus.FutureHybrid.Reduced"),
              {.step = 2e-3, .stop_time = 4.0, .outputs = {"w_m", "w_f", "dphi"}}, 2000);
}

TEST(RealtimeExport, HeldSurfacesAgreeToTheLastBit) {
  expect_same(from_library("Saltus.Examples.StickSlip"),
              {.step = 1e-2, .stop_time = 20.0, .outputs = {"x", "v", "F"}}, 2000);
}

TEST(RealtimeExport, NonlinearModesAgreeToTheLastBit) {
  expect_same(from_library("Saltus.FourSpeed.FullLoad"),
              {.step = 1e-2, .stop_time = 20.0, .outputs = {"car.v", "gearbox.C3.tau", "engine.w"}},
              2000);
}

TEST(RealtimeExport, ReinitsSamplesTablesAndTerminationsAgreeToTheLastBit) {
  expect_same(build(load_modelica_text(R"(model Mixed
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), y;
  discrete Real kept(start = 0, fixed = true);
  Integer count(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81 - 0.1*v;
  y = sin(h)*exp(-h) + (if h > 0.5 then 1 else h^3);
  when h < 0 and v < 0 then
    reinit(v, -0.7*pre(v));
    count = pre(count) + 1;
  end when;
  when sample(0.03, 0.05) then
    kept = h;
  end when;
  when time > 1.4 then
    terminate("enough");
  end when;
end Mixed;)")),
              {.step = 1e-2, .stop_time = 1.6}, 150);
}

TEST(RealtimeExport, InputsAgreeToTheLastBit) {
  expect_same(build(load_modelica_text(R"(model Fed
  input Real u(start = 0.5), k(start = 1);
  Real x(start = 0, fixed = true), y;
  Boolean high(start = false, fixed = true);
equation
  der(x) = u - k*x;
  high = x > (if pre(high) then 0.1 else 0.2);
  y = if high then x else -x;
end Fed;)")),
              {.step = 1e-2, .stop_time = 1.0}, 400);
}

// A machine that carries, sets and locks; outputs of states that are not active are no numbers.
TEST(RealtimeExport, StateMachinesAgreeToTheLastBit) {
  expect_same(build(load_modelica_text(R"(model Machine
  model Apart
    Real a(start = 3, fixed = true), b(start = -1, fixed = true), count(start = 0, fixed = true);
  equation
    der(a) = 1 - 0.3*a; 2*der(b) = -b; der(count) = 1;
  end Apart;
  model Together
    Real a, b, tau, count;
  initial equation
    count = 7;
  equation
    der(a) = 1 - 0.3*a - tau; 2*der(b) = tau - b; a = b; der(count) = 2;
  end Together;
  Apart apart; Together together;
equation
  initialState(apart);
  transition(apart, together, apart.a < 1.2 or timeInState() > 0.4);
  transition(together, apart, timeInState() > 0.25, reset = false);
end Machine;)")),
              {.step = 1e-2, .stop_time = 3.0}, 300);
}

TEST(RealtimeExport, FunctionsHaveTheNameOfTheModel) {
  RealtimeEngine engine(from_library("Saltus.Drivetrain.Examples.Engagement"), {.step = 0.01});
  const CExport made = export_c(engine);
  EXPECT_EQ(made.name, "Engagement");
  EXPECT_NE(made.header.find("void Engagement_init(void);"), std::string::npos);
  EXPECT_EQ(made.source.find("malloc"), std::string::npos);
}

}  // namespace
}  // namespace saltus
