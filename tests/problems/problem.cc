#include "problems/problem.h"

#include <utility>

namespace saltus {

std::vector<Problem> all_problems() {
  return {robertson(), akzo_nobel(), transistor_amplifier(), transistor_amplifier_semi_explicit(),
          diode_ring()};
}

std::vector<Problem> higher_index_problems() {
  return {car_axis(), andrews(), slider_crank(), fekete(), water_tube()};
}

Problem make_problem(HybridSystem system, double t_end, std::vector<double> reference) {
  system.experiment.stop_time = t_end;
  Problem problem{.name = system.name(),
                  .system = std::move(system),
                  .t_end = t_end,
                  .names = {},
                  .reference = std::move(reference),
                  .scale = {}};
  for (const Variable& variable : problem.system.variables()) {
    problem.names.push_back(variable.name);
    problem.scale.push_back(variable.nominal);
  }
  return problem;
}

}  // namespace saltus
