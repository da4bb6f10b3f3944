// Clocked partitions as discrete equations: what ticks together is computed in one event.
//
// A variable x of a clocked partition is a discrete variable that changes only when its clock
// ticks: x = if tick then value else pre(x). So previous(x) is pre(x), hold(x) is x itself, and
// sample(u) is the value of u just before the event. All clocks of one base clock count the ticks
// of that one, so that those which tick together do so at the same instant, whatever the rounding.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "expr/differentiate.h"
#include "modelica/clocks.h"

namespace saltus {
namespace {

DiscreteType discrete_type(BasicType type) {
  switch (type) {
    case BasicType::kInteger:
    case BasicType::kEnumeration:
      return DiscreteType::kInteger;
    case BasicType::kBoolean:
      return DiscreteType::kBoolean;
    default:
      return DiscreteType::kReal;
  }
}

bool contains(const Expr& where, const Expr& what) {
  return std::ranges::any_of(leaves_of(where), [&](const Expr& l) { return l.same_as(what); });
}

}  // namespace

// The work on one model.
class Flattener::ClockedPart {
 public:
  explicit ClockedPart(Flattener& flattener)
      : f_(flattener), flat_(flattener.flat_), clocks_(*flattener.clocks_) {}

  void run() {
    index();
    infer();
    make_ticks();
    make_variables();
    replace_operators();
    take_equations();
    solve();
  }

 private:
  using Key = ClockInference::Key;
  struct ClockedEquation {
    Expr left;
    Expr right;
    SourceLocation where;
    std::string name;
  };

  void index() {
    for (std::size_t k = 0; k < flat_.relations.size(); ++k)
      relation_of_[flat_.relations[k].slot.node()] = k;
    for (const DiscreteVariable& v : flat_.discretes) {
      keys_of_[v.symbol.node()] = {v.symbol.node()};
      keys_of_[v.pre.node()] = {v.symbol.node()};
    }
    for (const Clocks::Operator& o : clocks_.operators)
      keys_of_[o.result.node()] = {o.result.node()};
  }

  // Variables and operators that an expression reads.
  std::vector<Key> keys(const Expr& expression) {
    std::vector<Key> found;
    for (const Expr& leaf : leaves_of(expression)) {
      if (leaf.is_variable()) {
        found.push_back(flat_.system.variable(leaf.node()->variable()).symbol.node());
        continue;
      }
      if (const auto known = keys_of_.find(leaf.node()); known != keys_of_.end()) {
        found.insert(found.end(), known->second.begin(), known->second.end());
      } else if (const auto r = relation_of_.find(leaf.node()); r != relation_of_.end()) {
        const std::vector<Key> inside = keys(flat_.relations[r->second].value);
        keys_of_[leaf.node()] = inside;
        found.insert(found.end(), inside.begin(), inside.end());
      }
    }
    return found;
  }

  // Joins all that the expressions read; null: nothing.
  Key join(const std::vector<Expr>& expressions) {
    Key first = nullptr;
    for (const Expr& e : expressions)
      for (const Key key : keys(e)) {
        if (first != nullptr) inference_.join(first, key);
        first = key;
      }
    return first;
  }

  void gather(const EquationItem& item, std::vector<Expr>& sides) {
    if (const auto* e = std::get_if<Equation>(&item.value)) {
      sides.push_back(e->equality.lhs);
      sides.push_back(e->equality.rhs);
      return;
    }
    const auto& branching = std::get<IfEquation>(item.value);
    for (const Expr& c : branching.conditions) sides.push_back(c);
    for (const auto& branch : branching.branches)
      for (const EquationItem& inside : branch) gather(inside, sides);
  }

  Key join(const EquationItem& item) {
    std::vector<Expr> sides;
    gather(item, sides);
    return join(sides);
  }

