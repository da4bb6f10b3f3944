#include "analysis/flat_modes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "analysis/analysed_mode.h"
#include "analysis/dependence.h"
#include "analysis/mode_conditions.h"
#include "analysis/structural_values.h"
#include "base/kept_work.h"
#include "base/processor_time.h"
#include "expr/differentiate.h"
#include "expr/work_key.h"

namespace saltus {
namespace {

std::string as_text(const Expr& condition, bool value) {
  const Expr shown = value ? condition : !condition;
  return to_string(shown);
}

void collect(const std::vector<EquationItem>& items, std::vector<Expr>& conditions) {
  for (const EquationItem& item : items) {
    const auto* conditional = std::get_if<IfEquation>(&item.value);
    if (conditional == nullptr) continue;
    conditions.insert(conditions.end(), conditional->conditions.begin(),
                      conditional->conditions.end());
    for (const auto& branch : conditional->branches) collect(branch, conditions);
  }
}

// What follows from frozen conditions alone, for the next run that asks.
struct KeptBranching {
  std::vector<Expr> conditions, open;
  std::vector<Equation> equations;
  Tape tape;
};
struct KeptFlatMode {
  FlatMode mode;  // but for its name and place
};
struct KeptTogether {
  std::vector<std::size_t> conditions;
};

std::vector<std::pair<const Node*, bool>> in_order(const Frozen& frozen) {
  std::vector<std::pair<const Node*, bool>> ordered(frozen.begin(), frozen.end());
  std::ranges::sort(ordered, {}, [](const auto& entry) { return entry.first->id; });
  return ordered;
}

WorkKey question_about(const Frozen& frozen) {
  WorkKey key;
  key.add(frozen.size());
  for (const auto& [condition, value] : in_order(frozen))
    key.add(Expr(condition)).add(std::size_t{value});
  return key;
}

// `make` where it was not asked before.
template <class Answer, class Make>
std::shared_ptr<const Answer> ask(const HybridSystem& system, const WorkKey& key,
                                  const Make& make) {
  KeptWork* kept = KeptWork::of(&system.graph());
  std::shared_ptr<const Answer> answer;
  if (kept != nullptr) answer = kept->table<KeptAnswers<Answer>>().find(key);
  if (answer != nullptr) return answer;
  answer = std::make_shared<const Answer>(make());
  if (kept != nullptr) kept->table<KeptAnswers<Answer>>().keep(key, answer);
  return answer;
}

}  // namespace

FlatModes::FlatModes(const HybridSystem& system)
    : system_(system), flat_(*system.flat()), inputs_(2), surfaces_(flat_.reduced) {
  for (const Parameter& p : system.parameters()) inputs_[0].push_back(p.symbol);
  for (std::size_t i = 0; i < system.graph().slot_count(); ++i)
    inputs_[1].push_back(system.graph().slot(SlotId(i)));
  const FlatModel& model = flat_.reduced;
  for (const DiscreteEquation& e : model.discrete_equations) always_used_.push_back(e.value);
  for (const Reinit& r : model.reinits) {
    always_used_.push_back(r.condition);
    always_used_.push_back(r.value);
  }
  for (const Assertion& a : model.assertions) always_used_.push_back(a.condition);
  for (const Termination& t : model.terminations) always_used_.push_back(t.condition);
  for (const Derived& d : system.derived()) always_used_.push_back(d.value);
  collect(model.equations, always_used_);
  for (const DiscreteVariable& v : model.discretes)
    if (v.names_mode) naming_.push_back(&v);
  root_ = branch({});
}

std::unique_ptr<FlatModes::Branching> FlatModes::branch(Frozen frozen) {
  const BuildingTime building;
  const auto known = ask<KeptBranching>(system_, question_about(frozen), [&] {
    KeptBranching result;
    ActiveEquations active = active_equations(flat_.reduced.equations, frozen);
    result.conditions = active.undecided.empty() ? structural_conditions(system_, active.equations)
                                                 : std::move(active.undecided);
    std::vector<Expr> asked = result.conditions;
    if (asked.empty()) {
      result.equations = std::move(active.equations);
      result.open = select_conditions(result.equations).conditions;
      for (const DiscreteVariable* v : naming_)
        asked.push_back(v->exists.is_number() ? v->symbol : select(v->exists, v->symbol, 0.0));
      asked.insert(asked.end(), result.open.begin(), result.open.end());
    }
    result.tape = Tape(asked, inputs_);
    return result;
  });
  auto made = std::make_unique<Branching>();
  made->frozen = std::move(frozen);
  made->conditions = known->conditions;
  made->equations = known->equations;
  made->open = known->open;
  made->tape = known->tape;
  made->registers = made->tape.make_workspace();
  answers_.reserve(made->tape.output_count());
  open_.reserve(made->tape.output_count());
  return made;
}

std::size_t FlatModes::find(const std::vector<double>& parameters,
                            const std::vector<double>& slots) {
  return follow(*root_, parameters, slots, nullptr);
}

std::size_t FlatModes::follow(Branching& from, const std::vector<double>& parameters,
                              const std::vector<double>& slots, const Frozen* forced) {
  std::vector<double> answers(from.tape.output_count());
  const double* inputs[] = {parameters.data(), slots.data()};
  from.tape.evaluate(inputs, from.registers, answers.data());
  const auto force = [&](const std::vector<Expr>& conditions, std::size_t first) {
    for (std::size_t k = 0; forced != nullptr && k < conditions.size(); ++k) {
      const auto given = forced->find(conditions[k].node());
      if (given != forced->end()) answers[first + k] = given->second ? 1.0 : 0.0;
    }
  };
  if (from.conditions.empty()) {
    force(from.open, naming_.size());
    const std::vector<double> open(answers.begin() + static_cast<std::ptrdiff_t>(naming_.size()),
                                   answers.end());
    answers.resize(naming_.size());
    if (Branching* next = together(from, open)) return follow(*next, parameters, slots, forced);
    const auto [place, is_new] = from.modes.emplace(answers, 0);
    if (is_new) place->second = add_mode(from, answers);
    return place->second;
  }
  force(from.conditions, 0);
  std::unique_ptr<Branching>& next = from.next[answers];
  if (next == nullptr) {
    Frozen frozen = from.frozen;
    for (std::size_t k = 0; k < answers.size(); ++k)
      frozen[from.conditions[k].node()] = answers[k] != 0.0;
    next = branch(std::move(frozen));
  }
  return follow(*next, parameters, slots, forced);
}

std::size_t FlatModes::find_known(const std::vector<double>& parameters,
                                  const std::vector<double>& slots) noexcept {
  const double* inputs[] = {parameters.data(), slots.data()};
  Branching* at = root_.get();
  for (;;) {
    answers_.resize(at->tape.output_count());
    at->tape.evaluate(inputs, at->registers, answers_.data());
    if (!at->conditions.empty()) {
      const auto next = at->next.find(answers_);
      if (next == at->next.end() || next->second == nullptr) return npos;
      at = next->second.get();
      continue;
    }
    open_.assign(answers_.begin() + static_cast<std::ptrdiff_t>(naming_.size()), answers_.end());
    answers_.resize(naming_.size());
    const auto joint = std::ranges::find_if(at->joint, [&](const auto& entry) {
      return std::ranges::all_of(entry.first,
                                 [&](const auto& w) { return open_[w.first] == w.second; });
    });
    if (joint != at->joint.end()) {
      at = joint->second.get();
      continue;
    }
    if (open_.size() >= 2 && !at->harmless.contains(open_)) return npos;
    const auto found = at->modes.find(answers_);
    return found == at->modes.end() ? npos : found->second;
  }
}

// Where the way goes on if the values of the open conditions change the structure together.
FlatModes::Branching* FlatModes::together(Branching& from, const std::vector<double>& open) {
  for (const auto& [which, next] : from.joint)
    if (std::ranges::all_of(which, [&](const auto& w) { return open[w.first] == w.second; }))
      return next.get();
  if (open.size() < 2 || from.harmless.contains(open)) return nullptr;
  WorkKey key = question_about(from.frozen);
  for (const double value : open) key.add(value);
  const auto known = ask<KeptTogether>(system_, key, [&] {
    const BuildingTime building;
    return KeptTogether{structural_together(system_, from.equations, from.open, open)};
  });
  const std::vector<std::size_t>& found = known->conditions;
  if (found.empty()) {
    from.harmless.insert(open);
    return nullptr;
  }
  Frozen frozen = from.frozen;
  std::vector<std::pair<std::size_t, double>> which;
  for (const std::size_t k : found) {
    frozen[from.open[k].node()] = open[k] != 0.0;
    which.emplace_back(k, open[k]);
  }
  from.joint.emplace_back(std::move(which), branch(std::move(frozen)));
  return from.joint.back().second.get();
}

std::size_t FlatModes::add_mode(const Branching& at, const std::vector<double>& named_by) {
  const BuildingTime building;
  const auto known = ask<KeptFlatMode>(system_, question_about(at.frozen), [&] {
    KeptFlatMode result;
    FlatMode& made = result.mode;
    made.frozen = at.frozen;
    made.mode.equations = at.equations;
    for (const auto& [condition, value] : in_order(at.frozen))
      made.conditions.push_back(as_text(Expr(condition), value));
    add_guards(made);
    describe_as_written(made);
    return result;
  });
  FlatMode& made = modes_.emplace_back(known->mode);
  made.base = modes_.size() - 1;
  made.mode.name = name_of(named_by);
  return modes_.size() - 1;
}

std::string FlatModes::name_of(const std::vector<double>& named_by) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < naming_.size(); ++k) {
    const DiscreteVariable& v = *naming_[k];
    const auto place = static_cast<std::size_t>(std::max(std::lround(named_by[k]), 0L));
    if (place == 0 && !v.exists.is_number()) continue;  // a machine inside a state that is left
    std::string part = place >= 1 && place <= v.literals.size()
                           ? v.literals[place - 1]
                           : fmt::format("{}={:g}", v.name, named_by[k]);
    // 'k1+k3': the quotes are for the sake of the language.
    if (part.size() > 2 && part.starts_with('\'') && part.ends_with('\''))
      part = part.substr(1, part.size() - 2);
    parts.push_back(std::move(part));
  }
  // The path of the innermost state tells those around it.
  const std::vector<std::string> all = parts;
  std::erase_if(parts, [&](const std::string& part) {
    return std::ranges::any_of(
        all, [&](const std::string& other) { return other.starts_with(part + "."); });
  });
  if (parts.empty()) return fmt::format("m{}", modes_.size());
  std::string name = fmt::format("{}", fmt::join(parts, ", "));
  // The same name for equations of another structure.
  const int uses = ++names_[name];
  return uses == 1 ? name : fmt::format("{} ({})", name, uses);
}

