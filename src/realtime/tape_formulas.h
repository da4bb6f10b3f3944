#pragma once

#include <vector>

#include "expr/tape.h"
#include "realtime/fixed_step.h"

namespace saltus {

// A tape with the memory it is evaluated in, for the fixed-step engine. Must not move while it is
// in use.
class TapeFormulas {
 public:
  TapeFormulas() = default;
  TapeFormulas(const std::vector<Expr>& expressions, const std::vector<std::vector<Expr>>& inputs)
      : tape_(expressions, inputs), registers_(tape_.make_workspace()) {}

  const Tape& tape() const { return tape_; }
  fs_formulas formulas() const { return {&evaluate, this}; }

 private:
  static void evaluate(const void* self, const double* const* in, double* out) {
    const auto* formulas = static_cast<const TapeFormulas*>(self);
    formulas->tape_.evaluate(in, formulas->registers_, out);
  }

  Tape tape_;
  mutable Tape::Workspace registers_;
};

}  // namespace saltus
