// Pinnacles of flat models (MO): projections into a mode that do not come to their end.

#include <algorithm>
#include <cmath>

#include "base/processor_time.h"
#include "expr/differentiate.h"
#include "simulate/event_iteration.h"
#include "simulate/transfer.h"

namespace saltus {
namespace {

constexpr double kBand = GuardWatch::kBand;
constexpr double kSmallestJump = 1e-7;  // relative: the error of the switch point is no jump
constexpr double kTie = 1e-12;
constexpr std::size_t kMostHops = 32;  // at one event

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

  std::vector<std::size_t> first;
  fraction = 2.0;
  RootIsolator isolator;
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
    const double leaves = !is_straight  ? leaves_region(isolator, value, band)
                          : end < -band ? std::max(start, 0.0) / (std::max(start, 0.0) - end)
                                        : 2.0;
    if (leaves > 1.0 || leaves > fraction + kTie) continue;
    if (leaves < fraction - kTie) first.clear();
    fraction = std::min(fraction, leaves);
    first.push_back(r);
  }
  return first;
}

// The relations in use that impulses of the point just solved decide against this configuration.
std::vector<std::size_t> EventIteration::violated_by_impulses(std::size_t mode) const {
  std::vector<std::size_t> violated;
  if (push_.empty()) return violated;
  for (const std::size_t r : modes_.mode(mode).sources)
    if (r < push_.size() && push_[r] != 0.0 && is_continuous_[r] &&
        (push_[r] > 0.0) != (present(model_.relations[r].slot) != 0.0))
      violated.push_back(r);
  return violated;
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

// Whether the projection from x- into the mode just solved is cut short: an impulse violates its
// region at once, or the straight line to x+ leaves it, and that leads to another mode. Then the
// mode has been in force for no time: its values become pre(), what cut it short decides the next
// ones, and the next projection starts from where this one ended. What changes no mode does not
// stop a projection: the rest of it would end at the same point.
bool EventIteration::cut_short(double t, SystemState& from, SystemState& out, Settled& settled) {
  const std::size_t mode = settled.mode;
  if (is_initial_ || !may_cut_ || cuts_repeat_) return false;
  const Paths& paths = paths_of(mode);
  std::vector<double> jumps;
  jumps.reserve(paths.carried.size());
  bool any = false;
  for (const std::size_t i : paths.carried) {
    jumps.push_back(out.values[i] - from.values[i]);
    const double size = std::max(std::abs(from.values[i]), system_.variables()[i].nominal);
    any = any || std::abs(jumps.back()) > kSmallestJump * size;
  }
  if (!any || asks_for_action(t, from)) return false;
  Hop hop{mode, 0.0, hop_left_, from, {}, {}};
  hop.at.slots = slots_;
  std::vector<std::size_t> left = violated_by_impulses(mode);
  const bool by_impulse = !left.empty();
  if (!by_impulse) left = first_to_leave(t, from, jumps, mode, hop.fraction);
  if (left.empty()) return false;
  const Relation& relation = model_.relations[left.front()];
  hop.cause = present(relation.slot) != 0.0 ? "not " + relation.text : relation.text;
  // The same mode again from the same state, or too often.
  cuts_repeat_ =
      settled.hops.size() >= kMostHops || std::ranges::any_of(settled.hops, [&](const Hop& h) {
        return h.mode == mode && h.cause == hop.cause && hop.fraction == 0.0 &&
               h.at.values == hop.at.values;
      });
  if (cuts_repeat_) return false;
  for (std::size_t k = 0; k < jumps.size(); ++k)
    hop.at.values[paths.carried[k]] += hop.fraction * jumps[k];

  const std::vector<double> slots = slots_;
  const std::vector<At> at_zero = at_zero_;
  accept_values();
  for (const std::size_t r : left) {
    put(model_.relations[r].slot, 1.0 - present(model_.relations[r].slot));
    if (!by_impulse) at_zero_[r] = At::kFired;
  }
  SystemState there = hop.at;
  take_values(t, there, false);
  bool leads_on = false;
  try {
    leads_on = modes_.find(parameters_, slots_) != mode;
  } catch (const Error&) {
  }
  if (!leads_on) {
    slots_ = slots;
    at_zero_ = at_zero;
    return false;
  }
  if (!asks_for_action(t, there)) accept_values();
  if (!by_impulse)
    for (const auto& [name, impulse] : impulses_) hop.impulses[name] = hop.fraction * impulse;
  from = out = hop.at;
  from.slots = out.slots = slots_;
  hop_left_ = hop.at;
  settled.hops.push_back(std::move(hop));
  return true;
}

}  // namespace saltus
