#pragma once

#include <string>

#include "model/flat_model.h"

namespace saltus {

// Dry friction between two shafts as the Modelica Standard Library writes it: sa runs along the
// vertical part of the friction curve, and mode is forward (1), stuck (0), backward (-1) or unknown
// (3). Returns the torque that drives w2 and brakes w1. `capacity` may depend on time and slots.
inline Expr add_friction(FlatModel& model, const std::string& name, const Expr& w1, const Expr& w2,
                         const Expr& capacity, double peak = 1.0) {
  HybridSystem& s = model.system;
  const Expr w = s.variable(name + ".w_rel");
  const Expr a = s.variable(name + ".a_rel");
  const Expr sa = s.variable(name + ".sa");
  const Expr tau = s.variable(name + ".tau");
  const Expr strongest = peak * capacity;
  const Expr mode =
      model.discrete(name + ".mode", {.type = DiscreteType::kInteger, .start = 3.0, .fixed = true});
  const Expr forward = model.discrete(name + ".startForward", {.fixed = true});
  const Expr backward = model.discrete(name + ".startBackward", {.fixed = true});
  const Expr locked = model.discrete(name + ".locked");
  const auto was = [&](double value) { return equal(model.pre(mode), value); };
  const auto positive = [&](const Expr& e) { return model.relation(e, Strict::kYes); };
  const double small = 1e10;
  model.discrete_equations.push_back(
      {forward,
       (was(0.0) &&
        (positive(sa - strongest) || (model.pre(forward) && positive(sa - capacity)))) ||
           (was(-1.0) && positive(w - small)) || (model.initial() && positive(w)),
       {}});
  model.discrete_equations.push_back(
      {backward,
       (was(0.0) &&
        (positive(-sa - strongest) || (model.pre(backward) && positive(-sa - capacity)))) ||
           (was(1.0) && positive(-w - small)) || (model.initial() && positive(-w)),
       {}});
  model.discrete_equations.push_back({locked, !(was(1.0) || forward || was(-1.0) || backward), {}});
  model.discrete_equations.push_back(
      {mode,
       select((was(1.0) || forward) && positive(w), 1.0,
              select((was(-1.0) || backward) && positive(-w), -1.0, 0.0)),
       {}});
  model.equations.push_back(Equation(w == w1 - w2));
  model.equations.push_back(Equation(a == der(w)));
  model.equations.push_back(
      Equation(a == select(locked, 0.0,
                           select(forward, sa - strongest,
                                  select(backward, sa + strongest,
                                         select(was(1.0), sa - strongest, sa + strongest))))));
  model.equations.push_back(Equation(
      tau == select(locked, sa,
                    select(forward, capacity,
                           select(backward, -capacity, select(was(1.0), capacity, -capacity))))));
  return tau;
}

enum class Locking { kVelocity, kPosition };

// The same with equations that change their kind: w1 = w2 or phi1 = phi2 + offset while locked,
// tau = capacity * direction otherwise. It locks where the slip comes to zero and slides again when
// the torque needed exceeds the capacity.
inline Expr add_structural_clutch(FlatModel& model, const std::string& name, const Expr& phi1,
                                  const Expr& phi2, const Expr& w1, const Expr& w2,
                                  const Expr& capacity, Locking locking) {
  const Expr tau = model.system.variable(name + ".tau");
  const Expr mode =
      model.discrete(name + ".mode", {.type = DiscreteType::kInteger, .start = 1.0, .fixed = true});
  const Expr stops = model.edge(model.relation(w2 - w1, Strict::kNo));
  const Expr turns = model.edge(model.relation(w1 - w2, Strict::kNo));
  const Expr before = model.pre(mode);
  const Expr ends = (equal(before, 1.0) && stops) || (equal(before, -1.0) && turns);
  model.discrete_equations.push_back(
      {mode,
       select(equal(before, 0.0),
              select(model.relation(tau - capacity, Strict::kYes), 1.0,
                     select(model.relation(-tau - capacity, Strict::kYes), -1.0, 0.0)),
              select(ends, 0.0, before)),
       {}});
  const Expr locked = equal(mode, 0.0);
  Equation holds(w1 == w2);
  if (locking == Locking::kPosition) {
    const Expr offset = model.discrete(name + ".offset", {.type = DiscreteType::kReal});
    const Expr locks = locked && !equal(before, 0.0);
    model.discrete_equations.push_back({offset, select(locks, phi1 - phi2, model.pre(offset)), {}});
    holds = Equation(phi1 == phi2 + offset);
  }
  model.equations.push_back(IfEquation{{locked}, {{holds}, {Equation(tau == capacity * mode)}}});
  return tau;
}

}  // namespace saltus
