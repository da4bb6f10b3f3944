#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "modelica/place.h"

namespace saltus {

struct Node;

// A positive denominator, no common factor.
struct Rational {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  // Throws Error if it does not fit.
  static Rational of(std::int64_t numerator, std::int64_t denominator);
  double value() const;
  bool is_whole() const { return denominator == 1; }
  bool operator==(const Rational&) const = default;
};
Rational operator+(const Rational& a, const Rational& b);
Rational operator*(const Rational& a, const Rational& b);
Rational operator/(const Rational& a, const Rational& b);
// The largest number of which both are whole multiples.
Rational common_part(const Rational& a, const Rational& b);

// Which variables tick together, and when (Modelica 3.6, section 16.7). Keys are variables, clocks
// and results of operators; an equation joins all that it names. Some partitions have a clock
// of their own; operators such as subSample() tell how others tick relative to them.
class ClockInference {
 public:
  using Key = const Node*;
  // What makes a clock tick: its interval in multiples of the unit. The unit is one second, a
  // number of seconds that need not be a rational number, or an event.
  struct Source {
    double unit = 1.0;  // s; of events 0
    Key event = nullptr;
    Rational interval{1, 1};
    Place place;
  };
  struct Partition {
    std::optional<Place> clocked;     // why it is
    std::optional<Place> continuous;  // why it is
    std::optional<Source> source;
    std::string solver;  // method for der(); empty: none
    // Once solved: a clocked one ticks with the base clock at offset + k * every.
    std::size_t base = 0;
    std::int64_t every = 1;
    std::int64_t offset = 0;
    double interval = 0.0;  // s; of event clocks 0
  };
  struct Base {
    Source source;  // with the interval of the base clock
  };

  void join(Key a, Key b);
  void mark_clocked(Key key, const Place& place);
  void mark_continuous(Key key, const Place& place);
  void set_source(Key key, const Source& source);
  void set_solver(Key key, const std::string& method, const Place& place);
  // `to` has `factor` times the interval of `from` (none: to be found) and starts `shift` intervals
  // of `from` later.
  void relate(Key from, Key to, std::optional<Rational> factor, const Rational& shift,
              const Place& place);

  // Throws Error where clocks contradict each other or are missing.
  void solve();

  Partition& partition(Key key);
  const std::vector<Base>& bases() const { return bases_; }

 private:
  struct Relation {
    Key from;
    Key to;
    std::optional<Rational> factor;
    Rational shift;
    Place place;
  };
  struct Timing {
    Rational interval;
    Rational start;
  };
  Key root(Key key);
  void spread(Key first, const Source& source);
  void make_base(const std::vector<Key>& members, const Source& source);

  std::unordered_map<Key, Key> parent_;
  std::unordered_map<Key, Partition> partitions_;  // by root
  std::vector<Key> keys_;                          // in order
  std::vector<Relation> relations_;
  std::unordered_map<Key, Timing> timings_;  // by root
  std::vector<Base> bases_;
};

}  // namespace saltus
