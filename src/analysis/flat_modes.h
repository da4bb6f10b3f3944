#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derivative_array.h"
#include "expr/tape.h"
#include "model/active_equations.h"
#include "model/build.h"

namespace saltus {

// A mode of a flat model: what holds while some structural conditions have certain values.
struct FlatMode {
  Mode mode;  // in the reduced form; guards are the relations and samples in use
  Frozen frozen;
  std::vector<std::string> conditions;  // as text: "locked", "not free"
  // By guard: index of the relation, or number of relations + index of the sample.
  std::vector<std::size_t> sources;
  // Of the mode as it was written, before aliases were eliminated.
  std::size_t unknowns = 0;
  CharacteristicValues values;  // as far as structure tells
};

// The modes of a flat model, made when they are asked for. Which conditions are structural is found
// mode by mode: with those known so far frozen, a condition is structural if freezing it changes
// unknowns or offsets. The answers form a tree whose leaves are the modes. At a leaf, conditions
// that change the structure only together are found when their values are first met.
class FlatModes {
 public:
  // Pre: system.flat() is not null.
  explicit FlatModes(const HybridSystem& system);

  // Index of the mode that holds with these slots. Throws Error if its equations do not balance.
  std::size_t find(const std::vector<double>& parameters, const std::vector<double>& slots);
  // The same as long as it leads to a mode that was found before; npos otherwise. Neither allocates
  // nor throws.
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::size_t find_known(const std::vector<double>& parameters,
                         const std::vector<double>& slots) noexcept;
  const FlatMode& mode(std::size_t index) const { return modes_[index]; }
  std::size_t count() const { return modes_.size(); }

  // The modes that differ from this one in one structural condition that does not depend on a
  // variable that names modes. For surveys; slots decide the conditions that come up on the way.
  std::vector<std::size_t> neighbours(std::size_t index, const std::vector<double>& parameters,
                                      const std::vector<double>& slots);

  // The equations of a mode as written, as a mode of FlatSystem::written.
  Mode written_mode(std::size_t index) const;

 private:
  // A question on the way to a mode: the values of some structural conditions.
  struct Branching {
    Frozen frozen;                    // on the way here
    std::vector<Expr> conditions;     // empty: the way ends in a mode
    std::vector<Equation> equations;  // of that mode
    Tape tape;                        // the conditions, or the variables that name the mode
    Tape::Workspace registers;
    std::map<std::vector<double>, std::unique_ptr<Branching>> next;
    std::map<std::vector<double>, std::size_t> modes;
    // At the end of a way: conditions that change nothing one by one; values of all of them that
    // change nothing together; those that do, and where the way goes on.
    std::vector<Expr> open;
    std::set<std::vector<double>> harmless;
    std::vector<std::pair<std::vector<std::pair<std::size_t, double>>, std::unique_ptr<Branching>>>
        joint;
  };
  std::unique_ptr<Branching> branch(Frozen frozen);
  std::size_t follow(Branching& from, const std::vector<double>& parameters,
                     const std::vector<double>& slots, const Frozen* forced);
  Branching* together(Branching& from, const std::vector<double>& open);
  std::size_t add_mode(const Branching& at, const std::vector<double>& named_by);
  std::string name_of(const std::vector<double>& named_by);
  void add_guards(FlatMode& mode) const;
  void describe_as_written(FlatMode& mode) const;

  const HybridSystem& system_;
  const FlatSystem& flat_;
  std::vector<std::vector<Expr>> inputs_;  // parameters, slots
  std::vector<Expr> always_used_;          // what events read, whatever the mode
  std::vector<const DiscreteVariable*> naming_;
  std::unique_ptr<Branching> root_;
  std::deque<FlatMode> modes_;
  std::map<std::string, int> names_;
  std::vector<double> answers_, open_;  // of find_known(), with room for every question
};

}  // namespace saltus
