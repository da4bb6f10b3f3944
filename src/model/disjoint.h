#pragma once

#include <string>
#include <vector>

#include "model/system.h"

namespace saltus {

// What happens where two guards of a mode fire at one instant.
struct Tie {
  std::string first;
  std::string second;
  std::string to;                 // successor mode
  std::vector<Assignment> set{};  // its transition function
};

// Makes the transition conditions of a mode disjoint (HM section 2): the two guards S_j, S_k of
// each tie are replaced by S_j without S_k, S_k without S_j, and "S_j and S_k", which gets the
// successor and transition of the tie and a priority before both. Further ties refer to the guards
// by their old names. Throws Error naming the guard if there is none of that name.
void make_disjoint(Mode& mode, const std::vector<Tie>& ties);

// The same for a mode of a system by its name, from "MODE:FIRST,SECOND:TO". Throws Error that says
// what is wrong with the text.
void make_disjoint(HybridSystem& system, const std::string& tie);

}  // namespace saltus