  void infer() {
    for (const EquationItem& item : flat_.equations) join(item);
    for (const DiscreteCandidate& c : f_.discrete_candidates_) join({c.left, c.right});
    for (const DiscreteEquation& e : flat_.discrete_equations) join({e.target, e.value});
    for (const auto& [a, b] : clocks_.equal) inference_.join(a.node(), b.node());
    for (const Clocks::Clock& c : clocks_.constructors) {
      inference_.mark_clocked(c.symbol.node(), c.place);
      if (c.source) inference_.set_source(c.symbol.node(), *c.source);
      for (const Key key : keys(c.condition)) inference_.mark_continuous(key, c.place);
      if (!c.like) continue;
      inference_.join(c.symbol.node(), c.like->node());
      inference_.set_solver(c.symbol.node(), c.solver, c.place);
    }
    for (const Clocks::Operator& o : clocks_.operators) note(o);
    for (const auto& [clock, sides] : clocks_.in_when) {
      inference_.mark_clocked(clock.node(), {});
      if (const Key key = join(sides)) inference_.join(clock.node(), key);
    }
    for (const Clocks::Transfer& t : clocks_.transfers)
      inference_.relate(t.from.node(), t.to.node(), t.factor, t.shift, t.place);
    inference_.solve();
  }

  void note(const Clocks::Operator& o) {
    const Key argument = join({o.argument});
    const Key result = o.result.node();
    using Kind = Clocks::Kind;
    if (o.kind == Kind::kHold) {
      inference_.mark_continuous(result, o.place);
    } else {
      inference_.mark_clocked(result, o.place);
    }
    if (o.clock) inference_.join(result, o.clock->node());
    if (argument == nullptr) return;
    switch (o.kind) {
      case Kind::kSample:
        inference_.mark_continuous(argument, o.place);
        break;
      case Kind::kPrevious:
      case Kind::kInterval:
      case Kind::kFirstTick:
        inference_.join(argument, result);
        break;
      case Kind::kTransfer:
        inference_.relate(argument, result, o.factor, o.shift, o.place);
        break;
      default:
        inference_.mark_clocked(argument, o.place);
    }
  }

  void set(const Expr& target, const Expr& value, const SourceLocation& where = {}) {
    f_.when_assigned_.insert(target.node());
    flat_.discrete_equations.push_back({target, value, where});
  }

  // Base clocks, and those that count their ticks.
  void make_ticks() {
    first_own_ = flat_.discrete_equations.size();
    for (std::size_t b = 0; b < inference_.bases().size(); ++b) {
      const ClockInference::Source& source = inference_.bases()[b].source;
      Expr tick;
      if (source.event == nullptr) {
        tick = flat_.sample(flat_.system.experiment.start_time,
                            source.unit * source.interval.value(), source.place.location());
      } else {
        for (const Clocks::Clock& c : clocks_.constructors)
          if (c.symbol.node() == source.event) {
            tick = tick_after(select(flat_.initial(), c.condition, flat_.edge(c.condition)), b);
            start_interval_[b] = c.start_interval;
          }
      }
      base_ticks_.push_back(tick);
    }
  }

  // What a tick does may make its condition false again, at the same instant: an angle that is held
  // from tick to tick. So the condition is known before the clock ticks. Before the start it was
  // false.
  Expr tick_after(const Expr& rises, std::size_t base) {
    event_edges_.push_back(flat_.discrete_equations.size() - 1);
    const Expr due = f_.hidden_discrete(fmt::format("$due{}", base + 1), {});
    event_edges_.push_back(flat_.discrete_equations.size());
    set(due, rises);
    return f_.pre_slot(due);
  }

  const Expr& counter_of(std::size_t base) {
    const auto [at, is_new] = counters_.try_emplace(base);
    if (!is_new) return at->second;
    at->second = f_.hidden_discrete(fmt::format("$ticks{}", base + 1),
                                    {.type = DiscreteType::kInteger, .start = -1.0});
    const Expr before = f_.pre_slot(at->second);
    set(at->second, select(base_ticks_[base], before + 1.0, before));
    return at->second;
  }

  Expr tick_of(Key key) {
    const ClockInference::Partition& p = inference_.partition(key);
    if (p.every == 1 && p.offset == 0) return base_ticks_[p.base];
    Expr& tick = ticks_[{p.base, p.every, p.offset}];
    if (tick.is_slot()) return tick;
    const Expr count = counter_of(p.base);
    const Expr since = count - static_cast<double>(p.offset);
    tick = f_.hidden_discrete(fmt::format("$tick{}", ticks_.size()), {});
    set(tick, base_ticks_[p.base] && since >= 0.0 &&
                  equal(mod(since, static_cast<double>(p.every)), 0.0));
    return tick;
  }

