// Events that accumulate in models read from Modelica text.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

constexpr double kGravity = 9.81;

// Time at which the bounces of a ball dropped from h accumulate: t0 (1 + e) / (1 - e) with t0 the
// time of the first fall.
double rest_time(double h, double e) {
  return std::sqrt(2.0 * h / kGravity) * (1.0 + e) / (1.0 - e);
}

SimulateResult run(const std::string& text, SimulateOptions options) {
  return simulate(build(load_modelica_text(text)), options);
}

std::vector<Event> zenos(const SimulateResult& result) {
  std::vector<Event> found;
  std::copy_if(result.events.begin(), result.events.end(), std::back_inserter(found),
               [](const Event& e) { return e.kind == "zeno"; });
  return found;
}

double lowest(const SimulateResult& result, const std::string& name) {
  const std::vector<double> values = result.trajectory.column(name);
  return *std::min_element(values.begin(), values.end());
}

std::string ball(const std::string& when) {
  return "model Ball parameter Real e = 0.7; Real h(start = 1, fixed = true); "
         "Real v(start = 0, fixed = true); equation der(h) = v; der(v) = -9.81; " +
         when + " end Ball;";
}

const char* const kSpellings[] = {
    "when h <= 0 then reinit(v, -0.7*pre(v)); end when;",
    "when h <= 0 then reinit(v, -e*v); end when;",
    "when h < 0 then reinit(v, -e*pre(v)); end when;",
    "when h <= 0 and v < 0 then reinit(v, -e*pre(v)); end when;",
    "when not h > 0 then reinit(v, -e*v); end when;",
};

// At rest the floor holds the ball: its speed no longer changes as the equation of its fall says.
TEST(ZenoText, SlopeOfWhatIsHeldIsNotItsName) {
  const SimulateResult result =
      run("model Ball Real h(start = 1, fixed = true); Real v(start = 0, fixed = true); Real a; "
          "equation der(h) = v; der(v) = a; a = -9.81; "
          "when h <= 0 then reinit(v, -0.5*pre(v)); end when; end Ball;",
          {.stop_time = 2.0, .tolerance = 1e-6, .interval = 0.01});
  ASSERT_TRUE(result.completed()) << result.message;
  ASSERT_EQ(zenos(result).size(), 1u);
  EXPECT_NEAR(result.trajectory.column("der(v)").front(), -kGravity, 1e-12);
  EXPECT_NEAR(result.trajectory.column("der(v)").back(), 0.0, 1e-9);
}

TEST(ZenoText, BallComesToRestHoweverTheImpactIsSpelled) {
  for (const char* spelling : kSpellings) {
    for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
      const SimulateResult result =
          run(ball(spelling), {.stop_time = 4.0, .tolerance = tolerance, .interval = 0.001});
      ASSERT_EQ(result.reason, StopReason::kStopTime) << spelling << ": " << result.message;
      ASSERT_EQ(zenos(result).size(), 1U) << spelling << " at " << tolerance;
      EXPECT_NEAR(zenos(result)[0].time, 2.558634, 1e-6) << spelling << " at " << tolerance;
      EXPECT_NEAR(zenos(result)[0].time, rest_time(1.0, 0.7), 1e-8) << spelling;
      EXPECT_GE(lowest(result, "h"), -1e-10) << spelling;
      EXPECT_NEAR(result.final.at("h"), 0.0, 1e-12);
      EXPECT_NEAR(result.final.at("v"), 0.0, 1e-12);
    }
  }
}

// The method's own error decides how exact the times are.
TEST(ZenoText, BallComesToRestWithBdf) {
  for (const double tolerance : {1e-3, 1e-4, 1e-6, 1e-8, 1e-10}) {
    const SimulateResult result = run(
        ball(kSpellings[0]), {.stop_time = 4.0, .tolerance = tolerance, .method = Method::kBdf});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << tolerance << ": " << result.message;
    ASSERT_EQ(zenos(result).size(), 1U) << tolerance;
    EXPECT_NEAR(zenos(result)[0].time, rest_time(1.0, 0.7), std::max(10.0 * tolerance, 1e-6));
    EXPECT_NEAR(result.final.at("h"), 0.0, 1e-10);
  }
}

