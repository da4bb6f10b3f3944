// State machines with fixed steps, against solutions written down by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "realtime/realtime_run.h"

namespace saltus {
namespace {

RealtimeResult run(const std::string& text, double stop_time, double step = 0.013) {
  RealtimeRunOptions options;
  options.engine = {.step = step, .stop_time = stop_time};
  return run_realtime(build(load_modelica_text(text, "", {.use_modelica_path = false})), options);
}

double final_of(const RealtimeResult& result, const std::string& name) {
  return result.run.final.at(name);
}

// J1 = 1 and J2 = 2 at 10 and 0 rad/s until 1 s; the lock keeps J1 w1 + J2 w2.
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

TEST(RealtimeMachine, LocksByTheImpulseRule) {
  for (const double step : {1e-3, 0.4}) {
    const RealtimeResult result = run(locked("false"), 2.0, step);
    EXPECT_TRUE(result.run.completed()) << result.run.message;
    EXPECT_NEAR(final_of(result, "locked.w1"), 10.0 / 3.0, 1e-12);
    EXPECT_NEAR(final_of(result, "locked.w2"), 10.0 / 3.0, 1e-12);
    EXPECT_TRUE(std::isnan(final_of(result, "open.w1")));
    ASSERT_EQ(result.run.events.size(), 1U);
    EXPECT_NEAR(result.run.events[0].time, 1.0, 1e-9);
  }
}

// What leads out of the lock holds before it.
TEST(RealtimeMachine, AStateLeftBeforeItsProjectionMovesNothing) {
  const RealtimeResult result = run(locked("locked.w1 - locked.w2 > 5"), 2.0);
  EXPECT_EQ(final_of(result, "free.w1"), 10.0);
  EXPECT_EQ(final_of(result, "free.w2"), 0.0);
}

// w1 = 10 - 20/3 s falls below 5 after 3/4 of the way, where w2 = 10/3 s is 2.5.
TEST(RealtimeMachine, AProjectionThatLeavesItsStateIsCutShort) {
  const RealtimeResult result = run(locked("locked.w1 < 5"), 2.0);
  EXPECT_NEAR(final_of(result, "free.w1"), 5.0, 1e-12);
  EXPECT_NEAR(final_of(result, "free.w2"), 2.5, 1e-12);
}

// An impulse that a relation has a say in is refused by name, not guessed.
TEST(RealtimeMachine, ImpulsesThatRelationsReadAreRefused) {
  try {
    run(locked("locked.tau > 0"), 2.0);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("locked.w"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("impulse"), std::string::npos) << error.message();
  }
}

TEST(RealtimeMachine, GivesEntryValuesInTheirOrder) {
  const RealtimeResult result = run(R"(model M
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
  EXPECT_NEAR(final_of(result, "b.x"), 2.0, 1e-9);
  EXPECT_EQ(final_of(result, "b.n"), 4.0);
  EXPECT_EQ(final_of(result, "b.m"), 9.0);
  EXPECT_NEAR(final_of(result, "b.own"), 4.0 + result.run.time, 1e-9);
  EXPECT_EQ(final_of(result, "b.given"), 7.0);
  EXPECT_EQ(final_of(result, "b.reset"), 9.0);
  EXPECT_TRUE(std::isnan(final_of(result, "a.n")));
}

// From v = 4 upwards: x = 4 t - 5 t^2 until it falls through 0 at 0.8 s, with v = -4; then a lock
// that sets v = 1 and holds for 0.25 s; then free from 1 m/s.
TEST(RealtimeMachine, SetsValuesOnEntryAndTakesSeveralTransitionsInOneSample) {
  const std::string text = R"(model M
    model Fly
      Real x(start = 0, fixed = true), v(start = 4, fixed = true);
    equation
      der(x) = v; der(v) = -10;
    end Fly;
    model Slide
      Real x, v;
    initial equation
      v = 1;
    equation
      der(x) = v; der(v) = 0;
    end Slide;
    Fly fly; Slide slide; Fly again;
  equation
    initialState(fly);
    transition(fly, slide, fly.x < 0);
    transition(slide, again, timeInState() > 0.25);
  end M;)";
  for (const double step : {1e-3, 0.13, 0.9}) {
    const RealtimeResult result = run(text, 1.8, step);
    std::vector<double> times;  // of changes of state
    for (const Event& event : result.run.events)
      if (event.from != event.to) times.push_back(event.time);
    ASSERT_EQ(times.size(), 2U) << step;
    EXPECT_NEAR(times[0], 0.8, 1e-9) << step;
    EXPECT_NEAR(times[1], 1.05, 1e-9) << step;
    const double t = result.run.time - 1.05;
    EXPECT_NEAR(final_of(result, "again.x"), 0.25 + t - 5.0 * t * t, 1e-8) << step;
    EXPECT_NEAR(final_of(result, "again.v"), 1.0 - 10.0 * t, 1e-8) << step;
  }
}

// A circle has no end at that instant: the preparation says so.
TEST(RealtimeMachine, CirclesAreRefused) {
  EXPECT_THROW(run(R"(model M
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
                   2.0),
               Error);
}

}  // namespace
}  // namespace saltus
