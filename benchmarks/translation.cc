// How long the way from text to an analysed mode takes for a chain of components, and how it grows.
// Exits with 1 if a limit is missed.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <string>

#include "analysis/report.h"
#include "model/build.h"
#include "modelica/load.h"
#include "modelica_chain.h"

using namespace saltus;

namespace {

// Processor time, the shortest of five; s.
double time_of(int n) {
  const std::string text = spring_chain(n);
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 5; ++round) {
    const std::clock_t start = std::clock();
    const HybridSystem system = build(load_modelica_text(text, "", {.use_modelica_path = false}));
    analyse_modes(system, 1);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace

int main() {
  const double small = time_of(400);
  const double large = time_of(3200);
  const double growth = std::log(large / small) / std::log(8.0);
  fmt::print("5,202 equations from text to analysis, s   {:.3g}  limit 5\n", small);
  fmt::print("41,602 equations, s                        {:.3g}\n", large);
  fmt::print("exponent of the growth                     {:.3g}  limit 1.2\n", growth);
  return small <= 5.0 && growth <= 1.2 ? 0 : 1;
}
