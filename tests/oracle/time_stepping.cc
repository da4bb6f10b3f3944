#include "oracle/time_stepping.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "oracle/box_problem.h"

namespace saltus::oracle {
namespace {

// Row i: slip of element i, and what a gear keeps at zero.
Eigen::MatrixXd slips(const Network& network, const std::vector<int>& rows) {
  Eigen::MatrixXd g =
      Eigen::MatrixXd::Zero(static_cast<int>(rows.size()), static_cast<int>(network.bodies.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Element& e = network.elements[rows[i]];
    const int row = static_cast<int>(i);
    if (e.is_rigid()) {
      for (const auto& [body, factor] : e.factors()) g(row, body) += factor;
    } else {
      g(row, e.b) += 1.0;
      if (e.a != kHousing) g(row, e.a) -= 1.0;
    }
  }
  return g;
}

}  // namespace

// With the trapezoidal rule for springs, K and D their stiffness and damping matrices:
//   phi+ = phi + h (w + w+)/2
//   (M + h^2/4 K + h/2 D)(w+ - w) = int f dt - h K (phi + h/2 w) - h D w + G^T p
// where p are the impulses on the slips G w+.
Motion time_stepping(const Network& network, const std::vector<double>& times, double step,
                     bool& failed) {
  const int n = static_cast<int>(network.bodies.size());
  std::vector<int> rows;
  std::vector<int> springs;
  for (std::size_t i = 0; i < network.elements.size(); ++i)
    (network.elements[i].kind == Kind::kSpring ? springs : rows).push_back(static_cast<int>(i));
  const int m = static_cast<int>(rows.size());
  const Eigen::MatrixXd g = slips(network, rows);
  Eigen::MatrixXd stiffness = Eigen::MatrixXd::Zero(n, n);
  Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(n, n);
  for (const int s : springs) {
    const Element& e = network.elements[s];
    const Eigen::RowVectorXd row = slips(network, {s});
    stiffness += e.stiffness * row.transpose() * row;
    damping += e.damping * row.transpose() * row;
  }
  Eigen::VectorXd w(n);
  Eigen::VectorXd phi = Eigen::VectorXd::Zero(n);
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    w[i] = network.bodies[i].start_speed;
    mass(i, i) = network.bodies[i].inertia;
  }

  const double interval = times[1] - times[0];
  const long steps = std::max(1L, std::lround(std::ceil(interval / step)));
  const double h = interval / static_cast<double>(steps);
  const Eigen::MatrixXd inverse = (mass + 0.25 * h * h * stiffness + 0.5 * h * damping).inverse();
  const Eigen::MatrixXd reach = inverse * g.transpose();
  BoxProblem problem(g * reach);

  const double infinite = std::numeric_limits<double>::infinity();
  Eigen::VectorXd lower(m);
  Eigen::VectorXd upper(m);
  Eigen::VectorXd p = Eigen::VectorXd::Zero(m);
  Eigen::VectorXd right(n);
  std::vector<At> at(m, At::kInside);
  Motion motion;
  motion.times = times;
  const auto store = [&] {
    motion.speeds.emplace_back(w.data(), w.data() + n);
    motion.angles.emplace_back(phi.data(), phi.data() + n);
  };
  store();
  for (std::size_t k = 0; k + 1 < times.size(); ++k) {
    for (long s = 0; s < steps; ++s) {
      const double t = times[k] + h * static_cast<double>(s);
      for (int i = 0; i < n; ++i) {
        const Signal& f = network.bodies[i].torque;
        right[i] = f.pieces.size() == 1 && f.pieces[0].is_zero() ? 0.0 : f.integral(t, t + h);
      }
      right -= h * (stiffness * (phi + 0.5 * h * w)) + h * (damping * w);
      const Eigen::VectorXd unforced = w + inverse * right;
      Eigen::VectorXd q = g * unforced;
      for (int j = 0; j < m; ++j) {
        const Element& e = network.elements[rows[j]];
        lower[j] = -infinite;
        upper[j] = infinite;
        if (e.is_friction()) {
          upper[j] = e.capacity.integral(t, t + h);
          lower[j] = -upper[j];
        } else if (e.kind == Kind::kFreeWheel) {
          lower[j] = 0.0;
        } else if (e.kind == Kind::kBacklash) {
          // Closed if the angle would be beyond the end in half a step.
          const double gap = phi[e.b] - phi[e.a];
          const double slip = w[e.b] - w[e.a];
          const double ahead = gap + 0.5 * h * slip;
          upper[j] = ahead >= 0.5 * e.clearance ? 0.0 : 0.0;
          lower[j] = 0.0;
          const double again = std::abs(slip) * e.restitution > e.slowest ? e.restitution : 0.0;
          if (ahead >= 0.5 * e.clearance) {
            lower[j] = -infinite;
            if (slip > 0.0) q[j] += again * slip;
          } else if (ahead <= -0.5 * e.clearance) {
            upper[j] = infinite;
            if (slip < 0.0) q[j] += again * slip;
          }
        }
      }
      if (!problem.solve(q, lower, upper, at, p)) failed = true;
      const Eigen::VectorXd next = unforced + reach * p;
      phi += 0.5 * h * (w + next);
      w = next;
    }
    store();
  }
  return motion;
}

Stepped time_stepping_reference(const Network& network, const std::vector<double>& times,
                                double step, double goal) {
  Stepped result;
  for (int refinement = 0; refinement < 2; ++refinement, step /= 10.0) {
    result.failed = false;
    const Motion coarse = time_stepping(network, times, step, result.failed);
    result.motion = time_stepping(network, times, 0.5 * step, result.failed);
    result.step = 0.5 * step;
    const Difference d = difference(coarse, result.motion);
    const Range r = range(result.motion);
    result.speed_error = d.speed;
    result.angle_error = d.angle;
    if (d.speed <= goal * r.speed && d.angle <= goal * r.angle) break;
  }
  return result;
}

}  // namespace saltus::oracle
