#include "simulate/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/suggest.h"
#include "expr/differentiate.h"
#include "integrate/collocation.h"
#include "linalg/dense.h"
#include "simulate/trajectory.h"

// A^-1, c, Z: as in radau.h.

namespace saltus {
namespace {

// Relative distance of the points of a difference of fourth order.
constexpr double kDistance = 1e-3;

// How far a repeated event may come out elsewhere, relative.
constexpr double kAgreement = 1e-7;

// The derivative of f(e) at e = 0 from f(+-h), f(+-2h); f fills a vector and may fail.
template <class F>
bool differentiate(F&& f, double h, std::vector<double>& out) {
  constexpr double kWeights[4] = {1.0 / 12.0, -2.0 / 3.0, 2.0 / 3.0, -1.0 / 12.0};
  constexpr double kPlaces[4] = {-2.0, -1.0, 1.0, 2.0};
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<double> value(out.size());
  for (int k = 0; k < 4; ++k) {
    if (!f(kPlaces[k] * h, value)) return false;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += kWeights[k] * value[i] / h;
  }
  return true;
}

std::vector<double> shifted(const std::vector<double>& base, double e,
                            const std::vector<double>& direction) {
  std::vector<double> result = base;
  for (std::size_t i = 0; i < base.size() && i < direction.size(); ++i)
    result[i] += e * direction[i];
  return result;
}

template <class Column>
SystemState shifted(const SystemState& base, double e, const Column& column) {
  SystemState result = base;
  result.values = shifted(base.values, e, column.values);
  result.slopes = shifted(base.slopes, e, column.slopes);
  result.slots = shifted(base.slots, e, column.slots);
  return result;
}

// Rows of the mode's Dae that are in force.
std::vector<int> places_of_rows(const ModeRun& run) {
  const std::size_t all = run.analysed().dae->definition().residuals.size();
  std::vector<int> place(all, -1);
  int next = 0;
  const std::size_t fixed =
      run.analysed().reduced != nullptr ? run.analysed().reduced->fixed_rows : all;
  for (std::size_t i = 0; i < fixed; ++i) place[i] = next++;
  for (const std::size_t k : run.states()) place[fixed + k] = next++;
  return place;
}

}  // namespace

Sensitivities::Sensitivities(const HybridSystem& system, const std::vector<std::string>& names)
    : system_(&system) {
  for (const std::string& name : names) {
    Column column;
    column.name = name;
    for (std::size_t i = 0; i < system.parameters().size(); ++i)
      if (system.parameters()[i].name == name) column.parameter = static_cast<int>(i);
    for (std::size_t i = 0; i < system.variables().size(); ++i)
      if (system.variables()[i].name == name) column.variable = static_cast<int>(i);
    if (column.parameter < 0 && column.variable < 0) {
      std::vector<std::string> known;
      for (const Parameter& p : system.parameters()) known.push_back(p.name);
      for (const Variable& v : system.variables()) known.push_back(v.name);
      throw Error(fmt::format("{} has no parameter or variable '{}' to differentiate by{}",
                              system.name(), name, did_you_mean(name, known)));
    }
    columns_.push_back(std::move(column));
  }
}

void Sensitivities::give_up(std::string why) {
  if (problem_.empty()) problem_ = std::move(why);
}

Sensitivities::Linearisation& Sensitivities::linearisation(ModeRun& run) {
  const auto found = linearisations_.find(&run.analysed());
  if (found != linearisations_.end()) return found->second;
  const DaeDefinition& def = run.analysed().dae->definition();
  Linearisation by;
  by.leaves.push_back(def.time);
  for (const Column& c : columns_)
    by.leaves.push_back(c.parameter >= 0 ? def.parameters[static_cast<std::size_t>(c.parameter)]
                                         : Expr(0.0));
  std::vector<Expr> symbols;
  for (const Expr& leaf : by.leaves)
    if (!leaf.is_number()) symbols.push_back(leaf);
  for (const Expr& held : run.analysed().written.held) {
    by.leaves.push_back(held);
    symbols.push_back(held);
  }
  std::vector<std::size_t> place;  // of a symbol among the leaves
  for (std::size_t k = 0; k < by.leaves.size(); ++k)
    if (!by.leaves[k].is_number()) place.push_back(k);
  std::vector<Expr> values;
  for (const JacobianEntry& entry : jacobian(def.residuals, symbols)) {
    by.rows.push_back(entry.row);
    by.columns.push_back(place[entry.column]);
    values.push_back(entry.value);
  }
  by.values = Tape(values, def.inputs());
  by.registers = by.values.make_workspace();
  return linearisations_.emplace(&run.analysed(), std::move(by)).first->second;
}

// The tangent of time, parameters and held values.
void Sensitivities::gather_inputs(const ModeRun& run, const Column& column, const Linearisation& by,
                                  std::vector<double>& q) const {
  q.assign(by.leaves.size(), 0.0);
  const bool along_time = column.name.empty();
  if (along_time) q[0] = 1.0;
  for (std::size_t k = 0; k < columns_.size(); ++k)
    if (&columns_[k] == &column && column.parameter >= 0) q[1 + k] = 1.0;
  if (along_time) return;
  const std::size_t first = 1 + columns_.size();
  for (std::size_t k = first; k < by.leaves.size(); ++k) {
    const Node& symbol = *run.analysed().written.held[k - first].node();
    if (symbol.op == Op::kSlot) {
      const std::size_t i = symbol.slot().index();
      q[k] = i < column.slots.size() ? column.slots[i] : 0.0;
    } else {
      q[k] = symbol.index < column.values.size() ? column.values[symbol.index] : 0.0;
    }
  }
}

// Given the tangents of what is integrated, those of the rest and of the derivatives, from the
// linearised equations at this point.
void Sensitivities::complete(ModeRun& run, double t, const double* x, const double* dx,
                             const std::vector<Column*>& columns) {
  const Dae& dae = run.dae();
  const Pattern& pattern = dae.pattern();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  const auto n = static_cast<Eigen::Index>(dae.unknown_count());
  std::vector<double> entries(2 * nonzeros);
  dae.jacobian(run.data(), t, x, dx, entries.data());
  Linearisation& by = linearisation(run);
  std::vector<double> by_q(by.rows.size());
  const double* inputs[] = {&t, x, dx, run.data().parameters.data(), run.data().held.data()};
  by.values.evaluate(inputs, by.registers, by_q.data());
  const std::vector<int> place = places_of_rows(run);

  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(pattern.rows, n);
  Eigen::MatrixXd right =
      Eigen::MatrixXd::Zero(pattern.rows, static_cast<Eigen::Index>(columns.size()));
  std::vector<double> q;
  for (int j = 0; j < pattern.columns; ++j) {
    const bool given = dae.is_differential(static_cast<std::size_t>(j));
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      matrix(pattern.row[k], j) = entries[given ? nonzeros + k : k];
      if (!given) continue;
      for (std::size_t c = 0; c < columns.size(); ++c)
        right(pattern.row[k], static_cast<Eigen::Index>(c)) -= entries[k] * columns[c]->s[j];
    }
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    gather_inputs(run, *columns[c], by, q);
    for (std::size_t k = 0; k < by_q.size(); ++k)
      if (place[by.rows[k]] >= 0)
        right(place[by.rows[k]], static_cast<Eigen::Index>(c)) -= by_q[k] * q[by.columns[k]];
  }
  const Eigen::MatrixXd solution = LeastNorm(matrix).solve_all(right);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const bool given = dae.is_differential(static_cast<std::size_t>(j));
      const double value = solution(j, static_cast<Eigen::Index>(c));
      (given ? columns[c]->ds : columns[c]->s)[j] = value;
      if (!given) columns[c]->ds[j] = 0.0;
    }
  }
}

