// Pinnacles of flat models (MO): projections into a mode that do not come to their end.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/processor_time.h"
#include "expr/differentiate.h"
#include "simulate/event_iteration.h"
#include "simulate/transfer.h"

namespace saltus {
namespace {

constexpr double kBand = GuardWatch::kBand;
constexpr double kSmallestJump = 1e-7;  // relative: the error of the switch point is no jump
constexpr std::size_t kMostOpen = 8;    // relations without a value whose answers are all tried
constexpr std::size_t kMostHops = 32;   // at one event

}  // namespace

// Relations that read algebraic unknowns have no value on the way: those unknowns have one only
// where the constraints hold.
const EventIteration::Paths& EventIteration::paths_of(std::size_t mode) {
  const auto [place, is_new] = paths_.try_emplace(mode);
  Paths& paths = place->second;
  if (!is_new) return paths;
  const BuildingTime building;
  const AnalysedMode& analysed = visit_(mode)->analysed();
  const std::vector<bool> is_carried = visit_(mode)->carried();
  std::vector<bool> has_value(system_.variables().size(), true);  // the others are held
  for (std::size_t j = 0; j < analysed.unknowns.size(); ++j) {
    const std::size_t i = analysed.unknowns[j].index();
    has_value[i] = is_carried[j];
    if (is_carried[j]) paths.carried.push_back(i);
  }
  for (const std::size_t r : modes_.mode(mode).sources) {
    if (r >= model_.relations.size()) continue;
    const std::vector<Expr> leaves = leaves_of(model_.relations[r].value);
    const bool on_path = std::ranges::all_of(leaves, [&](const Expr& leaf) {
      return !leaf.is_variable() || (leaf.node()->order == 0 && has_value[leaf.node()->index]);
    });
    if (on_path && reads_unknowns_[r]) paths.relations.push_back(r);
  }
  return paths;
}

// The relations that cease to hold first on the straight line from x- to x+; none if it stays in
// the region. Those that are at zero or do not hold at x- have been judged there.
std::vector<std::size_t> EventIteration::first_to_leave(double t, const SystemState& from,
                                                        const std::vector<double>& jumps,
                                                        std::size_t mode, double& fraction) {
  const Paths& paths = paths_of(mode);
  SystemState at = from;
  const auto values_at = [&](double s) -> const std::vector<double>& {
    for (std::size_t k = 0; k < jumps.size(); ++k)
      at.values[paths.carried[k]] = from.values[paths.carried[k]] + s * jumps[k];
    evaluate(relation_values_, t, at);
    return relation_values_.values;
  };
  constexpr std::size_t kSamples = 5;
  std::vector<double> sampled[kSamples];
  for (std::size_t k = 0; k < kSamples; ++k) sampled[k] = values_at(double(k) / (kSamples - 1));

  FirstToLeave first;
  for (const std::size_t r : paths.relations) {
    if (at_zero_[r] != At::kAway || widths_[r] > 0.0) continue;
    const double side = present(model_.relations[r].slot) != 0.0 ? 1.0 : -1.0;
    const double band = kBand * sizes_[r];
    const double start = side * sampled[0][r];
    const double end = side * sampled[kSamples - 1][r];
    if (start < -band) continue;
    bool is_straight = true;
    for (std::size_t k = 1; k + 1 < kSamples; ++k) {
      const double s = double(k) / (kSamples - 1);
      is_straight = is_straight && std::abs(side * sampled[k][r] - start - s * (end - start)) <=
                                       1e-12 * std::max(std::abs(start), std::abs(end));
    }
    const auto value = [&](double s) { return side * values_at(s)[r]; };
    is_straight ? first.follow_line(r, start, end, band) : first.follow(r, value, band);
  }
  fraction = first.fraction();
  return first.items();
}

// Whether the present values ask for a reinit that has not been carried out, or for the end.
bool EventIteration::asks_for_action(double t, const SystemState& at) {
  evaluate(terminations_, t, at);
  if (std::ranges::any_of(terminations_.values, [](double v) { return v != 0.0; })) return true;
  if (model_.reinits.empty()) return false;
  evaluate(reinits_, t, at);
  for (std::size_t k = 0; k < model_.reinits.size(); ++k)
    if (model_.reinits[k].handover == Handover::kReset && reinits_.values[k] != 0.0 &&
        !reinit_done_[k])
      return true;
  return false;
}

// Whether something leads out of a projection from x-, and where: at x- (fraction 0, nothing to do
// with the way), by an impulse, or on the straight line to x+. Relations have their values at x- on
// entry, and those where it ends on return. Those that read algebraic unknowns have no value on the
// way: what is certain holds whatever they are.
std::optional<EventIteration::Exit> EventIteration::find_exit(double t, const SystemState& from,
                                                              const std::vector<double>& jumps,
                                                              std::size_t mode, bool ask_at_begin,
                                                              const LeadsOut& leads_out) {
  const Paths& paths = paths_of(mode);
  std::vector<std::size_t> open;
  for (const std::size_t r : modes_.mode(mode).sources)
    if (r < model_.relations.size() && reads_unknowns_[r] &&
        std::ranges::find(paths.relations, r) == paths.relations.end())
      open.push_back(r);
  const auto certainly = [&](const SystemState& at) {
    if (open.size() > kMostOpen) return false;
    const std::vector<double> kept = slots_;
    for (std::size_t bits = 0; bits < (std::size_t{1} << open.size()); ++bits) {
      slots_ = kept;
      for (std::size_t k = 0; k < open.size(); ++k)
        put(model_.relations[open[k]].slot, double((bits >> k) & 1U));
      const bool leads = leads_out(at);
      slots_ = kept;
      if (!leads) return false;
    }
    if (leads_out(at)) return true;
    slots_ = kept;
    return false;
  };
  Exit exit{.fraction = 0.0, .at = from, .relations = {}};
  const std::vector<double> push = push_;
  if (ask_at_begin && certainly(from)) return exit;
  if (!push.empty()) {
    // An impulse exceeds every bound at once.
    const std::vector<double> kept = slots_;
    for (std::size_t r = 0; r < push.size(); ++r) {
      if (push[r] == 0.0) continue;
      const double value = push[r] > 0.0 ? 1.0 : 0.0;
      if (present(model_.relations[r].slot) != value) exit.relations.push_back(r);
      put(model_.relations[r].slot, value);
      std::erase(open, r);
    }
    exit.by_impulse = true;
    if (!exit.relations.empty() && certainly(from)) return exit;
    slots_ = kept;
  }
  exit.by_impulse = false;
  exit.relations.clear();
  while (true) {
    const std::vector<std::size_t> first = first_to_leave(t, from, jumps, mode, exit.fraction);
    if (first.empty()) return {};
    for (const std::size_t r : first) {
      put(model_.relations[r].slot, 1.0 - present(model_.relations[r].slot));
      exit.relations.push_back(r);
    }
    for (std::size_t k = 0; k < jumps.size(); ++k)
      exit.at.values[paths.carried[k]] = from.values[paths.carried[k]] + exit.fraction * jumps[k];
    if (certainly(exit.at)) return exit;
  }
}

// How far the unknowns that are carried into a mode jump; none if they do not.
std::vector<double> EventIteration::jumps_into(std::size_t mode, const SystemState& from,
                                               const SystemState& to) {
  std::vector<double> jumps;
  bool any = false;
  for (const std::size_t i : paths_of(mode).carried) {
    jumps.push_back(to.values[i] - from.values[i]);
    const double size = std::max(std::abs(from.values[i]), system_.variables()[i].nominal);
    any = any || std::abs(jumps.back()) > kSmallestJump * size;
  }
  if (!any) jumps.clear();
  return jumps;
}

// A projection that has come to its end in a fixpoint of a round. If the next round leads to
// another mode, that is a hop of its own (a boundary).
void EventIteration::note_completed_hop(const SystemState& base, const SystemState& out,
                                        const Settled& settled) {
  if (!solved_ || is_initial_ || jumps_into(settled.mode, base, out).empty()) return;
  completed_ = Hop{settled.mode, 1.0, hop_left_, out, {}, {}};
  completed_->at.slots = slots_;
  completed_place_ = settled.hops.size();
}

void EventIteration::end_completed_hop(Settled& settled) {
  if (!completed_ || completed_->mode == settled.mode) return;
  Hop hop = std::move(*completed_);
  completed_.reset();
  std::vector<std::string> causes;
  const auto of = [](const SystemState& state, const Expr& slot) {
    return state.slots[slot.node()->slot().index()];
  };
  for (const std::size_t r : modes_.mode(hop.mode).sources) {
    if (r >= model_.relations.size() || !reads_unknowns_[r]) continue;
    const double value = of(hop.at, model_.relations[r].slot);
    if (value != of(hop.left, model_.relations[r].slot))
      causes.push_back((value != 0.0 ? "" : "not ") + model_.relations[r].text);
  }
  hop.cause = fmt::format("{}", fmt::join(causes, ", "));
  hop.impulses = std::exchange(settled.impulses, {});
  if (completed_place_ < settled.hops.size())
    settled.hops[completed_place_].left = hop.at;
  else
    hop_left_ = hop.at;
  settled.hops.insert(settled.hops.begin() + static_cast<std::ptrdiff_t>(completed_place_),
                      std::move(hop));
}

// Whether the discrete values lead to another mode, pre() following them.
bool EventIteration::leaves_mode(double t, std::size_t mode, const SystemState& at) {
  SystemState there = at;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<double> before = slots_;
    take_values(t, there, false);
    if (has_fired_machine()) return false;
    try {
      if (modes_.find(parameters_, slots_) != mode) return true;
    } catch (const Error&) {
      return false;
    }
    if (asks_for_action(t, there)) return false;
    accept_values();
    if (slots_ == before) return false;
  }
  return false;
}

