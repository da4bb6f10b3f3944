// The bundled examples of higher index: characteristic values from theory, solutions against exact
// formulas, elimination by hand, quadrature and balances.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "examples/arm/arm.h"
#include "examples/pendulum/pendulum.h"
#include "examples/rlc/rlc.h"
#include "examples/slider_crank/slider_crank.h"
#include "simulate/simulate.h"

namespace saltus {

// For messages; GoogleTest looks it up beside the type.
static void PrintTo(Method method, std::ostream* out) {
  *out << (method == Method::kBdf ? "bdf" : "radau");
}

namespace {

CharacteristicValues values(int mu, int d, int a, int v, int u) { return {mu, d, a, v, u}; }

// One stored point by name.
class Point {
 public:
  Point(const Trajectory& trajectory, std::size_t index) : trajectory_(trajectory), index_(index) {}
  double operator()(const std::string& name) const {
    return trajectory_.value(index_, trajectory_.find(name));
  }
  double time() const { return trajectory_.time[index_]; }

 private:
  const Trajectory& trajectory_;
  std::size_t index_;
};

SimulateResult run(const HybridSystem& system, Method method, double tolerance) {
  SimulateResult result = simulate(system, {.tolerance = tolerance, .method = method});
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
  return result;
}

// ---- Pendulum: m = 1 kg, l = 1 m, force 8 N/s, string breaks at 200 N.

constexpr double kGravity = 9.81;
constexpr double kGrowth = 8.0;
constexpr double kLimit = 200.0;

TEST(Pendulum, HasTheCharacteristicValuesOfHmExample21) {
  const SystemAnalysis analysis = analyse_modes(make_pendulum(), 64);
  ASSERT_EQ(analysis.modes.size(), 3U);
  EXPECT_EQ(analysis.modes[0].values, values(2, 2, 3, 0, 0));
  EXPECT_EQ(analysis.modes[1].values, values(0, 4, 0, 0, 0));
  EXPECT_EQ(analysis.modes[2].values, values(0, 4, 1, 0, 0));
  EXPECT_EQ(analysis.modes[0].unknowns, 5U);
  EXPECT_EQ(analysis.modes[1].unknowns, 4U);
  EXPECT_EQ(analysis.modes[2].unknowns, 5U);
}

// HM Example 22: before the control law is given the thrust is free.
TEST(Pendulum, WithoutControlLawTheThrustIsFree) {
  HybridSystem flight("flight");
  const Expr x = flight.variable("x");
  const Expr y = flight.variable("y");
  const Expr vx = flight.variable("vx", {.start = 1.0});
  const Expr vy = flight.variable("vy");
  const Expr u = flight.variable("u");
  flight.mode("steered").equations = {der(x) == vx, der(y) == vy, der(vx) == -0.5 * u,
                                      der(vy) == -kGravity + 0.8 * u};
  const SystemAnalysis analysis = analyse_modes(flight, 64);
  EXPECT_EQ(analysis.modes[0].values, values(0, 4, 0, 0, 1));
  EXPECT_EQ(analysis.modes[0].free, std::vector<std::string>{"u"});
  EXPECT_THROW(simulate(flight), Error);
}

struct Swing {
  double time, angle, speed;
};

// The angle alone, phi'' = -g sin(phi) + 8 t, by classical Runge-Kutta with 10 us; the break by
// a secant over the last step.
Swing swing_until_break() {
  const auto slope = [](double t, double phi) { return -kGravity * std::sin(phi) + kGrowth * t; };
  const auto tension = [](const Swing& s) {
    return s.speed * s.speed + kGravity * std::cos(s.angle);
  };
  const auto step = [&](const Swing& s, double h) {
    const double k1 = slope(s.time, s.angle);
    const double v2 = s.speed + 0.5 * h * k1;
    const double k2 = slope(s.time + 0.5 * h, s.angle + 0.5 * h * s.speed);
    const double v3 = s.speed + 0.5 * h * k2;
    const double k3 = slope(s.time + 0.5 * h, s.angle + 0.5 * h * v2);
    const double v4 = s.speed + h * k3;
    const double k4 = slope(s.time + h, s.angle + h * v3);
    return Swing{s.time + h, s.angle + h / 6.0 * (s.speed + 2.0 * v2 + 2.0 * v3 + v4),
                 s.speed + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)};
  };
  const double h = 1e-5;
  Swing now{0.0, 0.0, 0.0};
  Swing next = step(now, h);
  while (tension(next) < kLimit) {
    now = next;
    next = step(now, h);
  }
  const double part = (kLimit - tension(now)) / (tension(next) - tension(now));
  return step(now, part * h);
}

class BothMethods : public testing::TestWithParam<Method> {
 protected:
  // Global errors in units of the tolerance; BDF controls the local error of many more steps.
  double slack() const { return GetParam() == Method::kBdf ? 300.0 : 10.0; }
};

TEST_P(BothMethods, PendulumBreaksWhenTheAngleAloneSaysSo) {
  const double tolerance = 1e-9;
  const SimulateResult result = run(make_pendulum(), GetParam(), tolerance);
  ASSERT_EQ(result.events.size(), 2U);
  EXPECT_EQ(result.events[0].to, "flying");
  const Swing exact = swing_until_break();
  EXPECT_GT(exact.angle, 2.0 * std::numbers::pi);  // after more than one turn
  EXPECT_NEAR(result.events[0].time, exact.time, slack() * tolerance * exact.time);

  std::size_t k = 0;
  while (result.trajectory.mode[k] == result.trajectory.mode[0]) ++k;
  const Point left(result.trajectory, k - 1);
  const Point right(result.trajectory, k);
  EXPECT_EQ(left.time(), right.time());
  for (const char* name : {"x", "y", "vx", "vy"}) EXPECT_EQ(left(name), right(name)) << name;
  EXPECT_NEAR(2.0 * left("lambda"), kLimit, 1e-8 * kLimit);
  const double error = slack() * tolerance * exact.speed;
  EXPECT_NEAR(left("x"), std::sin(exact.angle), error);
  EXPECT_NEAR(left("y"), -std::cos(exact.angle), error);
  EXPECT_NEAR(left("vx"), exact.speed * std::cos(exact.angle), 10.0 * error);
  EXPECT_NEAR(left("vy"), exact.speed * std::sin(exact.angle), 10.0 * error);
}

// On all three levels, and the string force is that of the circular motion.
TEST_P(BothMethods, PendulumStaysOnItsCircle) {
  const SimulateResult result = run(make_pendulum(), GetParam(), 1e-8);
  for (std::size_t k = 0; k < result.trajectory.size(); ++k) {
    if (result.trajectory.mode[k] != result.trajectory.mode[0]) break;
    const Point p(result.trajectory, k);
    const double square = p("vx") * p("vx") + p("vy") * p("vy");
    EXPECT_NEAR(p("x") * p("x") + p("y") * p("y"), 1.0, 1e-8);
    EXPECT_NEAR(p("x") * p("vx") + p("y") * p("vy"), 0.0, 1e-8 * (1.0 + std::sqrt(square)));
    EXPECT_NEAR(2.0 * p("lambda"), square - kGravity * p("y"), 1e-7 * (1.0 + square));
  }
}

// Energy gained = work of the force, by the trapezoidal rule with end correction (error h^4) over
// stored points 1 ms apart.
TEST_P(BothMethods, PendulumGainsTheWorkOfTheForce) {
  const double tolerance = 1e-9;
  const SimulateResult result =
      simulate(make_pendulum(), {.tolerance = tolerance, .interval = 1e-3, .method = GetParam()});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const auto energy = [](const Point& p) {
    return 0.5 * (p("vx") * p("vx") + p("vy") * p("vy")) + kGravity * p("y");
  };
  const auto power = [](const Point& p) {
    return kGrowth * p.time() * (p("x") * p("vy") - p("y") * p("vx"));
  };
  const auto power_rate = [](const Point& p) {
    return kGrowth * (p("x") * p("vy") - p("y") * p("vx")) +
           kGrowth * p.time() * (p("x") * p("der(vy)") - p("y") * p("der(vx)"));
  };
  const Trajectory& t = result.trajectory;
  double work = 0.0;
  double worst = 0.0;
  std::size_t k = 1;
  for (; t.mode[k] == t.mode[0]; ++k) {
    const Point a(t, k - 1);
    const Point b(t, k);
    const double h = b.time() - a.time();
    work += 0.5 * h * (power(a) + power(b)) + h * h / 12.0 * (power_rate(a) - power_rate(b));
    worst = std::max(worst, std::abs(energy(b) - energy(Point(t, 0)) - work));
  }
  EXPECT_GT(work, 50.0);
  EXPECT_LE(worst, 10.0 * slack() * tolerance * work);
  // In flight the energy is constant.
  const double at_break = energy(Point(t, k));
  for (; t.mode[k] != t.mode.back(); ++k)
    EXPECT_NEAR(energy(Point(t, k)), at_break, slack() * tolerance * at_break);
}

// Critically damped height, x'' = -tan(beta) (g + y''): both have closed solutions from the state
// at the top of the flight.
TEST_P(BothMethods, SteeredFlightFollowsItsClosedSolution) {
  const double tolerance = 1e-9;
  const SimulateResult result = run(make_pendulum(), GetParam(), tolerance);
  const Trajectory& t = result.trajectory;
  std::size_t k = t.size() - 1;
  while (t.mode[k - 1] == t.mode[k]) --k;
  const Point top(t, k);
  EXPECT_NEAR(top("vy"), 0.0, 1e-9);
  const double omega = 2.0;
  const double target = 2.0;
  const double beta = 0.6;
  const double a = top("y") - target;
  const double b = top("vy") + omega * a;
  for (std::size_t i = k; i < t.size(); ++i) {
    const Point p(t, i);
    const double s = p.time() - top.time();
    const double y = target + (a + b * s) * std::exp(-omega * s);
    const double x = top("x") + top("vx") * s -
                     std::tan(beta) * (0.5 * kGravity * s * s + y - top("y") - top("vy") * s);
    EXPECT_NEAR(p("y"), y, slack() * tolerance * 10.0);
    EXPECT_NEAR(p("x"), x, slack() * tolerance * 10.0);
  }
}

// ---- Slider crank.

constexpr double kCrank = 0.15, kRod = 0.40, kCrankInertia = 0.02, kCrankMass = 0.36;
constexpr double kRodMass = 0.15, kRodInertia = 0.002, kSliderMass = 0.5, kSpeed = 15.0;

TEST(SliderCrank, HasIndexThreeAndOneDegreeOfFreedom) {
  const SystemAnalysis analysis = analyse_modes(make_slider_crank(), 64);
  EXPECT_EQ(analysis.modes[0].values, values(2, 2, 12, 0, 0));
}

double crank_energy(const Point& p) {
  return 0.5 * (kCrankInertia * p("w1") * p("w1") +
                kRodMass * (p("vx2") * p("vx2") + p("vy2") * p("vy2")) +
                kRodInertia * p("w2") * p("w2") + kSliderMass * p("v3") * p("v3")) +
         kGravity * (0.5 * kCrankMass * kCrank * std::sin(p("phi1")) + kRodMass * p("y2"));
}

TEST_P(BothMethods, SliderCrankKeepsConstraintsAndEnergy) {
  const double tolerance = 1e-8;
  const SimulateResult result = run(make_slider_crank(), GetParam(), tolerance);
  const double start = crank_energy(Point(result.trajectory, 0));
  double position = 0.0, velocity = 0.0, energy = 0.0;
  for (std::size_t k = 0; k < result.trajectory.size(); ++k) {
    const Point p(result.trajectory, k);
    const double c1 = kCrank * std::cos(p("phi1")), s1 = kCrank * std::sin(p("phi1"));
    const double c2 = 0.5 * kRod * std::cos(p("phi2")), s2 = 0.5 * kRod * std::sin(p("phi2"));
    for (const double r :
         {p("x2") - c2 - c1, p("y2") - s2 - s1, p("x2") + c2 - p("x3"), p("y2") + s2})
      position = std::max(position, std::abs(r));
    for (const double r :
         {p("vx2") + s2 * p("w2") + s1 * p("w1"), p("vy2") - c2 * p("w2") - c1 * p("w1"),
          p("vx2") - s2 * p("w2") - p("v3"), p("vy2") + c2 * p("w2")})
      velocity = std::max(velocity, std::abs(r));
    energy = std::max(energy, std::abs(crank_energy(p) - start));
  }
  EXPECT_LE(position, 1e-10);
  EXPECT_LE(velocity, 1e-9);
  EXPECT_LE(energy, 10.0 * slack() * tolerance * start);
}

// With one degree of freedom energy gives the speed at each angle: the time of one turn is the
// integral of d(phi) / speed, by the trapezoidal rule, which converges geometrically here.
double time_of_one_turn() {
  const auto speed_squared = [](double phi) {
    const double s = kCrank * std::sin(phi);
    const double c = kCrank * std::cos(phi);
    const double rod_cos = std::sqrt(kRod * kRod - s * s);
    // Velocities for crank speed one.
    const double w2 = -c / rod_cos;
    const double v3 = -s + s * w2;
    const double vx2 = -s + 0.5 * s * w2;
    const double vy2 = 0.5 * c;
    const double inertia = kCrankInertia + kRodMass * (vx2 * vx2 + vy2 * vy2) +
                           kRodInertia * w2 * w2 + kSliderMass * v3 * v3;
    const double height = 0.5 * kCrankMass * s + 0.5 * kRodMass * s;
    return std::pair(inertia, height * kGravity);
  };
  const auto [inertia0, potential0] = speed_squared(0.0);
  const double energy = 0.5 * inertia0 * kSpeed * kSpeed + potential0;
  const int n = 2000;
  double sum = 0.0;
  for (int k = 0; k < n; ++k) {
    const auto [inertia, potential] = speed_squared(2.0 * std::numbers::pi * k / n);
    sum += 1.0 / std::sqrt(2.0 * (energy - potential) / inertia);
  }
  return sum * 2.0 * std::numbers::pi / n;
}

TEST_P(BothMethods, SliderCrankTurnsInTheTimeThatEnergyGives) {
  const double tolerance = 1e-9;
  const double period = time_of_one_turn();
  const int turns = 3;
  const SimulateResult result =
      simulate(make_slider_crank(),
               {.stop_time = turns * period, .tolerance = tolerance, .method = GetParam()});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const double angle = turns * 2.0 * std::numbers::pi;
  EXPECT_NEAR(result.final.at("phi1"), angle, slack() * tolerance * angle);
  EXPECT_NEAR(result.final.at("w1"), kSpeed, slack() * tolerance * kSpeed);
}

// ---- Arm on a path.

TEST(Arm, HasStrangenessIndexFourAndNoFreedom) {
  const SystemAnalysis analysis = analyse_modes(make_arm(), 64);
  EXPECT_EQ(analysis.modes[0].values, values(4, 0, 8, 0, 0));
  const std::map<std::string, int> times(analysis.modes[0].differentiated.begin(),
                                         analysis.modes[0].differentiated.end());
  EXPECT_EQ(times.at("path, horizontally"), 4);
  EXPECT_EQ(times.at("path, vertically"), 4);
  EXPECT_EQ(times.at("second link"), 2);
}

struct Angles {
  double q1, q2;
};

double path_angle(double t) { return 2.0 * std::pow(t, 5) / (1.0 + std::pow(t, 4)); }

// Law of cosines, elbow to the right of the path: l1 = l2 = 1.
Angles joint_angles(double t) {
  const double x = 1.0 + 0.4 * std::cos(path_angle(t));
  const double y = 0.6 + 0.4 * std::sin(path_angle(t));
  const double q2 = std::acos((x * x + y * y - 2.0) / 2.0);
  return {std::atan2(y, x) - 0.5 * q2, q2};
}

// Derivative by central differences of order 8.
template <class Function>
double slope(const Function& f, double t, double h) {
  return (672.0 * (f(t + h) - f(t - h)) - 168.0 * (f(t + 2 * h) - f(t - 2 * h)) +
          32.0 * (f(t + 3 * h) - f(t - 3 * h)) - 3.0 * (f(t + 4 * h) - f(t - 4 * h))) /
         (840.0 * h);
}

TEST_P(BothMethods, ArmFollowsThePathWithTheExactAngles) {
  const SimulateResult result = run(make_arm(), GetParam(), 1e-6);
  for (std::size_t k = 0; k < result.trajectory.size(); ++k) {
    const Point p(result.trajectory, k);
    const double t = p.time();
    EXPECT_NEAR(std::cos(p("q1")) + std::cos(p("q1") + p("q2")),
                1.0 + 0.4 * std::cos(path_angle(t)), 1e-10);
    EXPECT_NEAR(std::sin(p("q1")) + std::sin(p("q1") + p("q2")),
                0.6 + 0.4 * std::sin(path_angle(t)), 1e-10);
    const Angles exact = joint_angles(t);
    EXPECT_NEAR(p("q1"), exact.q1, 1e-9);
    EXPECT_NEAR(p("q2"), exact.q2, 1e-9);
  }
}

// Inverse dynamics of the exact angles; difference formulas stand for their derivatives, four of
// which the second torque contains.
TEST_P(BothMethods, ArmTorquesAreThoseOfInverseDynamics) {
  const double h = 0.02;
  const auto q1 = [](double t) { return joint_angles(t).q1; };
  const auto q2 = [](double t) { return joint_angles(t).q2; };
  const auto w1 = [&](double t) { return slope(q1, t, h); };
  const auto w2 = [&](double t) { return slope(q2, t, h); };
  const auto coupling = [&](double t) { return 2.0 + 2.0 * std::cos(q2(t)); };
  const auto theta = [&](double t) {
    const double elastic = coupling(t) * slope(w1, t, h) + 2.0 * slope(w2, t, h) +
                           2.0 * std::sin(q2(t)) * w1(t) * w1(t);
    return q2(t) + elastic / 200.0;
  };
  const auto omega = [&](double t) { return slope(theta, t, h); };
  const SimulateResult result = run(make_arm(), GetParam(), 1e-6);
  for (std::size_t k = 0; k < result.trajectory.size(); k += 60) {
    const Point p(result.trajectory, k);
    const double t = p.time();
    const double tau1 = (7.0 + 4.0 * std::cos(q2(t))) * slope(w1, t, h) +
                        coupling(t) * slope(w2, t, h) -
                        2.0 * std::sin(q2(t)) * w2(t) * (2.0 * w1(t) + w2(t));
    const double tau2 = 0.5 * slope(omega, t, h) + 200.0 * (theta(t) - q2(t));
    EXPECT_NEAR(p("theta"), theta(t), 1e-7);
    EXPECT_NEAR(p("tau1"), tau1, 1e-6);
    EXPECT_NEAR(p("tau2"), tau2, 1e-4);
  }
}

// ---- Circuit with a loop of capacitors.

TEST(Rlc, HasIndexTwo) {
  const SystemAnalysis analysis = analyse_modes(make_rlc(), 64);
  EXPECT_EQ(analysis.modes[0].values, values(1, 5, 4, 0, 0));
  EXPECT_EQ(analysis.modes[0].note, "");
}

TEST_P(BothMethods, RlcBalancesChargesAtBothNodes) {
  const SimulateResult result = run(make_rlc(), GetParam(), 1e-8);
  for (std::size_t k = 0; k < result.trajectory.size(); ++k) {
    const Point p(result.trajectory, k);
    EXPECT_NEAR(1e-6 * p("v1") + 2e-6 * p("v2"), p("q_source"), 1e-12);
    EXPECT_NEAR(2e-6 * p("v2") - 3e-6 * p("v3"), p("q_load"), 1e-12);
    EXPECT_NEAR(p("v1"), p("v2") + p("v3"), 1e-10);
    EXPECT_NEAR(p("i"), p("i1") + p("i2"), 1e-12);
  }
}

// The loop solved by hand leaves three linear differential equations, solved by their eigenvalues.
TEST_P(BothMethods, RlcFollowsTheEliminatedLinearSystem) {
  const double C1 = 1e-6, C2 = 2e-6, C3 = 3e-6, L = 1e-2, R = 20.0, G = 1e-3, E = 10.0;
  // With v2 = v1 - v3: (C1 + C2) v1' - C2 v3' = i, -C2 v1' + (C2 + C3) v3' = -G v3.
  Eigen::Matrix3d mass = Eigen::Matrix3d::Zero();
  mass << L, 0, 0, 0, C1 + C2, -C2, 0, -C2, C2 + C3;
  Eigen::Matrix3d stiffness = Eigen::Matrix3d::Zero();
  stiffness << -R, -1, 0, 1, 0, 0, 0, 0, -G;
  const Eigen::Matrix3d a = mass.inverse() * stiffness;
  const Eigen::Vector3d rest = -a.inverse() * (mass.inverse() * Eigen::Vector3d(E, 0, 0));
  const Eigen::EigenSolver<Eigen::Matrix3d> eigen(a);
  const Eigen::Vector3cd weights =
      eigen.eigenvectors().inverse() * (-rest).cast<std::complex<double>>();
  const double tolerance = 1e-8;
  const SimulateResult result = run(make_rlc(), GetParam(), tolerance);
  for (std::size_t k = 0; k < result.trajectory.size(); ++k) {
    const Point p(result.trajectory, k);
    Eigen::Vector3cd modes = weights;
    for (int j = 0; j < 3; ++j) modes(j) *= std::exp(eigen.eigenvalues()(j) * p.time());
    const Eigen::Vector3d exact = rest + (eigen.eigenvectors() * modes).real();
    EXPECT_NEAR(p("i"), exact(0), slack() * tolerance * 0.1);
    EXPECT_NEAR(p("v1"), exact(1), slack() * tolerance * 10.0);
    EXPECT_NEAR(p("v3"), exact(2), slack() * tolerance * 10.0);
  }
}

INSTANTIATE_TEST_SUITE_P(HigherIndexExamples, BothMethods,
                         testing::Values(Method::kRadau, Method::kBdf), [](const auto& tested) {
                           return tested.param == Method::kBdf ? "Bdf" : "Radau";
                         });

}  // namespace
}  // namespace saltus
