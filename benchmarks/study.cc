// Many runs of one model: what a run costs when the model is compiled once, against the steps
// alone.
//
//   bench_study [runs]

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "base/kept_work.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace {

using namespace saltus;

class NoSink : public ResultSink {
 public:
  void begin(const Trajectory&) override {}
  void store(double, ModeId, const double*) override {}
};

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 20;
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}, .overrides = {}};
  options.use_modelica_path = false;
  HybridSystem system = build(load_modelica("Saltus.Examples.NAG", options));
  NoSink sink;
  KeptWork work(&system.graph());
  const KeptWork::Scope scope(work);
  SimulateOptions settings;
  settings.sink = &sink;
  double building = 0.0, integrating = 0.0;
  for (int k = 0; k < runs; ++k) {
    system.set("M_B_max", 50.0 + k % 10);
    system.set("theta", 0.4 + 0.01 * (k % 7));
    const SimulateResult result = simulate(system, settings);
    building += result.statistics.analyse_seconds;
    integrating += result.statistics.integrate_seconds;
  }
  fmt::print("{} runs: {:.2f} ms building, {:.2f} ms integrating each\n", runs,
             1e3 * building / runs, 1e3 * integrating / runs);
}
