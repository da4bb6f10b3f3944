#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "expr/tape.h"
#include "locate/guard_watch.h"
#include "simulate/face.h"
#include "simulate/result.h"
#include "simulate/sliding_mode.h"

namespace saltus {

class ModeRun;
struct Run;
struct Settled;

// Chattering of one run: recognised when a guard fires, by the sign conditions of KM (24)-(28) and
// (37)-(39), and answered as SimulateOptions::chattering says: by a sliding mode, by hysteresis, or
// by the end of the run.
struct Chattering {
  struct Surface {
    Expr value;   // positive on the positive side
    Expr weight;  // the variable alpha: weight of the positive side
  };
  struct Crossed {
    ModeId from, to;
    double time = 0.0;
  };
  struct Formula {
    Tape tape;
    Tape::Workspace registers;
  };

  std::vector<Surface> surfaces;
  std::map<ModeId, SlidingMode> slides;
  std::map<std::vector<std::pair<ModeId, std::vector<double>>>, ModeId> by_sides;
  // Expressions that have been evaluated, compiled.
  std::map<const Node*, Formula> formulas;
  std::vector<std::vector<Expr>> inputs;  // of the formulas
  std::map<const Node*, Expr> sizes;      // of values, as formulas
  std::vector<double> parameters;
  std::optional<Crossed> last;  // ordinary, to tell when two modes send the state to and fro
  // Hysteresis: what is added to guards of a mode, the mode with them, and the way back.
  std::map<ModeId, std::map<std::size_t, double>> widths;
  std::map<ModeId, ModeId> widened;
  std::map<ModeId, ModeId> bases;
  std::map<ModeId, std::vector<std::size_t>> base_guards;  // where they are not the same
  // Flat models, by value of a surface: the discrete equations that follow from its relations, or
  // nothing if something remembers them.
  std::map<const Node*, std::optional<std::vector<std::size_t>>> followers;
  // What reads slots, and which relations have a value.
  struct Readers {
    std::unordered_map<const Node*, std::vector<std::size_t>> equations;  // discrete
    std::unordered_map<const Node*, std::vector<std::size_t>> relations;  // by value
    std::unordered_map<const Node*, const Node*> pres;                    // by symbol
    std::unordered_set<const Node*> resets;  // slots in conditions of reinits and ends of the run
    std::vector<bool> equation_remembers;    // by discrete equation: reads a pre()
    std::size_t flat_mode = static_cast<std::size_t>(-1);
    std::unordered_set<const Node*> of_mode;  // leaves of its equations
  };
  std::optional<Readers> readers;             // of a flat model
  std::map<std::size_t, double> flat_widths;  // of hysteresis, by relation
  // The last event of a flat model: its modes and slots before and after.
  struct Remembered {
    std::size_t from = 0, to = 0;
    std::vector<double> before, after;
  };
  Remembered remembered;
  double last_crossed = -std::numeric_limits<double>::infinity();  // one too many, when
  bool cycle_reported = false;
  std::size_t hopeless_events = 0;
};

// Looks at a firing before its transition is taken. True if it was answered here: the run is in
// another mode then, or has stopped. False: an ordinary transition.
bool answer_chattering(Run& run, const Firing& firing, bool hop_follows_event);

// The variable that is the weight of the positive side of a surface while it is held.
Expr weight_of(Run& run, const Expr& surface);

// A mode was made from another by holding some of its guards: it chatters and slides as that did.
void inherit_chattering(Run& run, ModeId from, ModeId to, const std::vector<std::size_t>& held);

// Flat models: leaves a sliding mode, if the run is in one, for the side of more weight, so that
// something else can happen there; slide_again leads back where the flows still meet.
std::vector<Expr> step_aside(Run& run, const std::string& why);
void slide_again(Run& run, const std::vector<Expr>& surfaces);

// Tells the guards of a flat mode, or of a sliding mode of one, which relations have hysteresis.
void apply_widths(Run& run, ModeRun& mode);

// Flags a cycle of modes that has repeated on intervals shorter than the limit (HM Definition
// 15): a tag on the last event, and one warning.
void flag_cycles(Run& run);

// Flat models, where something remembers on which side of a surface the state is
// (chattering_memory.cc). The run is where it was before the event; true if it slides now.
// An event iteration went round in a circle: between two states, each of which leads to the other?
bool slide_between_states(Run& run, const Firing& firing, const Settled& circle,
                          bool hop_follows_event);
// An event would take back what the last one did, as soon as the surface was left: leads to the
// flat mode and the state `after`.
bool slide_between_values(Run& run, const Firing& firing, std::size_t flat_mode,
                          const SystemState& after, bool hop_follows_event);
// The last event, for that.
void remember_change(Run& run, std::size_t from, const SystemState& before);

// d/dt of a value along the flow of a side, from now on.
std::optional<double> rate_of(Run& run, const Side& side, const Expr& value,
                              const SystemState& state);

// Parts, for the files chattering.cc (what the flows do), chattering_flat.cc (the same where sides
// are settled by the event iteration) and chattering_answers.cc (what follows).
using States = std::vector<SystemState>;  // by side
bool cross_flat(Run& run, const Firing& firing, bool hop_follows_event);
bool leave_flat(Run& run, const SlidingMode& slide, const Firing& firing, bool hop_follows_event);
std::optional<States> states_of(Run& run, const Meeting& meeting, const SystemState& carried);
std::optional<std::vector<double>> rates_of(Run& run, const Meeting& meeting, const States& states);
bool on_surface(Run& run, const Meeting& meeting, const States& states);
// Where the flows of two sides lead at the surface they share, if going there and back changes
// nothing. `to_and_fro`: flows that are tangential now have been seen to leave to the wrong side.
Face face_between(Run& run, const Meeting& meeting, const States& states, bool to_and_fro);
double value_of(Run& run, const Expr& value, const SystemState& state);
double size_of(Run& run, const Expr& value, const SystemState& state);
struct KnownSurface {
  std::size_t index = 0;
  bool positive = true;  // `value` is positive where the surface is
};
std::optional<KnownSurface> find_surface(const Run& run, const Expr& value);
std::string unused_name(const Run& run, const std::string& name);
// Into the mode, or the sliding mode, of a face.
void go_to(Run& run, const Meeting& meeting, const Face& face, const States& states,
           const char* tag, const Firing& firing, bool hop_follows_event,
           const std::string& why = {});
void hop_to(Run& run, ModeId to, Event event, bool hop_follows_event);
// The mode that another was made from by hysteresis or by holding guards, and its guard.
ModeId base_of(const Run& run, ModeId id);
std::size_t base_guard(const Run& run, ModeId id, std::size_t guard);
double width_at(Run& run, const Expr& value);
void add_hysteresis(Run& run, ModeId base, std::size_t guard);

}  // namespace saltus
