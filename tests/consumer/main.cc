// A program outside the repository, built against an installed Saltus: dx/dt = -x.
#include <saltus/saltus.h>

#include <cmath>
#include <cstdio>

int main() {
  saltus::HybridSystem decay("decay");
  const saltus::Expr x = decay.variable("x", {.start = 1.0, .fixed = true});
  decay.mode("only").equations = {saltus::der(x) == -x};

  const saltus::SimulateResult result = saltus::simulate(decay, {.stop_time = 1.0});
  const double error = std::abs(result.final.at("x") - std::exp(-1.0));
  std::printf("x(%g) = %.9f, error %.1e\n", result.time, result.final.at("x"), error);
  return result.completed() && error < 1e-5 ? 0 : 1;
}
