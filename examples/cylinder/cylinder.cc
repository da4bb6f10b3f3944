#include "examples/cylinder/cylinder.h"

#include <string>
#include <vector>

namespace saltus {
namespace {

enum class Oil { kRigid, kCompressible };

HybridSystem make_cylinder_of(const char* title, Oil oil) {
  HybridSystem cylinder(title);
  const auto parameter = [&](const char* name, double value, const char* unit, const char* text) {
    return cylinder.parameter(name, value, {.unit = unit, .description = text});
  };
  const Expr m = parameter("m", 20.0, "kg", "mass of the piston");
  const Expr A = parameter("A", 2e-3, "m2", "area of the piston");
  const Expr F = parameter("F", 6000.0, "N", "load, pushes the piston in");
  const Expr I = parameter("I", 1e6, "kg/m4", "inertia of the oil in the relief pipe");
  const Expr R_in = parameter("R_in", 1e9, "Pa.s/m3", "resistance of the intake");
  const Expr R_rel = parameter("R_rel", 2e9, "Pa.s/m3", "resistance of the relief pipe");
  const Expr p_in = parameter("p_in", 2e6, "Pa", "pressure before the intake");
  const Expr p_smp = parameter("p_smp", 4e6, "Pa", "pressure behind the relief pipe");
  const Expr p_th = parameter("p_th", 5e6, "Pa", "pressure that opens the relief valve");
  const Expr t_open = parameter("t_open", 0.02, "s", "the intake stays open");
  const Expr t_closed = parameter("t_closed", 0.02, "s", "the intake stays closed");

  const auto variable = [&](const char* name, double nominal, const char* unit, const char* text) {
    return cylinder.variable(name, {.nominal = nominal, .unit = unit, .description = text});
  };
  const Expr v = variable("v", 1.0, "m/s", "velocity of the piston, outwards");
  const Expr f_in = variable("f_in", 1e-3, "m3/s", "flow through the intake, into the cylinder");
  const Expr f_rel = variable("f_rel", 1e-3, "m3/s", "flow through the relief valve, outwards");
  const Expr p = variable("p", 1e6, "Pa", "pressure in the cylinder");
  const Expr p_rel = variable("p_rel", 1e6, "Pa", "pressure that drives the relief flow");
  const Expr next = cylinder.variable(
      "next", {.start = t_open, .unit = "s", .description = "the intake is switched"});

  // Rigid oil leaves no room for what flows in. Compressed, it takes it in like a spring with a
  // damper beside it.
  std::vector<Equation> chamber = {{"chamber", A * v == f_in - f_rel}};
  if (oil == Oil::kCompressible) {
    const Expr C_oil = parameter("C_oil", 1e-15, "m3/Pa", "compliance of the oil");
    const Expr R_oil = parameter("R_oil", 2e10, "Pa.s/m3", "resistance of the oil");
    const Expr p_oil =
        cylinder.variable("p_oil", {.start = p_in,
                                    .fixed = true,
                                    .nominal = 1e6,
                                    .unit = "Pa",
                                    .description = "pressure of the compressed oil"});
    chamber = {{"oil", C_oil * der(p_oil) == f_in - f_rel - A * v},
               {"chamber", p == p_oil + R_oil * (f_in - f_rel - A * v)}};
  }

  // Modes are named as in the paper: intake, then relief; 1 is open.
  for (const bool intake : {true, false}) {
    for (const bool relief : {false, true}) {
      const auto name = [](bool in, bool rel) {
        return std::string("a") + (in ? "1" : "0") + (rel ? "1" : "0");
      };
      Mode& mode = cylinder.mode(name(intake, relief));
      mode.equations = {
          {"piston", m * der(v) == A * p - F},
          {"relief pipe", I * der(f_rel) == p_rel},
          {"intake", intake ? R_in * f_in == p_in - p : f_in == 0.0},
          {"relief valve", relief ? p_rel == p - p_smp - R_rel * f_rel : f_rel == 0.0}};
      mode.equations.insert(mode.equations.begin() + 1, chamber.begin(), chamber.end());
      mode.guards = {{.name = intake ? "intake closes" : "intake opens",
                      .value = next - cylinder.time(),
                      .to = name(!intake, relief),
                      .set = {{next, next + (intake ? t_closed : t_open)}}}};
      // The relief valve opens above its pressure and closes when nothing flows any more.
      if (relief)
        mode.guards.push_back({.name = "relief closes", .value = f_rel, .to = name(intake, false)});
      else
        mode.guards.push_back(
            {.name = "relief opens", .value = p_th - p, .to = name(intake, true)});
    }
  }
  cylinder.initial_mode = "a10";
  cylinder.experiment = {.stop_time = 0.055, .tolerance = 1e-8, .interval = 1e-4};
  return cylinder;
}

}  // namespace

HybridSystem make_cylinder() { return make_cylinder_of("cylinder", Oil::kRigid); }

HybridSystem make_cylinder_oil() { return make_cylinder_of("cylinder_oil", Oil::kCompressible); }

}  // namespace saltus
