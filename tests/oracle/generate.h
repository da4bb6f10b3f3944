#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle/network.h"

namespace saltus::oracle {

// Families of random drivetrains.
//   random      everything by chance, real parameters
//   degenerate  integers, twins, ties, simultaneous steps, capacities through zero, zero torques
//   brakes      three to five brakes and clutches in cycles: locks are hyperstatic
//   rest        all speeds start at zero, springs between
//   backlash    clearances with restitution between springs
//   shapes      planetary sets, gears that turn round, springs and brakes at the housing, free
//               wheels both ways
enum class Family { kRandom, kDegenerate, kBrakes, kRest, kBacklash, kShapes };
const std::vector<std::pair<std::string, Family>>& families();

Network generate(Family family, std::uint64_t seed);

// What occurs in a network, by name: elements, ties, starts at rest, kinds of signals.
std::map<std::string, int> census(const Network& network);

}  // namespace saltus::oracle
