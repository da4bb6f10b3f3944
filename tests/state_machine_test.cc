// Continuous state machines from text to the end of a run. Expected values are exact: every state
// moves with a constant rate.

#include <gtest/gtest.h>

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
  EXPECT_NEAR(result.final.at("a.x"), 1.0, 1e-12);
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
  EXPECT_NEAR(result.final.at("b.x"), 1.0, 1e-12);
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

}  // namespace
}  // namespace saltus
