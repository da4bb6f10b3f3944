// One transition, written in C++, with `if`, with `when` and as a state machine, has one answer.
// Expected values are exact unless a case says otherwise.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "examples/cylinder/cylinder.h"
#include "model/build.h"
#include "modelica/load.h"
#include "oracle/write_equations.h"
#include "oracle/write_machine.h"
#include "oracle/write_system.h"
#include "simulate/simulate.h"

namespace saltus::oracle {
namespace {

struct Case {
  std::string name;
  double start_time = 0.0;
  double stop_time = 1.0;
  std::map<std::string, double> expected;         // at the stop time
  std::map<std::string, std::string> texts;       // by writing: if, when, machine
  std::function<HybridSystem()> system = {};      // cpp
  std::map<std::string, std::string> names = {};  // in the machine, where they differ
  std::string first_event = {};                   // its class, if it matters
};

// As the oracle writes a network.
Case from_network(const std::string& name, const Network& network,
                  const std::map<std::string, double>& expected) {
  Case c{.name = name, .stop_time = network.stop_time, .expected = expected, .texts = {}};
  c.texts["if"] = write_equations(network, write_sign).text;
  c.texts["when"] = write_equations(network, write_when).text;
  c.texts["machine"] = write_machine(network).text;
  for (std::size_t i = 0; i < network.bodies.size(); ++i)
    c.names["w" + std::to_string(i)] = "i" + std::to_string(i) + ".w";
  c.system = write_system(network)->system;
  return c;
}

Element friction(int a, int b, double capacity) {
  Element e;
  e.kind = a == kHousing ? Kind::kBrake : Kind::kClutch;
  e.a = a;
  e.b = b;
  e.capacity = Signal::constant(capacity);
  return e;
}

// Load -4 against a brake of capacity 1: 1 - 5 t to t = 0.2, then -3 (t - 0.2).
Case brake_reversal() {
  Network network;
  network.bodies = {{.inertia = 1.0, .start_speed = 1.0, .torque = Signal::constant(-4.0)}};
  network.elements = {friction(kHousing, 0, 1.0)};
  network.stop_time = 2.0;
  return from_network("brake_reversal", network, {{"w0", -5.4}});
}

// The slip falls by 6 to t = 1/6 and then by 2.
Case clutch_reversal() {
  Network network;
  network.bodies = {{.inertia = 1.0, .start_speed = 0.0, .torque = Signal::constant(0.0)},
                    {.inertia = 1.0, .start_speed = 1.0, .torque = Signal::constant(-4.0)}};
  network.elements = {friction(0, 1, 1.0)};
  network.stop_time = 2.0;
  return from_network("clutch_reversal", network, {{"w1", -16.0 / 3.0}});
}

// Slip 10 - 4.5 t; both at 10 - 3*20/9 = 10/3 from t = 20/9 on.
Case clutch_locks() {
  Network network;
  network.bodies = {{.inertia = 1.0, .start_speed = 10.0, .torque = Signal::constant(0.0)},
                    {.inertia = 2.0, .start_speed = 0.0, .torque = Signal::constant(0.0)}};
  network.elements = {friction(0, 1, 3.0)};
  network.stop_time = 3.0;
  return from_network("clutch_locks", network, {{"w0", 10.0 / 3.0}, {"w1", 10.0 / 3.0}});
}

// The load t reaches the capacity at t = 1, from where the speed is (t - 1)^2 / 2: its first
// derivative is zero there.
Case breaks_away() {
  Network network;
  network.bodies = {{.inertia = 1.0, .torque = {{Piece{.slope = 1.0}}}}};
  network.elements = {friction(kHousing, 0, 1.0)};
  network.stop_time = 3.0;
  return from_network("breaks_away", network, {{"w0", 2.0}});
}

// The load reaches the capacity and stays there: nothing moves.
Case stays_at_capacity() {
  Network network;
  network.bodies = {
      {.inertia = 1.0, .torque = {{Piece{.slope = 1.0}, Piece{.begin = 1.0, .value = 1.0}}}}};
  network.elements = {friction(kHousing, 0, 1.0)};
  network.stop_time = 3.0;
  return from_network("stays_at_capacity", network, {{"w0", 0.0}});
}

// brake_reversal with the capacity shared by two brakes that reverse together.
Case two_brakes_reverse() {
  Network network;
  network.bodies = {{.inertia = 1.0, .start_speed = 1.0, .torque = Signal::constant(-4.0)}};
  network.elements = {friction(kHousing, 0, 0.5), friction(kHousing, 0, 0.5)};
  network.stop_time = 2.0;
  return from_network("two_brakes_reverse", network, {{"w0", -5.4}});
}

// Twins on both sides of a body at rest: both clutches lock at t = 1.
Case two_clutches_lock() {
  Network network;
  network.bodies = {{.inertia = 1.0, .start_speed = 1.0, .torque = Signal::constant(0.0)},
                    {.inertia = 1.0, .start_speed = 0.0, .torque = Signal::constant(0.0)},
                    {.inertia = 1.0, .start_speed = -1.0, .torque = Signal::constant(0.0)}};
  network.elements = {friction(0, 1, 1.0), friction(1, 2, 1.0)};
  network.stop_time = 2.0;
  return from_network("two_clutches_lock", network, {{"w0", 0.0}, {"w1", 0.0}, {"w2", 0.0}});
}

// The driving side catches up at t = 1 and takes the other with it.
Case free_wheel_catches() {
  Network network;
  network.bodies = {{.inertia = 1.0, .start_speed = 0.0, .torque = Signal::constant(1.0)},
                    {.inertia = 1.0, .start_speed = 1.0, .torque = Signal::constant(0.0)}};
  Element wheel;
  wheel.kind = Kind::kFreeWheel;
  wheel.a = 0;
  wheel.b = 1;
  network.elements = {wheel};
  network.stop_time = 3.0;
  return from_network("free_wheel_catches", network, {{"w0", 2.0}, {"w1", 2.0}});
}

// A capacity |1 - t| that falls below the load 1/2 at t = 0.5 and passes through zero.
Case capacity_through_zero() {
  Network network;
  network.bodies = {{.inertia = 1.0, .torque = Signal::constant(0.5)}};
  network.elements = {friction(kHousing, 0, 1.0)};
  network.elements[0].capacity = {
      {Piece{.value = 1.0, .slope = -1.0}, Piece{.begin = 1.0, .slope = 1.0}}};
  network.stop_time = 1.5;
  return from_network("capacity_through_zero", network, {{"w0", 0.25}});
}

// Two inertias 1 and 2 at 10 and 0 rad/s, locked at t = 1 whatever their slip; read as capacities
// and voltages it is the case of two capacitors. J1 w1 + J2 w2 is kept.
Case locked_by_command() {
  Case c{.name = "locked_by_command",
         .stop_time = 2.0,
         .expected = {{"w1", 10.0 / 3.0}, {"w2", 10.0 / 3.0}},
         .texts = {}};
  const std::string head =
      "model M\n  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), tau;\n";
  const std::string balance = "  der(w1) = -tau;\n  2*der(w2) = tau;\n";
  c.texts["if"] =
      head + "equation\n" + balance + "  if time < 1 then tau = 0; else w1 = w2; end if;\nend M;\n";
  c.texts["when"] = head + "  Boolean locked(start = false, fixed = true);\nequation\n" + balance +
                    "  if locked then w1 = w2; else tau = 0; end if;\n"
                    "  when time >= 1 then locked = true; end when;\nend M;\n";
  c.texts["machine"] = R"(model M
    model Open
      Real w1(start = 10, fixed = true), w2(start = 0, fixed = true);
    equation
      der(w1) = 0; der(w2) = 0;
    end Open;
    model Locked
      Real w1, w2, tau;
    equation
      der(w1) = -tau; 2*der(w2) = tau; w1 = w2;
    end Locked;
    Open open; Locked locked;
  equation
    initialState(open);
    transition(open, locked, time > 1);
  end M;)";
  c.names = {{"w1", "locked.w1"}, {"w2", "locked.w2"}};
  c.system = [] {
    HybridSystem s("locked_by_command");
    const Expr w1 = s.variable("w1", {.start = 10.0, .fixed = true});
    const Expr w2 = s.variable("w2", {.fixed = true});
    const Expr tau = s.variable("tau");
    Mode& open = s.mode("open");
    open.equations = {der(w1) == -tau, 2.0 * der(w2) == tau, tau == 0.0};
    open.guards = {{.name = "command", .value = 1.0 - s.time(), .to = "locked"}};
    s.mode("locked").equations = {der(w1) == -tau, 2.0 * der(w2) == tau, w1 == w2};
    return s;
  };
  return c;
}

// Bounces at sqrt(2/g) and 1.4 sqrt(2/g) later.
Case ball() {
  const double g = 9.81;
  const double v = std::sqrt(2.0 * g);
  const double t = 1.2 - 2.4 * v / g;
  Case c{.name = "ball",
         .stop_time = 1.2,
         .expected = {{"h", 0.49 * v * t - 0.5 * g * t * t}, {"v", 0.49 * v - g * t}},
         .texts = {}};
  c.texts["when"] = R"(model M
    Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  equation
    der(h) = v; der(v) = -9.81;
    when h < 0 then reinit(v, -0.7*pre(v)); end when;
  end M;)";
  c.texts["machine"] = R"(model M
    model Flight
      Real h(start = 1), v(start = 0);
    equation
      der(h) = v; der(v) = -9.81;
    end Flight;
    Flight falling, rising;
  equation
    initialState(falling);
    transition(falling, rising, falling.h < 0);
    transition(rising, falling, rising.v < 0);
    when activeState(rising) then reinit(rising.v, -0.7*falling.v); end when;
  end M;)";
  c.names = {{"h", "rising.h"}, {"v", "rising.v"}};
  c.system = [] {
    HybridSystem s("ball");
    const Expr h = s.variable("h", {.start = 1.0, .fixed = true});
    const Expr v_ = s.variable("v", {.fixed = true});
    Mode& flying = s.mode("flying");
    flying.equations = {der(h) == v_, der(v_) == -9.81};
    flying.guards = {{.name = "impact", .value = h, .to = "flying", .set = {{v_, -0.7 * v_}}}};
    return s;
  };
  return c;
}

