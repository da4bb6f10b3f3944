#include "study/steady.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "linalg/dense.h"
#include "model/dae.h"
#include "study/linearize.h"
#include "study/mode_point.h"

namespace saltus {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Index = Eigen::Index;

// The equations of a mode as written, F(t, x, 0) = 0. Of whatever index they are: a constraint that
// stands still has standing derivatives.
class StandingEquations {
 public:
  explicit StandingEquations(ModePoint& point)
      : point_(point),
        dae_(point.run->analysed().written),
        data_(dae_.make_data()),
        zero_(dae_.unknown_count(), 0.0) {
    data_.parameters = point.run->data().parameters;
    data_.parameters.resize(dae_.definition().parameters.size());
    for (std::size_t i = 0; i < dae_.definition().held.size(); ++i)
      data_.held[i] = point.state.value_of(dae_.definition().held[i]);
    for (const VariableId id : point.run->analysed().unknowns)
      x_.push_back(point.state.values[id.index()]);
  }

  // Newton's method with least-squares steps of least norm, damped. True if it converges.
  bool solve() {
    const auto n = static_cast<Index>(x_.size());
    if (n == 0) return true;
    double last = residual(x_).norm();
    for (int k = 0; k < 100; ++k) {
      const VectorXd f = residual(x_);
      const MatrixXd j = jacobian(x_);
      if (!f.allFinite() || !j.allFinite()) return false;
      // In units of nominal values, so that "least" means something.
      VectorXd scale(n);
      for (Index i = 0; i < n; ++i)
        scale(i) = std::max(dae_.definition().nominal[static_cast<std::size_t>(i)],
                            std::abs(x_[static_cast<std::size_t>(i)]));
      const LeastNorm qr(row_scaled(j, f) * scale.asDiagonal(), 1e-10);
      is_unique_ = qr.rank() == n;
      const VectorXd step = scale.asDiagonal() * qr.solve(-scaled_f_);
      double fraction = 1.0;
      std::vector<double> next = x_;
      for (; fraction > 1e-6; fraction /= 2.0) {
        for (Index i = 0; i < n; ++i)
          next[static_cast<std::size_t>(i)] = x_[static_cast<std::size_t>(i)] + fraction * step(i);
        const VectorXd tried = residual(next);
        if (tried.allFinite() && (tried.norm() <= (1.0 - 0.1 * fraction) * f.norm() ||
                                  tried.norm() <= 1e-14 * (1.0 + last)))
          break;
      }
      const double change = (step.cwiseQuotient(scale)).cwiseAbs().maxCoeff();
      if (change < 1e-9 && error(x_) < 1e-9) {
        // One more full step costs little and leaves rounding only.
        for (Index i = 0; i < n; ++i)
          next[static_cast<std::size_t>(i)] = x_[static_cast<std::size_t>(i)] + step(i);
        if (error(next) <= error(x_)) x_ = next;
        return true;
      }
      if (fraction <= 1e-6) return error(x_) < 1e-9;
      x_ = next;
    }
    return false;
  }

  // Largest residual relative to the terms of its equation.
  double error(const std::vector<double>& x) {
    const VectorXd f = residual(x);
    const MatrixXd j = jacobian(x);
    double worst = 0.0;
    for (Index i = 0; i < f.size(); ++i) {
      double terms = 0.0;
      for (Index k = 0; k < j.cols(); ++k)
        terms +=
            std::abs(j(i, k)) * std::max(std::abs(x[static_cast<std::size_t>(k)]),
                                         dae_.definition().nominal[static_cast<std::size_t>(k)]);
      const double relative = std::abs(f(i)) / std::max(terms, 1e-300);
      if (!(relative <= worst)) worst = relative;
    }
    return worst;
  }

  const std::vector<double>& x() const { return x_; }
  bool is_unique() const { return is_unique_; }

 private:
  VectorXd residual(const std::vector<double>& x) {
    VectorXd f(static_cast<Index>(dae_.equation_count()));
    dae_.residual(data_, point_.time, x.data(), zero_.data(), f.data());
    return f;
  }

  MatrixXd jacobian(const std::vector<double>& x) {
    const Pattern& pattern = dae_.pattern();
    std::vector<double> values(2 * static_cast<std::size_t>(pattern.nonzeros()));
    dae_.jacobian(data_, point_.time, x.data(), zero_.data(), values.data());
    MatrixXd j = MatrixXd::Zero(pattern.rows, pattern.columns);
    for (int c = 0; c < pattern.columns; ++c)
      for (int at = pattern.start[static_cast<std::size_t>(c)];
           at < pattern.start[static_cast<std::size_t>(c) + 1]; ++at)
        j(pattern.row[static_cast<std::size_t>(at)], c) = values[static_cast<std::size_t>(at)];
    return j;
  }

