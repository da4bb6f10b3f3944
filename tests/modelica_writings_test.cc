// One clutch written in several ways, as text: locked means w1 = w2, an equation that the slipping
// clutch does not have.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

SimulateResult run(const std::string& text, double stop_time) {
  SimulateResult result =
      simulate(build(load_modelica_text(text, "", {.use_modelica_path = false})),
               {.stop_time = stop_time, .tolerance = 1e-9, .interval = stop_time / 200.0});
  EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message << "\n" << text;
  return result;
}

// Two inertias, 1 and 2, the first driven by u, with a clutch of capacity 3 between them.
std::string clutch(const std::string& drive, const std::string& declarations,
                   const std::string& equations) {
  return "model M\n  parameter Real J1 = 1, J2 = 2, c = 3;\n"
         "  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), tau;\n"
         "  Real u = " +
         drive + ";\n  Real needed = J2*u/(J1 + J2);\n" + declarations +
         "equation\n  J1*der(w1) = u - tau;\n  J2*der(w2) = tau;\n" + equations + "end M;\n";
}

struct Writing {
  std::string name, declarations, equations;
};

const std::string kBoolean = "  Boolean locked(start = false, fixed = true);\n";
const std::string kIf =
    "  if locked then\n    w1 = w2;\n  else\n    tau = c*sign(w1 - w2);\n  end if;\n";
const std::string kBoth = "  Boolean forward = w1 > w2, backward = w1 < w2;\n" + kBoolean;
const std::string kSlipEnds =
    "(pre(forward) and not forward or pre(backward) and not backward) and abs(needed) <= c";

std::vector<Writing> writings() {
  return {
      {"the torque itself ends locking", kBoth,
       kIf + "  locked = if pre(locked) then abs(tau) <= c else " + kSlipEnds + ";\n"},
      {"the torque needed ends locking", kBoth,
       kIf + "  locked = abs(needed) <= c and (pre(locked) or " + kSlipEnds + ");\n"},
      {"when with the torque needed", "  Boolean forward = w1 > w2;\n" + kBoolean,
       kIf + "  when change(forward) then\n    locked = abs(needed) <= c;\n"
             "  elsewhen abs(needed) > c then\n    locked = false;\n  end when;\n"},
      {"when with the torque itself", "  Boolean forward = w1 > w2;\n" + kBoolean,
       kIf + "  when change(forward) and not pre(locked) then\n    locked = abs(needed) <= c;\n"
             "  elsewhen abs(tau) > c then\n    locked = false;\n  end when;\n"},
      {"if-expression", "  Integer dir(start = 1, fixed = true);\n" + kBoolean,
       "  locked = abs(needed) <= c and (pre(locked) or w1 >= w2 and pre(dir) < 0 or w1 <= w2 and\n"
       "    pre(dir) > 0);\n"
       "  dir = if locked then 0 elseif w1 > w2 then 1 elseif w1 < w2 then -1\n"
       "    elseif needed > 0 then 1 else -1;\n"
       "  0 = if locked then w1 - w2 else tau - c*dir;\n"},
      {"elseif with a branch that is never in force", "  Boolean free = time > 1000;\n" + kBoth,
       "  if free then\n    tau = 0;\n  elseif locked then\n    w1 = w2;\n  else\n"
       "    tau = c*sign(w1 - w2);\n  end if;\n"
       "  locked = not free and (if pre(locked) then abs(tau) <= c else " +
           kSlipEnds + ");\n"},
      {"homotopy and noEvent", kBoth,
       "  if locked then\n    homotopy(w1 - w2, w1 - w2) = 0;\n  else\n"
       "    tau = c*(if forward then 1 elseif backward then -1 else 0);\n  end if;\n"
       "  locked = if pre(locked) then noEvent(abs(tau)) <= c else " +
           kSlipEnds + ";\n"},
      {"when for an Integer", "  Integer mode(start = 1, fixed = true);\n",
       "  if mode == 0 then\n    w1 = w2;\n  else\n    tau = c*mode;\n  end if;\n"
       "  when w1 - w2 <= 0 and pre(mode) == 1 or w1 - w2 >= 0 and pre(mode) == -1 then\n"
       "    mode = if abs(needed) <= c then 0 else -pre(mode);\n"
       "  elsewhen tau > c then\n    mode = 1;\n  elsewhen tau < -c then\n    mode = -1;\n"
       "  end when;\n"},
      {"Integer by pre", "  Integer mode(start = 1, fixed = true);\n",
       "  if mode == 0 then\n    w1 = w2;\n  elseif mode == 1 then\n    tau = c;\n  else\n"
       "    tau = -c;\n  end if;\n"
       "  mode = if pre(mode) == 0 then (if tau > c then 1 elseif tau < -c then -1 else 0)\n"
       "    elseif pre(mode) == 1 and w1 <= w2 or pre(mode) == -1 and w1 >= w2 then\n"
       "      (if abs(needed) <= c then 0 else -pre(mode)) else pre(mode);\n"},
      {"band of slip", kBoolean, kIf + "  locked = abs(w1 - w2) < 1e-7 and abs(needed) <= c;\n"},
      {"algorithm", "  Boolean forward = w1 > w2;\n" + kBoolean,
       kIf + "algorithm\n  when change(forward) then\n    locked := abs(needed) <= c;\n"
             "  elsewhen abs(needed) > c then\n    locked := false;\n  end when;\n"},
  };
}