// Uniform motion from (0.5, 0) with speeds (1, 1); at distance 1 the string is taut: the radial
// speed is lost, the tangential one is 0.5, and it goes round with it.
Case taut_string() {
  const double t = (std::sqrt(7.0) - 1.0) / 4.0;
  const double angle = std::atan2(t, 0.5 + t) + 0.5 * (2.0 - t);
  Case c{
      .name = "taut_string",
      .stop_time = 2.0,
      .expected = {{"x", std::cos(angle)}, {"y", std::sin(angle)}, {"vx", -0.5 * std::sin(angle)}},
      .texts = {}};
  const std::string head = R"(model M
    Real x(start = 0.5, fixed = true), y(start = 0, fixed = true);
    Real vx(start = 1, fixed = true), vy(start = 1, fixed = true), f;
    Boolean taut(start = false, fixed = true);
  equation
    der(x) = vx; der(y) = vy; der(vx) = -f*x; der(vy) = -f*y;
    if taut then x^2 + y^2 = 1; else f = 0; end if;
  )";
  c.texts["if"] = head + "taut = pre(taut) or x^2 + y^2 > 1; end M;";
  c.texts["when"] = head + "when x^2 + y^2 > 1 then taut = true; end when; end M;";
  c.texts["machine"] = R"(model M
    model Loose
      Real x(start = 0.5, fixed = true), y(start = 0, fixed = true);
      Real vx(start = 1, fixed = true), vy(start = 1, fixed = true);
    equation
      der(x) = vx; der(y) = vy; der(vx) = 0; der(vy) = 0;
    end Loose;
    model Taut
      Real x, y, vx, vy, f;
    equation
      der(x) = vx; der(y) = vy; der(vx) = -f*x; der(vy) = -f*y; x^2 + y^2 = 1;
    end Taut;
    Loose loose; Taut taut;
  equation
    initialState(loose);
    transition(loose, taut, loose.x^2 + loose.y^2 > 1);
  end M;)";
  c.names = {{"x", "taut.x"}, {"y", "taut.y"}, {"vx", "taut.vx"}};
  c.system = [] {
    HybridSystem s("taut_string");
    const Expr x = s.variable("x", {.start = 0.5, .fixed = true});
    const Expr y = s.variable("y", {.fixed = true});
    const Expr vx = s.variable("vx", {.start = 1.0, .fixed = true});
    const Expr vy = s.variable("vy", {.start = 1.0, .fixed = true});
    const Expr f = s.variable("f");
    Mode& loose = s.mode("loose");
    const std::vector<Equation> motion = {der(x) == vx, der(y) == vy, der(vx) == -f * x,
                                          der(vy) == -f * y};
    loose.equations = motion;
    loose.equations.push_back(f == 0.0);
    loose.guards = {{.name = "taut", .value = 1.0 - x * x - y * y, .to = "taut"}};
    Mode& taut = s.mode("taut");
    taut.equations = motion;
    taut.equations.push_back(x * x + y * y == 1.0);
    return s;
  };
  return c;
}