TEST(ZenoText, RestTimeIsTheSumOfTheSeries) {
  for (const double e : {0.0, 0.01, 0.1, 0.5, 0.9, 0.97}) {
    const SimulateResult result =
        run(ball("when h <= 0 then reinit(v, -" + std::to_string(e) + "*pre(v)); end when;"),
            {.stop_time = rest_time(1.0, e) + 1.0});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    ASSERT_EQ(zenos(result).size(), 1U) << e;
    EXPECT_NEAR(zenos(result)[0].time, rest_time(1.0, e), 1e-7) << e;
    EXPECT_GE(lowest(result, "h"), -1e-10) << e;
  }
}

// The table falls away with 2 g from t = 4 on for 0.2 s and then goes down steadily: the ball, left
// behind, meets it after tau = 0.4 + sqrt(0.08) with the relative speed g (tau - 0.4), and bounces
// to rest on the moving table.
TEST(ZenoText, TableThatIsLoweredLetsTheBallFly) {
  const SimulateResult result = run(R"(
model Table
  parameter Real e = 0.7; parameter Real g = 9.81;
  Real h(start = 1, fixed = true); Real v(start = 0, fixed = true);
  Real s(start = 0, fixed = true); Real w(start = 0, fixed = true);
equation
  der(h) = v; der(v) = -g;
  der(s) = w; der(w) = if time < 4 then 0 elseif time < 4.2 then -2*g else 0;
  when h <= s then reinit(v, w - e*(pre(v) - w)); end when;
end Table;)",
                                    {.stop_time = 7.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<Event> found = zenos(result);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0].time, rest_time(1.0, 0.7), 1e-8);
  const double fall = std::sqrt(0.08);
  const double meets = 4.4 + fall;
  const auto impact = std::find_if(result.events.begin(), result.events.end(),
                                   [](const Event& e) { return e.time > 4.3 && e.kind == "jump"; });
  ASSERT_NE(impact, result.events.end());
  EXPECT_NEAR(impact->time, meets, 1e-8);
  EXPECT_NEAR(found[1].time, meets + 2.0 * 0.7 * fall / 0.3, 1e-7);
  // At rest it goes down with the table: 0.4 g.
  EXPECT_NEAR(result.final.at("v"), -0.4 * kGravity, 1e-8);
  EXPECT_NEAR(result.final.at("h"), result.final.at("s"), 1e-12);
  const std::vector<double> h = result.trajectory.column("h");
  const std::vector<double> s = result.trajectory.column("s");
  for (std::size_t i = 0; i < h.size(); ++i) EXPECT_GE(h[i] - s[i], -2e-10);
}

// A force that grows with 8 N/s from t = 3 on lifts the ball (1 kg) when it equals its weight.
TEST(ZenoText, BallIsLeftFreeWhenItIsPushedUp) {
  const SimulateResult result = run(R"(
model Push
  Real h(start = 1, fixed = true); Real v(start = 0, fixed = true);
  Real f = if time > 3 then 8*(time - 3) else 0;
equation
  der(h) = v; der(v) = -9.81 + f;
  when h <= 0 then reinit(v, -0.7*pre(v)); end when;
end Push;)",
                                    {.stop_time = 5.0, .tolerance = 1e-8});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(zenos(result).size(), 1U);
  const auto release = std::find_if(result.events.begin(), result.events.end(), [](const Event& e) {
    return e.kind == "switch" && e.from.find("held") != std::string::npos;
  });
  ASSERT_NE(release, result.events.end());
  const double lifts = 3.0 + kGravity / 8.0;
  EXPECT_NEAR(release->time, lifts, 1e-9);
  EXPECT_NEAR(result.final.at("h"), 8.0 / 6.0 * std::pow(5.0 - lifts, 3), 1e-8);
  EXPECT_GE(lowest(result, "h"), -1e-10);
}

