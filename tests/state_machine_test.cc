// Continuous state machines from text to the end of a run. Expected values are exact: every state
// moves with a constant rate.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

SimulateResult run(const std::string& text, double stop_time) {
  return simulate(build(load_modelica_text(text, "", {.use_modelica_path = false})),
                  {.stop_time = stop_time});
}

std::vector<double> times_of(const SimulateResult& result, const std::string& to) {
  std::vector<double> times;
  for (const Event& event : result.events)
    if (event.to == to) times.push_back(event.time);
  return times;
}

// b keeps x = 0 from the state it was left in, where its exit condition holds; what counts is the
// value it is entered with.
TEST(StateMachine, ConditionsSeeTheValuesOnEntry) {
  const SimulateResult result = run(R"(
    model M
      model Up
        Real x(start = 0, fixed = true);
      equation
        der(x) = 1;
      end Up;
      model Down
        Real x(start = 0);
      equation
        der(x) = -2;
      end Down;
      Up a;
      Down b;
      Integer entries(start = 0, fixed = true);
    equation
      initialState(a);
      transition(a, b, a.x >= 1);
      transition(b, a, b.x <= 0);
      when activeState(b) then
        reinit(b.x, 3);
        entries = pre(entries) + 1;
      end when;
      when activeState(a) then
        reinit(a.x, 0);
      end when;
    end M;)",
                                    4.0);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<double> entries = times_of(result, "b");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_NEAR(entries[0], 1.0, 1e-12);
  EXPECT_NEAR(entries[1], 3.5, 1e-12);
  EXPECT_EQ(result.final.at("entries"), 2.0);
  EXPECT_NEAR(result.final.at("b.x"), 2.0, 1e-12);
  EXPECT_TRUE(std::isnan(result.final.at("a.x")));
}

TEST(StateMachine, FollowsASequenceOfStatesAtOneInstant) {
  const SimulateResult result = run(R"(
    model M
      model Rate
        parameter Real k = 1;
        Real x(start = 0);
      equation
        der(x) = k;
      end Rate;
      Rate a, b(k = 5), c(k = 2);
    equation
      initialState(a);
      transition(a, b, a.x >= 1);
      transition(b, c, b.x > 0.5);
    end M;)",
                                    2.0);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("c.x"), 3.0, 1e-12);
  EXPECT_TRUE(std::isnan(result.final.at("b.x")));
  ASSERT_EQ(result.events.size(), 2u);
  EXPECT_EQ(result.events[0].to, "b");
  EXPECT_EQ(result.events[0].ontology, "mythical");
  EXPECT_EQ(result.events[0].kind, "instantaneous");
  EXPECT_EQ(result.events[1].from, "b");
  EXPECT_EQ(result.events[1].to, "c");
  for (const ModeReport& mode : result.modes) EXPECT_EQ(mode.visits, 1u) << mode.name;
}

TEST(StateMachine, NamesACircleOfStates) {
  const SimulateResult result = run(R"(
    model M
      model Rest
        Real x(start = 0);
      equation
        der(x) = 0;
      end Rest;
      Rest a, b;
    equation
      initialState(a);
      transition(a, b, time > 1);
      transition(b, a, time > 0.5);
    end M;)",
                                    2.0);
  EXPECT_EQ(result.reason, StopReason::kInconsistent);
  EXPECT_NE(result.message.find("'activeState(b)'"), std::string::npos) << result.message;
  EXPECT_NEAR(result.time, 1.0, 1e-12);
}

// J1 = 1 and J2 = 2 at 10 and 0 rad/s: the lock keeps J1 w1 + J2 w2, whatever is called nominal.
std::string locked(const std::string& exit) {
  return R"(model M
    model Open
      Real w1(start = 10, fixed = true), w2(start = 0, fixed = true);
    equation
      der(w1) = 0; der(w2) = 0;
    end Open;
    model Locked
      Real w1(nominal = 100), w2, tau(nominal = 1e-3);
    equation
      der(w1) = -tau; 2*der(w2) = tau; w1 = w2;
    end Locked;
    Open open; Locked locked; Open free;
  equation
    initialState(open);
    transition(open, locked, time > 1);
    transition(locked, free, )" +
         exit + ");\n end M;";
}

