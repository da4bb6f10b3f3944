#include "realtime/pwa_spring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "realtime/affine_motion.h"

namespace saltus {
namespace {

constexpr std::array<std::pair<SpringMethod, std::string_view>, kSpringMethods.size()> kNames = {{
    {SpringMethod::kLinear, "linear"},
    {SpringMethod::kEuler, "euler"},
    {SpringMethod::kExponential, "exponential"},
    {SpringMethod::kTaylor, "taylor"},
    {SpringMethod::kConstant, "constant"},
    {SpringMethod::kConstantInner, "constant-inner"},
    {SpringMethod::kShifting, "shifting"},
    {SpringMethod::kSwitching, "switching"},
    {SpringMethod::kSwitchingDelta, "switching-delta"},
    {SpringMethod::kSwitchingExact, "switching-exact"},
}};

// How far the grid may be behind before steps are no longer cut (RE 3.2.4: "a threshold value").
constexpr double kMostMissing = 4.0;

}  // namespace

std::string_view to_string(SpringMethod method) {
  for (const auto& [known, name] : kNames)
    if (known == method) return name;
  return "";
}

std::optional<SpringMethod> parse_spring_method(std::string_view name) {
  for (const auto& [method, known] : kNames)
    if (known == name) return method;
  return std::nullopt;
}

PiecewiseForce::PiecewiseForce(std::vector<double> borders, std::vector<double> slopes) {
  if (borders.empty() || borders.size() != slopes.size())
    throw Error(
        fmt::format("a piecewise force needs one border and one stiffness a region, not {} "
                    "and {}",
                    borders.size(), slopes.size()));
  if (borders[0] != 0.0) throw Error("the first region of a piecewise force begins at 0");
  for (std::size_t k = 0; k < borders.size(); ++k) {
    if (!std::isfinite(borders[k]) || !std::isfinite(slopes[k]))
      throw Error("the numbers of a piecewise force must be finite");
    if (k > 0 && !(borders[k] > borders[k - 1]))
      throw Error("the borders of a piecewise force must increase");
  }
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<Region> right;
  double offset = 0.0;
  for (std::size_t k = 0; k < borders.size(); ++k) {
    if (k > 0) offset += (slopes[k - 1] - slopes[k]) * borders[k];
    right.push_back(
        {borders[k], k + 1 < borders.size() ? borders[k + 1] : infinity, slopes[k], offset});
  }
  for (std::size_t k = right.size() - 1; k > 0; --k)
    regions_.push_back({-right[k].high, -right[k].low, right[k].slope, -right[k].offset});
  regions_.push_back({-right[0].high, right[0].high, right[0].slope, 0.0});
  regions_.insert(regions_.end(), right.begin() + 1, right.end());
}

std::size_t PiecewiseForce::region_of(double s) const noexcept {
  std::size_t k = 0;
  while (k + 1 < regions_.size() && s > regions_[k].high) ++k;
  return k;
}

double PiecewiseForce::operator()(double s) const noexcept {
  const Region& r = regions_[region_of(s)];
  return r.slope * s + r.offset;
}

double PiecewiseForce::energy(double s) const noexcept {
  double sum = 0.0;
  const double to = std::abs(s);  // the force is odd, so the energy is even
  for (std::size_t k = regions_.size() / 2; k < regions_.size(); ++k) {
    const Region& r = regions_[k];
    const double low = std::max(r.low, 0.0);
    if (to <= low) break;
    const double high = std::min(r.high, to);
    sum += (high - low) * (0.5 * r.slope * (low + high) + r.offset);
  }
  return sum;
}

double PwaSpring::energy(double at_x, double at_v) const noexcept {
  return 0.5 * mass * at_v * at_v + force.energy(at_x);
}

SpringStepper::SpringStepper(const PwaSpring& spring, SpringMethod method,
                             const SpringOptions& options)
    : spring_(spring), method_(method), options_(options) {
  for (const double value : {spring.mass, options.step, options.inner_stiffness})
    if (!(value > 0.0) || !std::isfinite(value))
      throw Error("mass, step and inner stiffness of a spring must be positive");
  for (const double value : {spring.damping, spring.friction})
    if (!(value >= 0.0) || !std::isfinite(value))
      throw Error("damping and friction of a spring must not be negative");
  if (!std::isfinite(spring.x) || !std::isfinite(spring.v))
    throw Error("the start of a spring must be finite");
  if (options.factors < 1 || options.order < 1 || options.max_events < 1)
    throw Error("factors, order and events of a spring method must be at least 1");
  const bool adjusts =
      method == SpringMethod::kSwitchingDelta || method == SpringMethod::kSwitchingExact;
  if (spring.friction > 0.0 && !adjusts)
    throw Error(
        fmt::format("the method {} knows no friction; use switching-delta or "
                    "switching-exact",
                    to_string(method)));
  inner_ =
      discretize(method == SpringMethod::kConstant ? 0.0 : options.inner_stiffness, options.step);
  for (const PiecewiseForce::Region& r : spring.force.regions())
    regions_.push_back(discretize(r.slope, options.step));
  restart();
}

void SpringStepper::restart() noexcept {
  point_ = {0.0, spring_.x, spring_.v};
  missing_ = 0.0;
  samples_ = adjustments_ = exhausted_ = 0;
  direction_ = spring_.friction > 0.0 && spring_.v != 0.0 ? std::copysign(1.0, spring_.v) : 0.0;
  choose_region();
}

SpringStepper::Affine SpringStepper::discretize(double stiffness, double length) const noexcept {
  const double m = spring_.mass;
  const double d = spring_.damping;
  const AffineMotion of_x(m, d, stiffness, 0.0, 1.0, 0.0);
  const AffineMotion of_v(m, d, stiffness, 0.0, 0.0, 1.0);
  const AffineMotion of_f(m, d, stiffness, 1.0, 0.0, 0.0);
  return {
      {of_x.position(length), of_v.position(length), of_x.velocity(length), of_v.velocity(length)},
      {of_f.position(length), of_f.velocity(length)}};
}

void SpringStepper::apply(const Affine& step, double f) noexcept {
  const double x = point_.x;
  const double v = point_.v;
  point_.x = step.phi[0] * x + step.phi[1] * v + step.input[0] * f;
  point_.v = step.phi[2] * x + step.phi[3] * v + step.input[1] * f;
}

// The equilibrium force of the present region: what acts beside the spring of its slope.
double SpringStepper::slope_force(double u) const noexcept {
  return u - spring_.force.regions()[region_].offset - direction_ * spring_.friction;
}

void SpringStepper::choose_region() noexcept {
  region_ = spring_.force.region_of(point_.x);
  const PiecewiseForce::Region& r = spring_.force.regions()[region_];
  // On a border the motion decides; regions contain their upper border.
  if (point_.x == r.high && (point_.v > 0.0 || (point_.v == 0.0 && direction_ > 0.0))) ++region_;
}

void SpringStepper::apply_shifted(double u) noexcept {
  // RE (77), (78), and shifted back by the same amount as RE (83) does; without that the deflection
  // would not converge to itself as the step shrinks.
  const double shifted = spring_.force(point_.x) / options_.inner_stiffness;
  const double shift = point_.x - shifted;
  point_.x = shifted;
  apply(inner_, u);
  point_.x += shift;
}

void SpringStepper::step_exponential(double u) noexcept {
  const PiecewiseForce::Region& r = spring_.force.regions()[region_];
  const double h = options_.step / options_.factors;
  const double slope = -r.slope / spring_.mass;
  const double damping = -spring_.damping / spring_.mass;
  const double force =
      (u - spring_.damping * point_.v - r.slope * point_.x - r.offset) / spring_.mass;
  double wx = 0.0;
  double wv = 0.0;
  for (int k = 0; k < options_.factors; ++k) {
    const double next = wx + h * (wv + point_.v);
    wv += h * (slope * wx + damping * wv + force);
    wx = next;
  }
  point_.x += wx;
  point_.v += wv;
}

void SpringStepper::step_taylor(double u) noexcept {
  const PiecewiseForce::Region& r = spring_.force.regions()[region_];
  const double slope = -r.slope / spring_.mass;
  const double damping = -spring_.damping / spring_.mass;
  double ax = point_.v;
  double av = (u - spring_.damping * point_.v - r.slope * point_.x - r.offset) / spring_.mass;
  double factor = options_.step;
  for (int k = 1; k <= options_.order; ++k) {
    point_.x += factor * ax;
    point_.v += factor * av;
    const double next = av;
    av = slope * ax + damping * av;
    ax = next;
    factor *= options_.step / (k + 1);
  }
}

// At rest: whether friction holds; if not, in which direction the mass leaves.
bool SpringStepper::sticks(double u) noexcept {
  const double pull = u - spring_.force(point_.x);
  if (std::abs(pull) <= spring_.friction) return true;
  direction_ = pull > 0.0 ? 1.0 : -1.0;
  choose_region();
  return false;
}

void SpringStepper::step_delta(double u) noexcept {
  const double length = options_.step + missing_;
  missing_ = 0.0;
  if (spring_.friction > 0.0 && direction_ == 0.0 && sticks(u)) {
    point_.t += length;
    return;
  }
  const PiecewiseForce::Region& r = spring_.force.regions()[region_];
  const AffineMotion motion(spring_.mass, spring_.damping, r.slope, slope_force(u), point_.x,
                            point_.v);
  const double x = motion.position(length);
  const double v = motion.velocity(length);
  double eta = 1.0;
  bool stops = false;
  if (length <= kMostMissing * options_.step) {
    // RE (90), sorted as RE 2.2.4 says: what is negative or beyond the step is no crossing.
    if (x > r.high || x < r.low) {
      const double border = x > r.high ? r.high : r.low;
      const double fraction = (border - point_.x) / (x - point_.x);
      if (fraction > 0.0 && fraction < eta) eta = fraction;
    }
    if (spring_.friction > 0.0 && v * direction_ < 0.0) {
      const double fraction = point_.v / (point_.v - v);  // RE (16)
      if (fraction > 0.0 && fraction < eta) {
        eta = fraction;
        stops = true;
      }
    }
  }
  if (eta == 1.0) {
    if (x > r.high || x < r.low) region_ = spring_.force.region_of(x);
    point_ = {point_.t + length, x, v};
    if (spring_.friction > 0.0 && v * direction_ < 0.0) {  // not adjusted: found at the sample
      point_.v = 0.0;
      direction_ = 0.0;
    }
    return;
  }
  ++adjustments_;
  missing_ = (1.0 - eta) * length;
  point_ = {point_.t + eta * length, motion.position(eta * length), motion.velocity(eta * length)};
  if (stops) {
    point_.v = 0.0;
    direction_ = 0.0;
  } else {
    region_ = x > r.high ? region_ + 1 : region_ - 1;
  }
}

void SpringStepper::step_exact(double u) noexcept {
  double rest = options_.step;
  for (int events = 0;; ++events) {
    if (spring_.friction > 0.0 && direction_ == 0.0 && sticks(u)) break;
    const PiecewiseForce::Region& r = spring_.force.regions()[region_];
    const AffineMotion motion(spring_.mass, spring_.damping, r.slope, slope_force(u), point_.x,
                              point_.v);
    const std::optional<double> exit = motion.first_exit(r.low, r.high, rest);
    const std::optional<double> stop =
        spring_.friction > 0.0 ? motion.first_rest(exit.value_or(rest)) : std::nullopt;
    if (events == options_.max_events) ++exhausted_;
    if ((!exit && !stop) || events == options_.max_events) {
      point_.x = motion.position(rest);
      point_.v = motion.velocity(rest);
      if (events == options_.max_events) choose_region();
      break;
    }
    ++adjustments_;
    const double t = stop ? *stop : *exit;
    rest -= t;
    point_.x = motion.position(t);
    point_.v = motion.velocity(t);
    if (stop) {
      point_.v = 0.0;
      direction_ = 0.0;
      continue;
    }
    const bool up = std::abs(point_.x - r.high) < std::abs(point_.x - r.low);
    point_.x = up ? r.high : r.low;
    region_ = up ? region_ + 1 : region_ - 1;
  }
  point_.t = static_cast<double>(samples_) * options_.step;
}

void SpringStepper::step(double u) noexcept {
  ++samples_;
  switch (method_) {
    case SpringMethod::kSwitchingDelta:
      return step_delta(u);
    case SpringMethod::kSwitchingExact:
      return step_exact(u);
    case SpringMethod::kLinear:
      apply(inner_, u);
      break;
    case SpringMethod::kEuler: {
      const double v = point_.v;
      const double f = u - spring_.damping * v - spring_.force(point_.x);
      point_.x += options_.step * v;
      point_.v += options_.step * f / spring_.mass;
      break;
    }
    case SpringMethod::kExponential:
      step_exponential(u);
      break;
    case SpringMethod::kTaylor:
      step_taylor(u);
      break;
    case SpringMethod::kConstant:
      apply(inner_, u - spring_.force(point_.x));
      break;
    case SpringMethod::kConstantInner:
      apply(inner_, u - spring_.force(point_.x) + options_.inner_stiffness * point_.x);
      break;
    case SpringMethod::kShifting:
      apply_shifted(u);
      break;
    case SpringMethod::kSwitching:
      apply(regions_[region_], slope_force(u));
      break;
  }
  point_.t = static_cast<double>(samples_) * options_.step;
  choose_region();
}

std::vector<SpringPoint> run_spring(SpringStepper& stepper, double stop_time,
                                    const std::function<double(double)>& u) {
  std::vector<SpringPoint> points = {stepper.point()};
  const double end = stop_time - 1e-9 * stop_time;
  while (points.back().t < end) {
    stepper.step(u ? u(points.back().t) : 0.0);
    points.push_back(stepper.point());
    if (!std::isfinite(points.back().x)) break;
  }
  return points;
}

}  // namespace saltus
