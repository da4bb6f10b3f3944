#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "model/flat_model.h"

namespace saltus {

// A surface value = 0 that relations of a flat model lie on. A state on it has three answers:
// above, below, or *held*: the surface is an equation, and what keeps it is a weight in [0, 1]
// between the equations of both sides (KM 5.2: generalized Filippov).
struct Surface {
  Expr value;  // x rather than -x
  // Its relations, with +1 where their value is the surface's and -1 where it is the negative.
  std::vector<std::pair<std::size_t, int>> relations;
  bool may_be_held = false;  // it has unknowns, and equations read its relations
};

class Surfaces {
 public:
  explicit Surfaces(const FlatModel& model);

  std::size_t count() const { return surfaces_.size(); }
  const Surface& operator[](std::size_t i) const { return surfaces_[i]; }
  std::size_t of_relation(std::size_t relation) const { return by_relation_[relation]; }

  // The equations with the two sides of every held surface mixed by its weight. None if they do not
  // say what that is: a condition that decides which equations there are, or a nonlinear mixture.
  std::optional<std::vector<Equation>> mix(const std::vector<Equation>& equations,
                                           const std::vector<std::size_t>& held,
                                           const std::vector<Expr>& weights) const;
  // Whether an expression reads relations of this surface, Boolean equations without memory
  // followed.
  bool reads(const Expr& a, std::size_t surface) const;
  // With those in place of their targets.
  Expr without_followers(Expr a) const;

 private:
  const FlatModel& model_;
  std::vector<Surface> surfaces_;
  std::vector<std::size_t> by_relation_;
  // Discrete equations that only follow from relations: targets and values.
  std::vector<Expr> follower_targets_, follower_values_;
};

}  // namespace saltus
