// Claim: for a sparse chain of n unknowns the work of a step grows at most like n^1.1 in
// instructions and n^1.25 in wall time, n = 1e3 ... 1e5 (caches make time grow faster than work).
//
// Time: best of several runs, of the processor, which is wall time for this single-threaded program
// unless others use the machine. Instructions: the program runs itself under callgrind (where
// installed), which counts in take_steps only; the hardware counter would do as well, but few
// virtual machines have one.
//
//   bench_scaling            both measurements, exit status 1 if a limit is exceeded
//   bench_scaling STEPS N    only the steps, for the counting tool

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/analysed_mode.h"
#include "analysis/consistent.h"
#include "integrate/radau.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

namespace {

using namespace saltus;

constexpr double kInstructionLimit = 1.1;
constexpr double kWallLimit = 1.25;

// A line of cells that conduct heat, each with its temperature T and the flow q from the cell
// before, given by a nonlinear law that is not solved for q: T' = q_k - q_(k+1) - T^3 / 10,
// q + q^3 / 10 = T_(k-1) - T_k. The left end follows 1 + sin t.
HybridSystem chain(int unknowns) {
  HybridSystem system("chain");
  const int cells = unknowns / 2;
  std::vector<Expr> temperature, flow;
  for (int k = 0; k < cells; ++k) {
    temperature.push_back(system.variable("T" + std::to_string(k)));
    flow.push_back(system.variable("q" + std::to_string(k)));
  }
  Mode& mode = system.mode("on");
  Expr left = 1.0 + sin(system.time());
  for (int k = 0; k < cells; ++k) {
    const Expr& t = temperature[k];
    const Expr& q = flow[k];
    const Expr out = k + 1 < cells ? flow[k + 1] : Expr(0.0);
    mode.equations.push_back(q + 0.1 * q * q * q == left - t);
    mode.equations.push_back(der(t) == q - out - 0.1 * t * t * t);
    left = t;
  }
  return system;
}

// Between the two requests callgrind counts; elsewhere they do nothing.
int take_steps(Integrator& integrator, int steps) {
  CALLGRIND_START_INSTRUMENTATION;
  int done = 0;
  while (done < steps && integrator.step(1e9).ok()) ++done;
  CALLGRIND_STOP_INSTRUMENTATION;
  return done;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A chain at rest shortly after its start, ready to step.
class Bench {
 public:
  explicit Bench(int n) : system_(chain(n)), mode_(analyse(system_, ModeId(0))) {
    const Dae& dae = *mode_->dae;
    data_ = dae.make_data();
    start_.assign(dae.unknown_count(), 0.0);
    slope_.assign(dae.unknown_count(), 0.0);
    if (!ConsistentSolver(dae).solve(data_, 0.0, start_.data(), slope_.data()).ok())
      throw std::runtime_error("the chain has no consistent start");
    IntegratorOptions options;
    options.tolerance = 1e-5;
    options.absolute_tolerance.assign(dae.unknown_count(), 1e-5);
    radau_ = std::make_unique<Radau>(dae, data_, options);
  }

  // Seconds a step, after a few steps to settle.
  double run(int steps) {
    radau_->restart(0.0, start_, slope_, 1e-3);
    for (int k = 0; k < 5; ++k) require(radau_->step(1e9).ok());
    const double begin = processor_seconds();
    require(take_steps(*radau_, steps) == steps);
    return (processor_seconds() - begin) / steps;
  }

  const IntegratorCounts& counts() const { return radau_->counts(); }

 private:
  static void require(bool ok) {
    if (!ok) throw std::runtime_error("a step failed");
  }

  HybridSystem system_;
  std::unique_ptr<const AnalysedMode> mode_;
  DaeData data_;
  std::vector<double> start_, slope_;
  std::unique_ptr<Radau> radau_;
};

// Instructions inside take_steps, from callgrind's summary; NaN if it is not installed.
double instructions(const std::string& program, int steps, int n) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("saltus_scaling.{}.{}", getpid(), n);
  const std::string command = fmt::format(
      "valgrind --tool=callgrind --instr-atstart=no "
      "--callgrind-out-file='{}' '{}' {} {} > /dev/null 2>&1",
      file.string(), program, steps, n);
  double total = std::numeric_limits<double>::quiet_NaN();
  if (std::system(command.c_str()) == 0) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
      if (line.rfind("totals: ", 0) == 0) total = std::stod(line.substr(8));
  }
  std::filesystem::remove(file);
  return total / steps;
}

// Prints the exponent of each decade and over all; true if the latter is within the limit.
bool judge(const std::string& what, const std::vector<int>& n, const std::vector<double>& value,
           double limit) {
  const auto exponent = [&](std::size_t a, std::size_t b) {
    return std::log(value[b] / value[a]) / std::log(static_cast<double>(n[b]) / n[a]);
  };
  fmt::print("{}:", what);
  for (std::size_t k = 1; k < n.size(); ++k)
    fmt::print(" {:.3f} ({} to {}),", exponent(k - 1, k), n[k - 1], n[k]);
  const double total = exponent(0, n.size() - 1);
  fmt::print(" over all {:.3f} (at most {})\n", total, limit);
  return total <= limit;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kSteps = 10;
  if (argc == 3) {
    Bench(std::stoi(argv[2])).run(std::stoi(argv[1]));
    return 0;
  }
  const std::vector<int> sizes = {1'000, 10'000, 100'000};
  std::vector<double> wall;
  fmt::print("{:>8} {:>12} {:>14} {:>18}\n", "n", "us a step", "ns an unknown", "instructions/n");
  std::vector<double> counted;
  for (const int n : sizes) {
    Bench bench(n);
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < (n < 50'000 ? 15 : 7); ++k) best = std::min(best, bench.run(kSteps));
    wall.push_back(best);
    counted.push_back(instructions(argv[0], kSteps, n));
    fmt::print("{:8} {:12.1f} {:14.1f} {:18.0f}\n", n, 1e6 * best, 1e9 * best / n,
               counted.back() / n);
    std::fflush(stdout);
  }
  bool within = judge("exponent of wall time", sizes, wall, kWallLimit);
  if (std::isnan(counted.back())) {
    fmt::print("instructions are not counted: valgrind is not installed\n");
  } else {
    within = judge("exponent of instructions", sizes, counted, kInstructionLimit) && within;
  }
  return within ? 0 : 1;
}
