#include "realtime/surface_locks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/mode_conditions.h"
#include "analysis/structure.h"
#include "analysis/surfaces.h"
#include "expr/differentiate.h"
#include "expr/tape.h"
#include "model/active_equations.h"
#include "model/build.h"
#include "model/system_state.h"

namespace saltus {
namespace {

// What lies in all branches, in one order.
void collect(std::vector<EquationItem>& items, std::vector<Equation*>& equations,
             std::vector<Expr>& conditions) {
  for (EquationItem& item : items) {
    if (auto* equation = std::get_if<Equation>(&item.value)) {
      equations.push_back(equation);
      continue;
    }
    auto& conditional = std::get<IfEquation>(item.value);
    conditions.insert(conditions.end(), conditional.conditions.begin(),
                      conditional.conditions.end());
    for (auto& branch : conditional.branches) collect(branch, equations, conditions);
  }
}

// How the equations jump at a surface: the upper side less the lower one.
struct Jump {
  std::vector<std::pair<std::size_t, Expr>> parts;  // by equation
  bool vanishes = true;
  int sign = 0;  // where it is the same everywhere; else 0
};

class Locks {
 public:
  explicit Locks(const HybridSystem& given)
      : system_(given), flat_(std::make_shared<FlatSystem>(*given.flat())) {}

  HybridSystem run() {
    find();
    if (held_.empty()) return system_;
    std::vector<Equation*> equations;
    std::vector<Expr> conditions;
    collect(model().equations, equations, conditions);
    for (const std::size_t surface : held_) locks_.push_back(make_lock(equations, surface));
    for (const Lock& lock : locks_) {
      const std::vector<Equation> mixed = *mix(equations, {lock.surface});
      for (const auto& [i, gain] : lock.gains)
        equations[i]->equality =
            split(equations[i]->residual(), mixed[i].residual(), lock, gain) == 0.0;
    }
    for (const Lock& lock : locks_) add_equations(lock);
    system_.set_flat(flat_);
    return system_;
  }

 private:
  FlatModel& model() { return flat_->reduced; }

  Expr new_variable(const std::string& name) {
    const Expr made = model().system.variable(name);
    return system_.variable(name).same_as(made) ? made : throw Error("two variables " + name);
  }

  std::optional<std::vector<Equation>> mix(const std::vector<Equation*>& equations,
                                           const std::vector<std::size_t>& held) const {
    std::vector<Equation> all;
    for (const Equation* e : equations) all.push_back(*e);
    std::vector<Expr> weights;
    for (const std::size_t s : held) weights.push_back(forces_[s]);
    return surfaces_->mix(all, held, weights);
  }

  void find();
  Jump jump_at(const std::vector<Equation>& mixed, const Expr& surface, const Expr& weight);
  bool decides_first_derivative(std::size_t surface);
  // Branches with as many equations each become equations with select(), which can be mixed.
  void merge_branches();

  // The force is that of one equation, so that it may have the bound zero (a clutch without
  // pressure); where several jump it is their common share of what they have on the upper side.
  struct Lock {
    std::size_t surface = 0;
    Expr bound;                                       // of the force; its side where it is above
    Expr sign;                                        // of the bound
    std::vector<std::pair<std::size_t, Expr>> gains;  // by equation: of the force
    Expr held, above;
  };
  Lock make_lock(const std::vector<Equation*>& equations, std::size_t surface);
  Expr split(const Expr& residual, const Expr& mixed, const Lock& lock, const Expr& gain) const;
  void add_equations(const Lock& lock);

