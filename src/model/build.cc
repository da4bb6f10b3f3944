#include "model/build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "expr/differentiate.h"
#include "expr/traverse.h"
#include "model/aliases.h"
#include "model/follower.h"
#include "model/named_derivatives.h"
#include "model/semi_linear.h"
#include "model/solved_equations.h"

namespace saltus {
namespace {

using LeafMap = std::function<Expr(const Node&)>;

// The same expression in another graph.
Expr transplant(const Expr& a, Graph& graph, const LeafMap& variable) {
  if (a.node() == nullptr) return a;
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(a.node(), position, order);
  std::vector<Expr> result(order.size());
  std::vector<Expr> arguments;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Node& n = *order[k];
    switch (n.op) {
      case Op::kConstant:
        result[k] = graph.constant(n.value);
        break;
      case Op::kTime:
        result[k] = graph.time();
        break;
      case Op::kVariable:
        result[k] = variable(n);
        break;
      case Op::kParameter:
        result[k] = graph.parameter(n.parameter());
        break;
      case Op::kSlot:
        result[k] = graph.slot(n.slot());
        break;
      default:
        arguments.clear();
        for (const Node* child : n.children) arguments.push_back(result[position.find(child)]);
        result[k] = rebuild(&n, arguments);
    }
  }
  return result.back();
}

// Start value, nominal value and fixedness of a variable that stays, from all that are equal to it.
void inherit(VariableOptions& kept, const std::string& kept_name, const Variable& other,
             const Expr& other_start, const SourceLocation& other_place, std::string& fixed_by) {
  const bool is_default = kept.start.is_number() && kept.start.number() == 0.0;
  if (other.fixed && kept.fixed) {
    const bool differ = kept.start.is_number() && other_start.is_number() &&
                        kept.start.number() != other_start.number();
    if (differ)
      throw Error(fmt::format("'{}' and '{}' are equal up to sign, but their fixed start values "
                              "differ: {} and {}; fix only one of them",
                              fixed_by, other.name, kept.start.number(), other_start.number()),
                  other_place);
  } else if (other.fixed) {
    kept.start = other_start;
    kept.fixed = true;
    fixed_by = other.name;
  } else if (!kept.fixed && is_default) {
    kept.start = other_start;
  }
  if (kept.nominal == 1.0) kept.nominal = other.nominal;
  if (kept.unit.empty()) kept.unit = other.unit;
  if (fixed_by.empty()) fixed_by = kept_name;
}

// The largest number of equations that an item stands for.
std::size_t equation_count(const EquationItem& item) {
  const auto* conditional = std::get_if<IfEquation>(&item.value);
  if (conditional == nullptr) return 1;
  std::size_t most = 0;
  for (const auto& branch : conditional->branches) {
    std::size_t count = 0;
    for (const EquationItem& inner : branch) count += equation_count(inner);
    most = std::max(most, count);
  }
  return most;
}

void add_residuals(const std::vector<EquationItem>& items, std::vector<Expr>& residuals) {
  for (const EquationItem& item : items) {
    if (const auto* equation = std::get_if<Equation>(&item.value)) {
      residuals.push_back(equation->residual());
      continue;
    }
    for (const auto& branch : std::get<IfEquation>(item.value).branches)
      add_residuals(branch, residuals);
  }
}

class Builder {
 public:
  explicit Builder(FlatModel model)
      : flat_(std::make_shared<FlatSystem>(
            FlatSystem{std::move(model), FlatModel(""), Expr(), {}, 0, Expr()})) {}

