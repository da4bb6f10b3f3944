#include "simulate/zeno.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/differentiate.h"
#include "expr/tape.h"

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Two successive ratios may differ by this fraction of their distance from 1.
constexpr double kRatioAgreement = 0.05;
// Below this tolerance the lengths of cycles would drown in the rounding of times.
constexpr double kSmallestTolerance = 1e-9;
// Events closer than this many rounding units of time cannot be followed any further, nor can
// guards that rise by no more than this fraction of their size between two events.
constexpr double kShortest = 1e4;
constexpr double kSmallestRise = 1e-11;
// Nor can guards that rise by less than this fraction of what the integrator is asked for: its
// errors would decide where they come down.
constexpr double kRiseInTolerance = 1e-2;
// How far d(jump) may point away from the jump itself and still count as its direction.
constexpr double kAligned = 1e-3;
// Parts of a jump that are rounding, or vanish faster than the rest.
constexpr double kNegligible = 1e-6;

std::string unused_name(const HybridSystem& system, const std::string& wish) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(system.variables().begin(), system.variables().end(),
                       [&](const Variable& v) { return v.name == name; });
  };
  std::string name = wish;
  for (int k = 2; taken(name); ++k) name = fmt::format("{} {}", wish, k);
  return name;
}

std::string unused_mode_name(const HybridSystem& system, const std::string& wish) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(system.modes().begin(), system.modes().end(),
                       [&](const Mode& m) { return m.name == name; });
  };
  std::string name = wish;
  for (int k = 2; taken(name); ++k) name = fmt::format("{} {}", wish, k);
  return name;
}

std::vector<double> evaluate(const HybridSystem& system, const std::vector<Expr>& expressions,
                             double time, const SystemState& state) {
  const Tape tape(expressions, state_inputs(system));
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> parameters;
  for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  SystemState padded = state;
  padded.values.resize(system.variables().size(), 0.0);
  padded.slopes.resize(system.variables().size(), 0.0);
  padded.slots.resize(system.graph().slot_count(), 0.0);
  const double* inputs[] = {&time, padded.values.data(), padded.slopes.data(), parameters.data(),
                            padded.slots.data()};
  std::vector<double> values(expressions.size());
  tape.evaluate(inputs, registers, values.data());
  return values;
}

// The jump x := T(x) shrinks to nothing at the limit, so its direction d0 is known only from the
// last events. Near the limit the jump is linear in what still moves, J (x - x*) with J = d(T(x) -
// x)/dx, so d0 is an eigenvector of J and -J(x) d0 is its direction as a function of the state: on
// a curved surface it turns with the normal. Where that does not hold at the limit (a jump that is
// not differentiable there), d0 itself is taken.
std::vector<Expr> limit_direction(const HybridSystem& system, const std::vector<Assignment>& set,
                                  const std::vector<double>& direction, double time,
                                  const SystemState& state, bool& is_constant) {
  std::vector<Expr> formulas;
  for (const Assignment& row : set) {
    Expr sum = 0.0;
    for (std::size_t k = 0; k < set.size(); ++k)
      if (direction[k] != 0.0)
        sum -= direction[k] * partial(row.value - row.variable, set[k].variable);
    formulas.push_back(sum);
  }
  const std::vector<double> values = evaluate(system, formulas, time, state);
  double along = 0.0;
  double size = 0.0;
  for (std::size_t k = 0; k < set.size(); ++k) {
    along += values[k] * direction[k];
    size += direction[k] * direction[k];
  }
  const double factor = along / size;
  double off = 0.0;
  for (std::size_t k = 0; k < set.size(); ++k)
    off = std::max(off, std::abs(values[k] - factor * direction[k]));
  if (factor > 0.0 && off <= kAligned * factor * std::sqrt(size)) return formulas;
  is_constant = true;
  return {direction.begin(), direction.end()};
}

// The largest part becomes 1.
void normalize(std::vector<double>& direction) {
  double largest = 0.0;
  for (const double d : direction) largest = std::max(largest, std::abs(d));
  if (largest == 0.0) return;
  for (double& d : direction) d = std::abs(d) <= kNegligible * largest ? 0.0 : d / largest;
}

bool differentiates(const Mode& mode, const Expr& variable) {
  for (const Equation& e : mode.equations)
    for (const Expr& leaf : leaves_of(e.residual()))
      if (leaf.same_as(der(variable))) return true;
  return false;
}

}  // namespace

ZenoWatch::ZenoWatch(double tolerance) : tolerance_(std::max(tolerance, kSmallestTolerance)) {}

void ZenoWatch::clear() {
  events_.clear();
  changes_.clear();
}

