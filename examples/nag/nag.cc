#include "examples/nag/nag.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "examples/nag/nag_table.h"
#include "expr/graph.h"

// Letters as in HM Appendix A: phi angles, omega speeds, lambda multipliers, D and C stiffness and
// damping of every shaft, J inertias, r radii, C1 and p capacity and pressure of an element, M_R
// its friction torque, Delta the offset at which it locked.
//
// HM's equations are taken as mechanics has them; where the print differs:
// - A closed element's capacity is C1 p(t): the printed M_R vanishes at zero slip.
// - The torque of a closed clutch is its multiplier, (M_a - M_b) / 2 with equal discs, not M_a +
// M_b
//   (A.1, Table 5), and the opening conditions need its absolute value.
// - A closed brake holds phi = Delta, not phi = -phi(t_k); a closed clutch phi_a - phi_b = Delta.
// - An element closes where its slip changes sign, whichever way (omega_13 - omega_14 starts
// negative
//   in M12), while its capacity exceeds the torque the lock would need.
// - The multiplier of an element that closes follows from the equations; M_R of A.4 is zero there.

namespace saltus {
namespace {

struct Element {
  const NagElement* row = nullptr;
  bool used = false;  // may ever lock
  Expr slip, lambda, delta, direction;
  Expr capacity;  // C1 p(t)
  Expr need;      // the multiplier a lock would have
  Expr friction;  // M_R
};

class Builder {
 public:
  explicit Builder(const NagOptions& options)
      : options_(options), nag_(options.name), elements_(nag_elements().size()) {}

  HybridSystem build() {
    declare_bodies();
    declare_elements();
    write_common_equations();
    NagElements usable = 0;
    for (std::size_t e = 0; e < elements_.size(); ++e)
      if (elements_[e].used) usable |= bit(e);
    // Every subset of what may lock, the initial mode first.
    const NagElements start = start_set();
    write_mode(mode_name(start, start), start);
    for (NagElements locked = usable;; locked = (locked - 1) & usable) {
      for (const std::string& name : names_of(locked))
        if (locked != start || name != mode_name(start, start)) write_mode(name, locked);
      if (locked == 0) break;
    }
    nag_.experiment = {.stop_time = options_.stop_time, .interval = 0.005};
    return std::move(nag_);
  }

 private:
  static NagElements bit(std::size_t e) { return NagElements{1} << e; }

  Expr parameter(const std::string& name, double value, const char* unit, const char* text) {
    return nag_.parameter(name, value, {.unit = unit, .description = text});
  }

  // 10 x^3 - 15 x^4 + 6 x^5 from 0 at x = 0 to 1 at x = 1: twice continuously differentiable.
  static Expr ramp(const Expr& x) {
    const Expr s = min(max(x, 0.0), 1.0);
    return s * s * s * (10.0 + s * (6.0 * s - 15.0));
  }

  Expr torque(const std::string& name, const std::vector<NagTorque>& course) {
    Expr sum = 0.0;
    Expr before = 0.0;
    for (std::size_t k = 0; k < course.size(); ++k) {
      const std::string number = course.size() == 1 ? "" : std::to_string(k + 1);
      const Expr level =
          parameter(fmt::format("{}.max{}", name, number), course[k].torque, "N.m", "torque");
      const Expr rise =
          parameter(fmt::format("{}.t_rise{}", name, number), course[k].rise, "s", "rise time");
      sum += (level - before) * ramp((nag_.time() - course[k].time) / rise);
      before = level;
    }
    return sum;
  }

  void declare_bodies() {
    D_ = parameter("D", 1.0e5, "N.m/rad", "stiffness of a shaft");
    C_ = parameter("C", 150.0, "N.m.s/rad", "damping of a shaft");
    for (int i = 1; i <= kNagBodies; ++i)
      phi_[i] = nag_.variable("phi" + std::to_string(i), {.unit = "rad", .description = "angle"});
    for (int i = 1; i <= kNagBodies; ++i)
      omega_[i] =
          nag_.variable("omega" + std::to_string(i),
                        {.nominal = 10.0, .unit = "rad/s", .description = "angular velocity"});
    for (const NagShaft& shaft : nag_shafts()) {
      const Expr torque = D_ * (phi_[shaft.body] - phi_[shaft.node]) +
                          C_ * (omega_[shaft.body] - omega_[shaft.node]);
      torque_[shaft.body] -= torque;
      torque_[shaft.node] += torque;
    }
  }

