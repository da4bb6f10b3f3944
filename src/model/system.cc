#include "model/system.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>

#include "base/stop_request.h"
#include "base/suggest.h"
#include "expr/differentiate.h"

namespace saltus {
namespace {

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

}  // namespace

Equation::Equation(Equality e) : equality(e) {}
Equation::Equation(std::string equation_name, Equality e)
    : name(std::move(equation_name)), equality(e) {}

HybridSystem::HybridSystem(std::string name)
    : name_(std::move(name)), graph_(std::make_shared<Graph>()) {}

void HybridSystem::claim_name(const std::string& kind, const std::string& name) {
  check_stop();
  if (name.empty()) throw Error(fmt::format("a {} of {} has no name", kind, name_));
  if (!names_.insert(name).second)
    throw Error(fmt::format("{}: the name '{}' is declared twice", name_, name));
}

Expr HybridSystem::variable(const std::string& name, VariableOptions options) {
  claim_name("variable", name);
  if (!(options.nominal > 0.0) || !std::isfinite(options.nominal))
    throw Error(fmt::format("{}: the nominal value of '{}' is {}; it must be positive and finite",
                            name_, name, options.nominal));
  if (options.start.is_number() && !std::isfinite(options.start.number()))
    throw Error(fmt::format("{}: the start value of '{}' is not finite", name_, name));
  // The graph is shared with copies of this system (every run makes one), which may have variables
  // of their own: one of that name serves here, too. The places of others are left empty, so that a
  // variable's place here is its number in the graph.
  const std::optional<VariableId> known = graph_->find_variable(name, variables_.size());
  Variable v{std::move(options), name,
             known ? graph_->variable(*known) : graph_->new_variable(name)};
  while (variables_.size() < v.symbol.node()->index) {
    const VariableId taken(variables_.size());
    variables_.push_back({{}, fmt::format("${}", taken.index()), graph_->variable(taken)});
  }
  variables_.push_back(v);
  return v.symbol;
}

Expr HybridSystem::parameter(const std::string& name, double value, ParameterOptions options) {
  claim_name("parameter", name);
  if (!std::isfinite(value))
    throw Error(fmt::format("{}: the value of parameter '{}' is not finite", name_, name));
  Parameter p{std::move(options), name, value, graph_->new_parameter(name)};
  parameters_.push_back(p);
  return p.symbol;
}

void HybridSystem::derive(const std::string& name, const Expr& value, DerivedOptions options) {
  claim_name("result", name);
  derived_.push_back({std::move(options), name, value});
}

Mode& HybridSystem::mode(const std::string& name) {
  if (name.empty()) throw Error(fmt::format("a mode of {} has no name", name_));
  for (const Mode& m : modes_)
    if (m.name == name)
      throw Error(fmt::format("{}: the mode '{}' is declared twice", name_, name));
  modes_.push_back({name, {}, {}});
  if (initial_mode.empty()) initial_mode = name;
  return modes_.back();
}

ModeId HybridSystem::find_mode(const std::string& name) const {
  for (std::size_t i = 0; i < modes_.size(); ++i)
    if (modes_[i].name == name) return ModeId(i);
  throw Error(
      fmt::format("{} has no mode '{}'{}", name_, name, did_you_mean(name, names_of(modes_))));
}

void HybridSystem::set(const std::string& name, double value) {
  if (!std::isfinite(value))
    throw Error(fmt::format("the value given for '{}' is not finite", name));
  for (Parameter& p : parameters_) {
    if (p.name == name) {
      p.value = value;
      return;
    }
  }
  for (Variable& v : variables_) {
    if (v.name == name) {
      v.start = value;
      return;
    }
  }
  // An eliminated alias stands for plus or minus a variable: its start value is that one's.
  for (const Derived& d : derived_) {
    const bool negated = d.value.node() != nullptr && d.value.node()->op == Op::kNegate;
    const Expr target = negated ? Expr(d.value.node()->children[0]) : d.value;
    if (d.name != name || !target.is_variable() || target.node()->order != 0) continue;
    variables_[target.node()->index].start = negated ? -value : value;
    return;
  }
  std::vector<std::string> names = names_of(parameters_);
  for (const Variable& v : variables_) names.push_back(v.name);
  throw Error(fmt::format("{} has no parameter or variable '{}'{}", name_, name,
                          did_you_mean(name, names)));
}

std::vector<VariableId> unknowns_of(const HybridSystem& system, const Mode& mode) {
  std::vector<Expr> residuals;
  for (const Equation& e : mode.equations) residuals.push_back(e.residual());
  std::vector<bool> occurs(system.variables().size(), false);
  for (const Expr& leaf : leaves_of(residuals))
    if (leaf.is_variable()) occurs[leaf.node()->variable().index()] = true;
  std::vector<VariableId> unknowns;
  for (std::size_t i = 0; i < occurs.size(); ++i)
    if (occurs[i]) unknowns.emplace_back(i);
  return unknowns;
}

std::string equation_name(const Mode& mode, std::size_t index) {
  const Equation& e = mode.equations[index];
  const std::string place = e.where.file.empty() ? ""
                                                 : fmt::format(" at {}:{}:{}", e.where.file,
                                                               e.where.line, e.where.column);
  const std::string formula = to_string(e.equality);
  if (e.name.empty()) return fmt::format("equation {} ({}){}", index + 1, formula, place);
  return fmt::format("equation '{}' ({}){}", e.name, formula, place);
}

void validate(const HybridSystem& system) {
  const std::string& name = system.name();
  if (system.modes().empty()) throw Error(fmt::format("{} has no modes", name));
  system.find_mode(system.initial_mode);
  for (const Variable& v : system.variables())
    for (const Expr& leaf : leaves_of(v.start))
      if (!leaf.is_parameter())
        throw Error(
            fmt::format("{}: the start value of '{}' depends on {}; it may depend on "
                        "parameters only",
                        name, v.name, to_string(leaf)));
  for (const Mode& mode : system.modes()) {
    if (mode.equations.empty())
      throw Error(fmt::format("{}: mode '{}' has no equations", name, mode.name));
    std::set<std::string> guard_names;
    for (const Guard& guard : mode.guards) {
      if (guard.name.empty() || !guard_names.insert(guard.name).second)
        throw Error(fmt::format(
            "{}: a guard of mode '{}' has {}", name, mode.name,
            guard.name.empty() ? "no name" : fmt::format("the name '{}' twice", guard.name)));
      if (guard.value.is_number())
        throw Error(
            fmt::format("{}: guard '{}' of mode '{}' is the constant {} and can never switch", name,
                        guard.name, mode.name, guard.value.number()));
      if (!guard.to.empty()) system.find_mode(guard.to);
      if (!guard.limit.empty()) system.find_mode(guard.limit);
      for (const Assignment& a : guard.set) {
        const bool is_value = a.variable.is_variable() && a.variable.node()->order == 0;
        if (!is_value && !a.variable.is_slot())
          throw Error(fmt::format("{}: guard '{}' of mode '{}' sets {}, which is not a variable",
                                  name, guard.name, mode.name, to_string(a.variable)));
      }
    }
  }
}

}  // namespace saltus
