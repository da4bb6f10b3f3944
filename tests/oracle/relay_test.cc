// Two affine flows that meet at a line, drawn from seeds: written in C++, with `if`, with `when`
// and as a state machine, against a Runge-Kutta run with Filippov's equations written down.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus::oracle {
namespace {

using Point = std::array<double, 2>;

constexpr double kStopTime = 5.0;

// der(x) = a x + b y + c + d sin(e t), by row.
struct Flow {
  std::array<std::array<double, 5>, 2> rows{};

  Point at(double t, const Point& z) const {
    Point rate;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& [a, b, c, d, e] = rows[i];
      rate[i] = a * z[0] + b * z[1] + c + d * std::sin(e * t);
    }
    return rate;
  }
  std::string text(std::size_t i, const std::string& x, const std::string& y) const {
    const auto& [a, b, c, d, e] = rows[i];
    return fmt::format("({})*{} + ({})*{} + ({}) + ({})*sin(({})*time)", a, x, b, y, c, d, e);
  }
  Expr formula(std::size_t i, const Expr& x, const Expr& y, const Expr& t) const {
    const auto& [a, b, c, d, e] = rows[i];
    return a * x + b * y + c + d * sin(e * t);
  }
};

struct Relay {
  Flow above, below;
  double p = 0.0, q = 0.0, offset = 0.0;  // s = p x + q y - offset
  Point start{};

  double s(const Point& z) const { return p * z[0] + q * z[1] - offset; }
  std::string surface(const std::string& x, const std::string& y) const {
    return fmt::format("({})*{} + ({})*{} - ({})", p, x, q, y, offset);
  }
};

// Flows that lead to the line more often than not.
Relay make_relay(unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](double lowest, double highest) {
    const double u = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    return std::round(100.0 * (lowest + u * (highest - lowest))) / 100.0;
  };
  Relay relay;
  relay.p = draw(-1.0, 1.0);
  relay.q = draw(0.1, 1.0);
  relay.offset = draw(-1.0, 1.0);
  relay.start = {draw(-2.0, 2.0), draw(-2.0, 2.0)};
  for (const double sign : {1.0, -1.0}) {
    Flow& flow = sign > 0.0 ? relay.above : relay.below;
    const double pull = draw(0.0, 2.0);
    flow.rows[0] = {draw(-1, 1), draw(-1, 1), draw(-2, 2) - sign * pull * relay.p, draw(-1, 1),
                    draw(1, 4)};
    flow.rows[1] = {draw(-1, 1), draw(-1, 1), draw(-2, 2) - sign * pull * relay.q, 0.0, 1.0};
  }
  return relay;
}

// Fourth order between switches, which are found by bisection of the step.
Point reference(const Relay& relay, bool& slides) {
  enum class In { kAbove, kBelow, kLine };
  const auto rate = [&](const Flow& flow, double t, const Point& z) {
    const Point f = flow.at(t, z);
    return relay.p * f[0] + relay.q * f[1];
  };
  const auto velocity = [&](In in, double t, const Point& z) {
    const Point up = relay.above.at(t, z);
    const Point down = relay.below.at(t, z);
    const double a = rate(relay.above, t, z);
    const double b = rate(relay.below, t, z);
    const double weight = in == In::kLine ? b / (b - a) : in == In::kAbove ? 1.0 : 0.0;
    return Point{weight * up[0] + (1.0 - weight) * down[0],
                 weight * up[1] + (1.0 - weight) * down[1]};
  };
  const auto step = [&](In in, double t, const Point& z, double h) {
    const auto moved = [&](const Point& k, double by) {
      return Point{z[0] + by * k[0], z[1] + by * k[1]};
    };
    const Point k1 = velocity(in, t, z);
    const Point k2 = velocity(in, t + 0.5 * h, moved(k1, 0.5 * h));
    const Point k3 = velocity(in, t + 0.5 * h, moved(k2, 0.5 * h));
    const Point k4 = velocity(in, t + h, moved(k3, h));
    return Point{z[0] + h / 6.0 * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0]),
                 z[1] + h / 6.0 * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1])};
  };
  Point z = relay.start;
  In in = relay.s(z) > 0.0 ? In::kAbove : In::kBelow;
  const double h = 1e-3;
  for (double t = 0.0; t < kStopTime - 1e-12;) {
    const auto valid = [&](double length) {
      const Point end = step(in, t, z, length);
      if (in != In::kLine) return in == In::kAbove ? relay.s(end) > 0.0 : relay.s(end) < 0.0;
      return rate(relay.above, t + length, end) < 0.0 && rate(relay.below, t + length, end) > 0.0;
    };
    double length = std::min(h, kStopTime - t);
    const bool ends = !valid(length);
    if (ends) {
      double lower = 0.0;
      for (int k = 0; k < 60; ++k)
        (valid(0.5 * (lower + length)) ? lower : length) = 0.5 * (lower + length);
    }
    z = step(in, t, z, length);
    t += length;
    if (!ends) continue;
    const double a = rate(relay.above, t, z);
    const double b = rate(relay.below, t, z);
    if (in == In::kLine)
      in = a >= 0.0 ? In::kAbove : In::kBelow;
    else if (a < 0.0 && b > 0.0)
      in = In::kLine;
    else
      in = a > 0.0 ? In::kAbove : In::kBelow;
    slides = slides || in == In::kLine;
    // Onto the side entered, so that rounding does not lead back.
    const double norm = relay.p * relay.p + relay.q * relay.q;
    const double target = in == In::kAbove ? 1e-13 : in == In::kBelow ? -1e-13 : 0.0;
    const double shift = (target - relay.s(z)) / norm;
    z = {z[0] + shift * relay.p, z[1] + shift * relay.q};
  }
  return z;
}

