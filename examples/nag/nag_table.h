#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

// The gearbox NAG as tables: bodies, shafts, planetary sets, elements, gears. Bodies are numbered
// 1 ... 30 as in HM Figure 2: planetary sets 1-12 (sun, carrier, ring, planets each), discs of
// clutches and brakes 13-21, free wheels 22-24, shaft nodes 25-30.

namespace saltus {

constexpr int kNagBodies = 30;
constexpr int kNagEngineNode = 25;
constexpr int kNagOutput = 6;  // carrier of the second set

struct NagShaft {
  int body = 0;
  int node = 0;
};
std::span<const NagShaft> nag_shafts();

struct NagSet {
  const char* name;  // "P1"
  int sun = 0;       // carrier, ring and planets follow
  double ring_radius = 0.0;
  double ratio = 0.0;  // r_ring / r_sun
  double inertia[4];   // sun, carrier, ring, planets; kg m2
};
std::span<const NagSet> nag_sets();

struct NagElement {
  const char* name;
  int a = 0;              // disc
  int b = 0;              // the other disc; 0: the housing
  double inertia = 0.0;   // of a disc, kg m2; 0: a free wheel
  double capacity = 0.0;  // C1, N m at full pressure
  bool is_free_wheel() const { return inertia == 0.0; }
};
// Clutches k1-k3, brakes b1-b3, free wheels f1, f2.
std::span<const NagElement> nag_elements();
std::size_t find_nag_element(const std::string& name);  // throws Error

// Sets of elements: bit e is element e of nag_elements().
using NagElements = unsigned;

struct NagGear {
  const char* name;
  NagElements locked = 0;       // clutches and brakes (HM Table 3)
  NagElements free_wheels = 0;  // that may carry torque
};
std::span<const NagGear> nag_gears();
const NagGear& find_nag_gear(const std::string& name);  // throws Error

// Speeds of the 30 bodies (by number; 0 is the housing) with rigid shafts, the engine at speed 1
// and these elements locked; where they leave the output free, it stands still. Planets excluded.
std::array<double, kNagBodies + 1> nag_speeds(NagElements locked);

}  // namespace saltus