  bool is_clocked(Key key) { return inference_.partition(key).clocked.has_value(); }

  // Whether the clock has ticked before, and when.
  struct Memory {
    Expr ticked;
    Expr last;
  };
  const Memory& memory_of(Key key) {
    const ClockInference::Partition& p = inference_.partition(key);
    Memory& memory = memories_[{p.base, p.every, p.offset}];
    if (memory.ticked.is_slot()) return memory;
    const Expr tick = tick_of(key);
    memory.ticked = f_.hidden_discrete(fmt::format("$ticked{}", memories_.size()), {});
    set(memory.ticked, f_.pre_slot(memory.ticked) || tick);
    memory.last = f_.hidden_discrete(fmt::format("$last tick{}", memories_.size()),
                                     {.type = DiscreteType::kReal});
    set(memory.last, select(tick, flat_.system.time(), f_.pre_slot(memory.last)));
    return memory;
  }

  // Unknowns that are clocked become discrete variables; the unknown stays as their name.
  void make_variables() {
    const std::size_t count = flat_.system.variables().size();
    for (std::size_t i = 0; i < count; ++i) {
      const Variable v = flat_.system.variables()[i];
      const Key key = v.symbol.node();
      if (!is_clocked(key)) continue;
      const Expr own =
          f_.hidden_discrete("$clocked " + v.name, {.type = DiscreteType::kReal, .start = v.start});
      from_.push_back(v.symbol);
      to_.push_back(own);
      key_of_[own.node()] = key;
      unknowns_.push_back(own);
      Equation e("clocked " + v.name, v.symbol == own);
      if (i < f_.variable_places_.size()) e.where = f_.variable_places_[i];
      names_.push_back(std::move(e));
      make_derivative(v, own, key);
    }
    std::unordered_set<Key> given;
    for (std::size_t k = 0; k < first_own_; ++k)
      given.insert(flat_.discrete_equations[k].target.node());
    for (const DiscreteVariable& v : std::vector<DiscreteVariable>(flat_.discretes)) {
      const Key key = v.symbol.node();
      if (given.contains(key)) continue;
      if (key_of_.contains(key) || !f_.discrete_numbers_.contains(key) || !is_clocked(key) ||
          f_.when_assigned_.contains(key))
        continue;
      key_of_[key] = key;
      unknowns_.push_back(v.symbol);
    }
  }

  // der(x) where a solver is given: x follows from the derivative by one step of it.
  void make_derivative(const Variable& v, const Expr& own, Key key) {
    const Expr slope = der(v.symbol);
    if (!is_differentiated(slope)) return;
    const ClockInference::Partition& p = inference_.partition(key);
    if (p.solver.empty())
      throw Error(
          fmt::format("der({}) in a clocked part needs a clock with a solverMethod", v.name),
          p.clocked->location());
    const bool is_explicit = p.solver == "ExplicitEuler";
    if (!is_explicit && p.solver != "ImplicitEuler")
      refuse(fmt::format("the solver method \"{}\" of a clock (ExplicitEuler and ImplicitEuler are "
                         "there)",
                         p.solver),
             *p.clocked);
    const Expr rate =
        f_.hidden_discrete(fmt::format("$der {}", v.name), {.type = DiscreteType::kReal});
    key_of_[rate.node()] = key;
    from_.push_back(slope);
    to_.push_back(rate);
    unknowns_.back() = rate;  // the variable itself is given
    const Memory memory = memory_of(key);
    const Expr step = interval_of(key);
    const Expr before = f_.pre_slot(own);
    const Expr next = before + step * (is_explicit ? f_.pre_slot(rate) : rate);
    set(own, select(tick_of(key), select(f_.pre_slot(memory.ticked), next, v.start), before));
  }

  bool is_differentiated(const Expr& slope) {
    for (const EquationItem& item : flat_.equations) {
      std::vector<Expr> sides;
      gather(item, sides);
      if (std::ranges::any_of(sides, [&](const Expr& s) { return contains(s, slope); }))
        return true;
    }
    return false;
  }

