#include "oracle/event_driven.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/box_problem.h"
#include "oracle/first_root.h"

// g: rows of slips; p: torque along the slip (p = -tau), so M w' = f + g^T p
// An answer of an element that can hold: p at its lower bound, inside (the slip is held at zero),
// or at its upper bound.

namespace saltus::oracle {
namespace {

constexpr int kOrder = 20;
constexpr double kZero = 1e-12;  // of the sum of absolute terms
constexpr double kBand = 1e-9;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

using Series = std::vector<double>;  // coefficient k of (t - t0)^k

Series expand(const Signal& signal, double t) {
  const Piece& p = signal.pieces[signal.piece_at(t)];
  Series c(kOrder + 1, 0.0);
  c[0] = p.at(t);
  c[1] = p.slope;
  double factor = p.amplitude;
  for (int k = 1; p.amplitude != 0.0 && k <= kOrder; ++k) {
    factor *= p.omega / k;
    c[k] += factor * std::sin(p.omega * t + p.phase + k * 0.5 * M_PI);
  }
  return c;
}

double evaluate(const Series& c, double x) {
  double value = 0.0;
  for (std::size_t k = c.size(); k-- > 0;) value = value * x + c[k];
  return value;
}

struct State {
  At at = At::kInside;
  bool open = false;        // friction with a capacity that is zero throughout the piece
  int side = 0;             // of a backlash: in contact at its upper (1) or lower (-1) end
  int zeros = 0;            // leading coefficients of the guard that were judged zero
  bool structural = false;  // not held, but others hold its slip at zero
  bool undecided = false;   // guard not armed inside its band
};

class Run {
 public:
  Run(const Network& network, const std::vector<double>& times)
      : network_(network),
        n_(static_cast<int>(network.bodies.size())),
        times_(times),
        breaks_(network.break_times()) {
    for (const Element& e : network.elements)
      (e.kind == Kind::kSpring ? springs_ : elements_).push_back(e);
    m_ = static_cast<int>(elements_.size());
    g_ = Eigen::MatrixXd::Zero(m_, n_);
    for (int i = 0; i < m_; ++i) {
      const Element& e = elements_[i];
      if (e.is_rigid()) {
        for (const auto& [body, factor] : e.factors()) g_(i, body) += factor;
      } else {
        g_(i, e.b) = 1.0;
        if (e.a != kHousing) g_(i, e.a) = -1.0;
      }
    }
    inverse_.resize(n_);
    w_.assign(kOrder + 2, Eigen::VectorXd::Zero(n_));
    phi_.assign(kOrder + 2, Eigen::VectorXd::Zero(n_));
    for (int i = 0; i < n_; ++i) {
      inverse_[i] = 1.0 / network.bodies[i].inertia;
      w_[0][i] = network.bodies[i].start_speed;
    }
    states_.resize(m_);
    p_.assign(kOrder + 1, Eigen::VectorXd::Zero(m_));
    smooth_.assign(kOrder + 1, Eigen::VectorXd::Zero(n_));
    largest_w_ = w_[0].cwiseAbs();
    largest_spring_.assign(springs_.size(), 0.0);
  }

  EventDrivenResult run() {
    result_.motion.times = times_;
    store();
    std::size_t next_output = 1;
    std::size_t next_break = 0;
    double t = 0.0;
    read_signals(t);
    settle(t, std::vector<bool>(m_, true), true);
    const double end = times_.back();
    double last_event = -1.0;
    int crowd = 0;
    long steps = 0;
    while (t < end && !result_.failed) {
      if (++steps > 400000) {
        fail(t, "too many steps");
        break;
      }
      read_signals(t);
      expand_motion();
      if (!w_[kOrder + 1].allFinite() || !p_[kOrder].allFinite()) {
        fail(t, "the series are not finite");
        break;
      }
      double h = reach();
      double stop = end;
      if (next_break < breaks_.size()) stop = std::min(stop, breaks_[next_break]);
      stop = std::min(stop, times_[next_output]);
      const bool last = t + h * (1.0 + 1e-9) >= stop;
      if (last) h = stop - t;
      // First root of all guards.
      double first = kInfinite;
      std::vector<double> roots(m_, kInfinite);
      for (int i = 0; i < m_; ++i) {
        roots[i] = first_root(i, h);
        first = std::min(first, roots[i]);
      }
      const bool event = first <= h;
      if (event) h = first;
      const double before = t;
      t = !event && last ? stop : t + h;
      if (!event)
        for (int i = 0; i < m_; ++i) after_step(i, h);
      advance(h);
      if (!event) {
        if (last && next_output < times_.size() && t >= times_[next_output] - 1e-14) {
          store();
          ++next_output;
        }
        if (next_break < breaks_.size() && t >= breaks_[next_break] - 1e-14) {
          ++next_break;
          read_signals(t);
          settle(t, std::vector<bool>(m_, false), true);
        }
        continue;
      }
      ++result_.events;
      crowd = t - last_event <= 1e-10 * (1.0 + t) ? crowd + 1 : 0;
      last_event = t;
      if (crowd > 200) fail(t, "events without end");
      std::vector<bool> triggers(m_, false);
      for (int i = 0; i < m_; ++i) triggers[i] = roots[i] <= first + 1e-13 * (1.0 + before);
      read_signals(t);
      strike(t, triggers);
      settle(t, triggers, false);
      if (crowd >= 5)
        for (State& s : states_) s.undecided = true;
    }
    if (!result_.failed && next_output < times_.size()) store();  // an event at the very end
    return result_;
  }

