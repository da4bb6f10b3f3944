#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "expr/expr.h"

namespace saltus {

// Machine code where the processor is known and the system allows it (x86-64), else interpreted.
// Both give the same numbers, to the last bit.
enum class TapeCode { kMachine, kInterpreted };

// Expressions compiled to a flat list of instructions over a register file. Evaluation neither
// allocates nor throws; NaN and infinity pass through. A Tape is immutable and may be shared by
// threads, each with its own workspace.
//
//   const std::vector<std::vector<Expr>> inputs = {{time}, {x, y}, {der(x)}};
//   const Tape tape(outputs, inputs);
//   Tape::Workspace workspace = tape.make_workspace();
//   const double* values[] = {&t, x, dx};
//   tape.evaluate(values, workspace, out);
class Tape {
 public:
  // The register file: constants preloaded, inputs copied in by evaluate.
  using Workspace = std::vector<double>;

  Tape();
  // `inputs` are groups of leaves; values come as one array a group. Throws Error naming the leaf
  // if an output depends on a leaf that no group lists.
  Tape(std::span<const Expr> outputs, const std::vector<std::vector<Expr>>& inputs,
       TapeCode code = TapeCode::kMachine);

  std::size_t output_count() const;
  std::size_t instruction_count() const;
  Workspace make_workspace() const;

  // values[g][i] is the value of inputs[g][i]; a group with no leaf in use may be null. Outputs
  // must not overlap the values.
  void evaluate(const double* const* values, Workspace& workspace, double* outputs) const noexcept;

  // The C source of `void name(const double* const* in, double* out)`, self-contained apart from
  // <math.h> and user functions (declared extern by their c_name).
  std::string to_c(const std::string& name) const;

  struct Program;  // expr/tape_program.h

 private:
  friend class LaneTape;  // the same program, for several points at once
  std::shared_ptr<const Program> program_;
};

}  // namespace saltus