// As the friction elements of the Modelica Standard Library are written: locked is an equation
// between accelerations, so one structure serves all modes.
std::string library_style(const std::string& drive) {
  return clutch(
      drive, "  Real sa, a;\n  Boolean sF, sB, locked;\n  Integer mode(start = 1, fixed = true);\n",
      R"(  a = der(w1) - der(w2);
  sF = pre(mode) == 0 and (sa > c or pre(sF) and sa > c) or pre(mode) == -1 and w1 - w2 > 1e-6
    or initial() and w1 > w2;
  sB = pre(mode) == 0 and (sa < -c or pre(sB) and sa < -c) or pre(mode) == 1 and w1 - w2 < -1e-6
    or initial() and w1 < w2;
  locked = not (pre(mode) == 1 or sF or pre(mode) == -1 or sB);
  a = if locked then 0 elseif sF or pre(mode) == 1 then sa - c else sa + c;
  tau = if locked then sa elseif sF or pre(mode) == 1 then c else -c;
  mode = if (pre(mode) == 1 or sF) and w1 > w2 then 1
    elseif (pre(mode) == -1 or sB) and w1 < w2 then -1 else 0;
)");
}

// Exact: slip 10 - 3 t ends at 10/3 with w = 5; then 0.5 each second. From t = 6 on the drive asks
// for 6 and more through the clutch: w1' = 9 (t - 5) - 3, w2' = 1.5.
TEST(ClutchFromText, LocksAndBreaksAwayInEveryWriting) {
  for (const Writing& w : writings()) {
    SCOPED_TRACE(w.name);
    const SimulateResult result =
        run(clutch("if time < 6 then 1.5 else 9*(time - 5)", w.declarations, w.equations), 10.0);
    const double at_six = 5.0 + 0.5 * (6.0 - 10.0 / 3.0);
    EXPECT_NEAR(result.final.at("w1"), at_six + 9.0 * 12.0 - 12.0, 1e-7);
    EXPECT_NEAR(result.final.at("w2"), at_six + 1.5 * 4.0, 1e-7);
    EXPECT_NEAR(result.final.at("tau"), 3.0, 1e-9);
    ASSERT_EQ(result.modes.size(), 2U);
    EXPECT_EQ(result.modes[0].mu, 0);
    EXPECT_EQ(result.modes[0].d, 2);
    EXPECT_EQ(result.modes[1].mu, 1);
    EXPECT_EQ(result.modes[1].d, 1);
  }
}

double worst_difference(const SimulateResult& a, const SimulateResult& b, const std::string& name) {
  const std::vector<double> x = a.trajectory.column(name);
  const std::vector<double> y = b.trajectory.column(name);
  double worst = 0.0;
  std::size_t compared = 0;
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    const double s = a.trajectory.time[i];
    const double t = b.trajectory.time[j];
    if (s == t) {
      worst = std::max(worst, std::abs(x[i] - y[j]));
      ++compared;
    }
    if (s <= t) ++i;
    if (t <= s) ++j;
  }
  EXPECT_GE(compared, 200U) << name;
  return worst;
}

// A drive that makes it slip both ways, reverse without locking, lock and break away.
TEST(ClutchFromText, EveryWritingMovesLikeTheLibraryStyle) {
  const std::string drive = "8*sin(time)";
  const SimulateResult reference = run(library_style(drive), 20.0);
  EXPECT_EQ(reference.modes.size(), 1U);
  for (const Writing& w : writings()) {
    SCOPED_TRACE(w.name);
    const SimulateResult result = run(clutch(drive, w.declarations, w.equations), 20.0);
    EXPECT_LT(worst_difference(result, reference, "w1"), 1e-6);
    EXPECT_LT(worst_difference(result, reference, "w2"), 1e-6);
  }
}