TEST(StateMachine, LocksByTheImpulseRule) {
  const SimulateResult result = run(locked("false"), 2.0);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("locked.w1"), 10.0 / 3.0, 1e-12);
  EXPECT_NEAR(result.final.at("locked.w2"), 10.0 / 3.0, 1e-12);
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_NEAR(result.events[0].impulses.at("locked.tau"), 20.0 / 3.0, 1e-12);
  EXPECT_NEAR(result.events[0].jumps.at("locked.w1").first, 10.0, 1e-12);
  EXPECT_EQ(result.events[0].kind, "jump");
}

// What leads out of the lock holds already before it, or by its impulse: nothing moves.
TEST(StateMachine, AStateLeftBeforeItsProjectionMovesNothing) {
  for (const char* exit : {"locked.w1 - locked.w2 > 5", "locked.tau > 0"}) {
    const SimulateResult result = run(locked(exit), 2.0);
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    EXPECT_EQ(result.final.at("free.w1"), 10.0) << exit;
    EXPECT_EQ(result.final.at("free.w2"), 0.0) << exit;
    ASSERT_EQ(result.events.size(), 2u);
    EXPECT_EQ(result.events[0].ontology, exit[7] == 'w' ? "mythical" : "pinnacle");
    EXPECT_TRUE(result.events[0].jumps.empty());
    EXPECT_TRUE(result.events[0].impulses.empty());
  }
}

// w1 = 10 - 20/3 s falls below 5 after 3/4 of the way, where w2 = 10/3 s is 2.5.
TEST(StateMachine, AProjectionThatLeavesItsStateIsCutShort) {
  const SimulateResult result = run(locked("locked.w1 < 5"), 2.0);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("free.w1"), 5.0, 1e-12);
  EXPECT_NEAR(result.final.at("free.w2"), 2.5, 1e-12);
  ASSERT_EQ(result.events.size(), 2u);
  EXPECT_EQ(result.events[0].ontology, "pinnacle");
  EXPECT_NEAR(result.events[0].fraction.value(), 0.75, 1e-12);
  EXPECT_NEAR(result.events[0].impulses.at("locked.tau"), 5.0, 1e-12);
}

// What holds only where the projection has ended lets it end.
TEST(StateMachine, AStateLeftAfterItsProjectionIsABoundary) {
  const SimulateResult result = run(locked("abs(locked.w1 - locked.w2) < 1e-3"), 2.0);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("free.w1"), 10.0 / 3.0, 1e-2);
  const SimulateResult torque = run(locked("locked.tau < 1 and locked.tau > -1"), 2.0);
  ASSERT_EQ(torque.reason, StopReason::kStopTime) << torque.message;
  EXPECT_NEAR(torque.final.at("free.w1"), 10.0 / 3.0, 1e-12);
  ASSERT_EQ(torque.events.size(), 2u);
  EXPECT_EQ(torque.events[0].ontology, "continuous boundary");
}

// Strongest first: reinit, initial equations, the namesake, the held value, the start value; and a
// Boolean, Integer or discrete Real is carried like a Real.
TEST(StateMachine, GivesEntryValuesInTheirOrder) {
  const SimulateResult result = run(R"(model M
    model A
      Real x(start = 1, fixed = true); Integer n(start = 3, fixed = true);
    equation
      der(x) = 1;
      when x > 1.5 then n = pre(n) + 1; end when;
    end A;
    model B
      Real x(start = 50), own(start = 5), given, reset;
      Integer n(start = 100), m(start = 9);
    initial equation
      given = 7; reset = 8;
    equation
      der(x) = 0; der(own) = 1; der(given) = 0; der(reset) = 0;
      when time > 100 then n = pre(n) + 1; m = pre(m) + 1; end when;
    end B;
    A a; B b;
  equation
    initialState(a);
    transition(a, b, timeInState() > 1);
    transition(b, a, timeInState() > 1, reset = false);
    when activeState(b) then reinit(b.reset, 9); end when;
  end M;)",
                                    1.5);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("b.x"), 2.0, 1e-12);
  EXPECT_EQ(result.final.at("b.n"), 4.0);
  EXPECT_EQ(result.final.at("b.m"), 9.0);
  EXPECT_NEAR(result.final.at("b.own"), 5.5, 1e-12);
  EXPECT_EQ(result.final.at("b.given"), 7.0);
  EXPECT_EQ(result.final.at("b.reset"), 9.0);
  EXPECT_TRUE(std::isnan(result.final.at("a.n")));
}

