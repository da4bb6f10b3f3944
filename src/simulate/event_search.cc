// The search for a consistent configuration where the fixpoint of an event runs in a circle.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "expr/differentiate.h"
#include "simulate/event_iteration.h"

namespace saltus {
namespace {

constexpr double kBand = GuardWatch::kBand;
constexpr int kMostRefused = 8;  // at one event

std::string named(const std::string& what, const SourceLocation& where) {
  return where.file.empty()
             ? what
             : fmt::format("{} at {}:{}:{}", what, where.file, where.line, where.column);
}

}  // namespace

// One relation at a time: first the one of least index, which cannot run in a circle where the
// continuous part is monotone (Murty's principal pivoting); where it does all the same, the most
// violated one, then any in turn.
bool EventIteration::pivot(double t, SystemState& base, SystemState& out, Settled& settled) {
  const std::size_t limit =
      40 + 6 * static_cast<std::size_t>(std::ranges::count(reads_unknowns_, true));
  std::vector<std::vector<double>> history;
  const std::vector<std::size_t> free = free_to_turn(t, base);
  const std::vector<double> at_base = relation_values_.values;
  // Relations that were away from zero, have not passed it, and changed all the same: a clutch that
  // slips cannot be locked because the slip is zero once it is.
  const auto turned_without_cause = [&] {
    evaluate(relation_values_, t, out);
    std::vector<std::size_t> found;
    for (std::size_t r = 0; r < at_base.size(); ++r)
      if (reads_unknowns_[r] && is_continuous_[r] && !std::ranges::binary_search(free, r) &&
          (present(model_.relations[r].slot) != 0.0) != (at_base[r] > 0.0) &&
          relation_values_.values[r] * (at_base[r] > 0.0 ? 1.0 : -1.0) >= -kBand * sizes_[r])
        found.push_back(r);
    return found;
  };
  std::uint64_t random = 88172645463325252ULL;
  for (int strategy = 0; strategy < 3; ++strategy) {
    history.clear();
    for (std::size_t round = 0; round < limit; ++round) {
      if (interrupted(t, settled)) return false;
      // Discrete values follow the relations before another relation is asked.
      bool steady = false;
      for (int k = 0; k < kMostRounds && !steady; ++k) {
        const std::vector<double> before = key();
        solve(t, base, out, settled.mode);
        take_values(t, out, false);
        steady = key() == before;
        if (k + 1 == kMostRounds && !steady) history.push_back(before);
      }
      if (!solved_) violated_.clear();  // the values belong to another configuration
      if (steady && violated_.empty() && solved_) violated_ = turned_without_cause();
      if (steady && violated_.empty() && solved_) {
        out.slots = slots_;
        return true;
      }
      // Only the last strategy leaves a circle again.
      if (strategy < 2 && std::ranges::find(history, key()) != history.end() && !violated_.empty())
        break;
      history.push_back(key());
      std::size_t chosen = 0;
      if (violated_.empty()) {
        // Nothing tells where to go from a configuration without solution.
        if (free.empty()) break;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        chosen = free[random % free.size()];
      } else if (strategy == 0) {
        chosen = *std::ranges::min_element(violated_);
      } else if (strategy == 1) {
        chosen =
            *std::ranges::max_element(violated_, {}, [&](std::size_t r) { return violation_[r]; });
      } else {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        chosen = violated_[random % violated_.size()];
      }
      change(chosen, t, out);
    }
  }
  constexpr std::size_t kFew = 8;  // of a long search only the end is a circle
  const std::size_t first = history.size() > kFew ? history.size() / 2 : 0;
  const std::string undefined = name_of_undefined();
  settled.problem = fmt::format(
      "no discrete values agree with the equations at t = {:.10g}: {}", t,
      undefined.empty() ? names_of_changes({history.begin() + static_cast<std::ptrdiff_t>(first),
                                            history.end()}) +
                              " change in a circle, and no consistent configuration was found"
                        : undefined + " is not a number");
  return false;
}

// What has no value, such as the quotient in mod(x, 0).
std::string EventIteration::name_of_undefined() const {
  for (const DiscreteEquation& e : model_.discrete_equations) {
    if (!std::isnan(present(e.target))) continue;
    const std::string name = to_string(e.target);
    return named(name.starts_with('$') ? "a value" : fmt::format("'{}'", name), e.where);
  }
  return {};
}

// What an event divides by zero.
std::string EventIteration::name_of_infinite() const {
  for (const DiscreteVariable& v : model_.discretes)
    if (!v.name.starts_with('$') && std::isinf(present(v.symbol)))
      return named(fmt::format("'{}'", v.name), v.where);
  return {};
}

// An Integer that is too large for the numbers it is kept in.
std::string EventIteration::name_of_inexact() const {
  constexpr double kLargest = 9007199254740992.0;  // 2^53
  for (const DiscreteVariable& v : model_.discretes)
    if (v.type == DiscreteType::kInteger && !v.name.starts_with('$') &&
        std::abs(present(v.symbol)) > kLargest)
      return named(fmt::format("'{}'", v.name), v.where);
  return {};
}

// Relations that may have another value without anything that asks for it: those at zero and those
// of unknowns that may jump. Time does not turn back, and a clutch that slips does not lock.
std::vector<std::size_t> EventIteration::free_to_turn(double t, const SystemState& base) {
  std::vector<bool> is_carried = fixed_;
  is_carried.resize(base.values.size(), false);
  if (left_run_ != nullptr) {
    const AnalysedMode& left = left_run_->analysed();
    const std::vector<bool> carried = left_run_->carried();
    for (std::size_t j = 0; j < carried.size(); ++j)
      if (carried[j]) is_carried[left.unknowns[j].index()] = true;
  }
  evaluate(relation_values_, t, base);
  std::vector<std::size_t> found;
  for (std::size_t r = 0; r < model_.relations.size(); ++r) {
    if (!reads_unknowns_[r]) continue;
    const std::vector<Expr> leaves = leaves_of(model_.relations[r].value);
    const bool is_steady = std::ranges::all_of(leaves, [&](const Expr& leaf) {
      return !leaf.is_variable() || (leaf.node()->order == 0 && is_carried[leaf.node()->index]);
    });
    if (!is_steady || is_at_zero(r, relation_values_.values[r])) found.push_back(r);
  }
  return found;
}

// Where a source passes through zero, both diodes of a pair may conduct for that instant, and for
// no longer. Such a configuration is refused, as if it had no solution, and the search goes on. If
// nothing better is found the first one stays: integrating it says what is wrong.
Settled EventIteration::find_lasting(double t, SystemState& state,
                                     const std::function<Settled()>& attempt) {
  refused_.clear();
  const SystemState given = state;
  Settled first = attempt();
  if (!first.ok || first.termination != nullptr || has_a_future(t, state, first.mode, false))
    return first;
  const SystemState found = state;
  const std::vector<std::size_t> taken = taken_;
  const std::vector<std::size_t> held = held_;
  for (int k = 0; k < kMostRefused; ++k) {
    refused_.push_back(configuration());
    state = given;
    Settled next = attempt();
    if (!next.ok) break;
    if (has_a_future(t, state, next.mode, true)) return next;
  }
  state = found;
  slots_ = state.slots;
  taken_ = taken;
  held_ = held;
  return first;
}

// The values of all relations.
std::vector<double> EventIteration::configuration() const {
  std::vector<double> values;
  for (const Relation& r : model_.relations) values.push_back(present(r.slot));
  values.insert(values.end(), held_.begin(), held_.end());
  return values;
}

bool EventIteration::is_refused() const {
  return !refused_.empty() && std::ranges::find(refused_, configuration()) != refused_.end();
}

// Whether the equations have a solution a little later, too. Looked at where what fired is still at
// zero. A second choice, and one that leaves a split of currents or forces open, must be more than
// possible: its relations at zero have to turn to the values they have.
bool EventIteration::has_a_future(double t, const SystemState& settled, std::size_t mode,
                                  bool is_second_choice) {
  if (!solved_) return true;               // entering the mode says what is wrong
  if (just_after_.expand(0)) return true;  // and all relations agree with it
  evaluate(relation_values_, t, settled);
  const std::vector<double> here = relation_values_.values;
  std::vector<std::size_t> zero;
  bool any = is_second_choice;
  for (const std::size_t r : modes_.mode(mode).sources) {
    if (r >= here.size() || std::abs(here[r]) > kBand * sizes_[r]) continue;
    zero.push_back(r);
    any = any || may_be_at_zero_[r];
  }
  if (!any) return true;
  if (!evaluate_ahead(t, settled, mode, 1)) return false;
  const double ahead = kAhead * std::max(1.0, std::abs(t));
  if (!is_second_choice && visit_(mode)->determines_all(t + ahead)) return true;
  for (int steps = 1; steps <= 2; ++steps) {
    if (steps == 2 && !evaluate_ahead(t, settled, mode, steps)) return false;
    bool turns_back = false;
    std::erase_if(zero, [&](std::size_t r) {
      const double moved = relation_values_.values[r] - here[r];
      const double least = steps == 1 ? kBand * ahead + 1e-14 : 1e-14;
      if (std::abs(moved) <= least * sizes_[r]) return false;
      const bool value = settled.value_of(model_.relations[r].slot) != 0.0;
      turns_back = turns_back || (moved > 0.0) != value;
      return true;
    });
    if (turns_back) return false;
  }
  return true;
}

std::string EventIteration::names_of_changes(
    const std::vector<std::vector<double>>& history) const {
  std::vector<std::string> names;
  const auto note = [&](const Expr& slot, const std::string& name, const SourceLocation& where) {
    const std::size_t i = slot.node()->slot().index();
    bool moves = false;
    for (std::size_t k = 0; k < history.size(); ++k)
      moves = moves || history[k][i] != history.back()[i];
    if (!moves || names.size() >= 12) return;
    names.push_back(named(fmt::format("'{}'", name), where));
  };
  for (const Relation& r : model_.relations) note(r.slot, r.text, r.where);
  for (const DiscreteVariable& v : model_.discretes)
    if (!v.name.starts_with('$')) note(v.symbol, v.name, v.where);
  if (names.empty()) return "continuous values";
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace saltus