  // Pressure from the gear at the start and the shifts; 0 as a number: never any.
  Expr pressure(std::size_t e) {
    const NagElement& row = nag_elements()[e];
    if (std::find(options_.released.begin(), options_.released.end(), row.name) !=
        options_.released.end())
      return 0.0;
    bool on = (find_nag_gear(options_.gear).locked & bit(e)) != 0;
    Expr p = on ? 1.0 : 0.0;
    for (std::size_t k = 0; k < options_.shifts.size(); ++k) {
      const bool next = (find_nag_gear(options_.shifts[k].gear).locked & bit(e)) != 0;
      const Expr since = nag_.time() - shift_times_[k];
      if (next && !on) p += ramp(since / load_time_);
      if (on && !next) p -= ramp(since / open_time_);
      on = next;
    }
    return p;
  }

  void declare_elements() {
    for (const std::string& name : options_.released) find_nag_element(name);
    theta_ = parameter("theta", 0.5, "s/rad", "slope of the friction law at zero slip");
    for (std::size_t k = 0; k < options_.shifts.size(); ++k)
      shift_times_.push_back(parameter("t" + std::to_string(k + 1), options_.shifts[k].time, "s",
                                       "time of a shift command"));
    load_time_ = parameter("T_load", 0.2, "s", "time in which an element is loaded");
    open_time_ = parameter("T_open", 0.1, "s", "time in which an element is opened");
    const auto speeds = nag_speeds(find_nag_gear(options_.gear).locked);
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      const NagElement& row = nag_elements()[e];
      const std::string name = row.name;
      Element& element = elements_[e];
      element.row = &row;
      const bool is_clutch = row.b != 0;
      element.slip = is_clutch ? omega_[row.a] - omega_[row.b] : omega_[row.a];
      element.need = is_clutch ? 0.5 * (torque_[row.a] - torque_[row.b]) : torque_[row.a];
      if (row.is_free_wheel()) {
        element.used = options_.free_wheels;
      } else {
        const Expr p = pressure(e);
        element.used = !p.is_number() || p.number() != 0.0;
        element.capacity =
            parameter("C1_" + name, row.capacity, "N.m", "capacity at full pressure") * p;
        const Expr x = theta_ * element.slip;
        element.friction =
            element.capacity * (2.0 * x / (1.0 + x * x) + 2.0 / std::numbers::pi * atan(x));
      }
      if (!element.used) continue;
      element.lambda = nag_.variable(
          "lambda_" + name, {.nominal = 100.0,
                             .unit = "N.m",
                             .description = "torque of the locked element; 0 while it slips"});
      element.delta = nag_.graph().new_slot("Delta_" + name);
      nag_.derive("Delta_" + name, element.delta,
                  {.unit = "rad", .description = "offset at which the element locked"});
      if (row.is_free_wheel()) continue;
      const double slip = speeds[row.a] - speeds[row.b];
      element.direction = nag_.variable("direction_" + name, {.start = slip < -1e-9 ? -1.0 : 1.0,
                                                              .description = "sign of the slip"});
    }
  }