// Values that are set contradict w1 = w2: the least change, and a warning, from text as from C++.
TEST(StateMachine, WarnsWhereWhatIsSetContradictsTheEquations) {
  const SimulateResult machine = run(R"(model M
    model Open Real w1(start = 10), w2(start = 0); equation der(w1) = 0; der(w2) = 0; end Open;
    model Locked
      Real w1, w2, tau;
    initial equation
      w1 = 5; w2 = 7;
    equation
      der(w1) = -tau; 2*der(w2) = tau; w1 = w2;
    end Locked;
    Open open; Locked locked;
  equation
    initialState(open);
    transition(open, locked, time > 1);
  end M;)",
                                     2.0);
  ASSERT_EQ(machine.reason, StopReason::kStopTime) << machine.message;
  ASSERT_EQ(machine.warnings.size(), 1u);
  EXPECT_NE(machine.warnings[0].find("'locked.w1' from 5 to 6"), std::string::npos)
      << machine.warnings[0];
  const SimulateResult when = run(R"(model M
    Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), tau;
    Boolean locked(start = false, fixed = true);
  equation
    der(w1) = -tau; 2*der(w2) = tau;
    if locked then w1 = w2; else tau = 0; end if;
    when time > 1 then locked = true; reinit(w1, 5); reinit(w2, 7); end when;
  end M;)",
                                  2.0);
  ASSERT_EQ(when.reason, StopReason::kStopTime) << when.message;
  EXPECT_NEAR(when.final.at("w1"), 6.0, 1e-12);
  ASSERT_EQ(when.warnings.size(), 1u);
}

// 10 and 0 are replaced by 10 and 6 before the lock, which then shares J1*10 + J3*0 among all.
TEST(StateMachine, TheLockStartsFromWhatReinitSets) {
  const SimulateResult result = run(R"(model M
    Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), w3(start = 0, fixed = true);
    Real tau, tb;
    Boolean locked(start = false, fixed = true);
  equation
    der(w1) = -tau - tb; 2*der(w2) = tau; 3*der(w3) = tb;
    if locked then w1 = w3; tau = 0; else tau = 0; tb = 0; end if;
    when time > 1 then locked = true; reinit(w1, 6); end when;
  end M;)",
                                    2.0);
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("w1"), 6.0, 1e-12);
  EXPECT_NEAR(result.final.at("w3"), 6.0, 1e-12);
  EXPECT_NEAR(result.events[0].jumps.at("w3").first, 0.0, 1e-12);
}

TEST(StateMachine, CountsTimeInStateFromAnyStart) {
  const SimulateResult result =
      simulate(build(load_modelica_text(R"(model M
        model A Real x(start = 0, fixed = true); equation der(x) = 1; end A;
        A a, b;
      equation
        initialState(a);
        transition(a, b, timeInState() > 0.5);
      end M;)",
                                        "", {.use_modelica_path = false})),
               {.start_time = -3.0, .stop_time = -2.0});
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_NEAR(result.events[0].time, -2.5, 1e-9);
}

// x > 2 holds at the start: the event is told, and the entry counted.
TEST(StateMachine, TellsEventsAtTheStart) {
  const SimulateResult result = run(R"(model M
    model A parameter Real k = 1; Real x(start = 3); equation der(x) = k; end A;
    A a, b(k = 2);
    Integer n(start = 0, fixed = true);
  equation
    initialState(a);
    transition(a, b, a.x > 2);
    when activeState(b) then n = pre(n) + 1; end when;
  end M;)",
                                    1.0);
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_EQ(result.events[0].time, 0.0);
  EXPECT_EQ(result.events[0].from, "a");
  EXPECT_EQ(result.events[0].to, "b");
  EXPECT_NEAR(result.final.at("b.x"), 5.0, 1e-12);
  EXPECT_EQ(result.final.at("n"), 1.0);
}

// Two transitions of one priority: the first in the text, and the event says so.
TEST(StateMachine, TellsTies) {
  const SimulateResult result = run(R"(model M
    model A Real x(start = 0); equation der(x) = 1; end A;
    A a, b, c, d;
  equation
    initialState(a);
    transition(a, c, a.x > 1, priority = 2);
    transition(a, d, a.x > 1);
    transition(a, b, a.x > 1);
  end M;)",
                                    2.0);
  ASSERT_EQ(result.events.size(), 1u);
  EXPECT_EQ(result.events[0].to, "d");
  EXPECT_EQ(std::count(result.events[0].tags.begin(), result.events[0].tags.end(), "tie"), 1);
}