  HybridSystem run() {
    FlatModel& from = flat_->written;
    FlatModel& to = flat_->reduced;
    to.system = HybridSystem(from.system.name());
    to.system.experiment = from.system.experiment;
    const Expr initial = from.initial();  // a slot from now on
    for (const Sample& s : from.samples)
      flat_->next_samples.push_back(from.system.graph().new_slot(
          fmt::format("next sample({}, {})", to_string(s.start), to_string(s.interval))));
    name_derivatives(from);
    use_solved_equations(from);
    choose_slopes(from);
    aliases_ = find_aliases(from);
    copy_symbols();
    flat_->initial = moved(initial);
    if (from.has_terminal()) flat_->terminal = moved(from.terminal());
    for (Expr& slot : flat_->next_samples) slot = moved(slot);
    copy_items();
    HybridSystem system = to.system;
    list_results(system);
    system.set_flat(flat_);
    return system;
  }

 private:
  Expr moved(const Expr& a) {
    return transplant(aliases_.rewrite(a), graph(), [this](const Node& n) {
      return graph().variable(moved_[n.index].node()->variable(), n.order);
    });
  }
  Graph& graph() { return flat_->reduced.system.graph(); }

  void copy_symbols() {
    const HybridSystem& from = flat_->written.system;
    HybridSystem& to = flat_->reduced.system;
    for (const Parameter& p : from.parameters())
      to.parameter(p.name, p.value, {p.unit, p.description});
    for (std::size_t i = 0; i < from.graph().slot_count(); ++i)
      graph().new_slot(from.graph().name(SlotId(i)));

    const std::size_t n = from.variables().size();
    std::vector<VariableOptions> options;
    std::vector<std::string> fixed_by(n);
    for (const Variable& v : from.variables()) options.push_back(v);
    for (std::size_t i = 0; i < n; ++i) {
      const Expr& stands = aliases_.value[i];
      const Variable& v = from.variables()[i];
      if (stands.same_as(v.symbol)) continue;
      ++flat_->aliases;
      const bool negated = !stands.is_number() && stands.node()->op == Op::kNegate &&
                           stands.node()->children[0]->op == Op::kVariable;
      const Expr root = negated ? Expr(stands.node()->children[0]) : stands;
      if (!root.is_variable()) continue;
      const std::size_t r = root.node()->index;
      if (fixed_by[r].empty()) fixed_by[r] = from.variables()[r].name;
      const std::vector<SourceLocation>& places = flat_->written.variable_places;
      inherit(options[r], from.variables()[r].name, v, negated ? -v.start : v.start,
              i < places.size() ? places[i] : SourceLocation(), fixed_by[r]);
    }
    moved_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Variable& v = from.variables()[i];
      if (!aliases_.value[i].same_as(v.symbol)) continue;
      options[i].start = moved(options[i].start);
      moved_[i] = to.variable(v.name, options[i]);
    }
  }

  std::vector<EquationItem> moved(const std::vector<EquationItem>& items) {
    std::vector<EquationItem> result;
    for (const EquationItem& item : items) {
      if (const auto* equation = std::get_if<Equation>(&item.value)) {
        Equation copy = *equation;
        copy.equality = {moved(copy.equality.lhs), moved(copy.equality.rhs)};
        result.emplace_back(std::move(copy));
      } else {
        IfEquation copy = std::get<IfEquation>(item.value);
        for (Expr& condition : copy.conditions) condition = moved(condition);
        for (auto& branch : copy.branches) branch = moved(branch);
        result.emplace_back(std::move(copy));
      }
    }
    return result;
  }

