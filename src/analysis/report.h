#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/characteristic_values.h"
#include "analysis/formulations.h"
#include "model/system.h"
#include "model/system_state.h"

namespace saltus {

// What is known of a mode before it is integrated, in the names of the model.
struct ModeAnalysis {
  std::string name;
  std::vector<std::string> conditions;
  std::size_t unknowns = 0;
  std::size_t equations = 0;
  CharacteristicValues values;
  std::vector<std::string> hidden;                          // constraints found by differentiation
  std::vector<std::pair<std::string, int>> differentiated;  // equation, how often; > 0 only
  std::vector<std::string> redundant;                       // equations that say the same
  std::vector<std::string> contradictory;  // equations that exclude each other at any point
  std::vector<std::string> free;           // unknowns that nothing determines
  std::vector<std::string> guards;         // "name: value > 0, then successor"
  // How clear the ranks were (ArrayAnalysis); 0: numbers were not asked.
  double gap = 0.0;
  // Where structure and numbers disagree, or where the values are not certain; else empty.
  std::string note;
};

// Analyses a mode by its structure and, up to kLargestByNumbers unknowns, by the ranks of its
// derivative array near the given state; numbers have the last word. Over- and
// underdetermined modes are reported like any other. Throws Error for second derivatives only.
ModeAnalysis analyse_mode(const HybridSystem& system, ModeId id, double t, const SystemState& near);

// Puts another formulation of the mode in place of its written form: unknowns, equations and
// values, those from the ranks of the form linearised at the state. Where the mode has no such
// form, a note says why and the report stays.
void describe_form(const HybridSystem& system, ModeId id, Formulation formulation, double t,
                   const SystemState& near, ModeAnalysis& report);

struct SystemAnalysis {
  std::string model;
  std::vector<ModeAnalysis> modes;
  std::size_t left_out = 0;  // modes beyond the limit
};

// The initial mode, then the others, at most `max_modes`, near the start values: in order of
// declaration, or for a flat model the states of its machines and single flips of structural
// conditions, breadth first. The position form is the mode as written.
SystemAnalysis analyse_modes(const HybridSystem& system, std::size_t max_modes,
                             Formulation formulation = Formulation::kPosition);
// Pre: system.flat() is not null. The modes are those of the model as written, with its aliases.
SystemAnalysis analyse_flat_modes(const HybridSystem& system, std::size_t max_modes,
                                  Formulation formulation = Formulation::kPosition);

}  // namespace saltus