void ZenoWatch::record(double time, EventKey key, double condition,
                       const std::vector<double>& before, const std::vector<double>& after) {
  if (events_.size() > 2 * kLongestCycle * kLongestStride) events_.pop_front();
  events_.push_back({time, key, condition});
  Change change;
  if (changes_.size() > kLongestCycle) {  // its memory is used again
    change = std::move(changes_.front());
    changes_.pop_front();
  }
  change.after = after;
  change.jump.resize(after.size());
  for (std::size_t i = 0; i < after.size(); ++i)
    change.jump[i] = i < before.size() ? after[i] - before[i] : 0.0;
  changes_.push_back(std::move(change));
}

std::optional<Accumulation> ZenoWatch::at_once(EventKey key, double time) const {
  if (events_.empty() || !(events_.back().key == key) ||
      time - events_.back().time > 8.0 * kEpsilon * std::abs(time))
    return {};
  const Change& last = changes_.back();
  if (std::all_of(last.jump.begin(), last.jump.end(), [](double d) { return d == 0.0; })) return {};
  return Accumulation{time, 0.0, {key}, last.after, {last.jump}};
}

std::optional<Accumulation> ZenoWatch::predict(const std::vector<Variable>& variables,
                                               const std::vector<bool>& moving) const {
  for (std::size_t period = 1; period <= kLongestCycle; ++period) {
    std::optional<Accumulation> found = predict(period, variables, moving);
    if (found) return found;
  }
  return {};
}

// Number of cycles back from the newest event in which the same guards fired in the same order.
std::size_t ZenoWatch::matching_cycles(std::size_t period) const {
  std::size_t same = 0;
  for (std::size_t k = events_.size(); k > period; --k, ++same)
    if (!(events_[k - 1].key == events_[k - 1 - period].key)) break;
  return same / period;
}

// Whether an event lies as close to the one before it as time and its guard can tell apart.
bool ZenoWatch::is_close(std::size_t event) const {
  const double rise = std::max(kSmallestRise, kRiseInTolerance * tolerance_);
  const Occurrence& e = events_[event];
  const double interval = e.time - events_[event - 1].time;
  // A guard that comes down with its slope has risen about a quarter of slope x interval.
  return interval <= 4.0 * rise * e.condition ||
         interval <= kShortest * kEpsilon * std::abs(e.time);
}

// Whether the last cycle changed nothing worth following any more, or has events that lie close.
bool ZenoWatch::is_followed_far_enough(std::size_t period, const std::vector<Variable>& variables,
                                       const std::vector<bool>& moving) const {
  const std::size_t last = events_.size() - 1;
  for (std::size_t back = 0; back < period; ++back)
    if (is_close(last - back)) return true;
  const std::size_t newest = changes_.size() - 1;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!moving[i]) continue;
    double change = 0.0;
    for (std::size_t back = 0; back < period; ++back) {
      const Change& c = changes_[newest - back];
      const Change& earlier = changes_[newest - back - 1];
      change += std::abs(c.jump[i]) + std::abs(c.after[i] - c.jump[i] - earlier.after[i]);
    }
    if (change > tolerance_ * (std::abs(changes_.back().after[i]) + variables[i].nominal))
      return false;
  }
  return true;
}

std::optional<Accumulation> ZenoWatch::predict(std::size_t period,
                                               const std::vector<Variable>& variables,
                                               const std::vector<bool>& moving) const {
  const std::size_t cycles = matching_cycles(period);
  if (cycles < kRatios + 1 || changes_.size() <= period) return {};
  for (const Change& c : changes_)
    if (c.after.size() != variables.size()) return {};
  const std::size_t last = events_.size() - 1;
  const auto end_of_cycle = [&](std::size_t back) { return events_[last - back * period].time; };
  const auto length = [&](std::size_t back) { return end_of_cycle(back) - end_of_cycle(back + 1); };
  double ratio = 0.0;
  bool is_steady = true;
  for (std::size_t c = kRatios; c-- > 0;) {
    const double next = length(c) / length(c + 1);
    if (!(next > 0.0 && next < 1.0)) return {};
    if (ratio > 0.0 && std::abs(next - ratio) > kRatioAgreement * (1.0 - next)) is_steady = false;
    ratio = next;
  }
  // Guards that take turns need not shrink by one ratio. Where none of their events can be told
  // from the one before, what is left of them hardly matters.
  bool all_close = period > 1;
  for (std::size_t back = 0; back < period; ++back) all_close = all_close && is_close(last - back);
  if (!(is_steady ? is_followed_far_enough(period, variables, moving) : all_close)) return {};

  // Aitken's formula over a stride of several cycles: where the ratio is near 1, that of neighbours
  // would amplify the rounding of times.
  std::size_t stride = 1;
  while (stride < kLongestStride && 2 * (stride + 1) <= cycles &&
         std::pow(ratio, static_cast<double>(stride)) > 0.5)
    ++stride;
  const double recent = end_of_cycle(0) - end_of_cycle(stride);
  const double earlier = end_of_cycle(stride) - end_of_cycle(2 * stride);
  if (!(recent > 0.0 && recent < earlier)) return {};
  Accumulation limit;
  limit.ratio = std::pow(recent / earlier, 1.0 / static_cast<double>(stride));
  const double rest = recent * recent / (earlier - recent);
  limit.time = end_of_cycle(0) + rest;
  const Change& now = changes_.back();
  const Change& before = changes_[changes_.size() - 1 - period];
  limit.values = now.after;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (moving[i]) limit.values[i] += rest / length(0) * (now.after[i] - before.after[i]);
  for (std::size_t k = 0; k < period; ++k) {
    limit.cycle.push_back(events_[last + 1 + k - period].key);
    limit.jumps.push_back(changes_[changes_.size() + k - period].jump);
  }
  return limit;
}