// How the solution itself moves with time, algebraic unknowns and derivatives included.
Sensitivities::Column Sensitivities::time_column(ModeRun& run, double t, const double* x,
                                                 const double* dx) {
  Column column;
  column.s.assign(dx, dx + run.dae().unknown_count());
  column.ds.assign(run.dae().unknown_count(), 0.0);
  complete(run, t, x, dx, {&column});
  return column;
}

// The tangent of the system's state from that of the Dae's unknowns.
void Sensitivities::scatter(ModeRun& run, double t, const double* x, const double* dx,
                            Column& column) {
  const std::size_t n = run.dae().unknown_count();
  const std::vector<VariableId>& unknowns = run.analysed().unknowns;
  const std::size_t count = unknowns.size();
  column.values.resize(system_->variables().size(), 0.0);
  column.slopes.resize(system_->variables().size(), 0.0);
  std::vector<double> tangent(2 * count);
  const std::vector<double> x0(x, x + n), dx0(dx, dx + n);
  SystemState state;
  const auto at = [&](double e, std::vector<double>& value) {
    state.values.assign(system_->variables().size(), 0.0);
    state.slopes.assign(system_->variables().size(), 0.0);
    const std::vector<double> xe = shifted(x0, e, column.s);
    const std::vector<double> dxe = shifted(dx0, e, column.ds);
    run.write_point(t, xe.data(), dxe.data(), state);
    for (std::size_t j = 0; j < count; ++j) {
      value[j] = state.values[unknowns[j].index()];
      value[count + j] = state.slopes[unknowns[j].index()];
    }
    return true;
  };
  double size = 0.0;
  for (std::size_t j = 0; j < n; ++j)
    size = std::max({size, std::abs(column.s[j]) / (std::abs(x[j]) + 1.0),
                     std::abs(column.ds[j]) / (std::abs(dx[j]) + 1.0)});
  differentiate(at, kDistance / std::max(size, 1e-300), tangent);
  for (std::size_t j = 0; j < count; ++j) {
    column.values[unknowns[j].index()] = tangent[j];
    column.slopes[unknowns[j].index()] = tangent[count + j];
  }
}

