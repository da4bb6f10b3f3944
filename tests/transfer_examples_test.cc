// The examples whose state jumps, against balances of momentum and charge and closed solutions.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "examples/capacitors/capacitors.h"
#include "examples/clutch/clutch.h"
#include "examples/cylinder/cylinder.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

// Before and after; the value itself twice if it did not jump.
std::pair<double, double> jump(const Event& event, const std::string& name, double unchanged) {
  const auto found = event.jumps.find(name);
  return found == event.jumps.end() ? std::make_pair(unchanged, unchanged) : found->second;
}

TEST(ClutchExample, ConservesMomentumAndFollowsTheExponentials) {
  const SimulateResult result = simulate(make_clutch());
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(result.events.size(), 2u);
  const Event& closes = result.events[0];
  const auto [w1, w1_after] = closes.jumps.at("w1");
  const auto [w2, w2_after] = closes.jumps.at("w2");
  EXPECT_NEAR(w1_after, 10.0 / 3.0, 1e-12);
  EXPECT_NEAR(w2_after, 10.0 / 3.0, 1e-12);
  EXPECT_NEAR(closes.impulses.at("tau"), 20.0 / 3.0, 1e-12);
  EXPECT_NEAR(w1_after + 2.0 * w2_after, w1 + 2.0 * w2, 1e-12 * 10.0);
  EXPECT_TRUE(result.events[1].jumps.empty());
  const double opened = 10.0 / 3.0 * std::exp(-1.0 / 3.0);
  EXPECT_NEAR(result.final.at("w1"), opened, 1e-6);
  EXPECT_NEAR(result.final.at("w2"), opened * std::exp(-1.5 / 2.0), 1e-6);
}

TEST(CapacitorsExample, ConservesChargeAtEverySwitch) {
  const SimulateResult result = simulate(make_capacitors());
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_TRUE(result.warnings.empty());
  constexpr double c1 = 1e-6;
  constexpr double c2 = 10e-6;
  constexpr double r = 10e3;
  constexpr double half = 0.5e-3;
  double u2 = 0.0;
  ASSERT_EQ(result.events.size(), 59u);
  for (std::size_t k = 0; k < result.events.size(); ++k) {
    const Event& event = result.events[k];
    const double impulse = event.impulses.at("i1");
    const auto [u1_before, u1_after] = event.jumps.at("u1");
    EXPECT_NEAR(c1 * (u1_after - u1_before), impulse, 1e-12 * c1 * 5.0);
    if (k % 2 == 0) {
      ASSERT_EQ(event.to, "sharing");
      u2 *= std::exp(-half / (r * c2));
      const double shared = (c1 * 5.0 + c2 * u2) / (c1 + c2);
      const auto [before, after] = event.jumps.at("u2");
      EXPECT_NEAR(before, u2, 1e-7);
      EXPECT_NEAR(after, shared, 1e-7);
      EXPECT_NEAR(c2 * (after - before), -impulse, 1e-12 * c1 * 5.0);
      u2 = shared;
    } else {
      ASSERT_EQ(event.to, "charging");
      u2 *= std::exp(-half / (r * (c1 + c2)));
      EXPECT_NEAR(u1_before, u2, 1e-7);
      EXPECT_EQ(u1_after, 5.0);
      EXPECT_EQ(event.jumps.count("u2"), 0u);
    }
  }
}

// Enters a mode of the cylinder with given v and f_rel.
Event enter(const std::string& mode, double v, double f) {
  HybridSystem system = make_cylinder();
  system.set("v", v);
  system.set("f_rel", f);
  Mode& coast = system.mode("coast");
  const auto symbol = [&](const char* name) {
    for (const Variable& variable : system.variables())
      if (variable.name == name) return variable.symbol;
    return Expr();
  };
  coast.equations = {der(symbol("v")) == 0.0, der(symbol("f_rel")) == 0.0};
  coast.guards = {{.name = "go", .value = 0.001 - system.time(), .to = mode}};
  system.initial_mode = "coast";
  const SimulateResult result = simulate(system, {.stop_time = 0.002});
  EXPECT_FALSE(result.events.empty()) << result.message;
  return result.events.empty() ? Event{} : result.events[0];
}

// The four rows of MO's table with its signs put right; A = 2e-3, m = 20, I = 1e6.
TEST(CylinderExample, ProjectionsAreThoseOfThePaper) {
  const auto expect = [](const std::string& mode, double v, double f, double v_after,
                         double f_after) {
    const Event event = enter(mode, v, f);
    ASSERT_EQ(event.to, mode);
    EXPECT_FALSE(event.fraction.has_value());
    EXPECT_NEAR(jump(event, "v", v).second, v_after, 1e-10) << mode;
    EXPECT_NEAR(jump(event, "f_rel", f).second, f_after, 1e-10 * 1e-3) << mode;
  };
  expect("a00", 0.3, 4e-4, 0.0, 0.0);
  const double v = (20.0 * -0.5 - 2e-3 * 1e6 * 1e-4) / (20.0 + 4.0);
  expect("a01", -0.5, 1e-4, v, -2e-3 * v);
  expect("a10", -0.5, 1e-4, -0.5, 0.0);
  expect("a11", -0.5, 1e-4, -0.5, 1e-4);
}

