#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace saltus {

// A spring of several stiffnesses on a mass, and the ways to discretize it with a fixed step that
// RE chapter 3 compares.
//
// Letters as in RE: m mass, d damping, c_i stiffness of region i, F_off,i its offset, T_d step,
// x deflection, v velocity, u external force, eta the fraction of a step up to an event.

// An odd, continuous force that is affine in pieces: F(s) = c_i s + sign(s) F_off,i for
// x_i < |s| <= x_(i+1) (RE (28)). The offsets follow from continuity.
class PiecewiseForce {
 public:
  // Throws Error unless `borders` begins with 0, increases, and has as many entries as `slopes`.
  PiecewiseForce(std::vector<double> borders, std::vector<double> slopes);

  // Signed regions, numbered from that of the most negative deflections; the middle one, which
  // contains 0, counts once.
  struct Region {
    double low;
    double high;
    double slope;
    double offset;  // of the sign of the deflection
  };
  const std::vector<Region>& regions() const { return regions_; }
  std::size_t region_of(double s) const noexcept;
  double operator()(double s) const noexcept;
  double energy(double s) const noexcept;  // integral from 0 to s

 private:
  std::vector<Region> regions_;
};

struct PwaSpring {
  double mass = 1.0;     // kg
  double damping = 0.0;  // d, N s/m
  PiecewiseForce force{{0.0}, {1.0}};
  double friction = 0.0;  // Coulomb, N
  double x = 0.0;         // m, at the start
  double v = 0.0;         // m/s, at the start

  double energy(double at_x, double at_v) const noexcept;  // J, RE (91)
};

enum class SpringMethod {
  kLinear,          // the linear system with the inner stiffness alone: what time is measured by
  kEuler,           // RE (43)
  kExponential,     // (I + Z/N)^N at the present point, RE (47)
  kTaylor,          // RE (53) to the given order
  kConstant,        // the spring force held over the step, RE (67)
  kConstantInner,   // its difference from a linear spring held, RE (72)
  kShifting,        // the deflection shifted to where a linear spring has the same force, RE (78)
  kSwitching,       // the exact step of the region at its beginning, RE (82)
  kSwitchingDelta,  // with steps that end where a line through their ends crosses a border, RE (90)
  kSwitchingExact,  // with partial steps to the crossings themselves, within the sample
};
inline constexpr std::array kSpringMethods = {
    SpringMethod::kLinear,         SpringMethod::kEuler,     SpringMethod::kExponential,
    SpringMethod::kTaylor,         SpringMethod::kConstant,  SpringMethod::kConstantInner,
    SpringMethod::kShifting,       SpringMethod::kSwitching, SpringMethod::kSwitchingDelta,
    SpringMethod::kSwitchingExact,
};
std::string_view to_string(SpringMethod method);
std::optional<SpringMethod> parse_spring_method(std::string_view name);

struct SpringOptions {
  double step = 0.1;              // T_d, s
  double inner_stiffness = 10.0;  // of constant-inner, shifting and linear, N/m
  int factors = 10;               // N of the matrix exponential
  int order = 2;                  // of the Taylor series
  int max_events = 20;            // in one sample, of switching-exact
};

struct SpringPoint {
  double t = 0.0;
  double x = 0.0;
  double v = 0.0;
};

// Advances one spring by one method. Nothing allocates after construction.
class SpringStepper {
 public:
  // Throws Error if a number is not usable, or for friction with a method other than switching with
  // adjustment: RE 3.2.4 gives it for those alone.
  SpringStepper(const PwaSpring& spring, SpringMethod method, const SpringOptions& options);

  void restart() noexcept;
  // One sample with the input u held. Of switching-delta the point lies off the grid after a step
  // that was cut at an event, and the next step is the longer.
  void step(double u) noexcept;
  const SpringPoint& point() const noexcept { return point_; }
  std::size_t adjustments() const noexcept { return adjustments_; }
  // A sample had more than max_events events; the rest of it was taken without looking for more.
  std::size_t exhausted() const noexcept { return exhausted_; }

 private:
  using Matrix = std::array<double, 4>;  // by row
  struct Affine {                        // z := phi z + f offset
    Matrix phi;
    std::array<double, 2> input;
  };
  Affine discretize(double stiffness, double length) const noexcept;
  void apply(const Affine& step, double f) noexcept;
  void apply_shifted(double u) noexcept;
  void step_exponential(double u) noexcept;
  void step_taylor(double u) noexcept;
  void step_delta(double u) noexcept;
  void step_exact(double u) noexcept;
  void choose_region() noexcept;
  bool sticks(double u) noexcept;
  double slope_force(double u) const noexcept;

  PwaSpring spring_;
  SpringMethod method_;
  SpringOptions options_;
  Affine inner_{};               // with the inner stiffness, or none
  std::vector<Affine> regions_;  // one a region
  SpringPoint point_;
  std::size_t region_ = 0;
  double direction_ = 0.0;  // of sliding; 0: stuck, or no friction
  double missing_ = 0.0;    // s, of the grid, to be regained by the next step (RE 3.2.4)
  std::size_t samples_ = 0;
  std::size_t adjustments_ = 0;
  std::size_t exhausted_ = 0;
};

// The points from the start to stop_time, the first included; u is looked up at the beginning of
// every step.
std::vector<SpringPoint> run_spring(SpringStepper& stepper, double stop_time,
                                    const std::function<double(double)>& u);

}  // namespace saltus