// A table that swings, given by equations without der(): the ball ends up going with it.
TEST(ZenoText, BallRestsOnATableThatSwings) {
  const SimulateResult result = run(R"(
model Swing
  parameter Real e = 0.5; Real h(start = 1, fixed = true); Real v(start = 0, fixed = true);
  Real s; Real w;
equation
  s = 0.02*sin(2*time); w = 0.04*cos(2*time);
  der(h) = v; der(v) = -9.81;
  when h <= s then reinit(v, w - e*(pre(v) - w)); end when;
end Swing;)",
                                    {.stop_time = 4.0, .tolerance = 1e-8});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  ASSERT_EQ(zenos(result).size(), 1U);
  // Falls 1 m: 0.45 s; t* is near that of a table at rest.
  EXPECT_NEAR(zenos(result)[0].time, rest_time(1.0, 0.5), 0.02);
  EXPECT_NEAR(result.final.at("h"), 0.02 * std::sin(8.0), 1e-9);
  EXPECT_NEAR(result.final.at("v"), 0.04 * std::cos(8.0), 1e-8);
  const std::vector<double> h = result.trajectory.column("h");
  const std::vector<double> s = result.trajectory.column("s");
  for (std::size_t i = 0; i < h.size(); ++i) EXPECT_GE(h[i] - s[i], -2e-10);
}

// Kicked with 4 m/s the second series begins with a flight of 2 x 4 / g.
TEST(ZenoText, BallThatIsKickedBouncesAgain) {
  const SimulateResult result =
      run(ball("when h <= 0 then reinit(v, -e*pre(v)); end when; when time > 3 then reinit(v, 4); "
               "end when;"),
          {.stop_time = 7.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<Event> found = zenos(result);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[1].time, 3.0 + 8.0 / kGravity / 0.3, 1e-8);
}

// Two balls whose events interleave come to rest one after the other.
TEST(ZenoText, SeveralBallsRestTogether) {
  const SimulateResult result = run(R"(
model One parameter Real h0; parameter Real e = 0.7; Real h(start = h0, fixed = true);
  Real v(start = 0, fixed = true);
equation der(h) = v; der(v) = -9.81; when h <= 0 then reinit(v, -e*pre(v)); end when; end One;
model Two One a(h0 = 1); One b(h0 = 1.3, e = 0.6); end Two;)",
                                    {.stop_time = 4.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  const std::vector<Event> found = zenos(result);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0].time, rest_time(1.3, 0.6), 1e-8);
  EXPECT_NEAR(found[1].time, rest_time(1.0, 0.7), 1e-8);
  EXPECT_GE(lowest(result, "a.h"), -1e-10);
  EXPECT_GE(lowest(result, "b.h"), -1e-10);
}

