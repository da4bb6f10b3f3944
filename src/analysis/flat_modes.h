#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/characteristic_values.h"
#include "analysis/surfaces.h"
#include "expr/tape.h"
#include "model/active_equations.h"
#include "model/build.h"

namespace saltus {

// A mode of a flat model: what holds while some structural conditions have certain values.
struct FlatMode {
  Mode mode;  // in the reduced form; guards are the relations and samples in use
  Frozen frozen;
  std::vector<std::string> conditions;  // as text: "locked", "not free"
  // By guard: index of the relation, or number of relations + index of the sample, or, where it
  // watches the weight of a held surface, FlatModes::weight_source().
  std::vector<std::size_t> sources;
  std::size_t base = 0;           // the mode without held surfaces: itself, if there are none
  std::vector<std::size_t> held;  // surfaces, increasing
  std::vector<Expr> weights;      // of their positive sides
  // The mode whose split of forces its equations choose; none: itself.
  std::optional<std::size_t> closes;
  std::size_t closing = 0;  // equations of it that choose, and are none of the mode as written
  // The mode of which this is one case: conditions that choose between terms are decided.
  std::optional<std::size_t> case_of;
  // Of the mode as it was written, before aliases were eliminated.
  std::size_t unknowns = 0;
  CharacteristicValues values;  // as far as structure tells
};

// Where constraints imply each other, forces are shared in many ways (two brakes on one shaft). The
// mode without what others imply, and with equations that choose one way.
struct OpenSplit {
  std::vector<Equation> equations;
  std::vector<std::size_t> closing;  // those of them that choose; others may stand in their place
  std::vector<Expr> conditions;      // of slots: zero, or the constraints contradict each other
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

  const Surfaces& surfaces() const { return surfaces_; }
  // The mode in which these surfaces, increasing, are held besides. `weight_of` gives the variable
  // that is the weight of a surface. None if the equations cannot be mixed. Pre: `index` came from
  // find().
  std::optional<std::size_t> hold(std::size_t index, const std::vector<std::size_t>& surfaces,
                                  const std::function<Expr(std::size_t)>& weight_of);
  // Whether the equations of a mode say what holding this surface means.
  bool may_hold(std::size_t index, std::size_t surface);
  // What the equations of a mode leave open among forces; null if they are not of that kind.
  const OpenSplit* open_split(std::size_t index);
  // The mode with these values zero instead of the equations that choose a split. Pre:
  // open_split(index) is not null; as many as it has, or none for its own. `key` tells choices
  // apart.
  std::size_t close(std::size_t index, const std::vector<double>& key,
                    const std::vector<Expr>& zero);
  // Numbers the combinations of conditions that choose between terms of a mode only.
  std::size_t case_of(std::size_t index, const std::vector<double>& parameters,
                      const std::vector<double>& slots);
  // The mode with those conditions ("a = if locked then 0 else s - c") decided, which keep their
  // values between events; itself if there are none.
  std::size_t decide(std::size_t index, const std::vector<double>& parameters,
                     const std::vector<double>& slots);
  // The mode whose conditions, relations and surfaces these are, whatever the split.
  std::size_t unsplit(std::size_t index) const {
    const std::size_t closed = modes_[index].closes.value_or(index);
    return modes_[closed].case_of.value_or(closed);
  }

  // The source of a guard that watches a weight: 0 is reached, or 1.
  std::size_t weight_source(std::size_t surface, bool at_one) const {
    return flat_.reduced.relations.size() + flat_.reduced.samples.size() + 2 * surface +
           (at_one ? 1 : 0);
  }
  // Undoes weight_source(): surface and whether it leaves upwards. Pre: it is such a source.
  std::pair<std::size_t, bool> weight_of_source(std::size_t source) const {
    const std::size_t k = source - flat_.reduced.relations.size() - flat_.reduced.samples.size();
    return {k / 2, k % 2 != 0};
  }
  bool is_weight_source(std::size_t source) const {
    return source >= flat_.reduced.relations.size() + flat_.reduced.samples.size();
  }
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
  Mode written_mode(const FlatMode& mode) const;
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
  Surfaces surfaces_;
  Expr any_weight_;  // stands for weights where only the question is whether there can be one
  std::map<std::pair<std::size_t, std::size_t>, bool> may_hold_;
  std::map<std::pair<std::size_t, std::vector<std::size_t>>, std::optional<std::size_t>> holding_;
  std::map<std::size_t, std::optional<OpenSplit>> splits_;
  std::map<std::pair<std::size_t, std::vector<double>>, std::size_t> closings_;
  // Of a mode that is decided case by case.
  struct Cases {
    std::vector<Expr> conditions;
    Tape tape;
    Tape::Workspace registers;
    std::vector<double> answers;  // last
    std::map<std::vector<double>, std::size_t> numbers;
    std::map<std::size_t, std::size_t> modes;  // by number
    std::map<std::vector<const Node*>, std::size_t> by_residuals;
  };
  std::map<std::size_t, Cases> cases_;
};

}  // namespace saltus