// KM Example 17: -1 above zero, 1 - t^2 below; from x(-1) = 1 it reaches zero at t = 0 and stays.
Case km17() {
  Case c{
      .name = "km17", .start_time = -1.0, .stop_time = 0.9, .expected = {{"x", 0.0}}, .texts = {}};
  c.texts["if"] =
      "model M Real x(start = 1, fixed = true); equation\n"
      "  der(x) = if x > 0 then -1 else 1 - time^2; end M;";
  c.texts["when"] =
      "model M Real x(start = 1, fixed = true); Boolean above(start = true, fixed = true); "
      "equation\n"
      "  der(x) = if above then -1 else 1 - time^2;\n"
      "  when x < 0 then above = false; elsewhen x > 0 then above = true; end when; end M;";
  c.texts["machine"] = R"(model M
    model Above Real x(start = 1, fixed = true); equation der(x) = -1; end Above;
    model Below Real x; equation der(x) = 1 - time^2; end Below;
    Above above; Below below;
    Real x = if activeState(above) then above.x else below.x;
  equation
    initialState(above);
    transition(above, below, above.x < 0);
    transition(below, above, below.x > 0);
  end M;)";
  c.system = [] {
    HybridSystem s("km17");
    const Expr x = s.variable("x", {.start = 1.0, .fixed = true});
    Mode& above = s.mode("above");
    above.equations = {der(x) == -1.0};
    above.guards = {{.name = "falls", .value = x, .to = "below"}};
    Mode& below = s.mode("below");
    below.equations = {der(x) == 1.0 - s.time() * s.time()};
    below.guards = {{.name = "rises", .value = -x, .to = "above"}};
    return s;
  };
  return c;
}