  MatrixXd row_scaled(MatrixXd j, const VectorXd& f) {
    scaled_f_ = f;
    for (Index i = 0; i < j.rows(); ++i) {
      const double size = j.row(i).cwiseAbs().maxCoeff();
      if (size == 0.0) continue;
      j.row(i) /= size;
      scaled_f_(i) /= size;
    }
    return j;
  }

  ModePoint& point_;
  Dae dae_;
  DaeData data_;
  std::vector<double> zero_;
  std::vector<double> x_;
  VectorXd scaled_f_;
  bool is_unique_ = true;
};

// Values of the guards of a mode, positive while it is valid (relations: of either sign).
std::vector<double> guards_at(const HybridSystem& system, const Mode& mode, double t,
                              const SystemState& state) {
  std::vector<Expr> values;
  for (const Guard& guard : mode.guards) values.push_back(guard.value);
  const Tape tape(values, state_inputs(system), TapeCode::kInterpreted);
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> parameters, results(values.size());
  for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  const double* inputs[] = {&t, state.values.data(), state.slopes.data(), parameters.data(),
                            state.slots.data()};
  tape.evaluate(inputs, registers, results.data());
  return results;
}

// The guard that the way from one state to the other crosses; empty: none.
std::string crossed_guard(const ModePoint& point, const SystemState& after) {
  const HybridSystem& system = point.simulation->system;
  const Mode& mode = point.run->mode();
  const std::vector<double> before = guards_at(system, mode, point.time, point.state);
  const std::vector<double> now = guards_at(system, mode, point.time, after);
  for (std::size_t g = 0; g < now.size(); ++g) {
    const double rounding = 1e-9 * (std::abs(before[g]) + 1e-6);
    const bool left = mode.guards[g].is_relation
                          ? before[g] * now[g] < 0.0 && std::abs(now[g]) > rounding
                          : now[g] < -rounding;
    if (left) return mode.guards[g].name;
  }
  return {};
}

}  // namespace

bool SteadyState::is_stable() const {
  double largest = 0.0;
  for (const auto& pole : poles) largest = std::max(largest, std::abs(pole));
  return std::ranges::all_of(poles,
                             [&](const auto& pole) { return pole.real() < -1e-10 * largest; });
}

SteadyState find_steady_state(const HybridSystem& system, double at, double longest,
                              const SimulateOptions& options) {
  std::string why;
  const double start = options.start_time.value_or(system.experiment.start_time);
  double horizon = std::max(system.experiment.stop_time - start, 1e-3);
  for (double time = at;;) {
    ModePoint point(system, time, options);
    StandingEquations equations(point);
    const std::string place =
        fmt::format("from t = {:g} in mode '{}'", time, point.run->mode().name);
    if (equations.solve()) {
      SystemState after = point.state;
      const AnalysedMode& mode = point.run->analysed();
      for (std::size_t j = 0; j < mode.unknowns.size(); ++j) {
        after.values[mode.unknowns[j].index()] = equations.x()[j];
        after.slopes[mode.unknowns[j].index()] = 0.0;
      }
      const std::string crossed = crossed_guard(point, after);
      if (crossed.empty()) {
        SteadyState result;
        result.model = system.name();
        result.mode = point.run->mode().name;
        result.time = point.time;
        result.simulated = time - start;
        result.residual = equations.error(equations.x());
        result.is_unique = equations.is_unique();
        const HybridSystem& whole = point.simulation->system;
        std::vector<Expr> values;
        for (const Variable& v : whole.variables()) {
          if (is_internal(v.name)) continue;
          result.names.push_back({v.name, v.unit, v.description});
          values.push_back(v.symbol);
        }
        for (const Derived& d : whole.derived()) {
          result.names.push_back({d.name, d.unit, d.description});
          values.push_back(d.value);
        }
        Mode listed;
        for (const Expr& value : values) listed.guards.push_back({.value = value});
        result.values = guards_at(whole, listed, point.time, after);
        result.poles = poles_at(point, after);
        return result;
      }
      why = fmt::format("{} the equilibrium of its equations lies beyond '{}'", place, crossed);
    } else {
      why = fmt::format("{} Newton's method finds no point at which all derivatives vanish", place);
    }
    if (time - start >= longest) break;
    time = start + std::min(horizon, longest);
    horizon *= 10.0;
  }
  throw Error(
      fmt::format("no equilibrium of {} was found: {}; follow the system for a longer time "
                  "with --longest, or start nearer with --set",
                  system.name(), why));
}

}  // namespace saltus
