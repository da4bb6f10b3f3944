#include "modelica/clock_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace saltus {
namespace {

__extension__ using Wide = __int128;

Rational reduced(Wide numerator, Wide denominator) {
  Wide a = numerator < 0 ? -numerator : numerator;
  Wide b = denominator;
  while (b != 0) a = std::exchange(b, a % b);
  if (a != 0) {
    numerator /= a;
    denominator /= a;
  }
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  if (numerator > kMost || numerator < -kMost || denominator > kMost)
    throw Error("the factors between clocks are too large");
  return {static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
}

}  // namespace

Rational Rational::of(std::int64_t numerator, std::int64_t denominator) {
  return reduced(numerator, denominator);
}
double Rational::value() const {
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}
Rational operator+(const Rational& a, const Rational& b) {
  return reduced(static_cast<Wide>(a.numerator) * b.denominator +
                     static_cast<Wide>(b.numerator) * a.denominator,
                 static_cast<Wide>(a.denominator) * b.denominator);
}
Rational operator*(const Rational& a, const Rational& b) {
  return reduced(static_cast<Wide>(a.numerator) * b.numerator,
                 static_cast<Wide>(a.denominator) * b.denominator);
}
Rational operator/(const Rational& a, const Rational& b) {
  return reduced(static_cast<Wide>(a.numerator) * b.denominator,
                 static_cast<Wide>(a.denominator) * b.numerator);
}
Rational common_part(const Rational& a, const Rational& b) {
  const Rational quotient = a / b;
  return b * Rational::of(1, quotient.denominator);
}

ClockInference::Key ClockInference::root(Key key) {
  const auto [at, is_new] = parent_.try_emplace(key, key);
  if (is_new) keys_.push_back(key);
  Key top = key;
  while (parent_.at(top) != top) top = parent_.at(top);
  while (parent_.at(key) != top) key = std::exchange(parent_.at(key), top);
  return top;
}

ClockInference::Partition& ClockInference::partition(Key key) { return partitions_[root(key)]; }

void ClockInference::join(Key a, Key b) {
  const Key x = root(a);
  const Key y = root(b);
  if (x == y) return;
  Partition other = partitions_[y];
  partitions_.erase(y);
  parent_[y] = x;
  Partition& kept = partitions_[x];
  if (!kept.clocked) kept.clocked = other.clocked;
  if (!kept.continuous) kept.continuous = other.continuous;
  if (kept.solver.empty()) kept.solver = other.solver;
  if (other.source) set_source(x, *other.source);
}

void ClockInference::mark_clocked(Key key, const Place& place) {
  Partition& p = partition(key);
  if (!p.clocked) p.clocked = place;
}

void ClockInference::mark_continuous(Key key, const Place& place) {
  Partition& p = partition(key);
  if (!p.continuous) p.continuous = place;
}

void ClockInference::set_source(Key key, const Source& source) {
  Partition& p = partition(key);
  if (!p.clocked) p.clocked = source.place;
  if (p.source && (p.source->unit != source.unit || p.source->event != source.event ||
                   p.source->interval != source.interval))
    throw Error(fmt::format("this clock and the one of line {} are different, but are those of the "
                            "same variables",
                            p.source->place.line),
                source.place.location());
  if (!p.source) p.source = source;
}

void ClockInference::set_solver(Key key, const std::string& method, const Place& place) {
  Partition& p = partition(key);
  if (!p.clocked) p.clocked = place;
  p.solver = method;
}

void ClockInference::relate(Key from, Key to, std::optional<Rational> factor, const Rational& shift,
                            const Place& place) {
  mark_clocked(from, place);
  mark_clocked(to, place);
  relations_.push_back({from, to, factor, shift, place});
}

void ClockInference::spread(Key first, const Source& source) {
  timings_[first] = {source.interval, {0, 1}};
  std::vector<Key> open = {first};
  while (!open.empty()) {
    const Key at = open.back();
    open.pop_back();
    const Timing here = timings_.at(at);
    const auto reach = [&](Key key, const Timing& timing, const Place& place) {
      const auto [known, is_new] = timings_.try_emplace(key, timing);
      if (is_new) {
        open.push_back(key);
        return;
      }
      if (known->second.interval != timing.interval || known->second.start != timing.start)
        throw Error(
            "this operator makes clocks of one and the same base clock contradict each "
            "other",
            place.location());
    };
    for (const Relation& r : relations_) {
      if (!r.factor) continue;
      const Key a = root(r.from);
      const Key b = root(r.to);
      if (a == at)
        reach(b, {here.interval * *r.factor, here.start + r.shift * here.interval}, r.place);
      if (b == at) {
        const Rational interval = here.interval / *r.factor;
        const Rational back = r.shift * interval;
        reach(a, {interval, here.start + Rational{-back.numerator, back.denominator}}, r.place);
      }
    }
  }
}

void ClockInference::solve() {
  std::vector<Key> roots;
  for (const Key key : std::vector<Key>(keys_))
    if (root(key) == key) roots.push_back(key);
  for (const Key key : roots) {
    const Partition& p = partitions_[key];
    if (p.clocked && p.continuous)
      throw Error(fmt::format("this is clocked, but line {} makes the same variables continuous; "
                              "sample() leads into a clocked part and hold() out of it",
                              p.continuous->line),
                  p.clocked->location());
  }
  for (const Key key : roots) {
    const Partition& p = partitions_[key];
    if (!p.source) continue;
    const auto known = timings_.find(key);
    if (known == timings_.end()) {
      spread(key, *p.source);
    } else if (known->second.interval != p.source->interval ||
               known->second.start != Rational{0, 1}) {
      throw Error("this clock is not the one that the operators between clocks ask for",
                  p.source->place.location());
    }
  }
  // What operators relate has one base clock.
  std::unordered_map<Key, Key> group;
  const auto top = [&](Key key) {
    while (group.contains(key) && group.at(key) != key) key = group.at(key);
    return key;
  };
  for (const Key key : roots) group[key] = key;
  for (const Relation& r : relations_) group[top(root(r.from))] = top(root(r.to));
  std::map<std::size_t, std::vector<Key>> groups;  // in order of the first member
  std::unordered_map<Key, std::size_t> number;
  for (std::size_t k = 0; k < roots.size(); ++k)
    if (partitions_[roots[k]].clocked)
      groups[number.try_emplace(top(roots[k]), k).first->second].push_back(roots[k]);
  for (const auto& [first, members] : groups) {
    std::optional<Source> source;
    for (const Key key : members) {
      const std::optional<Source>& own = partitions_[key].source;
      if (!own) continue;
      if (source && (source->unit != own->unit || source->event != own->event))
        throw Error(
            fmt::format("this clock and the one of line {} are not multiples of each other, "
                        "but operators relate them",
                        source->place.line),
            own->place.location());
      if (!source) source = own;
    }
    if (!source)
      throw Error("nothing says when this ticks: no clock is given to it",
                  partitions_[members.front()].clocked->location());
    make_base(members, *source);
  }
  for (const Relation& r : relations_) {
    if (r.factor) continue;
    const Rational factor = timings_.at(root(r.to)).interval / timings_.at(root(r.from)).interval;
    if (!factor.is_whole() && !(Rational{1, 1} / factor).is_whole())
      throw Error(fmt::format("the intervals of the clocks have the quotient {}/{}, which is no "
                              "whole number",
                              factor.numerator, factor.denominator),
                  r.place.location());
  }
}

void ClockInference::make_base(const std::vector<Key>& members, const Source& source) {
  std::optional<Rational> unit;
  for (const Key key : members) {
    const auto timing = timings_.find(key);
    if (timing == timings_.end())
      throw Error("nothing says when this ticks: no clock is given to it",
                  partitions_[key].clocked->location());
    if (timing->second.start.numerator < 0)
      throw Error("this clock would tick before the simulation starts",
                  partitions_[key].clocked->location());
    unit = unit ? common_part(timing->second.interval, *unit) : timing->second.interval;
    if (timing->second.start.numerator > 0) unit = common_part(timing->second.start, *unit);
  }
  if (source.event != nullptr) {
    if (!unit->is_whole())
      throw Error(
          "a clock that ticks at events cannot be made faster or be shifted by a part of its "
          "interval",
          source.place.location());
    unit = Rational{1, 1};
  }
  for (const Key key : members) {
    Partition& p = partitions_[key];
    const Timing& timing = timings_.at(key);
    p.base = bases_.size();
    p.every = (timing.interval / *unit).numerator;
    p.offset = (timing.start / *unit).numerator;
    p.interval = source.unit * timing.interval.value();
  }
  Base base{source};
  base.source.interval = *unit;
  bases_.push_back(base);
}

}  // namespace saltus