// The values of a state that was left are no results, and the rows of an event are two.
TEST(StateMachine, StoresNothingForStatesThatWereLeft) {
  const SimulateResult result = run(locked("false"), 2.0);
  const Trajectory& points = result.trajectory;
  const std::vector<double> open = points.column("open.w1");
  const std::vector<double> locked_speed = points.column("locked.w1");
  std::size_t equal_times = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_open = points.mode_names[points.mode[i].index()] == "open";
    EXPECT_EQ(std::isnan(open[i]), !is_open);
    EXPECT_EQ(std::isnan(locked_speed[i]), is_open);
    if (i > 0 && points.time[i] == points.time[i - 1]) ++equal_times;
  }
  EXPECT_EQ(equal_times, 1u);
}

// Flows of -1 and 2 that meet at zero from t = 1 on: a third of the time in b, two thirds in a, and
// samples go on. Then the same with a way out of both states.
TEST(StateMachine, SlidesBetweenStates) {
  const std::string states = R"(model M
    model A Real x(start = 1, fixed = true); equation der(x) = -1; end A;
    model B Real x; equation der(x) = 2; end B;
    A a; B b; Integer n(start = 0, fixed = true);
    Real y(start = 0, fixed = true);)";
  const std::string machine = R"(
    initialState(a);
    transition(a, b, a.x < 0);
    transition(b, a, b.x > 0);
    when sample(0.25, 0.5) then n = pre(n) + 1; end when;
    der(y) = if activeState(a) then 1 else 0;)";
  const SimulateResult stays = run(states + "\n  equation" + machine + "\n  end M;", 3.0);
  EXPECT_EQ(stays.reason, StopReason::kStopTime) << stays.message;
  EXPECT_NEAR(stays.final.at("a.x"), 0.0, 1e-8);
  EXPECT_NEAR(stays.final.at("b.x"), 0.0, 1e-8);
  EXPECT_NEAR(stays.final.at("y"), 1.0 + 2.0 * 2.0 / 3.0, 1e-6);
  EXPECT_EQ(stays.final.at("n"), 6.0);

  const SimulateResult goes = run(states + R"(
    model C Real x; equation der(x) = 0.5; end C;
    C c;
  equation)" + machine + R"(
    transition(a, c, time > 2, priority = 2);
    transition(b, c, time > 2, priority = 2);
  end M;)",
                                  3.0);
  EXPECT_EQ(goes.reason, StopReason::kStopTime) << goes.message;
  EXPECT_NEAR(goes.final.at("c.x"), 0.5, 1e-6);
  EXPECT_NEAR(goes.final.at("y"), 1.0 + 2.0 / 3.0, 1e-6);
}

// Infinitely many entries are counted, or each sets a value: no sliding motion has that meaning.
TEST(StateMachine, DoesNotSlideWhereTransitionsAct) {
  const auto model = [](const std::string& initial, const std::string& counts) {
    return R"(model M
      model A Real x(start = 1, fixed = true), y(start = 0, fixed = true);
      equation der(x) = -1; der(y) = 1; end A;
      model B Real x, y; )" +
           initial + R"( equation der(x) = 2; der(y) = -1; end B;
      A a; B b; Integer n(start = 0, fixed = true);
    equation
      initialState(a);
      transition(a, b, a.x < 0);
      transition(b, a, b.x > 0);
      when )" +
           counts + R"( then n = pre(n) + 1; end when;
    end M;)";
  };
  EXPECT_EQ(run(model("", "time > 5"), 3.0).reason, StopReason::kStopTime);
  for (const std::string& text :
       {model("", "activeState(b)"), model("initial equation y = 5;", "time > 5")}) {
    const SimulateResult result = run(text, 3.0);
    EXPECT_EQ(result.reason, StopReason::kInconsistent) << result.message;
    EXPECT_NEAR(result.time, 1.0, 1e-6);
    EXPECT_NE(result.message.find("does not end"), std::string::npos) << result.message;
  }
}