void Sensitivities::start(const HybridSystem& system, ModeRun& run, double t, const Entry& enter) {
  const std::size_t n = run.dae().unknown_count();
  for (Column& column : columns_) {
    HybridSystem changed = system;
    const SystemState base = start_state(system);
    column.values.assign(base.values.size(), 0.0);
    column.slopes.assign(base.values.size(), 0.0);
    column.slots.assign(base.slots.size(), 0.0);
    const double value = column.parameter >= 0
                             ? system.parameters()[static_cast<std::size_t>(column.parameter)].value
                             : base.values[static_cast<std::size_t>(column.variable)];
    const double nominal =
        column.parameter >= 0
            ? (value == 0.0 ? 1.0 : std::abs(value))
            : system.variables()[static_cast<std::size_t>(column.variable)].nominal;
    const double h = kDistance * std::max(std::abs(value), nominal);
    std::vector<double> tangent(n + base.values.size());
    const bool ok = differentiate(
        [&](double e, std::vector<double>& out) {
          changed.set(column.name, value + e);
          if (column.parameter >= 0)
            run.data().parameters[static_cast<std::size_t>(column.parameter)] = value + e;
          const SystemState from = start_state(changed);
          const bool entered = enter(t, from);
          std::copy(run.point().begin(), run.point().end(), out.begin());
          std::copy(from.values.begin(), from.values.end(), out.begin() + static_cast<long>(n));
          return entered;
        },
        h, tangent);
    if (column.parameter >= 0)
      run.data().parameters[static_cast<std::size_t>(column.parameter)] = value;
    if (!ok) give_up("the start point does not vary smoothly");
    column.s.assign(tangent.begin(), tangent.begin() + static_cast<long>(n));
    column.ds.assign(n, 0.0);
    column.values.assign(tangent.begin() + static_cast<long>(n), tangent.end());
    column.dt = 0.0;
  }
  enter(t, start_state(system));
  remember_entry(run, t);
}

void Sensitivities::start_flat(const HybridSystem& system, ModeRun& run, double t,
                               const SystemState& settled, const Entry& enter) {
  if (!enter(t, start_state(system)) || !agrees(run, t, settled)) {
    give_up("the start values come out of an event iteration of several rounds");
    return;
  }
  start(system, run, t, enter);
}

bool Sensitivities::agrees(ModeRun& run, double t, const SystemState& state) const {
  SystemState mine = state;
  run.write_point(t, run.point().data(), run.slope().data(), mine);
  for (std::size_t j = 0; j < run.analysed().unknowns.size(); ++j) {
    const VariableId id = run.analysed().unknowns[j];
    const double size = std::abs(state.values[id.index()]) + system_->variable(id).nominal;
    if (run.analysed().differential[j] &&
        std::abs(mine.values[id.index()] - state.values[id.index()]) > kAgreement * size)
      return false;
  }
  return true;
}

double Sensitivities::size_of(const Column& column, const SystemState& base) const {
  double size = 0.0;
  for (std::size_t i = 0; i < base.values.size() && i < column.values.size(); ++i)
    size = std::max(size, std::abs(column.values[i]) /
                              (std::abs(base.values[i]) + system_->variables()[i].nominal));
  if (column.parameter >= 0) {
    const double p = system_->parameters()[static_cast<std::size_t>(column.parameter)].value;
    size = std::max(size, 1.0 / (p == 0.0 ? 1.0 : std::abs(p)));
  }
  return std::max(size, 1e-300);
}