  Expr interval_of(Key key) {
    const ClockInference::Partition& p = inference_.partition(key);
    if (p.interval > 0.0) return p.interval;
    const Memory& memory = memory_of(key);
    const Expr gone = flat_.system.time() - f_.pre_slot(memory.last);
    return select(f_.pre_slot(memory.ticked), gone, start_interval_.at(p.base));
  }

  // Whether an expression has its value only while its clock ticks: previous(x) has another when
  // the tick is over.
  bool lasts_an_instant(const Expr& e) const {
    const std::vector<Expr> leaves = leaves_of(e);
    return std::ranges::any_of(clocks_.operators, [&](const Clocks::Operator& o) {
      using Kind = Clocks::Kind;
      return (o.kind == Kind::kPrevious || o.kind == Kind::kInterval ||
              o.kind == Kind::kFirstTick) &&
             std::ranges::any_of(leaves, [&](const Expr& l) { return l.same_as(o.result); });
    });
  }

  // Of previous(x), that of x.
  Expr start_of(const Expr& e) const {
    for (const Clocks::Operator& o : clocks_.operators) {
      if (!o.result.same_as(e) || o.kind != Clocks::Kind::kPrevious) continue;
      if (o.argument.is_variable())
        return flat_.system.variable(o.argument.node()->variable()).start;
      const auto at = f_.discrete_numbers_.find(o.argument.node());
      if (at != f_.discrete_numbers_.end()) return flat_.discretes[at->second].start;
    }
    return 0.0;
  }

  void replace_operators() {
    using Kind = Clocks::Kind;
    // Those that remember have a variable of their own.
    struct Remembered {
      Expr own;
      const Clocks::Operator* from;
      Key clock;
    };
    std::vector<Remembered> remember;
    const auto add_memory = [&](const Clocks::Operator& o, Key clock, const Expr& start) {
      Expr own = f_.hidden_discrete(
          fmt::format("${}", o.result.node()->slot().index()),
          {.type = discrete_type(o.type), .start = start, .where = o.place.location()});
      remember.push_back({own, &o, clock});
      return own;
    };
    for (const Clocks::Operator& o : clocks_.operators) {
      Expr stands = o.argument;
      const Key key = o.result.node();
      switch (o.kind) {
        case Kind::kHold:
          if (lasts_an_instant(o.argument))
            stands = add_memory(o, join({o.argument}), start_of(o.argument));
          break;
        case Kind::kPrevious:
          if (o.argument.is_variable()) {
            const auto at =
                std::ranges::find_if(from_, [&](const Expr& x) { return x.same_as(o.argument); });
            stands = f_.pre_slot(to_[static_cast<std::size_t>(at - from_.begin())]);
          } else if (o.argument.is_slot()) {
            stands = f_.pre_slot(o.argument);
          }
          break;
        case Kind::kInterval:
          stands = interval_of(key);
          break;
        case Kind::kFirstTick:
          stands = !f_.pre_slot(memory_of(key).ticked);
          break;
        default:
          stands = add_memory(o, key, 0.0);
      }
      from_.push_back(o.result);
      to_.push_back(stands);
    }
    // hold() of hold() and the like.
    constexpr int kMostNested = 50;
    for (int round = 0; round < kMostNested; ++round) {
      bool changed = false;
      for (Expr& e : to_) {
        const Expr next = substitute(e, from_, to_);
        changed = changed || !next.same_as(e);
        e = next;
      }
      if (!changed) break;
    }
    for (const Remembered& r : remember) {
      const Expr argument = replaced(r.from->argument);
      const Expr value = r.from->kind == Kind::kSample ? flat_.left_limit(argument) : argument;
      set(r.own, select(tick_of(r.clock), value, f_.pre_slot(r.own)), r.from->place.location());
    }
    for (const std::size_t k : event_edges_)
      flat_.discrete_equations[k].value = replaced(flat_.discrete_equations[k].value);
    for (Relation& r : flat_.relations) r.value = replaced(r.value);
    for (Reinit& r : flat_.reinits) {
      r.condition = replaced(r.condition);
      r.value = replaced(r.value);
    }
    for (Assertion& a : flat_.assertions) a.condition = replaced(a.condition);
    for (Termination& t : flat_.terminations) t.condition = replaced(t.condition);
  }