 private:
  void fail(double t, const std::string& why) {
    result_.failed = true;
    result_.message = fmt::format("t = {:.9g}: {}", t, why);
  }

  void store() {
    result_.motion.speeds.emplace_back(w_[0].data(), w_[0].data() + n_);
    result_.motion.angles.emplace_back(phi_[0].data(), phi_[0].data() + n_);
  }

  void read_signals(double t) {
    torques_.clear();
    for (const Body& body : network_.bodies) torques_.push_back(expand(body.torque, t));
    capacities_.clear();
    for (int i = 0; i < m_; ++i) {
      capacities_.push_back(expand(elements_[i].capacity, t));
      const Signal& c = elements_[i].capacity;
      states_[i].open = elements_[i].is_friction() && c.pieces[c.piece_at(t)].is_zero();
      if (states_[i].open) states_[i].at = At::kLower;  // holds nothing, now and when it closes
    }
  }

  // So far; before anything has moved there is nothing but rounding to measure.
  double largest_speed() const { return std::max(1e-3, largest_w_.maxCoeff()); }

  double slip(int i, int k = 0) const { return g_.row(i).dot(w_[k]); }
  double gap(int i, int k = 0) const { return g_.row(i).dot(phi_[k]); }

  bool may_hold(int i) const {
    const Element& e = elements_[i];
    if (e.is_rigid() || e.kind == Kind::kFreeWheel) return true;
    if (e.kind == Kind::kBacklash) return states_[i].side != 0;
    return !states_[i].open;
  }

  // Bounds of p, coefficient k.
  double lower(int i, int k) const {
    const Element& e = elements_[i];
    if (e.is_friction()) return -capacities_[i][k];
    if (e.kind == Kind::kFreeWheel) return 0.0;
    if (e.kind == Kind::kBacklash && states_[i].side < 0) return 0.0;
    return -kInfinite;
  }
  double upper(int i, int k) const {
    const Element& e = elements_[i];
    if (e.is_friction()) return capacities_[i][k];
    if (e.kind == Kind::kBacklash && states_[i].side > 0) return 0.0;
    return kInfinite;
  }

  // Coefficient k of all torques but those of the elements.
  void smooth_torque(int k) {
    Eigen::VectorXd& f = smooth_[k];
    for (int i = 0; i < n_; ++i) f[i] = torques_[i][k];
    for (const Element& e : springs_) {
      const double tau = e.stiffness * (phi_[k][e.b] - (e.a == kHousing ? 0.0 : phi_[k][e.a])) +
                         e.damping * (w_[k][e.b] - (e.a == kHousing ? 0.0 : w_[k][e.a]));
      f[e.b] -= tau;
      if (e.a != kHousing) f[e.a] += tau;
    }
  }

  // From p_[k] and smooth_[k] the next coefficients of the motion.
  void next_coefficients(int k) {
    w_[k + 1] = inverse_.cwiseProduct(smooth_[k] + g_.transpose() * p_[k]) / (k + 1);
    phi_[k + 1] = w_[k] / (k + 1);
  }

  Eigen::MatrixXd rows_of(const std::vector<int>& elements) const {
    Eigen::MatrixXd rows(static_cast<int>(elements.size()), n_);
    for (std::size_t i = 0; i < elements.size(); ++i)
      rows.row(static_cast<int>(i)) = g_.row(elements[i]);
    return rows;
  }
  // Slip by torque.
  Eigen::MatrixXd mobility(const Eigen::MatrixXd& rows) const {
    return rows * inverse_.asDiagonal() * rows.transpose();
  }
  // Coefficient k of the slips' rates with p_[k] as it is.
  Eigen::VectorXd accelerations(const Eigen::MatrixXd& rows, int k) const {
    return rows * inverse_.cwiseProduct(smooth_[k] + g_.transpose() * p_[k]);
  }