void Sensitivities::remember_entry(ModeRun& run, double t) {
  in_event_ = true;
  entered_ = true;
  entry_time_ = t;
  entry_x_ = run.point();
  entry_dx_ = run.slope();
}

// From tangents along the moving switch time to tangents at fixed time in the mode entered.
void Sensitivities::settle_event(ModeRun& run) {
  in_event_ = false;
  const double t = entry_time_;
  const std::vector<double>& x = entry_x_;
  const std::vector<double>& dx = entry_dx_;
  const Column along = time_column(run, t, x.data(), dx.data());
  std::vector<Column*> all;
  for (Column& column : columns_) {
    for (std::size_t j = 0; j < x.size(); ++j) column.s[j] -= column.dt * along.s[j];
    column.dt = 0.0;
    all.push_back(&column);
  }
  complete(run, t, x.data(), dx.data(), all);
}

void Sensitivities::step(ModeRun& run) {
  if (given_up()) return;
  if (in_event_) settle_event(run);
  const Collocation& formula = radau_collocation();
  const Dae& dae = run.dae();
  const Pattern& pattern = dae.pattern();
  const std::size_t n = dae.unknown_count();
  const std::size_t m = dae.equation_count();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  const Integrator& integrator = run.integrator();
  const double t0 = integrator.previous_time();
  const double h = integrator.time() - t0;
  if (!(h > 0.0)) return;
  Linearisation& by = linearisation(run);
  const std::vector<int> place = places_of_rows(run);

  std::vector<double> x(n), dx(n), q;
  std::vector<double> entries[3], by_q[3];
  for (int i = 0; i < 3; ++i) {
    const double t = i == 2 ? integrator.time() : t0 + formula.c[i] * h;
    integrator.interpolate(t, run.all_unknowns(), x.data(), dx.data());
    entries[i].resize(2 * nonzeros);
    dae.jacobian(run.data(), t, x.data(), dx.data(), entries[i].data());
    by_q[i].resize(by.rows.size());
    const double* inputs[] = {&t, x.data(), dx.data(), run.data().parameters.data(),
                              run.data().held.data()};
    by.values.evaluate(inputs, by.registers, by_q[i].data());
  }
  Pattern all{static_cast<int>(3 * m), static_cast<int>(3 * n), {0}, {}};
  std::vector<double> values;
  for (int j = 0; j < 3; ++j) {
    for (std::size_t c = 0; c < n; ++c) {
      for (int i = 0; i < 3; ++i) {
        for (int k = pattern.start[c]; k < pattern.start[c + 1]; ++k) {
          all.row.push_back(i * static_cast<int>(m) + pattern.row[k]);
          values.push_back(formula.inverse(i, j) / h * entries[i][nonzeros + k] +
                           (i == j ? entries[i][k] : 0.0));
        }
      }
      all.start.push_back(static_cast<int>(all.row.size()));
    }
  }
  const Backend backend =
      dae.definition().redundant || m != n ? Backend::kLeastSquares : Backend::kAutomatic;
  LinearSolver<double> solver(all, backend);
  if (!solver.factor(values.data())) {
    give_up(fmt::format("the linearised equations are singular at t = {:.10g}", t0));
    return;
  }
  std::vector<double> right(3 * std::max(m, n));
  for (Column& column : columns_) {
    std::fill(right.begin(), right.end(), 0.0);
    gather_inputs(run, column, by, q);
    for (int i = 0; i < 3; ++i) {
      double* r = right.data() + static_cast<std::size_t>(i) * m;
      for (std::size_t c = 0; c < n; ++c)
        for (int k = pattern.start[c]; k < pattern.start[c + 1]; ++k)
          r[pattern.row[k]] -= entries[i][k] * column.s[c];
      for (std::size_t k = 0; k < by.rows.size(); ++k)
        if (place[by.rows[k]] >= 0) r[place[by.rows[k]]] -= by_q[i][k] * q[by.columns[k]];
    }
    solver.solve(right.data());
    for (std::size_t c = 0; c < n; ++c) {
      column.s[c] += right[2 * n + c];
      column.ds[c] = (formula.inverse(2, 0) * right[c] + formula.inverse(2, 1) * right[n + c] +
                      formula.inverse(2, 2) * right[2 * n + c]) /
                     h;
    }
  }
}