  void copy_items() {
    const FlatModel& from = flat_->written;
    FlatModel& to = flat_->reduced;
    for (DiscreteVariable v : from.discretes) {
      v.symbol = moved(v.symbol);
      v.pre = moved(v.pre);
      v.start = moved(v.start);
      v.exists = moved(v.exists);
      to.discretes.push_back(std::move(v));
    }
    for (Relation r : from.relations) {
      r.slot = moved(r.slot);
      r.value = moved(r.value);
      to.relations.push_back(std::move(r));
    }
    for (Sample s : from.samples) {
      s = {moved(s.slot), moved(s.start), moved(s.interval), s.where, s.line};
      to.samples.push_back(std::move(s));
    }
    for (const Delay& d : from.delays)
      to.delays.push_back({moved(d.value), moved(d.duration), moved(d.delayed), d.line, d.sample});
    for (const LeftLimit& l : from.left_limits)
      to.left_limits.push_back({moved(l.slot), moved(l.value)});
    std::vector<EquationItem> kept;
    for (std::size_t i = 0; i < from.equations.size(); ++i)
      if (!aliases_.removed[i]) kept.push_back(from.equations[i]);
    std::vector<EquationItem> items = moved(kept);
    const auto is_empty = [](const EquationItem& item) {
      const auto* equation = std::get_if<Equation>(&item.value);
      if (equation == nullptr) return false;
      const Expr residual = equation->residual();
      return residual.is_number() && residual.number() == 0.0;
    };
    // An equation too many is left out. Where it is not, its place is missing elsewhere (two locks
    // side by side share their torque in no unique way), and the analysis has to know which it was.
    // Only constraints on what moves have forces that can be shared.
    std::vector<bool> moves(from.system.variables().size(), false);
    mark_differentiated(from.equations, moves);
    // What is equal to something that moves does so, too.
    std::vector<bool> stands_for_motion(moves.size(), false);
    for (std::size_t i = 0; i < moves.size(); ++i)
      for (const Expr& leaf : leaves_of(aliases_.value[i]))
        if (moves[i] && leaf.is_variable()) stands_for_motion[leaf.node()->index] = true;
    for (std::size_t i = 0; i < moves.size(); ++i)
      for (const Expr& leaf : leaves_of(aliases_.value[i]))
        if (leaf.is_variable() && stands_for_motion[leaf.node()->index]) moves[i] = true;
    const auto constrains_motion = [&](const EquationItem& item) {
      const std::vector<Expr> leaves = leaves_of(std::get<Equation>(item.value).residual());
      return std::ranges::any_of(leaves, [&](const Expr& leaf) {
        return leaf.is_variable() && (moves[leaf.node()->index] || leaf.node()->order > 0);
      });
    };
    std::size_t missing = to.system.variables().size();
    for (const EquationItem& item : items)
      if (!is_empty(item)) missing -= std::min(missing, equation_count(item));
    for (std::size_t k = 0; k < items.size(); ++k) {
      EquationItem& item = items[k];
      if (is_empty(item) && (missing == 0 || !constrains_motion(kept[k]))) {
        to.warnings.push_back(fmt::format("the equation {} says what others say already",
                                          to_string(std::get<Equation>(item.value).equality)));
        continue;
      }
      if (is_empty(item)) --missing;
      to.equations.push_back(std::move(item));
    }
    to.initial_equations = moved(from.initial_equations);
    for (const DiscreteEquation& e : from.discrete_equations)
      to.discrete_equations.push_back({moved(e.target), moved(e.value), e.where});
    for (const DiscreteEquation& e : from.initial_discrete)
      to.initial_discrete.push_back({moved(e.target), moved(e.value), e.where});
    for (const Reinit& r : from.reinits) copy_reinit(r);
    for (const MachineSymbols& m : from.machines)
      to.machines.push_back({moved(m.active), moved(m.fired), moved(m.tie)});
    for (const Assertion& a : from.assertions)
      to.assertions.push_back({moved(a.condition), a.message, a.is_warning, a.where});
    for (const Termination& t : from.terminations)
      to.terminations.push_back({moved(t.condition), t.message, t.where});
    for (const TextValue& v : from.text_values) to.text_values.push_back({moved(v.value), v.text});
    for (Printing p : from.printings) {
      p.count = moved(p.count);
      p.reached = moved(p.reached);
      to.printings.push_back(std::move(p));
    }
    for (Bounds b : from.bounds) {
      b.value = moved(b.value);
      to.bounds.push_back(std::move(b));
    }
    to.warnings.insert(to.warnings.begin(), from.warnings.begin(), from.warnings.end());
  }