  // Makes the motion's series with the present answers.
  void expand_motion() {
    std::vector<int> held;
    for (int i = 0; i < m_; ++i)
      if (is_held(i)) held.push_back(i);
    const int h = static_cast<int>(held.size());
    const Eigen::MatrixXd rows = rows_of(held);
    BoxProblem problem(mobility(rows));
    const std::vector<At> inside(h, At::kInside);
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(h);
    Eigen::VectorXd torques(h);
    for (int k = 0; k <= kOrder; ++k) {
      phi_[k] = k == 0 ? phi_[0] : Eigen::VectorXd(w_[k - 1] / k);
      smooth_torque(k);
      for (int i = 0; i < m_; ++i) p_[k][i] = is_held(i) ? 0.0 : given(i, k);
      if (h > 0) problem.evaluate(accelerations(rows, k), none, none, inside, torques);
      for (int i = 0; i < h; ++i) p_[k][held[i]] = torques[i];
      next_coefficients(k);
    }
  }

  bool is_held(int i) const { return may_hold(i) && states_[i].at == At::kInside; }
  // p of what is not held.
  double given(int i, int k) const {
    if (!may_hold(i)) return 0.0;
    return states_[i].at == At::kLower ? lower(i, k) : upper(i, k);
  }

  // Length over which the series are accurate.
  double reach() const {
    const double size = largest_speed();
    double h = 0.1;
    for (const int k : {kOrder - 1, kOrder}) {
      double c = w_[k].cwiseAbs().maxCoeff() / size;
      for (int i = 0; i < m_; ++i) {
        const double torque = std::max(1e-3, p_[0].cwiseAbs().maxCoeff());
        c = std::max(c, std::abs(p_[k][i]) / torque);
      }
      if (c > 0.0) h = std::min(h, std::pow(1e-15 / c, 1.0 / k));
    }
    return h;
  }

  // Guard of element i as a series: non-negative while its answer is valid. Held friction has two.
  std::vector<Series> guards(int i) const {
    const Element& e = elements_[i];
    const State& s = states_[i];
    if (e.is_rigid() || s.structural) return {};
    std::vector<Series> result;
    const auto add = [&](auto coefficient) {
      Series c(kOrder + 1);
      for (int k = 0; k <= kOrder; ++k) c[k] = coefficient(k);
      result.push_back(std::move(c));
    };
    if (e.kind == Kind::kBacklash && s.side == 0) {
      add([&](int k) { return (k == 0 ? 0.5 * e.clearance : 0.0) - gap(i, k); });
      add([&](int k) { return (k == 0 ? 0.5 * e.clearance : 0.0) + gap(i, k); });
      return result;
    }
    if (!may_hold(i)) return {};
    if (s.at == At::kInside) {
      if (upper(i, 0) < kInfinite) add([&](int k) { return upper(i, k) - p_[k][i]; });
      if (lower(i, 0) > -kInfinite) add([&](int k) { return p_[k][i] - lower(i, k); });
    } else if (s.at == At::kLower) {
      add([&](int k) { return slip(i, k); });
    } else {
      add([&](int k) { return -slip(i, k); });
    }
    return result;
  }

  double torque_scale() const {
    double scale = 0.0;
    for (int i = 0; i < n_; ++i) {
      double sum = std::abs(torques_[i][0]);
      for (int j = 0; j < m_; ++j)
        if (g_(j, i) != 0.0) sum += std::abs(capacities_[j][0]);
      scale = std::max(scale, sum);
    }
    for (std::size_t s = 0; s < springs_.size(); ++s)
      scale = std::max(scale, springs_[s].stiffness * largest_spring_[s]);
    return scale;
  }

  double band(int i) const {
    const Element& e = elements_[i];
    if (e.kind == Kind::kBacklash && states_[i].side == 0) return kBand * e.clearance;
    if (states_[i].at == At::kInside) return kBand * std::max(1e-6, torque_scale());
    return kBand * largest_speed();
  }

