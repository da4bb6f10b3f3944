#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analysis/analysed_mode.h"
#include "expr/lane_tape.h"
#include "integrate/integrator.h"
#include "locate/roots.h"

namespace saltus {

class TimeCourses;

// Guards that ended a step, or the reason why the end could not be found.
struct Firing {
  std::vector<std::size_t> guards;  // all that fire at this instant, in order of declaration
  double time = 0.0;
  bool at_step_start = false;  // left zero the wrong way: nothing of the step holds
  bool is_time_event = false;
  StepOutcome outcome;  // of the steps taken again

  bool fired() const { return !guards.empty(); }
};

// How a guard moves where it is zero: dS/dt along the solution, and its natural size. Their
// quotient says by how many seconds the zero moves when all unknowns change by 100 %.
struct GuardMotion {
  double slope = 0.0;
  double mean_slope = 0.0;  // from the start of the step, in magnitude
  double size = 0.0;
  double condition() const { return size / std::abs(slope); }
  // Reaches zero so flat that a small change may make it turn back before.
  bool is_tangential() const { return std::abs(slope) <= 1e-8 * mean_slope; }
};

// A guard that touched zero without crossing it.
struct Grazing {
  std::size_t guard = 0;
  double time = 0.0;
  GuardMotion motion;
};

// Watches the guards of one mode. Between start() and the firing nothing is allocated.
class GuardWatch {
 public:
  // Mode and data must outlive the watch.
  // `courses` are asked for where nothing is kept of the mode (base/kept_work.h).
  GuardWatch(const AnalysedMode& mode, DaeData& data,
             const std::function<const TimeCourses&()>& courses);
  ~GuardWatch();
  GuardWatch(const GuardWatch&) = delete;
  GuardWatch& operator=(const GuardWatch&) = delete;

  // A guard below zero by more than kBand of its size when a mode starts fires at once.
  static constexpr double kBand = 1e-10;
  // Values below this fraction of a guard's size are rounding.
  static constexpr double kNoise = 1e-15;

  // Arms the guards at the start of a mode. The result has fired() if the state is outside.
  // `are_settled`: the mode has been found to last; guards a little outside are so by rounding, as
  // relations always are.
  const Firing& start(double t, const double* x, const double* dx, bool are_settled = false);

  // Guards, other than time guards, that are zero at this point, to `band` of their sizes.
  std::vector<std::size_t> at_zero(double t, const double* x, const double* dx,
                                   double band = kBand);

  // The same below zero: the point is outside the mode.
  std::vector<std::size_t> below_zero(double t, const double* x, const double* dx,
                                      double band = kBand);

  // For the next start(): the mode before kept these guards at zero.
  void expect_held(const std::vector<std::size_t>& guards) { held_before_ = guards; }

  // From now on this relation changes only when zero has been passed by the width.
  void widen(std::size_t guard, double width) { states_[guard].width = width; }

  // Brings the end of a step to where an event would find it: forms that let constraints drift, or
  // whose multipliers are of low order, are made consistent at events, and guards are to vanish
  // there.
  using Refinement = std::function<void(double t, std::vector<double>& x, std::vector<double>& dx)>;
  void refine_by(Refinement refinement) { refinement_ = std::move(refinement); }

  // No time guard falls to zero before: where the next one does, or as far as look_ahead() has
  // proved that none does; infinity if none ever does.
  double next_time_event() const { return next_time_event_; }
  // Extends that proof, if possible to this time.
  void look_ahead(double until);

  // Looks at the integrator's last step. If a guard fires, the integrator stands at that point
  // afterwards (unless at_step_start).
  const Firing& examine(Integrator& integrator);

  // Whether a relation was at zero when the mode started and fired by leaving the band around it.
  bool left_band(std::size_t guard) const { return offsets_[guard] > 0.0; }
  // At a time within the last step, from its continuous extension.
  GuardMotion motion(std::size_t guard, const Integrator& integrator, double t);

  // Of the last examine(), up to the firing.
  const std::vector<Grazing>& grazings() const { return grazings_; }

 private:
  struct State {
    bool armed = false;
    bool was_armed = false;   // when the step began
    double old_offset = 0.0;  // when the step began
    double width = 0.0;       // of hysteresis, see widen()
    bool was_held = false;    // at zero by the mode before, so it leaves zero with zero slope
    double size = 0.0;        // at the start of the mode
    double noise() const { return kNoise * size; }
    // Above it a guard has left zero. One that leaves it flat stays near for many steps, in which
    // the rounding of what it reads adds up.
    double threshold() const { return was_held ? 100.0 * noise() : noise(); }
    double band() const { return kBand * size; }
  };

