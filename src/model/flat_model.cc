#include "model/flat_model.h"

#include <fmt/format.h>

namespace saltus {

Expr FlatModel::discrete(const std::string& name, DiscreteOptions options) {
  system.claim_name("discrete variable", name);
  Graph& graph = system.graph();
  DiscreteVariable v{std::move(options), name, graph.new_slot(name),
                     graph.new_slot("pre(" + name + ")")};
  discretes.push_back(v);
  return v.symbol;
}

Expr FlatModel::pre(const Expr& symbol) const {
  for (const DiscreteVariable& v : discretes)
    if (v.symbol.same_as(symbol)) return v.pre;
  throw Error(fmt::format("{}: pre({}) of something that is not discrete", system.name(),
                          to_string(symbol)));
}

Expr FlatModel::relation(const Expr& value, Strict strict, std::string text, SourceLocation where) {
  if (value.is_number())
    return strict == Strict::kYes ? value.number() > 0.0 : value.number() >= 0.0;
  // not (v > 0) is -v >= 0: one slot serves both readings of one difference.
  const Strict opposite = strict == Strict::kYes ? Strict::kNo : Strict::kYes;
  const Expr negated = -value;
  for (const Relation& r : relations) {
    if (r.strict == strict && r.value.same_as(value)) return r.slot;
    if (r.strict == opposite && r.value.same_as(negated)) return !r.slot;
  }
  if (text.empty()) text = to_string(strict == Strict::kYes ? value > 0.0 : value >= 0.0);
  const Expr slot = system.graph().new_slot(text);
  relations.push_back({slot, value, strict, std::move(text), std::move(where), false});
  return slot;
}

void FlatModel::leaves_state(const Expr& relation) {
  if (relation.node() == nullptr) return;
  const Expr slot = relation.is_slot() ? relation : Expr(relation.node()->children[0]);
  for (Relation& r : relations)
    if (r.slot.same_as(slot)) r.leaves_state = true;
}

Expr FlatModel::sample(const Expr& start, const Expr& interval, SourceLocation where) {
  const Expr slot =
      system.graph().new_slot(fmt::format("sample({}, {})", to_string(start), to_string(interval)));
  samples.push_back({slot, start, interval, std::move(where)});
  return slot;
}

Expr FlatModel::delay(const Expr& value, const Expr& duration, SourceLocation where) {
  for (const Delay& d : delays)
    if (d.value.same_as(value) && d.duration.same_as(duration)) return d.delayed;
  const std::string name = fmt::format("$delay{}", delays.size() + 1);
  const auto line = std::make_shared<DelayLine>();
  const Expr before = discrete(name, {.type = DiscreteType::kReal, .where = where});
  discrete_equations.push_back({before, select(initial(), value, pre(before)), where});
  samples.push_back({system.graph().new_slot("a break arrives through " + name), 0.0, 1.0,
                     std::move(where), line});
  const Expr past = saltus::delayed(line, system.time(), duration, before);
  // At the start there is no past: the initial problem has the signal itself.
  const Expr delayed = select(initial(), value, past);
  delays.push_back({value, duration, delayed, line, samples.size() - 1});
  return delayed;
}

Expr FlatModel::left_limit(const Expr& value) {
  if (value.is_number()) return value;
  for (const LeftLimit& l : left_limits)
    if (l.value.same_as(value)) return l.slot;
  const Expr slot = system.graph().new_slot(fmt::format("left limit of {}", to_string(value)));
  left_limits.push_back({slot, value});
  return slot;
}

Expr FlatModel::terminal() {
  if (!terminal_.is_slot()) terminal_ = system.graph().new_slot("terminal()");
  return terminal_;
}

Expr FlatModel::initial() {
  if (!initial_.is_slot()) initial_ = system.graph().new_slot("initial()");
  return initial_;
}

Expr FlatModel::edge(const Expr& condition) {
  DiscreteOptions options;
  options.is_edge = true;
  const Expr seen = discrete(fmt::format("$edge{}", discretes.size()), options);
  discrete_equations.push_back({seen, condition, {}});
  return seen && !pre(seen);
}

}  // namespace saltus