  Expr replaced(const Expr& e) const { return substitute(e, from_, to_); }

  EquationItem replaced(const EquationItem& item) const {
    if (const auto* e = std::get_if<Equation>(&item.value)) {
      Equation copy = *e;
      copy.equality = {replaced(copy.equality.lhs), replaced(copy.equality.rhs)};
      return copy;
    }
    IfEquation copy = std::get<IfEquation>(item.value);
    for (Expr& c : copy.conditions) c = replaced(c);
    for (auto& branch : copy.branches)
      for (EquationItem& inside : branch) inside = replaced(inside);
    return copy;
  }

  // Equations of clocked partitions leave the model; the others lose the operators.
  void take_equations() {
    std::vector<EquationItem> kept;
    for (const EquationItem& item : flat_.equations) {
      const Key key = join(item);
      if (key == nullptr || !is_clocked(key)) {
        // What is clocked is read through its unknown, but for hold().
        kept.push_back(replaced(item));
      } else {
        take(item);
      }
    }
    for (Equation& e : names_) kept.emplace_back(std::move(e));
    flat_.equations = std::move(kept);
    flat_.solved_equations.clear();
    for (EquationItem& item : flat_.initial_equations) item = replaced(item);
    std::vector<DiscreteCandidate> candidates;
    for (const DiscreteCandidate& c : f_.discrete_candidates_) {
      const Key key = join({c.left, c.right});
      if (key == nullptr || !is_clocked(key)) {
        candidates.push_back({replaced(c.left), replaced(c.right), c.where, c.name});
      } else {
        equations_.push_back({replaced(c.left), replaced(c.right), c.where, c.name});
      }
    }
    f_.discrete_candidates_ = std::move(candidates);
    for (std::size_t k = 0; k < first_own_; ++k) {
      DiscreteEquation& e = flat_.discrete_equations[k];
      const Key key = join({e.target, e.value});
      e.value = replaced(e.value);
      if (key != nullptr && is_clocked(key))
        if (const auto slot = f_.pre_slots_.find(e.target.node()); slot != f_.pre_slots_.end())
          e.value = select(tick_of(key), e.value, slot->second);
    }
  }

  // Branches of a clocked if-equation are chosen number by number.
  void take(const EquationItem& item) {
    if (const auto* e = std::get_if<Equation>(&item.value)) {
      equations_.push_back(
          {replaced(e->equality.lhs), replaced(e->equality.rhs), e->where, e->name});
      return;
    }
    const auto& branching = std::get<IfEquation>(item.value);
    std::vector<std::vector<ClockedEquation>> branches;
    for (const auto& branch : branching.branches) {
      const std::size_t before = equations_.size();
      for (const EquationItem& inside : branch) take(inside);
      branches.emplace_back(equations_.begin() + static_cast<std::ptrdiff_t>(before),
                            equations_.end());
      equations_.resize(before);
    }
    for (const auto& branch : branches)
      if (branch.size() != branches.front().size())
        throw Error("the branches of a clocked if-equation have different numbers of equations",
                    branching.where);
    for (std::size_t k = 0; k < branches.front().size(); ++k) {
      ClockedEquation made = branches.back()[k];
      for (std::size_t b = branches.size() - 1; b-- > 0;) {
        const ClockedEquation& other = branches[b][k];
        const Expr condition = replaced(branching.conditions[b]);
        if (other.left.same_as(made.left)) {
          made.right = select(condition, other.right, made.right);
        } else {
          made.left = select(condition, other.left - other.right, made.left - made.right);
          made.right = 0.0;
        }
      }
      equations_.push_back(std::move(made));
    }
  }