  void copy_reinit(const Reinit& r) {
    Expr variable = moved(r.variable);
    Expr value = moved(r.value);
    if (!variable.is_number() && variable.node()->op == Op::kNegate) {
      variable = Expr(variable.node()->children[0]);
      value = -value;
    }
    const bool is_discrete = variable.is_slot() && r.handover != Handover::kReset;
    // What is carried into an eliminated variable follows from others that are carried.
    const bool is_carried = r.handover == Handover::kCarry || r.handover == Handover::kStart;
    if (!variable.is_variable() && !is_discrete && is_carried) return;
    if (!variable.is_variable() && !is_discrete)
      throw Error(fmt::format("reinit of '{}', which the equations set to {}",
                              to_string(r.variable), to_string(variable)),
                  r.where);
    flat_->reduced.reinits.push_back({moved(r.condition), variable, value, r.where, r.handover});
  }

  // Discrete variables and eliminated unknowns; names that begin with $ are no names of the source.
  void list_results(HybridSystem& system) {
    const FlatModel& from = flat_->written;
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      const Variable& v = from.system.variables()[i];
      if (!aliases_.value[i].same_as(v.symbol) && !v.name.starts_with('$'))
        system.derive(v.name, moved(v.symbol), {v.unit, v.description});
    }
    std::unordered_map<std::string, Expr> followers;
    for (const Derived& d : from.system.derived())
      if (d.name.starts_with(kFollower)) followers[d.name.substr(kFollower.size())] = d.value;
    for (const DiscreteVariable& v : flat_->reduced.discretes) {
      if (v.name.starts_with('$')) continue;
      if (const auto at = followers.find(v.name); at != followers.end()) {
        system.derive(v.name, moved(at->second), {v.unit, v.description});
        continue;
      }
      const Expr absent = std::numeric_limits<double>::quiet_NaN();
      system.derive(v.name, v.exists.is_number() ? v.symbol : select(v.exists, v.symbol, absent),
                    {v.unit, v.description});
    }
    for (const Derived& d : from.system.derived())
      if (!d.name.starts_with(kFollower))
        system.derive(d.name, moved(d.value), {d.unit, d.description});
  }

  std::shared_ptr<FlatSystem> flat_;
  Aliases aliases_;
  std::vector<Expr> moved_;  // by variable of the written form; the number 0 if eliminated
};

}  // namespace

HybridSystem build(FlatModel model) { return Builder(std::move(model)).run(); }

void check_determined(const HybridSystem& system) {
  const FlatSystem& flat = *system.flat();
  std::vector<Expr> residuals;
  add_residuals(flat.reduced.equations, residuals);
  std::vector<bool> occurs(flat.reduced.system.variables().size(), false);
  for (const Expr& leaf : leaves_of(residuals))
    if (leaf.is_variable()) occurs[leaf.node()->index] = true;
  std::vector<std::string> names;
  const auto look_at = [&](const std::string& name, const Expr& value) {
    for (const Expr& leaf : leaves_of(value))
      if (leaf.is_variable() && leaf.node()->index < occurs.size() && !occurs[leaf.node()->index])
        return names.push_back(name);
  };
  for (const Variable& v : flat.reduced.system.variables()) look_at(v.name, v.symbol);
  if (names.empty()) return;
  for (const Derived& d : system.derived()) look_at(d.name, d.value);
  SourceLocation where;
  const std::vector<Variable>& written = flat.written.system.variables();
  for (std::size_t i = written.size(); i-- > 0;)
    if (i < flat.written.variable_places.size() && std::ranges::count(names, written[i].name) > 0)
      where = flat.written.variable_places[i];
  throw Error(fmt::format("{}: nothing determines '{}'; give an equation or a control law",
                          system.name(), fmt::join(names, "', '")),
              where);
}

Expr in_graph_of(const HybridSystem& system, const Expr& a) {
  return transplant(a, system.graph(), [](const Node& n) -> Expr {
    throw Error(fmt::format("a condition depends on {}", to_string(Expr(&n))));
  });
}

}  // namespace saltus
