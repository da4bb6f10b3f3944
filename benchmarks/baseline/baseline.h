#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace saltus {

// A problem as a SUNDIALS user would write it: residual and exact Jacobian by hand, unknowns in the
// order of the problem of the same name in tests/problems.
struct BaselineProblem {
  std::string name;
  double t_end = 0.0;
  std::vector<double> start;         // consistent
  std::vector<double> slope;         // consistent
  std::vector<double> differential;  // IDA's id vector: 1 differential, 0 algebraic
  void (*residual)(double t, const double* y, const double* dy, double* r) = nullptr;
  // dF/dy + c dF/dy', by columns; the matrix arrives filled with zeros.
  void (*jacobian)(double t, double c, const double* y, const double* dy,
                   double* jacobian) = nullptr;
};

// For messages of tests.
inline std::ostream& operator<<(std::ostream& out, const BaselineProblem& problem) {
  return out << problem.name;
}

BaselineProblem robertson_baseline();
BaselineProblem akzo_nobel_baseline();
BaselineProblem transistor_amplifier_baseline();
BaselineProblem transistor_amplifier_semi_explicit_baseline();
BaselineProblem diode_ring_baseline();

std::vector<BaselineProblem> all_baselines();

struct BaselineRun {
  bool finished = false;    // reached t_end
  double seconds = 0.0;     // wall time of set-up and integration
  std::vector<double> end;  // values at the end, or where IDA gave up
  long steps = 0;
  long residuals = 0;
  long jacobians = 0;
};

// What a user may tune. The transistor amplifier needs it: with the defaults its algebraic voltages
// fail the error test over and over.
struct IdaOptions {
  bool suppress_algebraic = false;   // leave algebraic unknowns out of the error test
  double newton_coefficient = 0.33;  // of the nonlinear convergence test; IDA's default
  long max_steps = 1'000'000;
};

// IDA (variable-order BDF) with the dense direct solver and the exact Jacobian. Throws
// std::runtime_error if IDA refuses its input.
BaselineRun run_ida(const BaselineProblem& problem, double rtol, const std::vector<double>& atol,
                    const IdaOptions& options = {});

}  // namespace saltus
