#include "realtime/spring_comparison.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/processor_time.h"

namespace saltus {
namespace {

double input_at(const SpringCase& what, double t) { return what.input ? what.input(t) : 0.0; }

// The exact solution at the given times, which increase.
std::vector<SpringPoint> exact_points(const SpringCase& what, double substep,
                                      const std::vector<double>& times) {
  std::vector<SpringPoint> points;
  PwaSpring at = what.spring;
  SpringOptions options;
  options.max_events = 1000;
  double now = 0.0;
  for (const double t : times) {
    while (t - now > 1e-12 * (1.0 + t)) {
      options.step = std::min(substep, t - now);
      SpringStepper stepper(at, SpringMethod::kSwitchingExact, options);
      stepper.step(input_at(what, now + 0.5 * options.step));
      at.x = stepper.point().x;
      at.v = stepper.point().v;
      now += options.step;
    }
    points.push_back({t, at.x, at.v});
  }
  return points;
}

// Processor time of a step, s: the least of several rounds, each of them the run again and again.
double time_of_step(const SpringCase& what, SpringStepper& stepper, std::size_t steps) {
  std::vector<double> inputs;
  for (std::size_t k = 0; k < steps; ++k)
    inputs.push_back(
        input_at(what, what.stop_time * static_cast<double>(k) / static_cast<double>(steps)));
  const std::size_t repeats = std::max<std::size_t>(1, 20000 / steps);
  double best = 1e300;
  for (int round = 0; round < 5; ++round) {
    const double begun = processor_seconds();
    for (std::size_t r = 0; r < repeats; ++r) {
      stepper.restart();
      for (const double u : inputs) stepper.step(u);
    }
    best = std::min(best, processor_seconds() - begun);
  }
  return best / static_cast<double>(repeats * steps);
}

SpringRow run(const SpringCase& what, SpringMethod method, SpringOptions options, double substep,
              double energy, bool measure_time) {
  SpringRow row{.method = method, .step = options.step};
  try {
    SpringStepper stepper(what.spring, method, options);
    row.points = run_spring(stepper, what.stop_time, what.input);
    row.adjustments = stepper.adjustments();
    std::vector<double> times;
    for (const SpringPoint& p : row.points) times.push_back(p.t);
    const std::vector<SpringPoint> exact = exact_points(what, substep, times);
    double last_quarter = 0.0;
    std::size_t counted = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      const double difference = what.spring.energy(row.points[k].x, row.points[k].v) -
                                what.spring.energy(exact[k].x, exact[k].v);
      row.error = std::max(row.error, std::abs(row.points[k].x - exact[k].x));
      row.energy_error = std::max(row.energy_error, std::abs(difference) / energy);
      if (4 * k < 3 * exact.size()) continue;
      last_quarter += difference;
      ++counted;
    }
    row.energy_drift = last_quarter / (energy * static_cast<double>(counted));
    if (measure_time) row.seconds = time_of_step(what, stepper, row.points.size() - 1);
  } catch (const Error& error) {
    row.refused = error.message();
  }
  return row;
}

}  // namespace

std::vector<SpringCase> spring_cases() {
  const PiecewiseForce soft({0.0, 0.15}, {0.1, 20.0});
  std::vector<SpringCase> cases;
  cases.push_back({.name = "table5",
                   .description = "two regions, damped (RE Tables 1 and 5)",
                   .spring = {.damping = 0.5, .force = soft, .x = 0.3}});
  cases.push_back({.name = "undamped",
                   .description = "the same without damping, for the energy (RE 3.2.3.3)",
                   .spring = {.force = soft, .x = 0.3},
                   .stop_time = 30.0});
  cases.push_back(
      {.name = "table2",
       .description = "four regions, damped (RE Tables 1 and 2)",
       .spring = {
           .damping = 0.5, .force = {{0.0, 0.05, 0.1, 0.15}, {0.05, 1.0, 2.0, 10.0}}, .x = 0.3}});
  cases.push_back({.name = "table6",
                   .description = "the one whose time RE measures (Tables 6 to 8)",
                   .spring = {.damping = 0.5, .force = {{0.0, 0.15}, {1.0, 20.0}}, .x = 0.3},
                   .stop_time = 30.0});
  cases.push_back({.name = "friction",
                   .description = "three regions and dry friction (RE Table 9)",
                   .spring = {.damping = 0.05,
                              .force = {{0.0, 0.1, 0.2}, {1.0, 10.0, 20.0}},
                              .friction = 0.05,
                              .x = 0.3},
                   .stop_time = 20.0});
  cases.push_back({.name = "harmonic",
                   .description = "a stop that is hit by a harmonic force (RE Table 10)",
                   .spring = {.force = {{0.0, 0.15}, {1.0, 1000.0}}, .x = 0.1},
                   .stop_time = 20.0,
                   .input = [](double t) { return std::sin(t); }});
  return cases;
}

SpringComparison compare_springs(const SpringCase& what, const SpringCompareOptions& options) {
  SpringComparison comparison{.what = what};
  comparison.initial_energy = what.spring.energy(what.spring.x, what.spring.v);
  if (!(comparison.initial_energy > 0.0)) throw Error("a spring at rest moves by no method");
  if (options.steps.empty()) throw Error("no step to compare");
  for (const double step : options.steps) {
    if (!(step > 0.0) || !std::isfinite(step)) throw Error("steps must be positive");
    if (step > what.stop_time) throw Error("a step is longer than the run");
    if (what.stop_time / step > 1e7) throw Error("more than 1e7 steps");
  }
  const double shortest = *std::min_element(options.steps.begin(), options.steps.end());
  const double substep = what.input ? 0.01 * shortest : shortest;
  std::vector<double> times;
  for (int k = 0; k <= 1000; ++k) times.push_back(what.stop_time * k / 1000.0);
  comparison.reference = exact_points(what, substep, times);
  for (const double step : options.steps)
    for (const SpringMethod method : options.methods) {
      SpringOptions chosen = options.method;
      chosen.step = step;
      comparison.rows.push_back(
          run(what, method, chosen, substep, comparison.initial_energy, options.measure_time));
    }
  return comparison;
}

}  // namespace saltus