// A relay that is pushed off its surface and comes back six times. Below or above it, sliding or
// not, der(x) + der(y) = 1.5 sin(t). It leaves the surface for good where the push exceeds 1 for
// the last time, at arcsin(2/3) + 6 pi.
Case relay() {
  const double stop = 20.0;
  const double leaves = std::asin(2.0 / 3.0) + 6.0 * std::acos(-1.0);
  const double x = leaves - stop + 1.5 * (std::cos(leaves) - std::cos(stop));
  Case c{.name = "relay",
         .stop_time = stop,
         .expected = {{"x", x}, {"y", 1.0 - x + 1.5 * (1.0 - std::cos(stop))}},
         .texts = {}};
  const std::string head = "model M Real x(start = 1, fixed = true), y(start = 0, fixed = true);\n";
  c.texts["if"] = head +
                  "equation\n  der(x) = (if x > 0 then -1 else 1) + 1.5*sin(time);\n"
                  "  der(y) = if x > 0 then 1 else -1;\nend M;";
  c.texts["when"] =
      head +
      "  Boolean above(start = true, fixed = true);\nequation\n"
      "  der(x) = (if above then -1 else 1) + 1.5*sin(time);\n"
      "  der(y) = if above then 1 else -1;\n"
      "  when x < 0 then above = false; elsewhen x > 0 then above = true; end when;\nend M;";
  c.texts["machine"] = R"(model M
    model Above
      Real x(start = 1, fixed = true), y(start = 0, fixed = true);
    equation
      der(x) = -1 + 1.5*sin(time); der(y) = 1;
    end Above;
    model Below
      Real x, y;
    equation
      der(x) = 1 + 1.5*sin(time); der(y) = -1;
    end Below;
    Above above; Below below;
    Real x = if activeState(above) then above.x else below.x;
    Real y = if activeState(above) then above.y else below.y;
  equation
    initialState(above);
    transition(above, below, above.x < 0);
    transition(below, above, below.x > 0);
  end M;)";
  c.system = [] {
    HybridSystem s("relay");
    const Expr x_ = s.variable("x", {.start = 1.0, .fixed = true});
    const Expr y = s.variable("y", {.fixed = true});
    const Expr push = 1.5 * sin(s.time());
    Mode& above = s.mode("above");
    above.equations = {der(x_) == push - 1.0, der(y) == 1.0};
    above.guards = {{.name = "falls", .value = x_, .to = "below"}};
    Mode& below = s.mode("below");
    below.equations = {der(x_) == push + 1.0, der(y) == -1.0};
    below.guards = {{.name = "rises", .value = -x_, .to = "above"}};
    return s;
  };
  return c;
}