// Whether the projection from x- into the mode just solved is cut short: something leads to another
// mode at x- already, by an impulse, or on the way. Then the mode has been in force for no time:
// its values become pre(), what cut it short decides the next ones, and the next projection starts
// from where this one ended. What changes no mode does not stop a projection: the rest of it would
// end at the same point. Machines are asked once they are in their states (leave_on_the_way).
bool EventIteration::cut_short(double t, SystemState& from, SystemState& out, Settled& settled) {
  const std::size_t mode = settled.mode;
  if (is_initial_ || !may_cut_ || cuts_repeat_) return false;
  const std::vector<double> jumps = jumps_into(mode, from, out);
  if (jumps.empty() || asks_for_action(t, from)) return false;
  const std::vector<double> slots = slots_;
  const Paths& paths = paths_of(mode);
  evaluate(relation_values_, t, from);
  for (const std::size_t r : paths.relations)
    if (at_zero_[r] == At::kAway && std::abs(relation_values_.values[r]) > kBand * sizes_[r])
      put(model_.relations[r].slot, relation_values_.values[r] > 0.0 ? 1.0 : 0.0);
  // The hop itself comes first: what is seen at x- in this round, then pre() of it.
  // Where that leads elsewhere with pre() frozen, the mode follows from values beyond x-.
  const bool holds_at_begin = [&] {
    SystemState begin = from;
    take_values(t, begin, false);
    try {
      return modes_.find(parameters_, slots_) == mode;
    } catch (const Error&) {
      return false;
    }
  }();
  if (!holds_at_begin) slots_ = slots;
  accept_values();
  const std::vector<double> at_begin = slots_;
  const LeadsOut leaves = [&](const SystemState& at) { return leaves_mode(t, mode, at); };
  const std::optional<Exit> exit = find_exit(t, from, jumps, mode, holds_at_begin, leaves);
  if (!exit) {
    slots_ = slots;
    return false;
  }
  const bool moves_nothing = exit->relations.empty();  // it holds at x- already
  Hop hop{mode, moves_nothing ? 1.0 : exit->fraction, hop_left_, exit->at, {}, {}};
  hop.at.slots = slots;
  const std::vector<double> next = slots_;
  std::vector<std::string> causes;
  for (const std::size_t r : moves_nothing ? modes_.mode(mode).sources : exit->relations) {
    if (r >= model_.relations.size() || !reads_unknowns_[r]) continue;
    const Expr& slot = model_.relations[r].slot;
    slots_ = at_begin;
    put(slot, 1.0 - present(slot));
    if (!moves_nothing || !leaves_mode(t, mode, from))
      causes.push_back((next[slot.node()->slot().index()] != 0.0 ? "" : "not ") +
                       model_.relations[r].text);
  }
  hop.cause = fmt::format("{}", fmt::join(causes, ", "));
  // The same mode again from the same state, or too often.
  cuts_repeat_ =
      settled.hops.size() >= kMostHops || std::ranges::any_of(settled.hops, [&](const Hop& h) {
        return h.mode == mode && h.cause == hop.cause && h.at.values == hop.at.values;
      });
  if (cuts_repeat_) {
    slots_ = slots;
    return false;
  }
  slots_ = next;
  if (!exit->by_impulse)
    for (const std::size_t r : exit->relations) at_zero_[r] = At::kFired;
  SystemState there = hop.at;
  if (!asks_for_action(t, there)) accept_values();
  if (!exit->by_impulse && !moves_nothing)
    for (const auto& [name, impulse] : impulses_) hop.impulses[name] = hop.fraction * impulse;
  from = out = hop.at;
  from.slots = out.slots = slots_;
  hop_left_ = hop.at;
  settled.hops.push_back(std::move(hop));
  return true;
}

}  // namespace saltus
