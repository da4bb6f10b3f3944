#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/carried_unknowns.h"
#include "analysis/impulse.h"
#include "locate/roots.h"
#include "model/system_state.h"

namespace saltus {

enum class TransferStatus {
  kDone,
  kCutShort,  // the way into the mode leaves its region
  kOutside,   // the state is outside the region before: it stays what it was
  kRefused,   // an unknown would have to jump that no finite impulse can make jump
  kNoPoint,   // the impulse equations have no solution near
};

// What became of the state on its way into a mode.
struct TransferOutcome {
  TransferStatus status = TransferStatus::kDone;
  double fraction = 1.0;            // of the way that was gone
  std::vector<std::size_t> guards;  // that the way leaves the region through
  std::map<std::string, double> impulses{};
  std::size_t unknown = 0;  // kRefused: of the mode
  double wanted = 0.0;      // the value it would have to jump to
  // Unknowns of the mode that a transition set but that could not keep their value.
  std::vector<std::size_t> not_kept{};
  bool by_least_change = false;  // the rest does not follow from impulses

  bool ends_at_once() const {
    return status == TransferStatus::kCutShort || status == TransferStatus::kOutside;
  }
};

// What ceases to hold first on a straight way, 0 to 1. Every value is positive while it holds.
class FirstToLeave {
 public:
  // `value` ceases to hold where it falls below zero by more than `band`: at the zero before that.
  void follow(std::size_t item, GuardRef value, double band);
  // The same for a value that is linear on the way.
  void follow_line(std::size_t item, double start, double end, double band);

  bool any() const { return !items_.empty(); }
  double fraction() const { return fraction_; }                     // of the way; if any()
  const std::vector<std::size_t>& items() const { return items_; }  // all that do so there

 private:
  void note(std::size_t item, double leaves);

  RootIsolator isolator_;
  double fraction_ = 2.0;
  std::vector<std::size_t> items_;
};

// The region of a mode along a projection: which guard is violated first on the straight line from
// x- to x+, or by an impulse.
class GuardPath {
 public:
  GuardPath(const AnalysedMode& mode, const CarriedUnknowns& carried);

  // before, after: values of the mode's unknowns; jumps and impulses by unknown.
  void check(double t, const std::vector<double>& before, const std::vector<double>& after,
             const std::vector<double>& slopes, const std::vector<double>& jumps,
             const std::vector<double>& impulses, const DaeData& data, TransferOutcome& outcome);

 private:
  std::vector<std::size_t> on_path_;     // guards in unknowns under der() only
  std::vector<std::size_t> on_impulse_;  // guards that impulses reach
  Tape values_, sizes_, pushes_;         // of on_path_, on_path_, on_impulse_ (push, then size)
  Tape::Workspace value_registers_, size_registers_, push_registers_;
};

}  // namespace saltus