  double first_root(int i, double h) const {
    const State& s = states_[i];
    double first = kInfinite;
    for (Series& c : guards(i)) {
      if (s.undecided && std::abs(c[0]) <= band(i)) {
        c[0] += band(i);
      } else {
        // Of the two guards of a held element only the one at zero has leading zeros.
        int zeros = s.zeros;
        if (zeros > 0 && std::abs(c[0]) > band(i)) zeros = 0;
        c.erase(c.begin(), c.begin() + std::min(zeros, kOrder));
      }
      if (const auto root = first_negative(c, h)) first = std::min(first, *root);
    }
    return first;
  }

  void after_step(int i, double h) {
    State& s = states_[i];
    s.zeros = 0;
    if (!s.undecided) return;
    // Armed once every guard has left its band.
    bool inside = false;
    for (const Series& c : guards(i)) inside = inside || std::abs(evaluate(c, h)) <= band(i);
    s.undecided = inside;
  }

  void advance(double h) {
    Eigen::VectorXd w = w_[kOrder + 1];
    Eigen::VectorXd phi = phi_[kOrder + 1];
    for (int k = kOrder; k >= 0; --k) {
      w = w * h + w_[k];
      phi = phi * h + phi_[k];
    }
    w_[0] = w;
    phi_[0] = phi;
    largest_w_ = largest_w_.cwiseMax(w.cwiseAbs());
    for (std::size_t s = 0; s < springs_.size(); ++s)
      largest_spring_[s] = std::max(
          largest_spring_[s],
          std::abs(phi[springs_[s].b] - (springs_[s].a == kHousing ? 0.0 : phi[springs_[s].a])));
  }

  // Impacts of the clearances among the triggers.
  void strike(double, const std::vector<bool>& triggers) {
    for (int i = 0; i < m_; ++i) {
      const Element& e = elements_[i];
      State& s = states_[i];
      if (e.kind != Kind::kBacklash || s.side != 0 || !triggers[i]) continue;
      const int end = gap(i) > 0.0 ? 1 : -1;
      const double before = slip(i);
      const bool slow = e.restitution * std::abs(before) <= e.slowest;
      const double jump = (slow ? 0.0 : -e.restitution * before) - before;
      const double impulse = jump / (inverse_[e.a] + inverse_[e.b]);
      w_[0][e.a] -= inverse_[e.a] * impulse;
      w_[0][e.b] += inverse_[e.b] * impulse;
      if (slow) s.side = end;
    }
  }

  // Momentum-weighted projection to exactly zero slip of the marked elements and gears.
  void project(const std::vector<bool>& at_zero) {
    std::vector<int> rows;
    for (int i = 0; i < m_; ++i)
      if (at_zero[i]) rows.push_back(i);
    if (rows.empty()) return;
    const Eigen::MatrixXd g = rows_of(rows);
    BoxProblem problem(mobility(g));
    const std::vector<At> inside(rows.size(), At::kInside);
    Eigen::VectorXd none = Eigen::VectorXd::Zero(static_cast<int>(rows.size()));
    Eigen::VectorXd impulse;
    problem.evaluate(g * w_[0], none, none, inside, impulse);
    w_[0] += inverse_.cwiseProduct(g.transpose() * impulse);
  }