TEST(CylinderExample, ScenarioPassesThroughAPinnacle) {
  const SimulateResult result = simulate(make_cylinder(), {.tolerance = 1e-12});
  ASSERT_TRUE(result.completed()) << result.message;
  std::vector<std::string> modes;
  for (const Event& event : result.events) modes.push_back(event.to);
  ASSERT_EQ(modes, (std::vector<std::string>{"a00", "a01", "a00", "a10"}));

  const double v = -0.5 * (1.0 - std::exp(-200.0 * 0.02));
  const Event& closes = result.events[0];
  EXPECT_EQ(closes.time, 0.02);
  EXPECT_EQ(closes.ontology, "pinnacle");
  EXPECT_EQ(closes.kind, "instantaneous");
  ASSERT_TRUE(closes.fraction.has_value());
  EXPECT_EQ(*closes.fraction, 0.0);
  EXPECT_TRUE(closes.jumps.empty());

  const Event& relief = result.events[1];
  EXPECT_EQ(relief.time, 0.02);
  const auto [before, after] = relief.jumps.at("v");
  EXPECT_NEAR(before, v, 1e-10);
  EXPECT_NEAR(after, v * 5.0 / 6.0, 1e-10);
  const auto [f_before, f_after] = relief.jumps.at("f_rel");
  EXPECT_NEAR(f_after, -2e-3 * after, 1e-15);
  // Momentum of piston and oil: both take the impulse of the pressure.
  const double push = relief.impulses.at("p");
  EXPECT_NEAR(20.0 * (after - before), 2e-3 * push, 1e-12 * 20.0);
  EXPECT_NEAR(1e6 * (f_after - f_before), push, 1e-12 * 1e6);

  // (m + M) v' = A p_smp - F - A^2 R_rel v: from v+ to 0.
  const Event& closed = result.events[2];
  const double rate = 8000.0 / 24.0;
  const double drift = 2000.0 / 8000.0;
  EXPECT_NEAR(closed.time, 0.02 + std::log(1.0 - after / drift) / rate, 1e-10);
  EXPECT_TRUE(closed.impulses.empty());
}

// With oil that is compressed the same modes follow each other, and nothing jumps. The less it is
// compressed, the nearer the speed comes to the exact one of rigid oil, which is that behind the
// pinnacle: the difference is proportional to C_oil.
TEST(CylinderExample, CompressedOilTendsToThePinnacle) {
  const double drift = 2000.0 / 8000.0;
  const double before = -0.5 * (1.0 - std::exp(-200.0 * 0.02));
  const double rigid = drift + (before * 5.0 / 6.0 - drift) * std::exp(-8000.0 / 24.0 * 1e-3);
  std::vector<double> errors;
  for (const double compliance : {4e-15, 2e-15, 1e-15, 1e-16}) {
    HybridSystem system = make_cylinder_oil();
    system.set("C_oil", compliance);
    const SimulateResult result = simulate(system, {.stop_time = 0.021, .tolerance = 1e-10});
    ASSERT_TRUE(result.completed()) << result.message;
    ASSERT_EQ(result.events.size(), 2u);
    EXPECT_EQ(result.events[0].to, "a00");
    EXPECT_EQ(result.events[0].ontology, "mythical");
    EXPECT_EQ(result.events[1].to, "a01");
    EXPECT_TRUE(result.events[1].jumps.empty());
    errors.push_back(std::abs(result.final.at("v") - rigid));
  }
  EXPECT_NEAR(errors[0] / errors[1], 2.0, 0.2);
  EXPECT_NEAR(errors[1] / errors[2], 2.0, 0.1);
  EXPECT_NEAR(errors[2] / errors[3], 10.0, 0.5);
  EXPECT_LT(errors[3], 1e-5);
}

TEST(CylinderExample, IntakeThatOpensDuringReliefLeadsThroughTheFourthMode) {
  HybridSystem system = make_cylinder();
  system.set("t_closed", 0.001);
  const SimulateResult result = simulate(system, {.stop_time = 0.035});
  ASSERT_TRUE(result.completed()) << result.message;
  std::vector<std::string> modes;
  for (const Event& event : result.events) modes.push_back(event.to);
  ASSERT_GE(modes.size(), 4u);
  EXPECT_EQ(modes[2], "a11");
  EXPECT_EQ(modes[3], "a10");
  EXPECT_TRUE(result.events[2].jumps.empty());
}

}  // namespace
}  // namespace saltus
