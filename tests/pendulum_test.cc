#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "simulate/simulate.h"

namespace saltus {
namespace {

constexpr double kGravity = 9.81;

// The pendulum in Cartesian coordinates with its length as a constraint on positions: index 3.
HybridSystem cartesian_pendulum(double speed) {
  HybridSystem system("pendulum");
  const Expr x = system.variable("x", {.start = 1.0});
  const Expr y = system.variable("y");
  const Expr u = system.variable("u");
  const Expr v = system.variable("v", {.start = speed});
  const Expr force = system.variable("force");
  system.mode("swing").equations = {der(x) == u, der(y) == v, der(u) == -force * x,
                                    der(v) == -force * y - kGravity, x * x + y * y == 1.0};
  return system;
}

struct Drift {
  double position = 0.0;
  double velocity = 0.0;
  double acceleration = 0.0;  // over the size of its terms
  double energy = 0.0;        // over the largest kinetic energy
  double turns = 0.0;
};

Drift measure(const Trajectory& points) {
  const auto column = [&](const char* name) { return points.column(name); };
  const auto x = column("x"), y = column("y"), u = column("u"), v = column("v"),
             f = column("force");
  Drift worst;
  double largest_kinetic = 0.0;
  double largest_change = 0.0;
  const double energy = 0.5 * (u[0] * u[0] + v[0] * v[0]) + kGravity * y[0];
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double kinetic = 0.5 * (u[k] * u[k] + v[k] * v[k]);
    const double size = 2.0 * kinetic + std::abs(f[k]) + kGravity;
    worst.position = std::max(worst.position, std::abs(x[k] * x[k] + y[k] * y[k] - 1.0));
    worst.velocity = std::max(
        worst.velocity, std::abs(x[k] * u[k] + y[k] * v[k]) / (1.0 + std::sqrt(2.0 * kinetic)));
    worst.acceleration =
        std::max(worst.acceleration, std::abs(2.0 * kinetic - f[k] - kGravity * y[k]) / size);
    largest_kinetic = std::max(largest_kinetic, kinetic);
    largest_change = std::max(largest_change, std::abs(kinetic + kGravity * y[k] - energy));
    if (k > 0) {
      const double turn =
          std::atan2(x[k - 1] * y[k] - y[k - 1] * x[k], x[k - 1] * x[k] + y[k - 1] * y[k]);
      worst.turns += std::abs(turn) / (2.0 * M_PI);
    }
  }
  worst.energy = largest_change / largest_kinetic;
  return worst;
}

// Every accepted step is stored, so that the residuals are those of the steps, not of projections.
Drift run(double speed, double stop_time) {
  const SimulateResult result = simulate(
      cartesian_pendulum(speed), {.stop_time = stop_time, .tolerance = 1e-8, .interval = 0.0});
  EXPECT_TRUE(result.completed()) << result.message;
  EXPECT_TRUE(result.events.empty());
  EXPECT_EQ(result.modes.at(0).visits, 1U);
  EXPECT_EQ(result.modes.at(0).mu, 2);
  EXPECT_EQ(result.modes.at(0).d, 2);
  EXPECT_EQ(result.modes.at(0).a, 3);
  return measure(result.trajectory);
}

void expect_small(const Drift& drift) {
  EXPECT_LE(drift.position, 1e-8);
  EXPECT_LE(drift.velocity, 1e-8);
  EXPECT_LE(drift.acceleration, 1e-8);
  EXPECT_LE(drift.energy, 1e-5);
}

TEST(CartesianPendulum, KeepsConstraintsAndEnergyOverAThousandRevolutions) {
  const Drift drift = run(7.0, 1200.0);
  EXPECT_GE(drift.turns, 1000.0);
  expect_small(drift);
}

TEST(CartesianPendulum, KeepsConstraintsAndEnergyOverAThousandSwings) {
  // Released horizontally: half a turn and back in 2.37 s.
  const Drift drift = run(0.0, 2400.0);
  EXPECT_GE(drift.turns, 1000.0);
  expect_small(drift);
}

}  // namespace
}  // namespace saltus