// A model that stops its bounces itself is left to it.
TEST(ZenoText, BallWithAnAnswerOfItsOwnIsLeftToIt) {
  const SimulateResult result = run(R"(
model BouncingBall
  parameter Real e = 0.7; parameter Real g = 9.81;
  Real h(start = 1, fixed = true); Real v(fixed = true); Boolean flying(start = true, fixed = true);
  Boolean impact; Real v_new(fixed = true);
equation
  impact = h <= 0.0;
  der(v) = if flying then -g else 0;
  der(h) = v;
  when {h <= 0.0 and v <= 0.0, impact} then
    v_new = if edge(impact) then -e*pre(v) else 0;
    flying = v_new > 0;
    reinit(v, v_new);
  end when;
end BouncingBall;)",
                                    {.stop_time = 4.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_EQ(result.final.at("flying"), 0.0);
  EXPECT_TRUE(zenos(result).empty());
  EXPECT_NEAR(result.final.at("h"), 0.0, 1e-8);
}

// u' = -2 sign(u) + sin(t) / 2: falls to zero where u0 - 2 t + (1 - cos t) / 2 = 0 and slides there
// with the weight 1/2 + sin(t) / 8, whatever the ball does.
double sliding_time(double u0) {
  double t = 0.0;
  for (int k = 0; k < 100; ++k)
    t -= (u0 - 2.0 * t + 0.5 * (1.0 - std::cos(t))) / (-2.0 + 0.5 * std::sin(t));
  return t;
}

TEST(ZenoText, ComesToRestWhileAnotherPartSlides) {
  for (const Method method : {Method::kRadau, Method::kBdf}) {
    for (const double u0 : {1.0, 7.0}) {  // slides before and after the ball has come to rest
      const SimulateResult result =
          run("model Both Real h(start = 1, fixed = true), v(start = 0, fixed = true);"
              "Real u(start = " +
                  std::to_string(u0) +
                  ", fixed = true); equation der(h) = v; der(v) = -9.81;"
                  "der(u) = -2*sign(u) + 0.5*sin(time);"
                  "when h <= 0 then reinit(v, -0.7*pre(v)); end when; end Both;",
              {.stop_time = 6.0, .tolerance = 1e-10, .method = method});
      ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
      ASSERT_EQ(zenos(result).size(), 1U);
      EXPECT_NEAR(zenos(result)[0].time, rest_time(1.0, 0.7), 1e-6);
      EXPECT_GE(lowest(result, "h"), -1e-10);
      EXPECT_EQ(result.final.at("h"), 0.0);
      const auto entry = std::find_if(result.events.begin(), result.events.end(),
                                      [](const Event& e) { return e.kind == "sliding-entry"; });
      ASSERT_NE(entry, result.events.end());
      EXPECT_NEAR(entry->time, sliding_time(u0), 1e-7);
      EXPECT_NEAR(result.final.at("u"), 0.0, 1e-12);
      EXPECT_NEAR(result.final.at("alpha"), 0.5 + 0.125 * std::sin(6.0), 1e-8);
    }
  }
}

// A growing force lifts the ball again while the other part slides on.
TEST(ZenoText, ContactOpensWhileAnotherPartSlides) {
  const SimulateResult result =
      run("model Both Real h(start = 1, fixed = true), v(start = 0, fixed = true);"
          "Real u(start = 1, fixed = true); equation der(h) = v;"
          "der(v) = -9.81 + (if time < 4 then 0 else 20*(time - 4));"
          "der(u) = -2*sign(u) + 0.5*sin(time);"
          "when h <= 0 then reinit(v, -0.7*pre(v)); end when; end Both;",
          {.stop_time = 6.0, .tolerance = 1e-9});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  // Lifts off where 20 (t - 4) = 9.81, then h = 10/3 (t - t0)^3.
  const double left = 6.0 - (4.0 + 9.81 / 20.0);
  EXPECT_NEAR(result.final.at("h"), 20.0 / 6.0 * left * left * left, 1e-6);
  EXPECT_NEAR(result.final.at("u"), 0.0, 1e-12);
  EXPECT_NEAR(result.final.at("alpha"), 0.5 + 0.125 * std::sin(6.0), 1e-8);
}

// Two balls, one above the other: between impacts they have no acceleration against each other. The
// impacts, each solved in closed form with 120 digits, accumulate at t = 0.790010140057.
TEST(ZenoText, StackedBallsComeToRestTogether) {
  for (const char* whens :
       {"when x1 <= 0 then reinit(v1, -0.5*pre(v1)); end when;"
        "when x2 - x1 <= 0 then reinit(v1, (pre(v1) + 2*pre(v2) + (pre(v2) - pre(v1)))/3);"
        "reinit(v2, (pre(v1) + 2*pre(v2) - 0.5*(pre(v2) - pre(v1)))/3); end when;",
        "when {x1 < 0, x2 < x1} then"
        " reinit(v1, if edge(low) then -0.5*pre(v1) else 1*pre(v2));"
        " reinit(v2, if edge(low) then pre(v2) else (0.5*pre(v1) + 1.5*pre(v2) + pre(v1))/3);"
        "end when;"}) {
    const SimulateResult result =
        run("model Stack Real x1(start = 1, fixed = true), v1(start = 0, fixed = true);"
            "Real x2(start = 1.5, fixed = true), v2(start = 0, fixed = true);"
            "Boolean low = x1 < 0; equation "
            "der(x1) = v1; der(v1) = -9.81; der(x2) = v2; der(v2) = -9.81;" +
                std::string(whens) + " end Stack;",
            {.stop_time = 3.0, .tolerance = 1e-8});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    ASSERT_FALSE(zenos(result).empty());
    EXPECT_NEAR(zenos(result).back().time, 0.790010140057, 3e-5);
    EXPECT_GE(lowest(result, "x1"), -1e-9);
    EXPECT_NEAR(result.final.at("x1"), 0.0, 1e-9);
    EXPECT_NEAR(result.final.at("x2"), 0.0, 1e-9);
  }
}

// A ball without weight between a floor and a ceiling that reaches it at t = 5: no state lies
// beyond.
TEST(ZenoText, BallThatIsCrushedIsReported) {
  const SimulateResult result = run(
      "model Crush Real x(start = 0.5, fixed = true), v(start = 2, fixed = true), c; equation "
      "der(x) = v; der(v) = 0; c = 1 - 0.2*time; when x <= 0 then reinit(v, -0.5*pre(v)); end when;"
      "when x >= c then reinit(v, -0.2 - 0.5*(pre(v) + 0.2)); end when; end Crush;",
      {.stop_time = 6.0});
  EXPECT_EQ(result.reason, StopReason::kEventStorm);
  EXPECT_NEAR(result.time, 5.0, 1e-6);
  for (const char* name : {"Zeno", "'x <= 0'", "'x >= c'", "'m1'"})
    EXPECT_NE(result.message.find(name), std::string::npos) << result.message;
}

// Without restitution: the upper ball stops on the lower one, which lies on the floor already.
TEST(ZenoText, BallThatFallsOnOneAtRestStopsThere) {
  for (const char* e : {"0", "0.5"}) {
    const SimulateResult result =
        run("model Stack Real x1(start = 1, fixed = true), v1(start = 0, fixed = true);"
            "Real x2(start = 9, fixed = true), v2(start = 0, fixed = true); equation "
            "der(x1) = v1; der(v1) = -9.81; der(x2) = v2; der(v2) = -9.81;"
            "when x1 <= 0 then reinit(v1, -" +
                std::string(e) +
                "*pre(v1)); end when; when x2 - x1 <= 0 then"
                " reinit(v1, (pre(v1) + 2*pre(v2))/3); reinit(v2, (pre(v1) + 2*pre(v2))/3);"
                "end when; end Stack;",
            {.stop_time = 3.0, .tolerance = 1e-8});
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    EXPECT_NEAR(result.events.back().time, std::sqrt(18.0 / kGravity), 1e-6) << e;
    EXPECT_NEAR(result.final.at("x1"), 0.0, 1e-9) << e;
    EXPECT_NEAR(result.final.at("x2"), 0.0, 1e-9) << e;
  }
}

// Velocities just after a ball falls with v2 on another of the same mass that lies on the floor: as
// if that one were a hair above it, the impacts happen one after the other, each by its own law.
std::pair<double, double> struck(double v1, double v2, double floor, double between) {
  while (v2 < v1 || v1 < 0.0) {
    const double mean = 0.5 * (v1 + v2);
    const double swing = 0.5 * between * (v1 - v2);
    if (v2 < v1) v1 = mean - swing, v2 = mean + swing;
    if (v1 < 0.0) v1 *= -floor;
  }
  return {v1, v2};
}

TEST(ZenoText, ContactsAtRestThatAreStruckKeepTheirOwnRestitution) {
  const double first = std::sqrt(2.0 / kGravity);
  const auto [v1, v2] = struck(0.0, -kGravity * first, 0.5, 0.8);
  // The lower ball bounces and comes to rest before it is struck again.
  const double again = first + 2.0 * v2 / kGravity;
  ASSERT_LT(first + 4.0 * v1 / kGravity, again);
  const double second = struck(0.0, -v2, 0.5, 0.8).second;
  for (const Method method : {Method::kRadau, Method::kBdf}) {
    const auto at = [&](double time) {
      const SimulateResult result =
          run("model Pair Real x1(start = 0.1, fixed = true), v1(start = 0, fixed = true);"
              "Real x2(start = 1, fixed = true), v2(start = 0, fixed = true);"
              "Integer n(start = 0, fixed = true); equation der(x1) = v1; der(v1) = -9.81;"
              "der(x2) = v2; der(v2) = -9.81; when x1 <= 0 then reinit(v1, -0.5*pre(v1));"
              "n = pre(n) + 1; end when; when x2 <= x1 then"
              " reinit(v1, 0.5*(pre(v1) + pre(v2)) - 0.4*(pre(v1) - pre(v2)));"
              " reinit(v2, 0.5*(pre(v1) + pre(v2)) + 0.4*(pre(v1) - pre(v2))); end when; end Pair;",
              {.stop_time = time, .tolerance = 1e-8, .method = method});
      EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
      return result.final;
    };
    EXPECT_NEAR(at(0.7).at("v2"), v2 - kGravity * (0.7 - first), 1e-6);
    EXPECT_NEAR(at(0.9).at("v2"), second - kGravity * (0.9 - again), 1e-6);
    EXPECT_NEAR(at(3.0).at("x1"), 0.0, 1e-9);
    EXPECT_NEAR(at(3.0).at("x2"), 0.0, 1e-9);
  }
}

}  // namespace
}  // namespace saltus