void Sensitivities::begin_event(ModeRun& run, std::size_t guard, double t, bool at_step_start) {
  if (given_up()) return;
  if (in_event_) return;  // a further hop at the same instant
  const std::size_t n = run.dae().unknown_count();
  const Integrator& integrator = run.integrator();
  std::vector<double> x(integrator.x().begin(), integrator.x().end());
  std::vector<double> dx(integrator.dx().begin(), integrator.dx().end());
  if (at_step_start) integrator.interpolate(t, run.all_unknowns(), x.data(), dx.data());
  entered_ = false;
  std::vector<Column*> all;
  for (Column& column : columns_) all.push_back(&column);
  complete(run, t, x.data(), dx.data(), all);
  const Column along = time_column(run, t, x.data(), dx.data());

  // dS along a tangent, by differences.
  const Tape& guards = run.analysed().guards;
  Tape::Workspace registers = guards.make_workspace();
  std::vector<double> q, guard_values(guards.output_count());
  Linearisation& by = linearisation(run);
  const std::size_t first_held = 1 + columns_.size();
  const auto slope = [&](const Column& column) {
    gather_inputs(run, column, by, q);
    double size = std::abs(q[0]) / (1.0 + std::abs(t));
    for (std::size_t j = 0; j < n; ++j)
      size = std::max({size, std::abs(column.s[j]) / (std::abs(x[j]) + 1.0),
                       std::abs(column.ds[j]) / (std::abs(dx[j]) + 1.0)});
    const std::vector<double>& p0 = run.data().parameters;
    if (column.parameter >= 0) {
      const double p = p0[static_cast<std::size_t>(column.parameter)];
      size = std::max(size, 1.0 / (p == 0.0 ? 1.0 : std::abs(p)));
    }
    std::vector<double> out(1);
    differentiate(
        [&](double e, std::vector<double>& value) {
          const double te = t + e * q[0];
          const std::vector<double> xe = shifted(x, e, column.s);
          const std::vector<double> dxe = shifted(dx, e, column.ds);
          std::vector<double> p = p0;
          if (column.parameter >= 0) p[static_cast<std::size_t>(column.parameter)] += e;
          std::vector<double> held = run.data().held;
          for (std::size_t k = first_held; k < q.size(); ++k) held[k - first_held] += e * q[k];
          const double* inputs[] = {&te, xe.data(), dxe.data(), p.data(), held.data()};
          guards.evaluate(inputs, registers, guard_values.data());
          value[0] = guard_values[guard];
          return true;
        },
        kDistance / std::max(size, 1e-300), out);
    return out[0];
  };
  const double by_time = slope(along);
  for (Column& column : columns_) {
    column.dt = -slope(column) / by_time;
    for (std::size_t j = 0; j < n; ++j) {
      column.s[j] += column.dt * along.s[j];
      column.ds[j] += column.dt * along.ds[j];
    }
    scatter(run, t, x.data(), dx.data(), column);
    if (!std::isfinite(column.dt))
      give_up(fmt::format("guard '{}' has no slope where it is zero, at t = {:.10g}",
                          run.mode().guards[guard].name, t));
  }
  in_event_ = true;
}

void Sensitivities::assign(ModeRun& from, std::size_t guard, const std::vector<Assignment>& set,
                           double t, const SystemState& left) {
  if (given_up() || set.empty()) return;
  for (Column& column : columns_) {
    std::vector<double> tangent(set.size());
    std::vector<double>& parameters = from.data().parameters;
    const std::vector<double> kept = parameters;
    differentiate(
        [&](double e, std::vector<double>& out) {
          if (column.parameter >= 0) {
            const auto k = static_cast<std::size_t>(column.parameter);
            parameters[k] = kept[k] + e;
          }
          from.transition_values(guard, t + e * column.dt, shifted(left, e, column), out);
          return true;
        },
        kDistance / size_of(column, left), tangent);
    parameters = kept;
    for (std::size_t i = 0; i < set.size(); ++i) put_tangent(column, set[i].variable, tangent[i]);
  }
}