  // Answers for all elements at an instant: what holds just after.
  void settle(double t, const std::vector<bool>& triggers, bool all) {
    const double speed = largest_speed();
    std::vector<bool> at_zero(m_, false);
    std::vector<At> before(m_);
    std::vector<bool> was_held(m_, false);
    for (int i = 0; i < m_; ++i) {
      const State& s = states_[i];
      before[i] = s.at;
      was_held[i] = !all && may_hold(i) && s.at == At::kInside;
      if (!may_hold(i)) continue;
      at_zero[i] = elements_[i].is_rigid() || std::abs(slip(i)) <= 1e-11 * speed || was_held[i] ||
                   (triggers[i] && !all && elements_[i].kind != Kind::kBacklash) ||
                   (elements_[i].kind == Kind::kBacklash && s.side != 0);
    }
    project(at_zero);

    std::vector<int> z;  // the elements at zero
    for (int i = 0; i < m_; ++i) {
      State& s = states_[i];
      s.zeros = 0;
      s.structural = false;
      s.undecided = false;
      if (!may_hold(i)) {
        // A clearance that was struck leaves its end with the slip it has.
        if (elements_[i].kind == Kind::kBacklash && triggers[i] && !all) s.zeros = 1;
        continue;
      }
      if (at_zero[i])
        z.push_back(i);
      else
        s.at = slip(i) > 0.0 ? At::kLower : At::kUpper;
    }
    const int size = static_cast<int>(z.size());
    const Eigen::MatrixXd rows = rows_of(z);
    const Eigen::MatrixXd w = mobility(rows);
    BoxProblem problem(w);

    // A largest set of independent slips: gears first, then what was held.
    std::vector<bool> independent(size, false);
    std::vector<int> chosen;
    for (const int turn : {0, 1, 2})
      for (int i = 0; i < size; ++i) {
        const bool gear = elements_[z[i]].is_rigid();
        const int mine = gear ? 0 : before[z[i]] == At::kInside ? 1 : 2;
        if (mine != turn || is_implied(z[i], chosen)) continue;
        independent[i] = true;
        chosen.push_back(z[i]);
      }

    enum class Answer { kOpen, kHeld, kSlips };
    std::vector<Answer> answers(size, Answer::kOpen);
    std::vector<bool> lower_tied(size, true);
    std::vector<bool> upper_tied(size, true);
    std::vector<At> at(size, At::kInside);
    Eigen::VectorXd body_w = largest_w_;  // sums of absolute terms
    Eigen::VectorXd body_phi = Eigen::VectorXd::Zero(n_);
    const int levels = std::min(kOrder, 2 * n_ + 4);
    int k = 0;
    for (; k <= levels; ++k) {
      if (k > 0) phi_[k] = w_[k - 1] / k;
      smooth_torque(k);
      for (int i = 0; i < m_; ++i) p_[k][i] = may_hold(i) && !at_zero[i] ? given(i, k) : 0.0;
      for (int i = 0; i < size; ++i)
        if (answers[i] == Answer::kSlips) p_[k][z[i]] = given(z[i], k);
      // Sums of absolute terms at level k.
      Eigen::VectorXd sums(n_);
      for (int i = 0; i < n_; ++i) sums[i] = std::abs(torques_[i][k]);
      for (std::size_t s = 0; s < springs_.size(); ++s) {
        const Element& e = springs_[s];
        double angle = k == 0 ? largest_spring_[s] : body_phi[e.b];
        double rate = body_w[e.b];
        if (e.a != kHousing) {
          if (k > 0) angle += body_phi[e.a];
          rate += body_w[e.a];
        }
        const double term = e.stiffness * angle + e.damping * rate;
        sums[e.b] += term;
        if (e.a != kHousing) sums[e.a] += term;
      }
      for (int i = 0; i < m_; ++i)
        if (elements_[i].is_friction())
          for (int b = 0; b < n_; ++b)
            if (g_(i, b) != 0.0) sums[b] += std::abs(capacities_[i][k]);
      // Solve this level for what is not known to slip.
      const Eigen::VectorXd q = accelerations(rows, k);
      Eigen::VectorXd low(size);
      Eigen::VectorXd high(size);
      for (int i = 0; i < size; ++i) {
        low[i] = lower_tied[i] ? lower(z[i], k) : -kInfinite;
        high[i] = upper_tied[i] ? upper(z[i], k) : kInfinite;
        if (answers[i] == Answer::kSlips) low[i] = high[i] = 0.0;  // already in q
        if (answers[i] == Answer::kHeld) {
          low[i] = -kInfinite;
          high[i] = kInfinite;
        }
      }
      // A bound may be tied on both sides with crossing slopes only by rounding.
      for (int i = 0; i < size; ++i)
        if (low[i] > high[i]) low[i] = high[i] = 0.5 * (low[i] + high[i]);
      const double torque = std::max(sums.maxCoeff(), 1e-300);
      const Eigen::VectorXd small_p = Eigen::VectorXd::Constant(size, kZero * torque);
      const Eigen::VectorXd small_r = kZero * torque * w.diagonal();
      // Begins with independent elements inside; what is tied at its bound.
      for (int i = 0; i < size; ++i) {
        if (answers[i] == Answer::kHeld)
          at[i] = At::kInside;
        else if (answers[i] == Answer::kSlips)
          at[i] = At::kLower;
        else if (k == 0)
          at[i] = independent[i] ? At::kInside : low[i] > -kInfinite ? At::kLower : At::kUpper;
        else
          at[i] = lower_tied[i] ? At::kLower : At::kUpper;
      }
      Eigen::VectorXd p = Eigen::VectorXd::Zero(size);
      if (size > 0 && !problem.solve(q, low, high, small_p, small_r, at, p, true)) {
        fail(t, fmt::format("no solution of the box problem at level {}", k));
        return;
      }
      for (int i = 0; i < size; ++i)
        if (answers[i] != Answer::kSlips) p_[k][z[i]] = p[i];
      next_coefficients(k);
      for (int i = 0; i < n_; ++i) {
        double sum = sums[i];
        for (int j = 0; j < size; ++j)
          if (g_(z[j], i) != 0.0) sum += std::abs(p_[k][z[j]]);
        body_phi[i] = body_w[i] / (k + 1);
        body_w[i] = sum * inverse_[i] / (k + 1);
      }
      // What this level decides.
      bool open = false;
      for (int i = 0; i < size; ++i) {
        if (answers[i] != Answer::kOpen) continue;
        State& s = states_[z[i]];
        const double r = problem.residual()[i];
        if (elements_[z[i]].is_rigid()) {
          answers[i] = Answer::kHeld;
          s.at = At::kInside;
        } else if (std::abs(r) > small_r[i]) {
          answers[i] = Answer::kSlips;
          s.at = r > 0.0 ? At::kLower : At::kUpper;
          s.zeros = k + 1;
          if (elements_[z[i]].kind == Kind::kBacklash) {
            s.side = 0;
            s.zeros = k + 2;
          }
        } else {
          lower_tied[i] = lower_tied[i] && p[i] <= low[i] + small_p[i];
          upper_tied[i] = upper_tied[i] && p[i] >= high[i] - small_p[i];
          if (!lower_tied[i] && !upper_tied[i]) {
            answers[i] = Answer::kHeld;
            s.at = At::kInside;
            s.zeros = k;
          } else {
            open = true;
          }
        }
      }
      if (!open) break;
    }
    if (k > 0) ++result_.ties;
    // What all derivatives leave open.
    std::vector<int> held;
    for (int i = 0; i < size; ++i)
      if (answers[i] == Answer::kHeld) held.push_back(z[i]);
    bool undecided = false;
    for (int i = 0; i < size; ++i) {
      if (answers[i] != Answer::kOpen) continue;
      State& s = states_[z[i]];
      const bool bounded = lower_tied[i] != upper_tied[i];
      if (is_implied(z[i], held)) {
        // Others hold it: it may give what it can.
        s.at = lower_tied[i] ? At::kLower : At::kUpper;
        s.structural = true;
        if (elements_[z[i]].kind == Kind::kBacklash) {
          s.at = At::kInside;
          s.structural = false;
          s.undecided = true;
          held.push_back(z[i]);
        }
        continue;
      }
      undecided = true;
      s.undecided = true;
      if (triggers[z[i]] && !all && before[z[i]] == At::kInside && bounded &&
          elements_[z[i]].kind != Kind::kBacklash) {
        s.at = lower_tied[i] ? At::kLower : At::kUpper;
      } else {
        s.at = At::kInside;
        held.push_back(z[i]);
      }
    }
    if (undecided) ++result_.undecided;
    for (int i = 0; i < m_; ++i)
      if (elements_[i].is_friction() && !all && before[i] != At::kInside &&
          states_[i].at != At::kInside && before[i] != states_[i].at && triggers[i])
        ++result_.reversals;
  }