bool Contact::same_as(const Contact& other, bool compare_directions) const {
  if (guard != other.guard || direction.size() != other.direction.size()) return false;
  if (!compare_directions) return true;
  std::vector<double> mine = direction;
  std::vector<double> theirs = other.direction;
  normalize(mine);
  normalize(theirs);
  for (std::size_t k = 0; k < mine.size(); ++k)
    if (std::abs(mine[k] - theirs[k]) > kAligned) return false;
  return true;
}

std::optional<LimitMode> make_limit_mode(HybridSystem& system, const Mode& mode,
                                         const std::vector<Contact>& contacts, double time,
                                         const SystemState& state) {
  LimitMode result;
  std::vector<Expr> from;  // derivatives, and what each becomes
  std::vector<Expr> to;
  std::vector<std::vector<std::pair<std::size_t, Expr>>> pushes(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const std::vector<Assignment>& set = mode.guards[contacts[c].guard].set;
    std::vector<double> direction = contacts[c].direction;
    for (std::size_t k = 0; k < set.size(); ++k)
      if (!differentiates(mode, set[k].variable)) direction[k] = 0.0;
    normalize(direction);
    if (std::all_of(direction.begin(), direction.end(), [](double d) { return d == 0.0; }))
      return {};
    const std::vector<Expr> formulas =
        limit_direction(system, set, direction, time, state, result.directions_are_constant);
    for (std::size_t k = 0; k < set.size(); ++k) {
      if (direction[k] == 0.0) continue;
      const Expr slope = der(set[k].variable);
      const auto known =
          std::find_if(from.begin(), from.end(), [&](const Expr& e) { return e.same_as(slope); });
      pushes[c].emplace_back(known - from.begin(), formulas[k]);
      if (known != from.end()) continue;
      from.push_back(slope);
      to.push_back(slope);
    }
  }

  Mode& limit = result.mode;
  std::vector<std::string> names;
  std::vector<Equation> constraints;
  std::vector<Guard> releases;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Guard& guard = mode.guards[contacts[c].guard];
    const Expr multiplier =
        system.variable(unused_name(system, fmt::format("multiplier({})", guard.name)),
                        {.description = fmt::format("holds guard '{}' of mode '{}' at zero",
                                                    guard.name, mode.name)});
    for (const auto& [k, d] : pushes[c]) to[k] -= d * multiplier;
    names.push_back(guard.name);
    constraints.emplace_back(guard.name, guard.value == 0.0);
    releases.push_back(
        {.name = fmt::format("{} released", guard.name), .value = multiplier, .to = mode.name});
  }
  limit.name =
      unused_mode_name(system, fmt::format("{} held at {}", mode.name, fmt::join(names, ", ")));
  for (const Equation& e : mode.equations) {
    Equation changed = e;
    changed.equality = {substitute(e.equality.lhs, from, to), substitute(e.equality.rhs, from, to)};
    limit.equations.push_back(std::move(changed));
  }
  limit.equations.insert(limit.equations.end(), constraints.begin(), constraints.end());
  for (std::size_t g = 0; g < mode.guards.size(); ++g) {
    const bool held = std::any_of(contacts.begin(), contacts.end(),
                                  [&](const Contact& c) { return c.guard == g; });
    if (!held) limit.guards.push_back(mode.guards[g]);
  }
  limit.guards.insert(limit.guards.end(), releases.begin(), releases.end());
  return result;
}

}  // namespace saltus