// KM Example 18 against a Runge-Kutta run with the sliding equations written down: the level rises
// to the threshold, the outflow opens, and from where both flows point at the threshold it stays.
struct Vessel {
  double p = 0.05;
  double level = 0.06;
};
constexpr double kThreshold = 0.08;

Vessel rate(const Vessel& v, double open) {
  return {(-0.5 * v.p + open * v.level) / 0.5, (-open * v.p / 0.5 - v.level + 0.25) / 15.0};
}

Vessel vessel_at(double stop_time) {
  Vessel v;
  double open = 0.0;  // 1: outflow, between: sliding
  bool sliding = false;
  const long steps = 400000;
  const double h = stop_time / static_cast<double>(steps);
  const auto share = [](const Vessel& x) { return (0.25 - kThreshold) * 0.5 / x.p; };
  for (long i = 0; i < steps; ++i) {
    const auto f = [&](const Vessel& x) { return rate(x, sliding ? share(x) : open); };
    const auto add = [](const Vessel& x, const Vessel& d, double s) {
      return Vessel{x.p + s * d.p, x.level + s * d.level};
    };
    const Vessel a = f(v);
    const Vessel b = f(add(v, a, 0.5 * h));
    const Vessel c = f(add(v, b, 0.5 * h));
    const Vessel d = f(add(v, c, h));
    v = {v.p + h / 6.0 * (a.p + 2.0 * b.p + 2.0 * c.p + d.p),
         v.level + h / 6.0 * (a.level + 2.0 * b.level + 2.0 * c.level + d.level)};
    if (sliding) {
      v.level = kThreshold;
      if (share(v) > 1.0) sliding = false, open = 1.0;
    } else if (open == 0.0 ? v.level > kThreshold : v.level < kThreshold) {
      sliding = share(v) < 1.0;  // the open flow falls: both point at the threshold
      open = 1.0;
    }
  }
  return v;
}

Case km18() {
  const Vessel end = vessel_at(12.0);
  Case c{
      .name = "km18", .stop_time = 12.0, .expected = {{"p", end.p}, {"L", end.level}}, .texts = {}};
  const std::string head =
      "model M Real p(start = 0.05, fixed = true), L(start = 0.06, fixed = true);\n";
  c.texts["if"] = head +
                  "equation\n  0.5*der(p) = -0.5*p + (if L > 0.08 then L else 0);\n"
                  "  15*der(L) = -L + 0.25 - (if L > 0.08 then p/0.5 else 0);\nend M;";
  c.texts["when"] =
      head +
      "  Boolean open(start = false, fixed = true);\nequation\n"
      "  0.5*der(p) = -0.5*p + (if open then L else 0);\n"
      "  15*der(L) = -L + 0.25 - (if open then p/0.5 else 0);\n"
      "  when L > 0.08 then open = true; elsewhen L < 0.08 then open = false; end when;\n"
      "end M;";
  c.texts["machine"] = R"(model M
    model Shut
      Real p(start = 0.05, fixed = true), L(start = 0.06, fixed = true);
    equation
      0.5*der(p) = -0.5*p; 15*der(L) = -L + 0.25;
    end Shut;
    model Open
      Real p, L;
    equation
      0.5*der(p) = -0.5*p + L; 15*der(L) = -p/0.5 - L + 0.25;
    end Open;
    Shut shut; Open open;
    Real p = if activeState(shut) then shut.p else open.p;
    Real L = if activeState(shut) then shut.L else open.L;
  equation
    initialState(shut);
    transition(shut, open, shut.L > 0.08);
    transition(open, shut, open.L < 0.08);
  end M;)";
  c.system = [] {
    HybridSystem s("km18");
    const Expr p = s.variable("p", {.start = 0.05, .fixed = true});
    const Expr level = s.variable("L", {.start = 0.06, .fixed = true});
    Mode& shut = s.mode("shut");
    shut.equations = {0.5 * der(p) == -0.5 * p, 15.0 * der(level) == 0.25 - level};
    shut.guards = {{.name = "opens", .value = kThreshold - level, .to = "open"}};
    Mode& open = s.mode("open");
    open.equations = {0.5 * der(p) == -0.5 * p + level,
                      15.0 * der(level) == 0.25 - level - p / 0.5};
    open.guards = {{.name = "shuts", .value = level - kThreshold, .to = "shut"}};
    return s;
  };
  return c;
}