  // Of the last step, at the k-th of the five sample points.
  double& sample_of(std::size_t guard, std::size_t k) {
    return samples_[k * states_.size() + guard];
  }
  double sample_of(std::size_t guard, std::size_t k) const {
    return samples_[k * states_.size() + guard];
  }
  std::array<double, 5> samples_of(std::size_t guard) const;
  // Whether it is located where it leaves a band.
  bool is_in_band(std::size_t guard) const {
    return offsets_[guard] > 0.0 && states_[guard].width == 0.0;
  }
  bool stays_in_band(std::size_t guard) const;
  // Degree along a step; -1: not known.
  int degree(std::size_t guard, const Integrator& integrator) const;

  template <class Select>
  std::vector<std::size_t> guards_where(double t, const double* x, const double* dx,
                                        const Select& select);
  struct Enclosures;
  struct KeptEnclosures;
  static std::unique_ptr<Enclosures> find_enclosures(
      const AnalysedMode& mode, const std::function<const TimeCourses&()>& courses);
  void evaluate(const Integrator& integrator, double t);
  void evaluate_at(double t, const double* x, const double* dx);
  void evaluate_without_offsets(double t, const double* x, const double* dx, double* values);
  void evaluate_end(const Integrator& integrator);
  double evaluate_one(std::size_t guard, const Integrator& integrator, double t);
  void examine_guard(std::size_t guard, Integrator& integrator);
  void consider(std::size_t guard, double s);
  bool comes_to_zero(std::size_t guard) const;
  void note_touch(std::size_t guard, GuardRef along, const Integrator& integrator);
  void sample(const Integrator& integrator);
  void find_guards_near_zero(const Integrator& integrator);
  void begin_with_earliest();
  void shorten_to_first_root();
  bool stays_clear_before_root(std::size_t guard) const;
  bool is_proved_clear(std::size_t guard, const Integrator& integrator);
  std::span<const double> cuts_for(std::size_t guard, const Integrator& integrator);
  void save_states();
  void restore_states();
  bool is_real(std::size_t guard, std::span<const Root> roots, Integrator& integrator);
  bool pin_down(Integrator& integrator);
  bool retake(Integrator& integrator, double t);
  void predict_time_events(double t, const double* x, const double* dx);
  void update_next_time_event();
  void fire_time_events(const Integrator& integrator);

  const AnalysedMode& mode_;
  DaeData& data_;
  std::vector<State> states_;
  std::vector<bool> is_time_guard_;  // reads no unknown but such that are functions of time
  // Of guards whose values at a few points do not tell enough.
  std::unique_ptr<Enclosures> enclosures_;
  struct Single;  // guards that are looked at one by one
  std::unique_ptr<Single> single_;
  std::vector<double> falls_;  // by guard: where it falls to zero next, as far as known
  // Added to the values: a relation that is at zero after an event is located where it leaves the
  // band on the other side; at zero again once it has left on this side.
  std::vector<double> offsets_;
  std::vector<std::size_t> held_before_;
  RootIsolator isolator_;
  Refinement refinement_;
  Tape::Workspace registers_, size_registers_;
  std::vector<double> values_, x_, dx_;
  LaneTape lanes_;  // of the guards, at four sample points
  LaneTape::Workspace lane_registers_;
  std::vector<double> lanes_x_, lane_values_;
  std::vector<double> samples_;     // five rows, see sample_of()
  std::vector<double> end_values_;  // without offsets, where the last samples end:
  double sampled_until_ = std::numeric_limits<double>::quiet_NaN();  // not a number: nowhere
  std::vector<double> unproven_, clearance_;                         // see measure_clearance()
  int extension_degree_ = -1;                                        // that unproven_ is for
  std::vector<std::size_t> watched_;                                 // all but time guards
  std::vector<std::size_t> near_zero_;  // guards that the samples alone do not settle
  double next_time_event_ = std::numeric_limits<double>::infinity();
  Firing firing_;
  std::vector<Grazing> grazings_;
  bool look_again_ = false;  // the step was shortened because its extension cannot be trusted
  double first_root_ = 2.0;  // fraction of the step; > 1: none
  // The samples of all guards on the way to about the first root, as five rows; empty: none yet.
  std::vector<double> shortened_, shortened_clearance_;
  double shortened_to_ = 2.0;
  std::size_t first_guard_ = 0;
};

}  // namespace saltus