void Sensitivities::put_tangent(Column& column, const Expr& target, double tangent) {
  std::vector<double>& of = target.is_slot() ? column.slots : column.values;
  const std::size_t i =
      target.is_slot() ? target.node()->slot().index() : target.node()->variable().index();
  if (i >= of.size()) of.resize(i + 1, 0.0);
  of[i] = tangent;
}

std::vector<std::vector<double>> Sensitivities::differentiate_values(
    const std::vector<Expr>& values, double t, const SystemState& at,
    const std::vector<double>& parameters) {
  const Tape tape(values, state_inputs(*system_));
  Tape::Workspace registers = tape.make_workspace();
  std::vector<std::vector<double>> tangents;
  for (Column& column : columns_) {
    tangents.emplace_back(values.size());
    differentiate(
        [&](double e, std::vector<double>& out) {
          const double te = t + e * column.dt;
          const std::vector<double> x = shifted(at.values, e, column.values);
          const std::vector<double> dx = shifted(at.slopes, e, column.slopes);
          const std::vector<double> slots = shifted(at.slots, e, column.slots);
          std::vector<double> p = parameters;
          if (column.parameter >= 0) p[static_cast<std::size_t>(column.parameter)] += e;
          const double* inputs[] = {&te, x.data(), dx.data(), p.data(), slots.data()};
          tape.evaluate(inputs, registers, out.data());
          return true;
        },
        kDistance / size_of(column, at), tangents.back());
  }
  return tangents;
}

void Sensitivities::reinitialise(const std::vector<Assignment>& set, double t,
                                 const SystemState& at, const std::vector<double>& parameters) {
  if (given_up() || set.empty()) return;
  std::vector<Expr> values;
  for (const Assignment& a : set) values.push_back(a.value);
  const auto tangents = differentiate_values(values, t, at, parameters);
  for (std::size_t c = 0; c < columns_.size(); ++c)
    for (std::size_t i = 0; i < set.size(); ++i)
      put_tangent(columns_[c], set[i].variable, tangents[c][i]);
}

void Sensitivities::hold(const Expr& value, const std::vector<Expr>& slots, const std::string& name,
                         double t, const SystemState& at, const std::vector<double>& parameters) {
  if (given_up()) return;
  bool reads_time = false;
  for (const Expr& leaf : leaves_of(value)) {
    reads_time = reads_time || leaf.node()->op == Op::kTime;
    if (!leaf.is_variable()) continue;
    give_up(fmt::format("'{}' takes a value that depends on '{}' in an event at t = {:.10g}", name,
                        to_string(leaf), t));
    return;
  }
  const Tape tape(std::span(&value, 1), state_inputs(*system_));
  Tape::Workspace registers = tape.make_workspace();
  const double* inputs[] = {&t, at.values.data(), at.slopes.data(), parameters.data(),
                            at.slots.data()};
  double again = 0.0;
  tape.evaluate(inputs, registers, &again);
  const double now = at.value_of(slots.front());
  std::vector<std::vector<double>> tangents;
  if (std::abs(again - now) <= kAgreement * std::max(1.0, std::abs(now))) {
    tangents = differentiate_values({value}, t, at, parameters);
  } else if (reads_time && now == t) {
    // Taken in an earlier round of the event: the time of the event itself, such as that of entry.
    for (const Column& column : columns_) tangents.push_back({column.dt});
  } else {
    give_up(
        fmt::format("'{}' takes its value in several rounds of the event at t = {:.10g}", name, t));
    return;
  }
  for (std::size_t c = 0; c < columns_.size(); ++c)
    for (const Expr& slot : slots) put_tangent(columns_[c], slot, tangents[c][0]);
}

void Sensitivities::require_constant(const Expr& value, const std::string& name, double t) {
  for (const Expr& leaf : leaves_of(value)) {
    const Op op = leaf.node()->op;
    const bool asked_for =
        op == Op::kParameter && std::ranges::any_of(columns_, [&](const Column& c) {
          return c.parameter >= 0 &&
                 leaf.same_as(system_->parameters()[static_cast<std::size_t>(c.parameter)].symbol);
        });
    if (leaf.is_variable() || op == Op::kTime || asked_for) {
      give_up(fmt::format("'{}' takes a value that depends on '{}' in an event at t = {:.10g}",
                          name, to_string(leaf), t));
      return;
    }
  }
}