  // Each equation gives one variable its value.
  void solve() {
    std::unordered_map<const Node*, std::size_t> number;
    for (std::size_t u = 0; u < unknowns_.size(); ++u) number[unknowns_[u].node()] = u;
    std::vector<std::vector<std::size_t>> options(equations_.size());
    for (std::size_t k = 0; k < equations_.size(); ++k) {
      const ClockedEquation& e = equations_[k];
      const auto offer = [&](const Expr& leaf) {
        const auto at = number.find(leaf.node());
        if (leaf.node() != nullptr && at != number.end() &&
            std::ranges::find(options[k], at->second) == options[k].end())
          options[k].push_back(at->second);
      };
      offer(e.left);
      offer(e.right);
      for (const Expr& leaf : leaves_of(std::vector<Expr>{e.left, e.right})) {
        const auto v = f_.discrete_numbers_.find(leaf.node());
        if (v != f_.discrete_numbers_.end() &&
            flat_.discretes[v->second].type == DiscreteType::kReal)
          offer(leaf);
      }
      for (const Expr& side : {e.left, e.right})
        if (side.node() != nullptr && side.node()->op == Op::kNot)
          offer(Expr(side.node()->children[0]));
    }
    constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
    std::vector<std::size_t> giver(unknowns_.size(), kNobody);
    std::vector<std::size_t> visited(unknowns_.size(), kNobody);
    const std::function<bool(std::size_t, std::size_t)> place = [&](std::size_t k,
                                                                    std::size_t round) {
      for (const std::size_t u : options[k])
        if (giver[u] == kNobody) {
          giver[u] = k;
          return true;
        }
      for (const std::size_t u : options[k]) {
        if (visited[u] == round) continue;
        visited[u] = round;
        if (place(giver[u], round)) {
          giver[u] = k;
          return true;
        }
      }
      return false;
    };
    for (std::size_t k = 0; k < equations_.size(); ++k)
      if (!place(k, k))
        throw Error(fmt::format("{}: one clocked equation too many", equations_[k].name),
                    equations_[k].where);
    for (std::size_t u = 0; u < unknowns_.size(); ++u) {
      const Expr& own = unknowns_[u];
      if (giver[u] == kNobody) {
        const DiscreteVariable& v = flat_.discretes[f_.discrete_numbers_.at(own.node())];
        std::string name = v.name;
        if (name.starts_with('$')) name.erase(0, name.find(' ') + 1);
        throw Error(fmt::format("no equation gives the clocked variable '{}' a value", name),
                    v.where);
      }
      const ClockedEquation& e = equations_[giver[u]];
      set(own, select(tick_of(key_of_.at(own.node())), solved_for(own, e), f_.pre_slot(own)),
          e.where);
    }
  }

  Expr solved_for(const Expr& own, const ClockedEquation& e) {
    for (const bool left : {true, false}) {
      const Expr& side = left ? e.left : e.right;
      const Expr& other = left ? e.right : e.left;
      if (contains(other, own)) continue;
      if (side.same_as(own)) return other;
      if (side.node() != nullptr && side.node()->op == Op::kNot &&
          Expr(side.node()->children[0]).same_as(own))
        return !other;
    }
    const Expr residual = e.left - e.right;
    const Expr slope = partial(residual, own);
    const Expr zero = 0.0;
    if (contains(slope, own) || polynomial_degree(residual, std::span(&own, 1)) != 1)
      throw Error(fmt::format("{}: this clocked equation is not linear in what it must give: not "
                              "supported",
                              e.name),
                  e.where);
    return -substitute(residual, std::span(&own, 1), std::span(&zero, 1)) / slope;
  }

  Flattener& f_;
  FlatModel& flat_;
  Clocks& clocks_;
  ClockInference inference_;
  std::unordered_map<const Node*, std::size_t> relation_of_;
  std::unordered_map<const Node*, std::vector<Key>> keys_of_;  // of slots
  std::vector<Expr> base_ticks_;
  std::map<std::size_t, Expr> start_interval_;
  std::map<std::size_t, Expr> counters_;
  using Count = std::tuple<std::size_t, std::int64_t, std::int64_t>;
  std::map<Count, Expr> ticks_;
  std::map<Count, Memory> memories_;
  std::vector<Expr> from_;
  std::vector<Expr> to_;
  std::vector<Expr> unknowns_;
  std::unordered_map<const Node*, Key> key_of_;  // by discrete variable
  std::vector<Equation> names_;
  std::vector<ClockedEquation> equations_;
  std::vector<std::size_t> event_edges_;
  std::size_t first_own_ = 0;  // discrete equations before are the model's
};

void Flattener::solve_clocks() {
  if (clocks_ != nullptr) ClockedPart(*this).run();
}

}  // namespace saltus
