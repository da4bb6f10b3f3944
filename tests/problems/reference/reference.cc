// Prints start, start slope and end values of every test problem by two unrelated methods in
// quadruple precision, and the number of digits in which they agree.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "explicit.h"
#include "extrapolation.h"
#include "mechanisms.h"
#include "models.h"
#include "radau.h"
#include "water.h"

namespace {

void print(const char* title, const Vector& values) {
  std::printf("  %s\n", title);
  for (const Real value : values) {
    char text[64];
    quadmath_snprintf(text, sizeof text, "%.22Qe", value);
    std::printf("    %s\n", text);
  }
}

// In the worst component, relative to |a_i| + floor_i.
double digits_agreed(const Vector& a, const Vector& b, const Vector& floor = {}) {
  Real worst = 1e-33Q;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Real size = magnitude(a[i]) + (floor.empty() ? 0 : floor[i]);
    if (a[i] != b[i]) worst = std::max(worst, magnitude(a[i] - b[i]) / size);
  }
  return static_cast<double>(-log10q(worst));
}

void report(const Dae& dae, Real first_step) {
  std::printf("%s\n", dae.name.c_str());
  Radau slope(dae, 7, 1);
  print("start", dae.start);
  print("start slope", slope.start_slope(first_step));
  std::fflush(stdout);
  Radau fine(dae, 7, 1e-20Q);
  const Vector reference = fine.integrate(first_step);
  print("end", reference);
  std::printf("  Radau IIA of order 13, tolerance 1e-20: %ld steps\n", fine.steps);
  std::fflush(stdout);
  Radau coarse(dae, 5, 1e-17Q);
  const Vector second = coarse.integrate(first_step);
  std::printf("  Radau IIA of order 9, tolerance 1e-17: %ld steps, agrees to %.1f digits\n",
              coarse.steps, digits_agreed(reference, second));
  std::fflush(stdout);
  Extrapolation euler(dae, 12, 1e-17Q);
  const Vector third = euler.integrate(first_step);
  std::printf(
      "  extrapolated Euler of order 12, tolerance 1e-17: %ld steps, agrees to %.1f digits\n",
      euler.steps, digits_agreed(reference, third));
  std::fflush(stdout);
}

// Reduced to an ODE by hand: an explicit method and, where its size allows, Radau.
void report(const Ode& ode, Real first_step, bool with_radau) {
  std::printf("%s\n", ode.name.c_str());
  print("start", ode.start);
  print("algebraic at the start", ode.rest(0, ode.start));
  std::fflush(stdout);
  Gragg fine(ode, 10, 1e-22Q);
  const Vector reference = fine.integrate(first_step);
  print("end", reference);
  print("algebraic at the end", ode.rest(ode.end, reference));
  std::printf("  Gragg extrapolation of order 20, tolerance 1e-22: %ld steps\n", fine.steps);
  std::fflush(stdout);
  Gragg coarse(ode, 7, 1e-19Q);
  const Vector second = coarse.integrate(first_step);
  std::printf("  of order 14, tolerance 1e-19: %ld steps, agrees to %.1f digits\n", coarse.steps,
              digits_agreed(reference, second, ode.floor));
  std::fflush(stdout);
  if (!with_radau) return;
  const Dae dae = ode.as_dae();
  Radau radau(dae, 7, 1e-18Q);
  const Vector third = radau.integrate(first_step);
  std::printf("  Radau IIA of order 13, tolerance 1e-18: %ld steps, agrees to %.1f digits\n",
              radau.steps, digits_agreed(reference, third, ode.floor));
  std::fflush(stdout);
}

void report_water() {
  std::printf("water_tube\n");
  std::fflush(stdout);
  WaterTube fine(10, 1e-20Q, 60);
  Vector rest;
  const Vector reference = fine.integrate(rest);
  for (const auto& [time, pipe] : fine.events) {
    char text[64];
    quadmath_snprintf(text, sizeof text, "%.20Qe", time);
    std::printf("  pipe %d turns %s at %s\n", std::abs(pipe), pipe > 0 ? "turbulent" : "laminar",
                text);
  }
  print("flows, pressures of nodes 5 and 8", reference);
  print("friction factors, pressures", rest);
  std::printf("  Gragg extrapolation of order 20, tolerance 1e-20: %ld steps\n", fine.steps);
  std::fflush(stdout);
  WaterTube coarse(7, 1e-18Q, 20);
  const Vector second = coarse.integrate(rest);
  std::printf("  of order 14, tolerance 1e-18: %ld steps, agrees to %.1f digits\n", coarse.steps,
              digits_agreed(reference, second));
}

}  // namespace

int main(int argc, char** argv) {
  const auto wanted = [&](const char* name) {
    return argc < 2 || std::any_of(argv + 1, argv + argc,
                                   [&](const char* a) { return std::strcmp(a, name) == 0; });
  };
  if (wanted("robertson")) report(robertson(), 1e-7Q);
  if (wanted("akzo_nobel")) report(akzo_nobel(), 1e-6Q);
  if (wanted("transistor_amplifier")) report(transistor_amplifier(), 1e-7Q);
  if (wanted("diode_ring")) report(diode_ring(), 1e-9Q);
  if (wanted("car_axis")) report(car_axis(), 1e-5Q);
  if (wanted("andrews")) report(andrews(), 1e-6Q, true);
  if (wanted("slider_crank")) report(slider_crank(), 1e-4Q, true);
  if (wanted("fekete")) report(fekete(), 1e-3Q, false);
  if (wanted("water_tube")) report_water();
}