// A relation is in use if what it switches is: an active equation, an event, another such relation.
void FlatModes::add_guards(FlatMode& made) const {
  const FlatModel& model = flat_.reduced;
  std::vector<const Relation*> by_slot(system_.graph().slot_count(), nullptr);
  for (const Relation& r : model.relations) by_slot[r.slot.node()->slot().index()] = &r;
  std::vector<Expr> readers = always_used_;
  for (const Equation& e : made.mode.equations) readers.push_back(e.residual());
  for (const auto& [condition, value] : made.frozen) readers.emplace_back(condition);
  std::unordered_set<const Relation*> used;
  for (std::size_t head = 0; head < readers.size();) {
    std::vector<Expr> more;
    for (const Expr& leaf : leaves_of(std::span(readers).subspan(head))) {
      if (!leaf.is_slot()) continue;
      const Relation* r = by_slot[leaf.node()->slot().index()];
      if (r != nullptr && used.insert(r).second) more.push_back(r->value);
    }
    head = readers.size();
    readers.insert(readers.end(), more.begin(), more.end());
  }
  for (std::size_t k = 0; k < model.relations.size(); ++k) {
    const Relation& r = model.relations[k];
    // What changes only at events is looked at there.
    if (!used.contains(&r) || is_constant_in_mode(r.value)) continue;
    Guard guard;
    guard.name = r.text;
    guard.value = select(r.slot, r.value, -r.value);
    guard.is_relation = true;
    made.mode.guards.push_back(std::move(guard));
    made.sources.push_back(k);
  }
  for (std::size_t k = 0; k < model.samples.size(); ++k) {
    Guard guard;
    guard.name = system_.graph().name(model.samples[k].slot.node()->slot());
    guard.value = flat_.next_samples[k] - system_.time();
    guard.is_relation = true;
    made.mode.guards.push_back(std::move(guard));
    made.sources.push_back(model.relations.size() + k);
  }
}