  HybridSystem system_;
  std::shared_ptr<FlatSystem> flat_;
  std::unique_ptr<Surfaces> surfaces_;
  std::vector<Expr> forces_;  // by surface; first as its weight
  std::vector<std::size_t> held_;
  std::vector<Lock> locks_;
};

void Locks::merge_branches() {
  for (std::vector<EquationItem> rest = std::exchange(model().equations, {});
       EquationItem & item : rest) {
    const ActiveEquations merged = active_equations({item}, {});
    if (std::holds_alternative<Equation>(item.value) || !merged.undecided.empty())
      model().equations.push_back(item);
    else
      for (const Equation& e : merged.equations) model().equations.emplace_back(e);
  }
}

void Locks::find() {
  const std::vector<EquationItem> written = model().equations;
  merge_branches();
  surfaces_ = std::make_unique<Surfaces>(model());
  std::vector<Equation*> equations;
  std::vector<Expr> conditions;
  collect(model().equations, equations, conditions);
  for (std::size_t s = 0; s < surfaces_->count(); ++s) {
    forces_.emplace_back();
    const Surface& surface = (*surfaces_)[s];
    if (!surface.may_be_held ||
        std::ranges::any_of(conditions, [&](const Expr& c) { return surfaces_->reads(c, s); }))
      continue;
    forces_[s] = new_variable(fmt::format("$force on {}", to_string(surface.value)));
    const auto alone = mix(equations, {s});
    if (!alone || jump_at(*alone, surface.value, forces_[s]).vanishes) continue;
    std::vector<std::size_t> with = held_;
    with.push_back(s);
    if (mix(equations, with) && decides_first_derivative(s)) held_ = std::move(with);
  }
  if (held_.empty()) model().equations = written;
}

// By numbers, at points of the surface.
Jump Locks::jump_at(const std::vector<Equation>& mixed, const Expr& surface, const Expr& weight) {
  constexpr int kPoints = 150;
  constexpr double kNothing = 1e-9;
  Jump jump;
  std::vector<Expr> formulas = {surface};
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    const Expr part = partial(mixed[i].residual(), weight);
    if (part.is_number() && part.number() == 0.0) continue;
    jump.parts.emplace_back(i, part);
    formulas.push_back(part);
  }
  std::vector<Expr> leaves = leaves_of(surface);
  std::erase_if(leaves, [](const Expr& leaf) { return !leaf.is_variable(); });
  for (const Expr& leaf : leaves) formulas.push_back(partial(surface, leaf));
  const std::size_t relations = formulas.size();
  for (const Relation& r : model().relations) formulas.push_back(r.value);
  const Tape tape(formulas, state_inputs(system_));
  Tape::Workspace registers = tape.make_workspace();
  SystemState at = start_state(system_);
  std::vector<double> parameters, results(formulas.size());
  for (const Parameter& p : system_.parameters()) parameters.push_back(p.value);
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same points every time
  std::uniform_real_distribution<double> anywhere(-2.0, 2.0), fraction(0.0, 1.0);
  const Experiment& experiment = system_.experiment;
  bool rises = false, falls = false;
  for (int point = 0; point < kPoints; ++point) {
    // Of the run as the model means it, and beyond.
    const double span = experiment.stop_time - experiment.start_time;
    const double t =
        experiment.start_time + span * fraction(random) * std::pow(100.0, fraction(random));
    const double* in[] = {&t, at.values.data(), at.slopes.data(), parameters.data(),
                          at.slots.data()};
    for (std::size_t i = 0; i < at.values.size(); ++i) {
      at.values[i] = system_.variables()[i].nominal * anywhere(random);
      at.slopes[i] = anywhere(random);
    }
    for (double& slot : at.slots) slot = anywhere(random) > 0.0 ? 1.0 : 0.0;
    for (int round = 0; round < 20; ++round) {
      tape.evaluate(in, registers, results.data());
      std::size_t steepest = 0;
      const double* slopes = results.data() + 1 + jump.parts.size();
      for (std::size_t k = 1; k < leaves.size(); ++k)
        if (std::abs(slopes[k]) > std::abs(slopes[steepest])) steepest = k;
      const double step = results[0] / slopes[steepest];
      if (!std::isfinite(step) || step == 0.0) break;
      at.values[leaves[steepest].node()->index] -= step;
    }
    // Terms of time are cut into pieces by relations, which must fit the point.
    for (std::size_t k = 0; k < model().relations.size(); ++k) {
      const Relation& r = model().relations[k];
      const double value = results[relations + k];
      at.slots[r.slot.node()->slot().index()] =
          value > 0.0 || (value == 0.0 && r.strict == Strict::kNo) ? 1.0 : 0.0;
    }
    tape.evaluate(in, registers, results.data());
    if (!(std::abs(results[0]) < kNothing)) continue;  // it has no point near
    for (std::size_t i = 0; i < jump.parts.size(); ++i) {
      rises = rises || results[1 + i] > kNothing;
      falls = falls || results[1 + i] < -kNothing;
    }
  }
  jump.vanishes = !rises && !falls;
  jump.sign = rises == falls ? 0 : rises ? 1 : -1;
  return jump;
}

// Whether holding the surface, and it alone, takes the one derivative that the force acts on.
bool Locks::decides_first_derivative(std::size_t surface) {
  ActiveEquations active = active_equations(model().equations, {});
  if (!active.undecided.empty()) return false;
  auto mixed = surfaces_->mix(active.equations, {surface}, {forces_[surface]});
  if (!mixed) return false;
  mixed->emplace_back((*surfaces_)[surface].value == 0.0);
  const Offsets offsets = find_offsets(Columns(system_, *mixed).signature());
  return offsets.solvable && offsets.c.back() == 1;
}

Locks::Lock Locks::make_lock(const std::vector<Equation*>& equations, std::size_t surface) {
  Lock lock;
  lock.surface = surface;
  const Expr& g = (*surfaces_)[surface].value;
  const Jump jump = jump_at(*mix(equations, {surface}), g, forces_[surface]);
  if (jump.parts.size() == 1) {
    lock.bound = 0.5 * jump.parts[0].second;
    lock.sign = jump.sign != 0 ? Expr(jump.sign) : select(lock.bound < 0.0, -1.0, 1.0);
    lock.gains = {{jump.parts[0].first, 1.0}};
  } else {
    lock.bound = lock.sign = 1.0;
    for (const auto& [i, part] : jump.parts) lock.gains.emplace_back(i, 0.5 * part);
  }
  const std::string name = to_string(g);
  lock.held = model().discrete("$held at " + name, {.fixed = true});
  lock.above = model().discrete("$above " + name, {.start = 1.0, .fixed = true});
  return lock;
}

// While the surface is held, the middle of both sides and the force. Else the side: what the other
// one would be need not exist there.
Expr Locks::split(const Expr& residual, const Expr& mixed, const Lock& lock,
                  const Expr& gain) const {
  const Expr& force = forces_[lock.surface];
  const Expr weights[] = {force};
  const Expr middles[] = {0.5};
  std::vector<Expr> slots, sides;
  for (const auto& [relation, orientation] : (*surfaces_)[lock.surface].relations) {
    slots.push_back(flat_->reduced.relations[relation].slot);
    sides.push_back(orientation > 0 ? lock.above : !lock.above);
  }
  return select(lock.held, substitute(mixed, weights, middles) + gain * force,
                substitute(surfaces_->without_followers(residual), slots, sides));
}

void Locks::add_equations(const Lock& lock) {
  const Surface& surface = (*surfaces_)[lock.surface];
  const Expr& g = surface.value;
  const Expr& force = forces_[lock.surface];
  const std::string name = to_string(g);
  const SourceLocation where = model().relations[surface.relations[0].first].where;
  const Expr was_held = model().pre(lock.held);
  const Expr was_above = model().pre(lock.above);
  const Expr side = select(lock.above, 1.0, -1.0);
  const Expr side_before = select(was_above, 1.0, -1.0);
  // Beyond the bound in the instant at which it lets go exactly where it was before: the force says
  // no more what holding would take, but the acceleration does.
  const Expr effort = new_variable("$effort on " + name);
  const Expr limit = lock.sign * lock.bound + select(was_held, 0.0, 1.0);  // out of reach if free
  const Expr up = model().relation(lock.sign * effort - limit, Strict::kYes,
                                   name + " is let go upwards", where);
  const Expr down = model().relation(-lock.sign * effort - limit, Strict::kYes,
                                     name + " is let go downwards", where);
  const Expr passed = model().relation(-(select(was_held, 0.0, side_before) * g), Strict::kYes,
                                       name + " passes zero", where);
  const Expr at_release = side * lock.bound + lock.sign * der(g);
  model().equations.emplace_back(
      IfEquation{{lock.held},
                 {{Equation("surface", g == 0.0), Equation("effort", effort == force)},
                  {Equation("no force", force == 0.0),
                   Equation("effort", effort == select(was_held, at_release, 0.0))}}});
  model().discrete_equations.push_back(
      {lock.held, select(flat_->initial, 0.0, select(was_held, !(up || down), passed)), where});
  model().discrete_equations.push_back(
      {lock.above,
       select(flat_->initial, g >= 0.0,
              select(was_held, select(up, 1.0, select(down, 0.0, was_above)), was_above)),
       where});
}

}  // namespace

HybridSystem lock_surfaces(const HybridSystem& system) { return Locks(system).run(); }

}  // namespace saltus
