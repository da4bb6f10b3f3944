#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "expr/tape.h"

namespace saltus {

class MachineCode;  // base/machine_code.h

// How many points are evaluated at once: the doubles of one register of the processor.
constexpr std::size_t kLanes = 4;

// The formulas of a Tape at kLanes points at once. Every lane has the results of Tape::evaluate, to
// the last bit. Machine code where the processor has AVX2 and the system allows it; else one lane
// after the other. Lanes without use hold finite numbers.
//
// Immutable and cheap to copy; may be shared by threads, each with its own workspace.
class LaneTape {
 public:
  using Workspace = std::vector<double>;

  LaneTape();
  // uniform[g], one a group of the inputs of `tape`: its values are the same in all lanes and given
  // once, as for Tape. kInterpreted: one lane after the other.
  LaneTape(const Tape& tape, const std::vector<bool>& uniform, TapeCode code = TapeCode::kMachine);

  std::size_t output_count() const;
  Workspace make_workspace() const;

  // values[g][i] is the value of inputs[g][i] in all lanes if the group is uniform, else
  // values[g][kLanes * i + lane] is the one in a lane; a group with no leaf in use may be null.
  // outputs[kLanes * i + lane]; they must not overlap the values. Neither allocates nor throws.
  void evaluate(const double* const* values, Workspace& workspace, double* outputs) const noexcept;

 private:
  // An input of one lane: values[group][first + lane * step].
  struct LaneInput {
    std::size_t group;
    std::size_t first;
    std::size_t step;
  };
  void evaluate_one_by_one(const double* const* values, Workspace& workspace,
                           double* outputs) const noexcept;

  Tape tape_;                                        // one by one: with a single group
  std::vector<LaneInput> inputs_;                    // one by one: what that group is made of
  std::shared_ptr<const MachineCode> machine_code_;  // null: one by one
};

}  // namespace saltus