bool FlatModes::may_hold(std::size_t index, std::size_t surface) {
  const FlatMode& base = modes_[modes_[index].base];
  if (!surfaces_[surface].may_be_held) return false;
  const auto [place, is_new] = may_hold_.try_emplace({modes_[index].base, surface}, false);
  if (!is_new) return place->second;
  const BuildingTime building;
  for (const auto& [condition, value] : base.frozen)
    if (surfaces_.reads(Expr(condition), surface)) return false;
  if (any_weight_.node() == nullptr) any_weight_ = system_.graph().new_variable("$weight");
  place->second = surfaces_.mix(base.mode.equations, {surface}, {any_weight_}).has_value();
  return place->second;
}

std::optional<std::size_t> FlatModes::hold(std::size_t index,
                                           const std::vector<std::size_t>& surfaces,
                                           const std::function<Expr(std::size_t)>& weight_of) {
  const auto [place, is_new] = holding_.try_emplace({index, surfaces});
  if (!is_new) return place->second;
  const BuildingTime building;
  const FlatMode& base = modes_[index];
  for (const std::size_t k : surfaces)
    if (!may_hold(index, k)) return {};
  std::vector<Expr> weights;
  for (const std::size_t k : surfaces) weights.push_back(weight_of(k));
  std::optional<std::vector<Equation>> mixed =
      surfaces_.mix(base.mode.equations, surfaces, weights);
  if (!mixed) return {};

  FlatMode made;
  made.frozen = base.frozen;
  made.conditions = base.conditions;
  made.base = index;
  made.held = surfaces;
  made.weights = weights;
  made.unknowns = base.unknowns + surfaces.size();
  made.mode.equations = std::move(*mixed);
  std::vector<std::string> names;
  for (const std::size_t k : surfaces) {
    names.push_back(to_string(surfaces_[k].value) + " = 0");
    made.mode.equations.emplace_back("surface", surfaces_[k].value == 0.0);
  }
  made.mode.name = fmt::format("sliding on {}", fmt::join(names, ", "));
  if (const int uses = ++names_[made.mode.name]; uses > 1)
    made.mode.name += fmt::format(" ({})", uses);
  const std::size_t relations = flat_.reduced.relations.size();
  for (std::size_t g = 0; g < base.sources.size(); ++g) {
    const std::size_t source = base.sources[g];
    if (source < relations && std::ranges::binary_search(surfaces, surfaces_.of_relation(source)))
      continue;
    made.mode.guards.push_back(base.mode.guards[g]);
    made.sources.push_back(source);
  }
  for (std::size_t k = 0; k < surfaces.size(); ++k)
    for (const bool at_one : {false, true}) {
      Guard guard;
      guard.name = fmt::format("{} = {}", to_string(weights[k]), at_one ? 1 : 0);
      guard.value = at_one ? 1.0 - weights[k] : weights[k];
      guard.is_relation = true;
      made.mode.guards.push_back(std::move(guard));
      made.sources.push_back(weight_source(surfaces[k], at_one));
    }
  modes_.push_back(std::move(made));
  place->second = modes_.size() - 1;
  return place->second;
}

