#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/system.h"
#include "model/system_state.h"

namespace saltus {

// One of the regions that meet at a surface: a mode with its own values of the discrete slots.
struct Side {
  ModeId mode;
  std::vector<double> slots{};
};

// How a side sees a surface: a value that is positive in the side, and the guards of its mode that
// watch it. The first is the one whose transition leads across, and `set` what that hands over.
struct Crossing {
  Expr value;
  std::vector<std::size_t> guards{};
  std::vector<Assignment> set{};
};

// Sides that meet at n surfaces, 2^n of them numbered by bits (face.h).
struct Meeting {
  std::vector<Side> sides;
  std::vector<std::vector<Crossing>> crossings;  // [side][surface]
  std::vector<std::size_t> surfaces;             // which ones, for the owner

  std::size_t surface_count() const { return surfaces.size(); }
};

// The generalized Filippov mode on the surfaces (KM 5.2, (40)). Values of the unknowns under der()
// are shared; highest derivatives and algebraic unknowns exist once a side, solved from that side's
// equations; the derivative of a shared unknown is the mixture of those of the sides, and the
// surfaces hold as constraints, which determine the weights. Algebraic unknowns are the same
// mixture. An unknown of only one side follows that side.
struct SlidingMode {
  ModeId id;  // set by the owner, once the mode is added
  Meeting meeting;
  Mode mode;

  enum class Exit { kNegative, kPositive, kOther };
  // What a guard of the mode means: the weight of a surface reached 0 or 1, or a guard that sides
  // have in common (or one side has alone) fires.
  struct Role {
    Exit exit = Exit::kOther;
    std::size_t surface = 0;
    std::vector<std::size_t> guards{};  // kOther: by side, npos where it has none
  };
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::vector<Role> roles;  // by guard of the mode

  // Where guesses for unknowns of the mode come from: the state of a side.
  struct Guess {
    VariableId target;
    std::size_t side = 0;
    VariableId source;
    int order = 0;  // 0: value, 1: slope
  };
  std::vector<Guess> guesses;
};

// Adds the variables the mode needs to the system (names that start with '$' are not results).
// `weights` are the variables alpha by surface; `tied` lists the variables of only the positive
// side that the way back from the negative side sets and that agree with it now. Throws Error if
// the sides cannot be mixed, naming why. Pre: meeting is complete.
SlidingMode make_sliding_mode(HybridSystem& system, Meeting meeting, std::string name,
                              const std::vector<Expr>& weights,
                              const std::vector<VariableId>& tied);

}  // namespace saltus
