#pragma once

#include <cstddef>
#include <vector>

#include "model/flat_model.h"

namespace saltus {

// A flat model on its way to modes. Parameters and slots have the same ids in both forms.
struct FlatSystem {
  FlatModel written;  // as it came
  // Without the equations that only say x = y, x = -y or x = constant or parameter, in a graph of
  // its own: that of the HybridSystem that carries it.
  FlatModel reduced;
  Expr initial;                    // slot of initial(), in the reduced form
  std::vector<Expr> next_samples;  // slots: the next instant of each sample, in the reduced form
  std::size_t aliases = 0;         // eliminated unknowns
  Expr terminal{};                 // slot of terminal(), in the reduced form, if the model asks
};

// Makes a flat model ready to be simulated: eliminates aliases once and lists every variable of the
// source as a result under its name. The modes are made when they are visited. Throws Error for
// start values that contradict each other.
HybridSystem build(FlatModel model);

// Throws Error if there are variables that are equal to each other and that no other equation of
// the flat model knows: nothing gives them a value, however many equations there are.
void check_determined(const HybridSystem& system);

// `a`, which depends on slots and parameters only, in the other form.
Expr in_graph_of(const HybridSystem& system, const Expr& a);

}  // namespace saltus