const OpenSplit* FlatModes::open_split(std::size_t index) {
  const auto [place, is_new] = splits_.try_emplace(index);
  if (!is_new) return place->second ? &*place->second : nullptr;
  const BuildingTime building;
  const Mode& mode = modes_[index].mode;
  const std::vector<VariableId> unknowns = unknowns_of(system_, mode);
  std::vector<double> parameters;
  for (const Parameter& p : system_.parameters()) parameters.push_back(p.value);
  const auto is_usable = [](const std::optional<ResolvedDependence>& r) {
    return r && r->determined && r->contradictory.empty() && !r->closed.empty();
  };
  // What is without effect at one time (a clutch that is open then) has one at another.
  std::optional<ResolvedDependence> resolved;
  for (const double time : {1.0, 4.0, 16.0, 0.25, 0.02, 250.0})
    if (!is_usable(resolved))
      resolved = resolve_dependence(write_out(system_, mode, unknowns), unknowns, parameters,
                                    SplitScope::kAny, time);
  if (!is_usable(resolved)) return nullptr;
  OpenSplit split;
  for (std::size_t i = 0; i < mode.equations.size(); ++i) {
    split.equations.push_back(mode.equations[i]);
    const Expr& residual = resolved->definition.residuals[i];
    if (residual.same_as(mode.equations[i].residual())) continue;
    split.equations[i].equality = residual == 0.0;
    split.equations[i].name = resolved->definition.equation_names[i];
  }
  split.closing = resolved->closed;
  split.conditions = resolved->conditions;
  place->second = std::move(split);
  return &*place->second;
}