// A hydraulic cylinder (MO): the intake shuts at 0.02 s, the impulse of the pressure opens the
// relief valve before anything has moved, and piston and oil get one speed. Then it slows down
// until nothing flows, and stands. v(0.021) is exact, as in transfer_examples_test.
Case cylinder() {
  const double before = -0.5 * (1.0 - std::exp(-200.0 * 0.02));
  const double drift = 2000.0 / 8000.0;
  const double v = drift + (before * 5.0 / 6.0 - drift) * std::exp(-8000.0 / 24.0 * 1e-3);
  Case c{.name = "cylinder", .stop_time = 0.021, .expected = {{"v", v}}, .texts = {}};
  const std::string unknowns =
      "Real v, f_in(nominal = 1e-3), f_rel(nominal = 1e-3), p(nominal = 1e6), p_rel(nominal = 1e6)";
  const std::string motion =
      "20*der(v) = 2e-3*p - 6000; 2e-3*v = f_in - f_rel; 1e6*der(f_rel) = p_rel;\n";
  const std::string open_intake = "1e9*f_in = 2e6 - p;";
  const std::string open_relief = "p_rel = p - 4e6 - 2e9*f_rel;";
  c.texts["if"] = "model M " + unknowns +
                  ";\n Boolean relief(start = false, fixed = true); equation\n" + motion +
                  "if time < 0.02 then " + open_intake +
                  " else f_in = 0; end if;\n"
                  "relief = p > 5e6 or pre(relief) and f_rel > 0;\n"
                  "if relief then " +
                  open_relief + " else f_rel = 0; end if;\nend M;";
  c.texts["when"] = "model M " + unknowns +
                    ";\n Boolean relief(start = false, fixed = true);"
                    " Boolean intake(start = true, fixed = true); equation\n" +
                    motion + "if intake then " + open_intake +
                    " else f_in = 0; end if;\n if relief then " + open_relief +
                    " else f_rel = 0; end if;\n"
                    "when time >= 0.02 then intake = false; end when;\n"
                    "when p > 5e6 then relief = true; elsewhen f_rel < 0 then relief = false; end "
                    "when;\nend M;";
  const auto state = [&](const std::string& name, bool intake, bool relief) {
    return "model " + name + " " + unknowns + "; equation\n" + motion +
           (intake ? open_intake : "f_in = 0;") + (relief ? open_relief : "f_rel = 0;") + " end " +
           name + ";\n";
  };
  c.texts["machine"] = "model M\n" + state("A10", true, false) + state("A00", false, false) +
                       state("A01", false, true) + R"(A10 a10; A00 a00; A01 a01;
  equation
    initialState(a10);
    transition(a10, a00, time > 0.02);
    transition(a00, a01, a00.p > 5e6);
    transition(a01, a00, a01.f_rel < 0);
  end M;)";
  c.names = {{"v", "a01.v"}};
  c.system = make_cylinder;
  return c;
}

// x = -5 while time < 1, then der(x) = 10 from there: what is differential starts at the value it
// had as an algebraic unknown.
Case algebraic_becomes_differential() {
  Case c{.name = "algebraic_becomes_differential",
         .stop_time = 1.5,
         .expected = {{"x", 0.0}},
         .texts = {}};
  c.texts["if"] =
      "model M Real x; equation if time < 1 then x = -5; else der(x) = 10; end if; end M;";
  c.texts["when"] =
      "model M Real x; Boolean on(start = false, fixed = true); equation\n"
      "  if on then der(x) = 10; else x = -5; end if;\n"
      "  when time >= 1 then on = true; end when; end M;";
  c.texts["machine"] = R"(model M
    model Held Real x; equation x = -5; end Held;
    model Moving Real x; equation der(x) = 10; end Moving;
    Held held; Moving moving;
  equation
    initialState(held);
    transition(held, moving, time > 1);
  end M;)";
  c.names = {{"x", "moving.x"}};
  c.system = [] {
    HybridSystem s("algebraic_becomes_differential");
    const Expr x = s.variable("x");
    Mode& held = s.mode("held");
    held.equations = {x == -5.0};
    held.guards = {{.name = "go", .value = 1.0 - s.time(), .to = "moving"}};
    s.mode("moving").equations = {der(x) == 10.0};
    return s;
  };
  return c;
}