TEST(ClutchFromText, LocksByThePositionItHadAndMovesTheSame) {
  const std::string drive = "8*sin(time)";
  const std::string angles =
      "  Real phi1(start = 0, fixed = true), phi2(start = 0, fixed = true);\n";
  const std::string turning = "  der(phi1) = w1;\n  der(phi2) = w2;\n";
  const SimulateResult velocity =
      run(clutch(drive, angles + kBoth, turning + writings()[0].equations), 20.0);
  const SimulateResult position =
      run(clutch(drive, angles + "  discrete Real offset(start = 0, fixed = true);\n" + kBoth,
                 turning +
                     "  if locked then\n    phi1 = phi2 + offset;\n  else\n"
                     "    tau = c*sign(w1 - w2);\n  end if;\n"
                     "  when locked then\n    offset = phi1 - phi2;\n  end when;\n"
                     "  locked = if pre(locked) then abs(tau) <= c else " +
                     kSlipEnds + ";\n"),
          20.0);
  for (const char* name : {"w1", "w2", "phi1", "phi2"})
    EXPECT_LT(worst_difference(position, velocity, name), 1e-6) << name;
  ASSERT_EQ(position.modes.size(), 2U);
  EXPECT_EQ(position.modes[0].mu, 0);
  EXPECT_EQ(position.modes[1].mu, 2);
  EXPECT_EQ(position.modes[1].d, 2);
}

TEST(ClutchFromText, IsAStateMachineAsWell) {
  const SimulateResult reference = run(library_style("8*sin(time)"), 20.0);
  const SimulateResult machine = run(R"(model Machine
  partial model Base
    parameter Real J1 = 1, J2 = 2, c = 3;
    Real w1(start = 10), w2(start = 0), tau, u = 8*sin(time), needed = J2*u/(J1 + J2);
  equation
    J1*der(w1) = u - tau;
    J2*der(w2) = tau;
  end Base;
  model Forward extends Base; equation tau = c; end Forward;
  model Backward extends Base; equation tau = -c; end Backward;
  model Stick extends Base; equation w1 = w2; end Stick;
  Forward f;
  Backward b;
  Stick s;
equation
  initialState(f);
  transition(f, s, f.w1 <= f.w2 and abs(f.needed) <= f.c);
  transition(f, b, f.w1 <= f.w2, priority = 2);
  transition(b, s, b.w1 >= b.w2 and abs(b.needed) <= b.c);
  transition(b, f, b.w1 >= b.w2, priority = 2);
  transition(s, f, s.tau > s.c);
  transition(s, b, s.tau < -s.c, priority = 2);
end Machine;
)",
                                     20.0);
  EXPECT_NEAR(machine.final.at("f.w1"), reference.final.at("w1"), 1e-6);
  EXPECT_NEAR(machine.final.at("f.w2"), reference.final.at("w2"), 1e-6);
  ASSERT_EQ(machine.modes.size(), 3U);
}

TEST(StructureFromText, AStateBecomesAlgebraicInEveryWriting) {
  const std::string x = "Real x(start = 0, fixed = true); ";
  for (const std::string& text :
       {x + "equation if time < 0.5 then der(x) = 10; else x = -5; end if; ",
        x + "equation if time >= 0.5 then x = -5; else der(x) = 10; end if; ",
        x + "equation 0 = if time < 0.5 then der(x) - 10 else x + 5; ",
        x + "Boolean late = time >= 0.5; equation (if late then x else der(x)) = if late then -5 "
            "else 10; ",
        x + "Boolean late(start = false, fixed = true); equation when time >= 0.5 then late = "
            "true; end when; if not late then der(x) = 10; else x = -5; end if; ",
        x + "equation if time < 0.5 then der(x) = 10; elseif time < 2 then x = -5; else x = 0; "
            "end if; "}) {
    SCOPED_TRACE(text);
    const SimulateResult result = run("model M " + text + "end M;", 1.0);
    EXPECT_EQ(result.final.at("x"), -5.0);
    ASSERT_EQ(result.events.size(), 1U);
    EXPECT_EQ(result.events[0].time, 0.5);
    EXPECT_NEAR(result.events[0].jumps.at("x").first, 5.0, 1e-12);
    ASSERT_EQ(result.modes.size(), 2U);
    EXPECT_EQ(result.modes[0].d, 1);
    EXPECT_EQ(result.modes[1].d, 0);
  }
}