std::size_t FlatModes::close(std::size_t index, const std::vector<double>& key,
                             const std::vector<Expr>& zero) {
  const auto [place, is_new] = closings_.try_emplace({index, key}, 0);
  if (!is_new) return place->second;
  const BuildingTime building;
  const OpenSplit& split = *open_split(index);
  FlatMode made = modes_[index];
  made.closes = index;
  made.closing = split.closing.size();
  made.mode.equations = split.equations;
  for (std::size_t k = 0; k < zero.size(); ++k)
    made.mode.equations[split.closing[k]].equality = zero[k] == 0.0;
  if (const int uses = names_[made.mode.name + ", forces shared"]++; uses > 0)
    made.mode.name += fmt::format(", forces shared ({})", uses + 1);
  else
    made.mode.name += ", forces shared";
  modes_.push_back(std::move(made));
  place->second = modes_.size() - 1;
  return place->second;
}

std::size_t FlatModes::case_of(std::size_t index, const std::vector<double>& parameters,
                               const std::vector<double>& slots) {
  const auto [place, is_new] = cases_.try_emplace(index);
  Cases& cases = place->second;
  if (is_new) {
    const BuildingTime building;
    cases.conditions = select_conditions(modes_[index].mode.equations).conditions;
    cases.tape = Tape(cases.conditions, inputs_, TapeCode::kInterpreted);
    cases.registers = cases.tape.make_workspace();
    cases.answers.resize(cases.conditions.size());
  }
  const double* inputs[] = {parameters.data(), slots.data()};
  cases.tape.evaluate(inputs, cases.registers, cases.answers.data());
  return cases.numbers.try_emplace(cases.answers, cases.numbers.size()).first->second;
}

std::size_t FlatModes::decide(std::size_t index, const std::vector<double>& parameters,
                              const std::vector<double>& slots) {
  const std::size_t number = case_of(index, parameters, slots);
  Cases& cases = cases_.at(index);
  if (cases.conditions.empty()) return index;
  const auto [known, is_new] = cases.modes.try_emplace(number, 0);
  if (!is_new) return known->second;
  const BuildingTime building;
  Frozen frozen;
  for (std::size_t k = 0; k < cases.answers.size(); ++k)
    frozen[cases.conditions[k].node()] = cases.answers[k] != 0.0;
  FlatMode made = modes_[index];
  made.case_of = index;
  std::vector<const Node*> residuals;
  for (Equation& equation : made.mode.equations) {
    const Expr residual = freeze(equation.residual(), frozen);
    if (!residual.same_as(equation.residual())) equation.equality = residual == 0.0;
    residuals.push_back(residual.node());
  }
  // Other answers may mean the same equations.
  const auto [same, is_first] = cases.by_residuals.try_emplace(residuals, modes_.size());
  if (is_first) {
    made.mode.name += fmt::format(", case {}", cases.by_residuals.size());
    modes_.push_back(std::move(made));
  }
  return known->second = same->second;
}

Mode FlatModes::written_mode(std::size_t index) const { return written_mode(modes_[index]); }

Mode FlatModes::written_mode(const FlatMode& mode) const {
  Frozen frozen;
  for (const auto& [condition, value] : mode.frozen)
    frozen[in_graph_of(flat_.written.system, Expr(condition)).node()] = value;
  return {mode.mode.name, active_equations(flat_.written.equations, frozen).equations, {}};
}

void FlatModes::describe_as_written(FlatMode& made) const {
  const Mode written = written_mode(made);
  const Columns columns(flat_.written.system, written.equations);
  const Offsets offsets = find_offsets(columns.signature());
  made.unknowns = columns.signature().unknown_count;
  if (offsets.solvable) made.values = structural_values(offsets);
}

std::vector<std::size_t> FlatModes::neighbours(std::size_t index,
                                               const std::vector<double>& parameters,
                                               const std::vector<double>& slots) {
  const std::vector<std::pair<const Node*, bool>> ordered = in_order(modes_[index].frozen);
  std::vector<std::size_t> found;
  const auto is_named = [&](const Node* condition) {
    const std::vector<Expr> leaves = leaves_of(Expr(condition));
    return std::ranges::any_of(naming_, [&](const DiscreteVariable* v) {
      return std::ranges::any_of(leaves, [&](const Expr& leaf) { return leaf.same_as(v->symbol); });
    });
  };
  for (const auto& [condition, value] : ordered) {
    if (is_named(condition)) continue;
    Frozen forced = modes_[index].frozen;
    forced[condition] = !value;
    found.push_back(follow(*root_, parameters, slots, &forced));
  }
  return found;
}

}  // namespace saltus