  // The slip of element i is a combination of the slips of `held`.
  bool is_implied(int i, const std::vector<int>& held) const {
    // Gram and Schmidt, twice.
    std::vector<Eigen::VectorXd> basis;
    for (std::size_t j = 0; j <= held.size(); ++j) {
      Eigen::VectorXd row = g_.row(j < held.size() ? held[j] : i).transpose();
      const double size = row.norm();
      for (int round = 0; round < 2; ++round)
        for (const Eigen::VectorXd& b : basis) row -= b.dot(row) * b;
      const bool zero = row.norm() <= 1e-9 * size;
      if (j == held.size()) return zero;
      if (!zero) basis.push_back(row / row.norm());
    }
    return false;
  }

  const Network& network_;
  int n_;
  int m_ = 0;
  std::vector<double> times_;
  std::vector<double> breaks_;
  std::vector<Element> elements_;  // without springs
  std::vector<Element> springs_;
  Eigen::MatrixXd g_;
  Eigen::VectorXd inverse_;                            // of the inertias
  std::vector<Eigen::VectorXd> w_, phi_, p_, smooth_;  // series, by order
  std::vector<Series> torques_, capacities_;
  std::vector<State> states_;
  Eigen::VectorXd largest_w_;
  std::vector<double> largest_spring_;
  EventDrivenResult result_;
};

}  // namespace

EventDrivenResult event_driven(const Network& network, const std::vector<double>& times) {
  return Run(network, times).run();
}

}  // namespace saltus::oracle