bool warns_of(const std::string& states, const std::string& transitions, const std::string& part) {
  const HybridSystem system = build(load_modelica_text(
      "model M " + states + " equation initialState(a); " + transitions + " end M;", "",
      {.use_modelica_path = false}));
  return std::ranges::any_of(system.flat()->reduced.warnings, [&](const std::string& warning) {
    return warning.find(part) != std::string::npos;
  });
}

// What is certain before a run (MO's model verification).
TEST(StateMachine, WarnsOfTargetsThatCannotLast) {
  const std::string falling =
      "model S Real x(start = 1, fixed = true); equation der(x) = -1; end S; S a, b;";
  const char* const at_once = "the target of transition(a, b, a.x < 0.5) is left at once";
  const std::string there = "transition(a, b, a.x < 0.5);";
  EXPECT_TRUE(warns_of(falling, there + "transition(b, a, b.x < 0.8);", at_once));
  EXPECT_FALSE(warns_of(falling, there + "transition(b, a, b.x < 0.4);", at_once));
  EXPECT_FALSE(warns_of(falling, there + "transition(b, a, b.x > 0.8);", at_once));
  EXPECT_TRUE(warns_of(falling, "transition(a, b, a.x < 0.5); transition(b, a, b.x < 0.5 + 1e-3);",
                       at_once));
  const auto with = [&](const std::string& target) {
    return falling.substr(0, falling.size() - std::string("S a, b;").size()) +
           "model T Real x, y; equation " + target + " end T; S a; T b;";
  };
  const char* const no_point = "the target of transition(a, b, a.x < 0.5) has no consistent point";
  EXPECT_TRUE(warns_of(with("der(x) = 1; x^2 + y^2 = -1;"), there, no_point));
  EXPECT_TRUE(warns_of(with("y = 1.5 + exp(x); sin(x) = y;"), there, no_point));
  EXPECT_TRUE(warns_of(with("x = 3; x = 2 + y^2 + 1.5;"), there, no_point));
  EXPECT_FALSE(warns_of(with("der(x) = 1; x^2 + y^2 = 1;"), there, no_point));
  EXPECT_FALSE(warns_of(with("x = 3; y = x;"), there, no_point));
  EXPECT_FALSE(warns_of(with("x = 0.1 + 0.2; y = 0.3 - x;"), there, no_point));
  EXPECT_FALSE(warns_of(with("x = time; y = if x > 1 then 1 else -1;"), there, no_point));
}

// w1 falls by der(w1) = -0.1 w1 to the lock at t_lock, is shared with an inertia of 2 at rest,
// and falls by der(w1) = -w1 from 1 s after the lock on.
TEST(StateMachine, DifferentiatesWhatIsCarriedAndTimeInState) {
  const std::string text = R"(model M
    parameter Real t_lock = 1;
    model Open
      Real w1(start = 10, fixed = true), w2(start = 0, fixed = true);
    equation
      der(w1) = -0.1*w1; der(w2) = 0;
    end Open;
    model Locked
      Real w1, w2, tau;
    equation
      der(w1) = -tau; 2*der(w2) = tau; w1 = w2;
    end Locked;
    model Free
      Real w1, w2;
    equation
      der(w1) = -w1; der(w2) = 0;
    end Free;
    Open open; Locked locked; Free free;
  equation
    initialState(open);
    transition(open, locked, time > t_lock);
    transition(locked, free, timeInState() > 1);
  end M;)";
  const SimulateResult result =
      simulate(build(load_modelica_text(text, "", {.use_modelica_path = false})),
               {.stop_time = 3.0, .tolerance = 1e-9, .sensitivities = {"t_lock", "open.w1"}});
  ASSERT_TRUE(result.completed()) << result.message;
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
  const double shared = 10.0 * std::exp(-0.1) / 3.0;
  const double end = shared * std::exp(-1.0);
  EXPECT_NEAR(result.final.at("free.w1"), end, 1e-7);
  EXPECT_NEAR(result.sensitivities.at("t_lock").at("free.w2"), -0.1 * shared, 1e-6);
  EXPECT_NEAR(result.sensitivities.at("t_lock").at("free.w1"), 0.9 * end, 1e-6);
  EXPECT_NEAR(result.sensitivities.at("open.w1").at("free.w1"), 0.1 * end, 1e-6);
}

}  // namespace
}  // namespace saltus
