#pragma once

#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "model/system.h"
#include "model/system_state.h"
#include "simulate/simulate.h"

namespace saltus {

// Numbers row by row.
struct DenseMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;

  DenseMatrix() = default;
  DenseMatrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, 0.0) {}
  double& at(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  double at(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

// A mode near one of its points: x' = A x + B u, y = C x + D u in small changes of states, inputs
// and outputs, with all constraints of the mode, hidden ones too, eliminated. The states are
// unknowns of the mode that determine all others.
struct Linearization {
  std::string model;
  std::string mode;
  double time = 0.0;
  std::vector<std::string> states, inputs, outputs;
  std::vector<double> state_values, output_values;
  DenseMatrix a, b, c, d;
  std::vector<std::complex<double>> poles;  // eigenvalues of A, 1/s
  // Where as many inputs as outputs: the finite values s at which the transfer matrix loses rank.
  std::vector<std::complex<double>> zeros;

  // The transfer matrix C (sI - A)^-1 B + D; outputs x inputs, row by row.
  std::vector<std::complex<double>> transfer(std::complex<double> s) const;
  // Outputs at the times 0, dt, 2 dt, ... after a step (or an impulse) of size one of an input:
  // points x outputs. The D of an impulse is an impulse itself and is left out.
  DenseMatrix step_response(std::size_t input, double dt, std::size_t points) const;
  DenseMatrix impulse_response(std::size_t input, double dt, std::size_t points) const;
};

struct ModePoint;  // study/mode_point.h

// Eigenvalues of A at a consistent state of the mode in force, which is left there.
std::vector<std::complex<double>> poles_at(ModePoint& point, const SystemState& state);

// Runs the system to time `at` (not beyond the stop time of the options) and linearises the mode in
// force there; at an event, the one after it. Inputs are parameters, or variables that an equation
// gives as a function of time alone. Outputs are results by name, or expressions of them; none:
// the states. Throws Error that names what is not known or cannot be done.
Linearization linearize(const HybridSystem& system, double at,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const SimulateOptions& options = {});

}  // namespace saltus