HybridSystem in_cpp(const Relay& relay) {
  HybridSystem s("relay");
  const Expr x = s.variable("x", {.start = relay.start[0], .fixed = true});
  const Expr y = s.variable("y", {.start = relay.start[1], .fixed = true});
  const Expr surface = relay.p * x + relay.q * y - relay.offset;
  const auto add = [&](const std::string& name, const Flow& flow, const Expr& inside,
                       const std::string& to) {
    Mode& mode = s.mode(name);
    mode.equations = {der(x) == flow.formula(0, x, y, s.time()),
                      der(y) == flow.formula(1, x, y, s.time())};
    mode.guards = {{.name = "leaves " + name, .value = inside, .to = to}};
  };
  add("above", relay.above, surface, "below");
  add("below", relay.below, -surface, "above");
  s.initial_mode = relay.s(relay.start) > 0.0 ? "above" : "below";
  return s;
}

std::string starts(const Relay& relay) {
  return fmt::format("Real x(start = {}, fixed = true), y(start = {}, fixed = true);",
                     relay.start[0], relay.start[1]);
}

std::string with_condition(const Relay& relay, const std::string& declare,
                           const std::string& rule) {
  std::string text = fmt::format("model M {} {}\nequation\n", starts(relay), declare);
  for (std::size_t i = 0; i < 2; ++i)
    text += fmt::format("  der({}) = if above then {} else {};\n", i == 0 ? "x" : "y",
                        relay.above.text(i, "x", "y"), relay.below.text(i, "x", "y"));
  return text + rule + "end M;";
}

std::string with_if(const Relay& relay) {
  return with_condition(relay, fmt::format("Boolean above = {} > 0;", relay.surface("x", "y")), "");
}

std::string with_when(const Relay& relay) {
  const std::string s = relay.surface("x", "y");
  return with_condition(
      relay, fmt::format("Boolean above(start = {}, fixed = true);", relay.s(relay.start) > 0.0),
      fmt::format(
          "  when {} < 0 then above = false; elsewhen {} > 0 then above = true; end when;\n", s,
          s));
}

std::string as_machine(const Relay& relay) {
  const bool starts_above = relay.s(relay.start) > 0.0;
  const auto state = [&](const char* name, const Flow& flow, bool is_first) {
    return fmt::format("  model {} {} equation der(x) = {}; der(y) = {}; end {};\n", name,
                       is_first ? starts(relay) : "Real x, y;", flow.text(0, "x", "y"),
                       flow.text(1, "x", "y"), name);
  };
  return "model M\n" + state("Above", relay.above, starts_above) +
         state("Below", relay.below, !starts_above) +
         fmt::format(R"(  Above a; Below b;
  Real x = if activeState(a) then a.x else b.x;
  Real y = if activeState(a) then a.y else b.y;
equation
  initialState({});
  transition(a, b, {} < 0);
  transition(b, a, {} > 0);
end M;)",
                     starts_above ? "a" : "b", relay.surface("a.x", "a.y"),
                     relay.surface("b.x", "b.y"));
}

TEST(Relay, HasFilippovsSolutionInEveryWriting) {
  constexpr unsigned kSeeds = 40;
  unsigned sliding = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Relay relay = make_relay(seed);
    bool slides = false;
    const Point expected = reference(relay, slides);
    sliding += slides ? 1 : 0;
    const auto judge = [&](const char* writing, const HybridSystem& system) {
      const SimulateResult result =
          simulate(system, {.stop_time = kStopTime, .tolerance = 1e-9, .max_seconds = 20.0});
      ASSERT_EQ(result.reason, StopReason::kStopTime)
          << seed << " " << writing << ": " << result.message;
      const double size = 1.0 + std::abs(expected[0]) + std::abs(expected[1]);
      EXPECT_NEAR(result.final.at("x"), expected[0], 1e-6 * size) << seed << " " << writing;
      EXPECT_NEAR(result.final.at("y"), expected[1], 1e-6 * size) << seed << " " << writing;
    };
    const auto from_text = [](const std::string& text) {
      return build(load_modelica_text(text, "M", {.use_modelica_path = false}));
    };
    judge("cpp", in_cpp(relay));
    judge("if", from_text(with_if(relay)));
    judge("when", from_text(with_when(relay)));
    judge("machine", from_text(as_machine(relay)));
  }
  EXPECT_GE(sliding, kSeeds / 4);
}

}  // namespace
}  // namespace saltus::oracle
