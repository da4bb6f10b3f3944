#include "realtime/mass_line.h"

#include <algorithm>
#include <cmath>

namespace saltus {
namespace {

// Impacts of one sample that rebound; from then on they are plastic, so that rattling without end
// takes bounded work.
constexpr int kMostRebounds = 64;
// A rebound slower than this, over the speeds of the case, ends in contact.
constexpr double kTogether = 1e-6;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// First t in (0, end] where a function becomes negative. `stride(t, value)`: a length over which it
// surely does not.
template <typename Value, typename Stride>
std::optional<double> first_negative(double end, double tolerance, Value value, Stride stride) {
  double t = 0.0;
  while (t < end) {
    const double next = std::min(end, t + std::max(stride(t), 1e-4 * end));
    if (value(next) < -tolerance) {
      double low = t;
      double high = next;
      for (int k = 0; k < 100 && high - low > 1e-16 * end; ++k) {
        const double middle = 0.5 * (low + high);
        (value(middle) < 0.0 ? high : low) = middle;
      }
      return high;
    }
    t = next;
  }
  return std::nullopt;
}

}  // namespace

MassLine::MassLine(const CollisionCase& what) : what_(what) {
  for (const CollidingMass& mass : what.masses) {
    x_.push_back(mass.x);
    v_.push_back(mass.v);
    size_ = std::max({size_, std::abs(mass.x), std::abs(mass.rest)});
    speed_ = std::max(
        {speed_, std::abs(mass.v), std::sqrt(mass.c / mass.m) * std::abs(mass.x - mass.rest)});
  }
  contact_.assign(what.masses.size() - 1, false);
  choose_contacts(kNone);
}

bool MassLine::has_contact() const {
  return std::ranges::any_of(contact_, [](bool c) { return c; });
}

void MassLine::form_clusters() {
  clusters_.clear();
  for (std::size_t first = 0; first < x_.size();) {
    std::size_t last = first;
    double m = 0.0, d = 0.0, c = 0.0, f = 0.0;
    for (;; ++last) {
      const CollidingMass& mass = what_.masses[last];
      m += mass.m;
      d += mass.d;
      c += mass.c;
      f += mass.c * mass.rest;
      if (last + 1 == x_.size() || !contact_[last]) break;
    }
    const double x = x_[first];
    const double v = v_[first];
    const double away = c > 0.0 ? x - f / c : 0.0;
    const double energy = m * v * v + c * away * away;
    const double fastest = std::sqrt(energy / m);
    const double hardest = (d * fastest + std::sqrt(c * energy)) / m;
    clusters_.push_back(
        {first, last, m, d, c, f, AffineMotion(m, d, c, f, x, v), fastest, hardest});
    first = last + 1;
  }
}

// The force with which the masses left and right of the pair press on each other.
double MassLine::pressure(const Cluster& cluster, std::size_t pair, double x, double v) const {
  const double a = (cluster.f - cluster.c * x - cluster.d * v) / cluster.m;
  double force = 0.0;
  for (std::size_t i = cluster.first; i <= pair; ++i) {
    const CollidingMass& mass = what_.masses[i];
    force += mass.c * (mass.rest - x) - mass.d * v - mass.m * a;
  }
  return force;
}

std::optional<MassLine::Happening> MassLine::first_happening(double end) const {
  std::optional<Happening> first;
  const auto note = [&](std::optional<double> t, std::size_t pair, bool is_impact) {
    if (t && (!first || *t < first->t)) first = {*t, pair, is_impact};
  };
  for (std::size_t k = 0; k < clusters_.size(); ++k) {
    const Cluster& a = clusters_[k];
    for (std::size_t pair = a.first; pair < a.last; ++pair) {
      double steepest = 0.0;  // of the pressure: it is affine in x and v
      const double zero = pressure(a, pair, 0.0, 0.0);
      steepest += std::abs(pressure(a, pair, 1.0, 0.0) - zero) * a.fastest;
      steepest += std::abs(pressure(a, pair, 0.0, 1.0) - zero) * a.hardest;
      const auto value = [&](double t) {
        return pressure(a, pair, a.motion.position(t), a.motion.velocity(t));
      };
      note(first_negative(
               end, 1e-12 * (a.c * size_ + a.d * speed_), value,
               [&](double t) { return steepest > 0.0 ? std::max(0.0, value(t)) / steepest : end; }),
           pair, false);
    }
    if (k + 1 == clusters_.size()) break;
    const Cluster& b = clusters_[k + 1];
    const double bend = a.hardest + b.hardest;
    const auto gap = [&](double t) { return b.motion.position(t) - a.motion.position(t); };
    note(first_negative(end, 1e-14 * size_, gap,
                        [&](double t) {
                          const double slope = b.motion.velocity(t) - a.motion.velocity(t);
                          if (!(bend > 0.0)) return slope < 0.0 ? -gap(t) / slope : end;
                          return (slope +
                                  std::sqrt(slope * slope + 2.0 * bend * std::max(0.0, gap(t)))) /
                                 bend;
                        }),
         a.last, true);
  }
  return first;
}

void MassLine::move(double t) {
  for (const Cluster& cluster : clusters_)
    for (std::size_t i = cluster.first; i <= cluster.last; ++i) {
      x_[i] = cluster.motion.position(t);
      v_[i] = cluster.motion.velocity(t);
    }
}

// RE (107) and (108) for the pair, then for what it is pushed into, until nothing approaches.
void MassLine::collide(std::size_t pair, double t, int& left, std::vector<Impact>& impacts) {
  x_[pair + 1] = x_[pair];
  // What was in contact with one of the two has the same place.
  for (std::size_t i = pair + 1; i + 1 < x_.size() && contact_[i]; ++i) x_[i + 1] = x_[i];
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = 0; i + 1 < x_.size(); ++i) {
      const double approach = v_[i] - v_[i + 1];
      if (!touches(i) || !(approach > 1e-12 * speed_)) continue;
      any = true;
      const double m1 = what_.masses[i].m;
      const double m2 = what_.masses[i + 1].m;
      const double common = (m1 * v_[i] + m2 * v_[i + 1]) / (m1 + m2);
      const bool rebounds = left-- > 0;
      const double after = rebounds ? what_.restitution * approach : 0.0;
      v_[i] = common - m2 / (m1 + m2) * after;
      v_[i + 1] = common + m1 / (m1 + m2) * after;
      impacts.push_back({t, i, 0.5 * m1 * m2 / (m1 + m2) * (approach * approach - after * after)});
    }
  }
}