// Masses 1, 2, 3 at 10, 0, 4; at t = 1 the first is set to 6 and locked to the second: what is set
// stays, the second follows, the third is not concerned.
Case set_and_locked() {
  Case c{.name = "set_and_locked",
         .stop_time = 2.0,
         .expected = {{"w1", 6.0}, {"w2", 6.0}, {"w3", 4.0}},
         .texts = {}};
  const std::string head =
      "Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), w3(start = 4, fixed = true)";
  c.texts["when"] =
      "model M " + head +
      ", tau; Boolean locked(start = false, fixed = true); equation\n"
      "  der(w1) = -tau; 2*der(w2) = tau; 3*der(w3) = 0;\n"
      "  if locked then w1 = w2; else tau = 0; end if;\n"
      "  when time >= 1 then locked = true; reinit(w1, 0.6*pre(w1)); end when; end M;";
  c.texts["machine"] = "model M model Open " + head +
                       R"(; equation der(w1) = 0; der(w2) = 0; der(w3) = 0; end Open;
    model Locked
      Real w1, w2, w3, tau;
    equation
      der(w1) = -tau; 2*der(w2) = tau; 3*der(w3) = 0; w1 = w2;
    end Locked;
    Open open; Locked locked;
  equation
    initialState(open);
    transition(open, locked, time > 1);
    when activeState(locked) then reinit(locked.w1, 0.6*open.w1); end when;
  end M;)";
  c.names = {{"w1", "locked.w1"}, {"w2", "locked.w2"}, {"w3", "locked.w3"}};
  c.system = [] {
    HybridSystem s("set_and_locked");
    const Expr w1 = s.variable("w1", {.start = 10.0, .fixed = true});
    const Expr w2 = s.variable("w2", {.fixed = true});
    const Expr w3 = s.variable("w3", {.start = 4.0, .fixed = true});
    const Expr tau = s.variable("tau");
    Mode& open = s.mode("open");
    open.equations = {der(w1) == -tau, 2.0 * der(w2) == tau, 3.0 * der(w3) == 0.0, tau == 0.0};
    open.guards = {
        {.name = "command", .value = 1.0 - s.time(), .to = "locked", .set = {{w1, 0.6 * w1}}}};
    s.mode("locked").equations = {der(w1) == -tau, 2.0 * der(w2) == tau, 3.0 * der(w3) == 0.0,
                                  w1 == w2};
    return s;
  };
  return c;
}

// Two inertias 1 and 2 at 10 and 0 are locked at t = 1 and let go as soon as something holds: at
// w1 = 10 - 20/3 s after the fraction s of the way to the common speed, or by the impulse. Written
// with `if`, the lock follows from discrete equations, with `when` from clauses that read pre().
Case lock_left(const std::string& name, const std::string& condition,
               const std::function<Expr(Expr, Expr, Expr)>& valid, double w1,
               const std::string& first_event) {
  Case c{.name = "lock_left_" + name,
         .stop_time = 2.0,
         .expected = {{"w1", w1}, {"w2", 0.5 * (10.0 - w1)}},
         .texts = {},
         .first_event = first_event};
  const std::string head =
      "model M Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), tau;\n"
      "Boolean locked(start = false, fixed = true), gone(start = false, fixed = true); equation\n"
      "der(w1) = -tau; 2*der(w2) = tau; if locked then w1 = w2; else tau = 0; end if;\n";
  c.texts["if"] = head +
                  "locked = time >= 1 and not pre(gone);\n"
                  "gone = pre(gone) or locked and " +
                  condition + "; end M;";
  c.texts["when"] = head +
                    "gone = false; when time >= 1 then locked = true; elsewhen pre(locked) and " +
                    condition + " then locked = false; end when; end M;";
  c.texts["machine"] = R"(model M
    model Open
      Real w1(start = 10, fixed = true), w2(start = 0, fixed = true);
    equation
      der(w1) = 0; der(w2) = 0;
    end Open;
    model Free
      Real w1, w2;
    equation
      der(w1) = 0; der(w2) = 0;
    end Free;
    model Locked
      Real w1, w2, tau; Boolean leaves = )" +
                       condition + R"(;
    equation
      der(w1) = -tau; 2*der(w2) = tau; w1 = w2;
    end Locked;
    Open open; Locked locked; Free free;
  equation
    initialState(open);
    transition(open, locked, time > 1);
    transition(locked, free, locked.leaves);
  end M;)";
  c.names = {{"w1", "free.w1"}, {"w2", "free.w2"}};
  if (valid == nullptr) return c;
  c.system = [valid] {
    HybridSystem s("lock_left");
    const Expr w1_ = s.variable("w1", {.start = 10.0, .fixed = true});
    const Expr w2_ = s.variable("w2", {.fixed = true});
    const Expr tau = s.variable("tau");
    const std::vector<Equation> common = {der(w1_) == -tau, 2.0 * der(w2_) == tau};
    Mode& open = s.mode("open");
    open.equations = common;
    open.equations.push_back(tau == 0.0);
    open.guards = {{.name = "command", .value = 1.0 - s.time(), .to = "locked"}};
    Mode& locked = s.mode("locked");
    locked.equations = common;
    locked.equations.push_back(w1_ == w2_);
    locked.guards = {{.name = "leaves", .value = valid(w1_, w2_, tau), .to = "free"}};
    Mode& free = s.mode("free");
    free.equations = common;
    free.equations.push_back(tau == 0.0);
    return s;
  };
  return c;
}

