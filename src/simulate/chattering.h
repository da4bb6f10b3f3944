#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expr/tape.h"
#include "locate/guard_watch.h"
#include "simulate/face.h"
#include "simulate/result.h"
#include "simulate/sliding_mode.h"

namespace saltus {

class ModeRun;
class Simulation;

// Chattering of one run: recognised when a guard fires, by the sign conditions of KM (24)-(28) and
// (37)-(39), and answered as SimulateOptions::chattering says: by a sliding mode, by hysteresis, or
// by the end of the run. Internal to Simulation.
class Chattering {
 public:
  friend class FlatContacts;

  explicit Chattering(Simulation& run) : run_(run) {}

  // Looks at a firing before its transition is taken. True if it was answered here: the run is in
  // another mode then, or has stopped. False: an ordinary transition.
  bool answer(const Firing& firing, bool hop_follows_event);

  // The variable that is the weight of the positive side of a surface while it is held.
  Expr weight_of(const Expr& surface);

  bool is_sliding(ModeId id) const { return slides_.contains(id); }

  // A mode was made from another by holding some of its guards: it chatters and slides as that did.
  void take_over(ModeId from, ModeId to, const std::vector<std::size_t>& held);

  // Flat models: leaves a sliding mode, if the run is in one, for the side of more weight, so that
  // something else can happen there; slide_again leads back where the flows still meet.
  std::vector<Expr> step_aside(const std::string& why);
  void slide_again(const std::vector<Expr>& surfaces);

  // Tells the guards of a flat mode, or of a sliding mode of one, which relations have hysteresis.
  void apply_widths(ModeRun& run);

  // Flags a cycle of modes that has repeated on intervals shorter than the limit (HM Definition
  // 15): a tag on the last event, and one warning.
  void flag_cycles();

 private:
  struct Surface {
    Expr value;   // positive on the positive side
    Expr weight;  // the variable alpha: weight of the positive side
  };
  struct Hop {
    ModeId from, to;
    double time = 0.0;
  };
  using States = std::vector<SystemState>;  // by side

  bool cross(ModeId here, std::size_t guard, const Firing& firing, bool hop_follows_event);
  bool leave(const SlidingMode& slide, const Firing& firing, bool hop_follows_event);
  bool cross_flat(const Firing& firing, bool hop_follows_event);
  bool leave_flat(const SlidingMode& slide, const Firing& firing, bool hop_follows_event);
  std::vector<Expr> surfaces_of(const SlidingMode& slide) const;
  std::size_t heavy_side(const SlidingMode& slide) const;
  bool go_to_side(const SlidingMode& slide, std::size_t side, const Firing& firing,
                  bool hop_follows_event, const std::string& why);
  bool may_slide(const Expr& surface);
  bool slide_on_flat(const std::vector<Expr>& surfaces, std::size_t sliding, const Firing& firing,
                     bool hop_follows_event);
  std::optional<std::pair<Meeting, States>> meet_flat(const std::vector<Expr>& surfaces);
  std::optional<std::size_t> settle_side(const std::vector<Expr>& surfaces, std::size_t side,
                                         SystemState& state);
  std::optional<Meeting> pair_up(ModeId here, std::size_t guard, ModeId there) const;
  std::optional<Meeting> meet_beyond(const SlidingMode& slide, std::size_t guard);
  std::optional<States> states_of(const Meeting& meeting, const SystemState& carried);
  std::optional<std::vector<double>> rates_of(const Meeting& meeting, const States& states);
  std::optional<double> rate_of(const Side& side, const Expr& value, const SystemState& state);
  bool on_surface(const Meeting& meeting, const States& states) const;
  bool agree(const Meeting& meeting, const States& states) const;
  void go_to(const Meeting& meeting, const Face& face, const States& states, const char* tag,
             const Firing& firing, bool hop_follows_event, const std::string& why = {});
  void hop(ModeId to, Event event, bool hop_follows_event);

  const SlidingMode& slide_on(const Meeting& meeting, const States& states);
  struct KnownSurface {
    std::size_t index = 0;
    bool positive = true;  // `value` is positive where the surface is
  };
  std::optional<KnownSurface> find_surface(const Expr& value) const;
  std::size_t make_surface(const Meeting& meeting, std::size_t surface);
  std::vector<VariableId> tied_variables(const Meeting& meeting, const States& states) const;
  std::string unused_name(const std::string& name) const;
  double evaluate(const Expr& value, const SystemState& state) const;
  double size_of(const Expr& value, const SystemState& state) const;

  // The mode that another was made from by hysteresis or by holding guards, and its guard.
  ModeId base_of(ModeId id) const;
  std::size_t base_guard(ModeId id, std::size_t guard) const;
  void add_hysteresis(ModeId base, std::size_t guard);
  void widen_flat(const Expr& surface);
  double width_at(const Expr& value);

  Simulation& run_;
  std::vector<Surface> surfaces_;
  std::map<ModeId, SlidingMode> slides_;
  std::map<std::vector<std::pair<ModeId, std::vector<double>>>, ModeId> by_sides_;
  struct Probe {
    ModeId mode;
    VariableId rate;
  };
  std::map<std::pair<ModeId, const Node*>, Probe> probes_;
  // Expressions that have been evaluated, compiled.
  struct Formula {
    Tape tape;
    Tape::Workspace registers;
  };
  mutable std::map<const Node*, Formula> formulas_;
  mutable std::vector<std::vector<Expr>> inputs_;  // of the formulas
  mutable std::map<const Node*, Expr> sizes_;      // of values, as formulas
  mutable std::vector<double> parameters_;
  std::optional<Hop> last_;  // ordinary, to tell when two modes send the state to and fro
  // Hysteresis: what is added to guards of a mode, the mode with them, and the way back.
  std::map<ModeId, std::map<std::size_t, double>> widths_;
  std::map<ModeId, ModeId> widened_;
  std::map<ModeId, ModeId> bases_;
  std::map<ModeId, std::vector<std::size_t>> base_guards_;  // where they are not the same
  // Flat models, by value of a surface: the discrete equations that follow from its relations, or
  // nothing if something remembers them.
  std::map<const Node*, std::optional<std::vector<std::size_t>>> followers_;
  std::map<std::size_t, double> flat_widths_;                       // of hysteresis, by relation
  double last_crossed_ = -std::numeric_limits<double>::infinity();  // one too many, when
  bool cycle_reported_ = false;
  std::size_t hopeless_events_ = 0;
};

}  // namespace saltus
