// A chain of masses with more unknowns than dense ranks are taken of, and one fault that structure
// does not see: numbers must have the last word there as well.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

constexpr int kMasses = 105;

// Masses between springs; `forces` acts on the first three, `rest` are further equations.
std::string chain(std::string_view unknowns, std::string_view forces, std::string_view rest) {
  std::string text = "model Chain\n  constant Integer n = " + std::to_string(kMasses);
  text += ";\n  Real x[n](start = {0.1*sin(i) for i in 1:n}), v[n];\n";
  text += unknowns;
  text += "\nequation\n  der(x) = v;\n  for i in 1:n loop\n    der(v[i]) = ";
  text += "(if i > 1 then x[i-1] - x[i] else -x[i]) + (if i < n then x[i+1] - x[i] else 0)";
  text += forces;
  text += ";\n  end for;\n";
  text += rest;
  return text + "\nend Chain;\n";
}

SimulateResult run(const std::string& text) {
  return simulate(build(load_modelica_text(text)), {.stop_time = 1.0, .tolerance = 1e-8});
}

std::string refusal(const std::string& text) {
  try {
    return run(text).message;
  } catch (const Error& error) {
    return error.what();
  }
}

std::string all_warnings(const SimulateResult& result) {
  std::string told;
  for (const std::string& warning : result.warnings) told += warning + "\n";
  return told;
}

void expect_named(const std::string& told, std::initializer_list<const char*> names) {
  for (const char* name : names)
    EXPECT_NE(told.find(name), std::string::npos) << name << " is missing in: " << told;
}

TEST(LargeFault, RedundantPairIsNamedWithWhatItLeavesOpen) {
  const std::string told =
      refusal(chain("Real y, z;", "", "  y + z = time;\n  2*y + 2*z = 2*time;"));
  expect_named(told, {"nothing determines 'y', 'z'", "say the same", "y + z = time",
                      "2 * y + 2 * z = 2 * time"});
}

TEST(LargeFault, ContradictoryPairIsNamed) {
  const std::string told =
      refusal(chain("Real y, z;", "", "  y + z = time;\n  2*y + 2*z = 2*time + 1;"));
  expect_named(told, {"contradict each other", "y + z = time", "2 * y + 2 * z = 2 * time + 1"});
}

// The same with the hidden constraint, half the second equation minus the first, written out:
// structure is right there. Two unknowns of each level are no longer free.
TEST(LargeFault, HiddenConstraintIsFoundWhereTermsCancel) {
  const char* forces = " + (if i == 1 then y elseif i == 2 then z else 0)";
  const SimulateResult hidden = run(chain("Real y, z;", forces,
                                          "  x[1] - x[2] + y + z = 0;\n"
                                          "  x[1] + x[3] + 2*y + 2*z = 0;"));
  const SimulateResult plain = run(chain("Real y, z;", forces,
                                         "  x[1] - x[2] + y + z = 0;\n"
                                         "  x[1] + x[3] = 2*(x[1] - x[2]);"));
  ASSERT_TRUE(hidden.completed()) << hidden.message;
  ASSERT_TRUE(plain.completed()) << plain.message;
  EXPECT_EQ(hidden.modes[0].d, 2 * kMasses - 2);
  EXPECT_EQ(hidden.modes[0].a, 4);
  for (const char* name : {"x[1]", "x[2]", "x[3]", "v[1]", "v[3]", "y", "z"})
    EXPECT_NEAR(hidden.trajectory.column(name).back(), plain.trajectory.column(name).back(), 1e-6)
        << name;
}

// A pendulum on the first mass, its length written twice with a force each: the motion is that of
// the one with a single length, and the smallest two forces that add up are equal halves.
TEST(LargeFault, TwiceWrittenConstraintSharesItsForceEqually) {
  const char* pendulum =
      "  der(p) = pv;\n  der(q) = qv;\n  der(pv) = -p*force;\n  der(qv) = -q*force - 9.81;\n"
      "  p^2 + q^2 = 1;\n";
  const std::string unknowns = "Real p(start = 1), q, pv, qv, force;";
  const SimulateResult once = run(chain(unknowns, "", pendulum));
  const SimulateResult twice =
      run(chain(unknowns + " Real f1, f2;", "",
                std::string(pendulum) + "  force = f1 + f2;\n  3*p^2 + 3*q^2 = 3;"));
  ASSERT_TRUE(once.completed()) << once.message;
  ASSERT_TRUE(twice.completed()) << twice.message;
  expect_named(all_warnings(twice), {"p^2 + q^2 = 1", "'f1', 'f2'", "not unique"});
  const double force = once.trajectory.column("force").back();
  EXPECT_NEAR(twice.trajectory.column("p").back(), once.trajectory.column("p").back(), 1e-6);
  EXPECT_NEAR(twice.trajectory.column("f1").back(), 0.5 * force, 1e-5 * std::abs(force));
  EXPECT_NEAR(twice.trajectory.column("f2").back(), 0.5 * force, 1e-5 * std::abs(force));
  EXPECT_EQ(twice.modes[0].v, 1);
  EXPECT_EQ(twice.modes[0].u, 1);
}

// Two locks side by side, of aliases only. Their torques share what one alone would carry.
TEST(LargeFault, LockTwiceSharesItsTorqueAndIsNamed) {
  const auto locked = [](bool second) {
    std::string text =
        "connector F Real phi; flow Real tau; end F;\n"
        "model Inertia F a, b; Real phi(start = 0), w(start = 1), z; equation a.phi = phi; b.phi = "
        "phi; w = der(phi); z = der(w); 1.0*z = a.tau + b.tau; end Inertia;\n"
        "model Spring F a, b; equation b.tau = 9*(b.phi - a.phi); a.tau = -b.tau; end Spring;\n"
        "model Lock F a, b; Real rel, tau; equation rel = b.phi - a.phi; rel = 0; tau = b.tau; "
        "a.tau = -tau; end Lock;\n"
        "model M constant Integer n = 40; Inertia j[n](w(start = cat(1, {5}, zeros(n-1)))); "
        "Spring s[n-1]; Lock lock1";
    text += second ? ", lock2;" : ";";
    text +=
        "equation for i in 1:n-1 loop connect(j[i].b, s[i].a); connect(s[i].b, j[i+1].a); end "
        "for; connect(lock1.a, j[3].b); connect(lock1.b, j[7].a);";
    if (second) text += "connect(lock2.a, j[3].b); connect(lock2.b, j[7].a);";
    return run(text + " end M;");
  };
  const SimulateResult one = locked(false);
  const SimulateResult two = locked(true);
  ASSERT_TRUE(one.completed()) << one.message;
  ASSERT_TRUE(two.completed()) << two.message;
  expect_named(all_warnings(two), {"lock2: rel = b.phi - a.phi", "'lock1.a.tau', 'lock2.a.tau'"});
  const double torque = one.trajectory.column("lock1.tau").back();
  ASSERT_GT(std::abs(torque), 0.01);
  EXPECT_NEAR(two.trajectory.column("lock1.tau").back(), 0.5 * torque, 1e-5 * std::abs(torque));
  EXPECT_NEAR(two.trajectory.column("lock2.tau").back(), 0.5 * torque, 1e-5 * std::abs(torque));
  EXPECT_NEAR(two.trajectory.column("j[7].phi").back(), one.trajectory.column("j[7].phi").back(),
              1e-6);
}

}  // namespace
}  // namespace saltus