void Sensitivities::enter(ModeRun& run, double t, const SystemState& before, const Entry& enter) {
  if (given_up()) return;
  const std::size_t n = run.dae().unknown_count();
  std::vector<double>& parameters = run.data().parameters;
  const std::vector<double> kept = parameters;
  for (Column& column : columns_) {
    column.values.resize(before.values.size(), 0.0);
    column.slopes.resize(before.slopes.size(), 0.0);
    column.s.assign(n, 0.0);
    column.ds.assign(n, 0.0);
    const bool ok = differentiate(
        [&](double e, std::vector<double>& out) {
          if (column.parameter >= 0) {
            const auto k = static_cast<std::size_t>(column.parameter);
            parameters[k] = kept[k] + e;
          }
          const bool entered = enter(t + e * column.dt, shifted(before, e, column));
          if (entered) out = run.point();
          return entered;
        },
        kDistance / size_of(column, before), column.s);
    if (!ok)
      give_up(fmt::format(
          "the point at which mode '{}' is entered at t = {:.10g} does not vary smoothly",
          run.mode().name, t));
    parameters = kept;
  }
  enter(t, before);
  remember_entry(run, t);
  // A further hop at this instant starts from the values found here.
  for (Column& column : columns_) scatter(run, t, run.point().data(), run.slope().data(), column);
}

// Aliases and other values that are no unknowns, by the chain rule.
void Sensitivities::add_derived(const HybridSystem& system, double t, const SystemState& state,
                                std::map<std::string, std::map<std::string, double>>& all) const {
  if (system.derived().empty()) return;
  std::vector<Expr> values;
  for (const Derived& d : system.derived()) values.push_back(d.value);
  std::vector<Expr> leaves;
  for (const Expr& leaf : leaves_of(values))
    if (leaf.is_variable() || leaf.node()->op == Op::kParameter) leaves.push_back(leaf);
  const std::vector<JacobianEntry> entries = jacobian(values, leaves);
  std::vector<Expr> formulas;
  for (const JacobianEntry& e : entries) formulas.push_back(e.value);
  const Tape tape(formulas, state_inputs(system));
  Tape::Workspace registers = tape.make_workspace();
  std::vector<double> parameters, numbers(formulas.size());
  for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  const double* inputs[] = {&t, state.values.data(), state.slopes.data(), parameters.data(),
                            state.slots.data()};
  tape.evaluate(inputs, registers, numbers.data());
  for (const Column& column : columns_) {
    std::map<std::string, double>& by_name = all[column.name];
    for (const Derived& d : system.derived())
      by_name[d.name] = given_up() ? std::numeric_limits<double>::quiet_NaN() : 0.0;
    for (std::size_t k = 0; k < entries.size() && !given_up(); ++k) {
      const Node& leaf = *leaves[entries[k].column].node();
      double tangent = 0.0;
      if (leaf.op == Op::kParameter) {
        tangent =
            column.parameter >= 0 &&
                    Expr(&leaf).same_as(
                        system.parameters()[static_cast<std::size_t>(column.parameter)].symbol)
                ? 1.0
                : 0.0;
      } else {
        tangent = leaf.order == 0 ? column.values[leaf.index] : column.slopes[leaf.index];
      }
      by_name[system.derived()[entries[k].row].name] += numbers[k] * tangent;
    }
  }
}

std::map<std::string, std::map<std::string, double>> Sensitivities::results(
    const HybridSystem& system, ModeRun* run, double t, const SystemState& state) {
  std::map<std::string, std::map<std::string, double>> all;
  // Where an event ends the run, the tangents along its time are those of the end.
  if (run != nullptr && !given_up() && (!in_event_ || entered_)) {
    if (in_event_) settle_event(*run);
    const Integrator& at = run->integrator();
    const std::vector<double> x(at.x().begin(), at.x().end()), dx(at.dx().begin(), at.dx().end());
    std::vector<Column*> columns;
    for (Column& column : columns_) columns.push_back(&column);
    complete(*run, at.time(), x.data(), dx.data(), columns);
    for (Column& column : columns_) scatter(*run, at.time(), x.data(), dx.data(), column);
  }
  for (const Column& column : columns_) {
    std::map<std::string, double>& values = all[column.name];
    for (std::size_t i = 0; i < system.variables().size(); ++i)
      if (!is_internal(system.variables()[i].name))
        values[system.variables()[i].name] = given_up() || i >= column.values.size()
                                                 ? std::numeric_limits<double>::quiet_NaN()
                                                 : column.values[i];
  }
  add_derived(system, t, state, all);
  return all;
}

}  // namespace saltus