// Touching pairs without a relative speed stay together, those apart from which only a pull would
// hold; `parted`: the pair that has just let go.
void MassLine::choose_contacts(std::size_t parted) {
  for (std::size_t i = 0; i < contact_.size(); ++i) {
    contact_[i] = i != parted && touches(i) && std::abs(v_[i + 1] - v_[i]) <= kTogether * speed_;
    if (contact_[i]) {
      x_[i + 1] = x_[i];
      v_[i + 1] = v_[i];
    }
  }
  for (;;) {
    form_clusters();
    double most = 0.0;
    std::size_t worst = kNone;
    for (const Cluster& a : clusters_)
      for (std::size_t pair = a.first; pair < a.last; ++pair) {
        const double force = pressure(a, pair, x_[pair], v_[pair]);
        if (force < most - 1e-12 * (a.c * size_ + a.d * speed_)) {
          most = force;
          worst = pair;
        }
      }
    if (worst == kNone) return;
    contact_[worst] = false;
  }
}

void MassLine::advance(double start, double duration, std::vector<Impact>& impacts) {
  double done = 0.0;
  int left = kMostRebounds;
  for (int events = 0; events < 4 * kMostRebounds && done < duration; ++events) {
    const std::optional<Happening> next = first_happening(duration - done);
    if (!next) break;
    move(next->t);
    done += next->t;
    if (next->is_impact) collide(next->pair, start + done, left, impacts);
    choose_contacts(next->is_impact ? kNone : next->pair);
  }
  if (done < duration) move(duration - done);
  form_clusters();
}

}  // namespace saltus
