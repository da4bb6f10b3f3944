#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "modelica/flatten_testing.h"

namespace saltus {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kBall = R"(
  model Ball
    model Flight
      Real h(start = 1), v(start = 0);
    equation
      der(h) = v; der(v) = -9.81;
    end Flight;
    Flight falling, rising;
  equation
    initialState(falling);
    transition(falling, rising, falling.h < 0);
    transition(rising, falling, rising.v < 0, priority = 2);
    transition(rising, rising, timeInState() > 1, priority = 1);
    when activeState(rising) then reinit(rising.v, -0.5*falling.v); end when;
  end Ball;)";

TEST(StateMachine, PutsEquationsOfStatesUnderTheirActivity) {
  const FlatModel m = flatten_text(kBall);
  ASSERT_EQ(m.equations.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    const auto& state = std::get<IfEquation>(m.equations[k].value);
    EXPECT_EQ(to_string(state.conditions[0]), k == 0 ? "activeState == 1" : "activeState == 2");
    EXPECT_EQ(state.branches[0].size(), 2u);
    EXPECT_TRUE(state.branches[1].empty());
  }
}

TEST(StateMachine, NamesTheModeAfterTheActiveState) {
  const FlatModel m = flatten_text(kBall);
  for (const DiscreteVariable& d : m.discretes) {
    EXPECT_EQ(d.names_mode, d.name == "activeState");
    if (d.names_mode) {
      EXPECT_THAT(d.literals, testing::ElementsAre("falling", "rising"));
    }
  }
}

TEST(StateMachine, CarriesValuesOfTheSameName) {
  const FlatModel m = flatten_text(kBall);
  const auto handover_of = [&](const std::string& text) {
    for (const Reinit& r : m.reinits)
      if (to_string(r.variable) + " := " + to_string(r.value) == text)
        return std::optional(r.handover);
    return std::optional<Handover>();
  };
  EXPECT_EQ(handover_of("rising.h := falling.h"), Handover::kCarry);
  EXPECT_EQ(handover_of("rising.v := falling.v"), Handover::kCarry);
  EXPECT_EQ(handover_of("rising.v := -0.5*falling.v"), Handover::kReset);
  // The transition to itself has no other state to take values from: the start value counts.
  EXPECT_EQ(handover_of("rising.h := 1"), Handover::kStart);
}

TEST(StateMachine, TakesTheLowestPriorityNumberFirst) {
  const FlatModel m = flatten_text(kBall);
  for (const DiscreteEquation& e : m.discrete_equations)
    if (to_string(e.target) == "$next activeState") {
      EXPECT_THAT(to_string(e.value),
                  HasSubstr("if timeInState() > 1 then 2 else if rising.v < 0 then 1"));
    }
}

TEST(StateMachine, RemovesConnectionsOfInactiveStates) {
  const FlatModel m = flatten_text(R"(
    connector Flange Real phi; flow Real tau; end Flange;
    model Inertia Flange a; Real w; equation w = der(a.phi); der(w) = a.tau; end Inertia;
    model Spring Flange a; equation a.tau = 10*a.phi; end Spring;
    model Open Flange a; equation a.tau = 0; end Open;
    model M
      Inertia i; Spring s; Open o;
    equation
      connect(i.a, s.a); connect(i.a, o.a);
      initialState(s); transition(s, o, time > 0.5);
    end M;)");
  EXPECT_THAT(texts_of(m.equations),
              Contains("i.a.tau + (if activeState == 1 then s.a.tau else 0) + (if activeState == 2 "
                       "then o.a.tau else 0) = 0"));
  bool found = false;
  for (const EquationItem& item : m.equations)
    if (const auto* e = std::get_if<IfEquation>(&item.value))
      for (const std::string& text : texts_of(e->branches[0]))
        found = found || text == "s.a.phi = i.a.phi";
  EXPECT_TRUE(found);
}

TEST(StateMachine, RefusesWhatIsNotAMachine) {
  EXPECT_THAT(
      message_of("model M model A Real x = 1; end A; A a; Real y = ticksInState(); equation "
                 "initialState(a); end M;"),
      HasSubstr("ticksInState(): not supported"));
  EXPECT_THAT(message_of("model M model A Real x = 1; end A; A a, b;\nequation\n transition(a, b, "
                         "time > 1); end M;"),
              HasSubstr("model.mo:3:2: error: transition() without initialState()"));
}

TEST(Flatten, DecidesByBooleansTiedToParameters) {
  const FlatModel m = flatten_text(R"(
    model M
      parameter Real eta = 1;
      Boolean ideal; Real x;
    equation
      if ideal then x = 1; else x = 1/(eta - 1); end if;
      ideal = eta == 1;
    end M;)");
  EXPECT_THAT(texts_of(m.equations), testing::ElementsAre("x = 1"));
  EXPECT_EQ(m.discrete_equations.size(), 1u);
}

}  // namespace
}  // namespace saltus