  // Everything but the elements: HM (34), (35), (37), (38a)-(38f).
  void write_common_equations() {
    for (int i = 1; i <= kNagBodies; ++i)
      common_.push_back({"speed of body " + std::to_string(i), der(phi_[i]) == omega_[i]});
    const Expr engine = torque("M_M", options_.engine);
    const Expr load = torque("M_B", options_.load);
    for (const NagSet& set : nag_sets()) {
      const std::string name = set.name;
      const auto radius = [&](const char* part, double value) {
        return parameter("r_" + name + part, value, "m", "radius");
      };
      const double sun_radius = set.ring_radius / set.ratio;
      const Expr r_s = radius(".s", sun_radius);
      const Expr r_t = radius(".t", 0.5 * (set.ring_radius + sun_radius));
      const Expr r_h = radius(".h", set.ring_radius);
      const Expr r_p = radius(".p", 0.5 * (set.ring_radius - sun_radius));
      const auto multiplier = [&](const char* number) {
        return nag_.variable("lambda_" + name + number,
                             {.nominal = 1000.0, .unit = "N", .description = "force at the teeth"});
      };
      const Expr lambda1 = multiplier(".1");
      const Expr lambda2 = multiplier(".2");
      const Expr force[4] = {r_s * lambda1 - r_s * lambda2, -2.0 * r_t * lambda1,
                             r_h * lambda1 + r_h * lambda2, -2.0 * r_p * lambda2};
      const char* part[4] = {".s", ".t", ".h", ".p"};
      for (int k = 0; k < 4; ++k) {
        const int body = set.sun + k;
        const Expr J = parameter("J_" + name + part[k], set.inertia[k], "kg.m2", "inertia");
        Expr sum = torque_[body] + force[k];
        if (body == kNagOutput) sum -= load;
        common_.push_back({"motion of " + name + part[k], J * der(omega_[body]) == sum});
      }
      const Expr* phi = &phi_[set.sun];
      common_.push_back({"carrier of " + name, 2.0 * r_t * phi[1] == r_s * phi[0] + r_h * phi[2]});
      common_.push_back({"planets of " + name, 2.0 * r_p * phi[3] == r_h * phi[2] - r_s * phi[0]});
    }
    for (int node = kNagEngineNode; node <= kNagBodies; ++node) {
      Expr sum = torque_[node];
      if (node == kNagEngineNode) sum += engine;
      common_.push_back({"torques at node " + std::to_string(node), sum == 0.0});
    }
    for (const Element& element : elements_)
      inertia_.push_back(element.row->is_free_wheel()
                             ? Expr(0.0)
                             : parameter("J_" + std::string(element.row->name),
                                         element.row->inertia, "kg.m2", "inertia of a disc"));
  }

  NagElements start_set() const {
    const NagGear& gear = find_nag_gear(options_.gear);
    NagElements set = 0;
    for (std::size_t e = 0; e < elements_.size(); ++e)
      if (elements_[e].used && ((gear.locked | gear.free_wheels) & bit(e)) != 0) set |= bit(e);
    return set;
  }

  static NagElements without_free_wheels(NagElements set) {
    for (std::size_t e = 0; e < nag_elements().size(); ++e)
      if (nag_elements()[e].is_free_wheel()) set &= ~bit(e);
    return set;
  }

  // Modes of gears are called as in HM Table 4, and so are those between neighbours: M12 and M21
  // lock the same elements, but the one was entered from gear 1, the other from gear 2. Other sets
  // are called by their elements.
  static const std::vector<std::pair<const char*, const char*>>& neighbours() {
    static const std::vector<std::pair<const char*, const char*>> all = {
        {"1", "2"}, {"2", "3"}, {"3", "4"}, {"4", "5"}, {"R1", "R2"}};
    return all;
  }

  static std::vector<std::string> base_names(NagElements locked) {
    for (const NagGear& gear : nag_gears())
      if (gear.locked == locked) return {gear_mode(gear)};
    for (const auto& [low, high] : neighbours())
      if ((find_nag_gear(low).locked & find_nag_gear(high).locked) == locked)
        return {"M" + std::string(low) + high, "M" + std::string(high) + low};
    std::string name;
    for (std::size_t e = 0; e < nag_elements().size(); ++e)
      if ((locked & bit(e)) != 0)
        name += (name.empty() ? "" : "+") + std::string(nag_elements()[e].name);
    return {name.empty() ? "open" : name};
  }

  static std::string gear_mode(const NagGear& gear) { return "M" + std::string(gear.name); }

  static std::string free_wheel_suffix(NagElements locked) {
    std::string suffix;
    for (std::size_t e = 0; e < nag_elements().size(); ++e)
      if (nag_elements()[e].is_free_wheel() && (locked & bit(e)) != 0)
        suffix += "/" + std::string(nag_elements()[e].name);
    return suffix;
  }