// pre() of a continuous variable inside `when` is its value before the event, whatever reinit sets.
TEST(StructureFromText, PreOfAContinuousVariableIsItsLeftLimit) {
  const SimulateResult result = run(R"(model M
  Real x(start = 0, fixed = true);
  discrete Real before(start = 0, fixed = true), after(start = 0, fixed = true);
equation
  der(x) = 1;
  when x >= 0.5 then
    reinit(x, -3*pre(x));
    before = pre(x);
    after = x;
  end when;
end M;
)",
                                    1.0);
  EXPECT_NEAR(result.final.at("before"), 0.5, 1e-9);
  EXPECT_NEAR(result.final.at("x"), -1.5 + 0.5, 1e-9);
}

// Two ideal diodes block one inductance: neither changes the structure alone.
TEST(StructureFromText, ConditionsThatAreStructuralOnlyTogetherMakeAMode) {
  const SimulateResult result = run(R"(model M
  Real i, u(start = 0, fixed = true), v, i1, i2, s1, s2;
  Boolean off1 = s1 < 0, off2 = s2 < 0;
equation
  der(i) + v = sin(time);
  i = i1 - i2;
  s1 = if off1 then v - u else i1;
  s2 = if off2 then -v - u else i2;
  0 = if off1 then i1 else v - u;
  0 = if off2 then i2 else -v - u;
  der(u) = i1 + i2;
end M;
)",
                                    7.0);
  // Charging from rest through the first diode: u'' = sin(t) - u, u = (sin(t) - t cos(t))/2 until
  // u' = t sin(t)/2 ends at pi with u = pi/2. The source never reaches that again: it stays
  // blocked.
  EXPECT_NEAR(result.final.at("u"), std::acos(-1.0) / 2.0, 1e-7);
  EXPECT_NEAR(result.final.at("i"), 0.0, 1e-12);
  ASSERT_GE(result.modes.size(), 2U);
  EXPECT_EQ(result.modes.back().d, 1);
}

// The supply floats on g = 2/3, which two equations give together: 2/(p - n) is not finite at the
// guesses, and the slope of sqrt(m) is not at m = 0. By hand: i = 2/30 throughout.
TEST(StartFromText, IsFoundWhereGuessesDivideByZeroAndRootsAreVertical) {
  const SimulateResult result = run(
      "model M Real g, j, p, n, i, m, y; discrete Real h(start = 0, fixed = true);\n"
      "equation 15 = p - g; -15 = n - g; i = 2/(p - n); g = 2*j; j = 1 - g; m = h; y = sqrt(m);\n"
      "when time > 0.5 then h = 4; end when; end M;",
      1.0);
  EXPECT_NEAR(result.trajectory.column("i").front(), 2.0 / 30.0, 1e-12);
  EXPECT_NEAR(result.trajectory.column("p").front(), 15.0 + 2.0 / 3.0, 1e-12);
  EXPECT_EQ(result.trajectory.column("y").front(), 0.0);
  EXPECT_NEAR(result.trajectory.column("y").back(), 2.0, 1e-12);
}

// More unknowns than dense least changes are made for: springs of stiffness 1 that hang at rest.
// The one above mass i carries n - i + 1 weights, so the last is n(n+1)/2 weights down.
TEST(StartFromText, OfALargeModelComesFromItsInitialEquations) {
  const SimulateResult result =
      run("model M constant Integer n = 260; Real x[n], v[n];\n"
          "initial equation v = zeros(n); der(v) = zeros(n);\n"
          "equation der(x) = v;\n"
          "for i in 1:n loop der(v[i]) = 0.5 + (if i > 1 then x[i-1] else 0) - x[i]\n"
          "  + (if i < n then x[i+1] - x[i] else 0); end for; end M;",
          0.1);
  EXPECT_NEAR(result.trajectory.column("x[1]").front(), 0.5 * 260, 1e-8);
  EXPECT_NEAR(result.trajectory.column("x[260]").front(), 0.5 * 260 * 261 / 2, 1e-6);
  EXPECT_NEAR(result.trajectory.column("x[260]").back(), 0.5 * 260 * 261 / 2, 1e-5);
}

// A small parameter that an initial equation gives, in a stiff place: 2e-5 / 97^(1/5).
TEST(StartFromText, FindsAndKeepsAParameterOfTheSizeOfItsGuess) {
  const SimulateResult result = run(
      "model M parameter Real tau(fixed = false, start = 1e-5); Real x(start = 0, fixed = true);\n"
      "initial equation (2e-5/tau)^5 = 97;\n"
      "equation der(x) = 1e9*((time/tau)^2/(1 + (time/tau)^2) - 1e-5*x/tau); end M;",
      1e-3);
  const double tau = 2e-5 / std::pow(97.0, 0.2);
  EXPECT_NEAR(result.trajectory.column("tau").front(), tau, 1e-12 * tau);
  EXPECT_NEAR(result.trajectory.column("tau").back(), tau, 1e-8 * tau);
}

