// Prints start, start slope and end values of every test problem by two unrelated methods in
// quadruple precision, and the number of digits in which they agree.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "extrapolation.h"
#include "models.h"
#include "radau.h"

namespace {

void print(const char* title, const Vector& values) {
  std::printf("  %s\n", title);
  for (const Real value : values) {
    char text[64];
    quadmath_snprintf(text, sizeof text, "%.22Qe", value);
    std::printf("    %s\n", text);
  }
}

double digits_agreed(const Vector& a, const Vector& b) {
  Real worst = 1e-33Q;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) worst = std::max(worst, magnitude(a[i] - b[i]) / magnitude(a[i]));
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
}