  static std::vector<std::string> names_of(NagElements locked) {
    std::vector<std::string> names = base_names(without_free_wheels(locked));
    for (std::string& name : names) name += free_wheel_suffix(locked);
    return names;
  }

  // The name of `locked` when it is entered from the mode that locks `from`.
  static std::string mode_name(NagElements locked, NagElements from, const std::string& now = "") {
    const std::vector<std::string> names = names_of(locked);
    if (names.size() == 1) return names[0];
    const NagElements before = without_free_wheels(from);
    if (before == without_free_wheels(locked)) {  // only a free wheel has changed
      const bool downwards = !now.empty() && now.starts_with(base_names(before)[1]);
      return names[downwards ? 1 : 0];
    }
    for (const auto& [low, high] : neighbours())
      if (find_nag_gear(high).locked == before &&
          names[1].starts_with("M" + std::string(high) + low))
        return names[1];
    return names[0];
  }

  void write_mode(const std::string& name, NagElements locked) {
    Mode& mode = nag_.mode(name);
    mode.equations = common_;
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      const Element& element = elements_[e];
      const NagElement& row = *element.row;
      const bool is_locked = (locked & bit(e)) != 0;
      const Expr through = is_locked ? element.lambda : element.friction;
      const std::string label = row.name;
      // HM (36): disc a, disc b.
      mode.equations.push_back(
          {"disc of " + label, inertia_[e] * der(omega_[row.a]) == torque_[row.a] - through});
      if (row.b != 0)
        mode.equations.push_back({"second disc of " + label,
                                  inertia_[e] * der(omega_[row.b]) == torque_[row.b] + through});
      const Expr angle = row.b != 0 ? phi_[row.a] - phi_[row.b] : phi_[row.a];
      if (is_locked) mode.equations.push_back({"lock of " + label, angle == element.delta});
      if (!element.used) continue;
      if (is_locked) {
        const Expr direction = select(element.lambda < 0.0, -1.0, 1.0);
        Guard opens{
            .name = label + " opens",
            .value = row.is_free_wheel() ? -element.lambda : element.capacity - abs(element.lambda),
            .to = mode_name(locked & ~bit(e), locked, name),
            .set = {{element.lambda, 0.0}}};
        if (!row.is_free_wheel()) opens.set.push_back({element.direction, direction});
        mode.guards.push_back(std::move(opens));
      } else if (row.is_free_wheel()) {
        mode.guards.push_back({.name = label + " locks",
                               .value = element.slip,
                               .to = mode_name(locked | bit(e), locked, name),
                               .set = {{element.delta, angle}}});
      } else {
        const Expr left = element.direction * element.slip;  // until the slip changes sign
        const Expr reserve = element.capacity - abs(element.need);
        mode.guards.push_back({.name = label + " locks",
                               .value = max(left, -reserve),
                               .to = mode_name(locked | bit(e), locked, name),
                               .set = {{element.delta, angle}}});
        mode.guards.push_back({.name = label + " slips through zero",
                               .value = max(left, reserve),
                               .to = name,
                               .set = {{element.direction, -element.direction}}});
      }
    }
  }

  const NagOptions& options_;
  HybridSystem nag_;
  Expr D_, C_, theta_, load_time_, open_time_;
  std::vector<Expr> shift_times_;
  std::array<Expr, kNagBodies + 1> phi_, omega_;
  std::array<Expr, kNagBodies + 1> torque_;  // of the shafts on each body
  std::vector<Element> elements_;
  std::vector<Expr> inertia_;  // by element
  std::vector<Equation> common_;
};

}  // namespace

HybridSystem make_nag(const NagOptions& options) { return Builder(options).build(); }

HybridSystem make_nag() { return make_nag(NagOptions{}); }

HybridSystem make_nag_coast() {
  return make_nag({.name = "nag_coast",
                   .shifts = {},
                   .engine = {{0.0, 180.0, 0.5}, {1.5, -30.0, 0.3}, {3.0, 180.0, 0.3}},
                   .free_wheels = true,
                   .released = {"b1"},
                   .stop_time = 5.0});
}

}  // namespace saltus