std::vector<Case> locks_left() {
  const auto speed = [](double at, double sign) {
    return [=](Expr w1, Expr, Expr) { return sign * (w1 - at); };
  };
  return {lock_left("before", "w1 > 5", speed(5.0, -1.0), 10.0, "mythical"),
          lock_left("on_the_way", "w1 < 5", speed(5.0, 1.0), 5.0, "pinnacle"),
          lock_left("on_the_way_behind_and", "w1 < 5 and w2 > 1", nullptr, 5.0, "pinnacle"),
          lock_left("on_the_way_second", "w1 < 8 and w2 > 2", nullptr, 6.0, "pinnacle"),
          lock_left("on_the_way_behind_or", "w1 < 4 or w2 > 2", nullptr, 6.0, "pinnacle"),
          lock_left(
              "by_impulse", "tau > 100", [](Expr, Expr, Expr tau) { return 100.0 - tau; }, 10.0,
              "pinnacle"),
          lock_left("at_the_end", "w1 - w2 <= 0", nullptr, 10.0 / 3.0, "continuous boundary")};
}

std::vector<Case> cases() {
  std::vector<Case> all = {brake_reversal(),
                           clutch_reversal(),
                           clutch_locks(),
                           breaks_away(),
                           stays_at_capacity(),
                           two_brakes_reverse(),
                           two_clutches_lock(),
                           free_wheel_catches(),
                           capacity_through_zero(),
                           locked_by_command(),
                           ball(),
                           taut_string(),
                           km17(),
                           km18(),
                           relay(),
                           cylinder(),
                           set_and_locked(),
                           algebraic_becomes_differential()};
  for (Case& c : locks_left()) all.push_back(std::move(c));
  return all;
}

struct Cell {
  std::size_t index;
  std::string name;
  std::string writing;
};

std::vector<Cell> cells() {
  std::vector<Cell> result;
  const std::vector<Case> all = cases();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::string writing : {"cpp", "if", "when", "machine"})
      if (writing == "cpp" ? static_cast<bool>(all[i].system) : all[i].texts.contains(writing))
        result.push_back({i, all[i].name, writing});
  return result;
}

class Conformance : public testing::TestWithParam<Cell> {};

TEST_P(Conformance, HasTheSameAnswerInEveryWriting) {
  const Cell& cell = GetParam();
  const Case c = cases()[cell.index];
  const bool cpp = cell.writing == "cpp";
  const SimulateResult result = simulate(
      cpp ? c.system()
          : build(load_modelica_text(c.texts.at(cell.writing), "M", {.use_modelica_path = false})),
      {.start_time = c.start_time,
       .stop_time = c.stop_time,
       .tolerance = 1e-9,
       .max_seconds = 20.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  if (!c.first_event.empty()) {
    ASSERT_EQ(result.events.size(), 2u);
    EXPECT_EQ(result.events[0].ontology, c.first_event);
    EXPECT_EQ(result.events[0].kind, "instantaneous");
    EXPECT_TRUE(result.events[1].jumps.empty());
  }
  for (const auto& [variable, value] : c.expected) {
    const auto renamed = c.names.find(variable);
    const std::string key =
        cell.writing == "machine" && renamed != c.names.end() ? renamed->second : variable;
    ASSERT_TRUE(result.final.contains(key)) << key;
    EXPECT_NEAR(result.final.at(key), value, 1e-6) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Conformance, testing::ValuesIn(cells()), [](const auto& cell) {
  return cell.param.name + "_" + cell.param.writing;
});

}  // namespace
}  // namespace saltus::oracle
