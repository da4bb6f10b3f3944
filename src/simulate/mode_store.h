#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "simulate/mode_run.h"

namespace saltus {

struct Run;

// How a mode that is a mode of FlatModes, or made from one by holding something, looks from there.
struct FlatView {
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::size_t flat_mode = 0;
  std::vector<std::size_t> guards;    // by guard: that of the flat mode, or npos
  std::vector<std::size_t> contacts;  // by guard: the contact whose multiplier it is, or npos
};

// The modes of a run, made when they are visited.
struct ModeStore {
  std::vector<std::unique_ptr<ModeRun>> runs;  // by ModeId; null until visited
  std::vector<ModeId> visited;
  // Of a flat model.
  std::vector<ModeId> of_flat;      // by mode of FlatModes
  std::vector<bool> refused;        // the same: it could not be analysed
  std::set<std::size_t> unsettled;  // the same: structure alone does not settle it
  std::map<ModeId, FlatView> views;
};

// A mode that only the run needs; variables may have been added to its system before. The name must
// be new.
ModeId add_mode(Run& run, Mode mode);
// The mode, analysed and ready to be integrated.
ModeRun& visit(Run& run, ModeId id);
// Where structure does not settle a mode, or numbers disagree with it.
ModeRun& visit_by_numbers(Run& run, ModeId id);
// The same formulation of the present mode, made for the present point.
void renew_form(Run& run);
// The characteristic values have changed inside a mode (HM Algorithm 20, step 1): goes on from here
// with what numbers find, if that determines a solution. Otherwise `run.rank_change` says why not.
bool continue_by_numbers(Run& run);
// Starts to watch the guards of a mode at the point its integrator stands at; what fires at once.
const Firing& arm_guards(ModeRun& mode, double t, bool are_settled = false);

// Flat models.
ModeId flat_mode(Run& run, std::size_t index);
const FlatView* view_of(const Run& run, ModeId id);  // null for sliding modes
// By guard of such a mode: index of the relation, or number of relations + index of the sample;
// npos if it watches a multiplier.
std::size_t source_of(const Run& run, ModeId id, std::size_t guard);
// Null if the mode cannot be analysed.
ModeRun* visit_flat(Run& run, std::size_t index);
// The same, or null if structure alone does not settle it.
ModeRun* visit_flat_by_structure(Run& run, std::size_t index);

}  // namespace saltus