// limit = 3 > 2, so the initial algorithm sets both; they decide which equation holds.
TEST(StartFromText, BooleanAndIntegerParametersMayComeFromAnInitialAlgorithm) {
  const SimulateResult result =
      run("model M parameter Real limit(fixed = false); parameter Boolean over(fixed = false);\n"
          "parameter Integer k(fixed = false); Real x(start = 0, fixed = true);\n"
          "initial algorithm limit := 3; over := false; k := 1;\n"
          "if limit > 2 then over := true; k := 4; end if;\n"
          "equation if over then der(x) = k; else der(x) = -1; end if; end M;",
          1.0);
  EXPECT_NEAR(result.trajectory.column("x").back(), 4.0, 1e-9);
  EXPECT_EQ(result.trajectory.column("over").back(), 1.0);
}

// Campbell's arm with an elastic joint: the torques that keep its tip on a path. Structure sees two
// degrees of freedom where there are none, as both torques act on the path by their difference
// only.
std::string elastic_arm(const std::string& names, const std::string& a, const std::string& b,
                        const std::string& c, const std::string& d, const std::string& definitions,
                        const std::string& start) {
  return "model Arm\n  Real x1(start = " + start + "), x2, x3(start = -1), x4, x5, x6, u1, u2;\n" +
         names + "equation\n" + definitions +
         "  der(x1) = x4; der(x2) = x5; der(x3) = x6;\n"
         "  der(x4) = 2*" +
         c + "*(x4 + x6)^2 + x4^2*" + d + " + (2*x3 - x2)*(" + a + " + 2*" + b + ") + " + a +
         "*(u1 - u2);\n"
         "  der(x5) = -2*" +
         c + "*(x4 + x6)^2 - x4^2*" + d + " + (2*x3 - x2)*(1 - 3*" + a + " - 2*" + b + ") - " + a +
         "*u1 + (" + a +
         " + 1)*u2;\n"
         "  der(x6) = -2*" +
         c + "*(x4 + x6)^2 - x4^2*" + d + " + (2*x3 - x2)*(" + a + " - 9*" + b + ") - 2*x4^2*" + c +
         " - " + d + "*(x4 + x6)^2 - (" + a + " + " + b +
         ")*(u1 - u2);\n"
         "  cos(x1) + cos(x1 + x3) = cos(exp(time) - 1) + cos(time - 1);\n"
         "  sin(x1) + sin(x1 + x3) = sin(1 - exp(time)) + sin(1 - time);\nend Arm;\n";
}

TEST(ElasticArm, HasNoFreedomHoweverItIsWritten) {
  const std::string den = "(2 - cos(x3)^2)";
  // x1 = 1 - t and x3 = t - exp(t) keep the tip on the path; x2 and u1 - u2 follow from the
  // equations of x4 and x6, u2 from two derivatives of x2: taken with 40 digits at t = 1.
  constexpr double kX2 = -1.9384979116550676, kU1 = 1.7974422654808428, kU2 = -6.716640985463462;
  for (const std::string start : {"1", "0"}) {
    for (const std::string& text :
         {elastic_arm("", "2/" + den, "cos(x3)/" + den, "sin(x3)/" + den, "cos(x3)*sin(x3)/" + den,
                      "", start),
          elastic_arm("  Real den, aa, bb, cc, dd;\n", "aa", "bb", "cc", "dd",
                      "  den = 2 - cos(x3)^2; aa = 2/den; bb = cos(x3)/den; cc = sin(x3)/den;\n"
                      "  dd = cos(x3)*sin(x3)/den;\n",
                      start)}) {
      const HybridSystem system = build(load_modelica_text(text, "", {.use_modelica_path = false}));
      const ModeAnalysis mode = analyse_modes(system, 1).modes.front();
      EXPECT_EQ(mode.values.mu, 4) << mode.note;
      EXPECT_EQ(mode.values.d, 0) << mode.note;
      const SimulateResult result = run(text, 1.0);
      EXPECT_EQ(result.modes.front().mu, 4);
      EXPECT_NEAR(result.final.at("x2"), kX2, 1e-8);
      EXPECT_NEAR(result.final.at("u1"), kU1, 1e-8);
      EXPECT_NEAR(result.final.at("u2"), kU2, 1e-8);
    }
  }
}

}  // namespace
}  // namespace saltus
