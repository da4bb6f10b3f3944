#include "realtime/prepared_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "expr/differentiate.h"
#include "realtime/dense.h"
#include "simulate/core_writer.h"

namespace saltus {
namespace {

constexpr std::size_t kSpareConfigurations = 2;
constexpr int kMostNewton = 8;
constexpr double kMostParts = 16.0;  // of a nonlinear step
constexpr double kAllowed = 1e-3;    // relative difference of its two solutions

std::unique_ptr<const EliminatedForm> core_of(const ModeRun& run,
                                              const std::vector<double>& parameters) {
  const AnalysedMode& mode = run.analysed();
  const DaeDefinition& whole = mode.dae->definition();
  std::vector<std::size_t> rows(mode.reduced != nullptr ? mode.reduced->fixed_rows
                                                        : whole.residuals.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::size_t solvable = rows.size();
  for (const std::size_t k : run.states()) rows.push_back(solvable + k);
  std::unique_ptr<const EliminatedForm> form = eliminate(whole, rows, solvable, parameters);
  if (form != nullptr) return form;
  auto all = std::make_unique<EliminatedForm>();
  all->core = std::make_shared<const Dae>(mode.dae->with_equations(rows));
  all->kept.resize(whole.unknowns.size());
  std::iota(all->kept.begin(), all->kept.end(), std::size_t{0});
  return all;
}

}  // namespace

PreparedMode::PreparedMode(const HybridSystem& system, std::unique_ptr<ModeRun> run,
                           const RealtimeFormulas& formulas, double step, double t,
                           const SystemState& state)
    : step_(step), run_(std::move(run)) {
  const AnalysedMode& mode = run_->analysed();
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("mode '{}' cannot be prepared for fixed steps: {}", name(), why));
  };
  if (mode.projected != nullptr)
    refuse("its equations are redundant, or their structure does not tell its constraints");
  if (mode.formulated != nullptr) refuse("it is not in reduced form");
  if (mode.reduced != nullptr && !mode.reduced->constant_entries)
    refuse("which of its unknowns are states depends on where it is");
  std::vector<double> parameters;
  for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  form_ = core_of(*run_, parameters);
  core_ = form_->core;
  const std::size_t n = core_->unknown_count();
  if (core_->equation_count() != n) refuse("it has not as many equations as unknowns");
  for (std::size_t i = 0; i < n; ++i)
    (core_->is_differential(i) ? differential_ : algebraic_).push_back(i);
  const std::size_t d = differential_.size();
  data_ = core_->make_data();
  data_.parameters = parameters;

  CoreWriter writer(mode, *form_);
  const auto write_all = [&](const std::vector<Expr>& all, const char* what) {
    std::vector<Expr> written;
    for (const Expr& a : all) written.push_back(writer.write(a));
    if (writer.is_incomplete())
      refuse(fmt::format("{} reads the derivative of a variable that is no state", what));
    return written;
  };
  const std::vector<Expr> relations = write_all(formulas.relations, "a relation");
  std::vector<Expr> variables;
  for (std::size_t j = 0; j < mode.unknowns.size(); ++j) {
    const Expr symbol = system.variable(mode.unknowns[j]).symbol;
    variables.push_back(symbol);
    targets_.push_back({mode.unknowns[j].index(), false});
    if (!mode.differential[j]) continue;
    variables.push_back(der(symbol));
    targets_.push_back({mode.unknowns[j].index(), true});
  }
  variables = write_all(variables, "an equation");
  std::vector<Expr> outputs;
  for (const Expr& a : formulas.outputs) {
    CoreWriter own(mode, *form_);
    const Expr written = own.write(a);
    outputs.push_back(own.is_incomplete() ? Expr(std::numeric_limits<double>::quiet_NaN())
                                          : written);
  }

  const DaeDefinition& definition = core_->definition();
  std::unordered_set<const Node*> moving;
  for (const auto* symbols : {&definition.unknowns, &definition.derivatives})
    for (const Expr& symbol : *symbols) moving.insert(symbol.node());
  std::unordered_set<const Node*> listed;
  for (const std::vector<Expr>* list :
       {&relations, &std::as_const(variables), &std::as_const(outputs)})
    for (const Expr& leaf : leaves_of(*list))
      if ((leaf.is_slot() || (leaf.is_variable() && !moving.contains(leaf.node()))) &&
          listed.insert(leaf.node()).second)
        held_symbols_.push_back(leaf);
  held_.resize(held_symbols_.size());
  relations_ = compile(relations);
  variables_ = compile(variables);
  outputs_ = compile(outputs);

  for (const VariableId id : formulas.reset) {
    Reset reset{npos, 1.0};
    const Expr value = writer.write(system.variable(id).symbol);
    for (const std::size_t i : differential_) {
      if (value.same_as(definition.unknowns[i])) reset = {i, 1.0};
      if (value.same_as(-definition.unknowns[i])) reset = {i, -1.0};
    }
    resets_.push_back(reset);
  }

  for (std::vector<double>* v :
       {&x_, &dx_, &saved_x_, &saved_dx_, &zero_, &residual_, &start_x_, &full_x_, &r_, &z_})
    v->assign(n, 0.0);
  jacobian_.resize(2 * static_cast<std::size_t>(core_->pattern().nonzeros()));
  for (std::vector<double>* m : {&e_, &g_, &saved_e_, &saved_g_, &matrix_, &half_matrix_})
    m->assign(n * n, 0.0);
  pivots_.resize(n);
  half_pivots_.resize(n);
  b0_.resize(n);
  b1_.resize(n);
  saved_b0_.resize(n);
  work_.resize(2 * n + 2 * d);
  find_affinity(system);
  if (!enter(t, state, true))
    refuse("its equations do not determine the derivatives and the other unknowns from the states");
  for (std::size_t k = 0; is_affine_ && k < kSpareConfigurations; ++k)
    configurations_.emplace_back(n, d).key.resize(matrix_held_.size(), std::nan(""));
}

PreparedMode::Formulas PreparedMode::compile(const std::vector<Expr>& values) {
  const DaeDefinition& definition = core_->definition();
  Formulas made;
  made.tape = Tape(values, {{definition.time},
                            definition.unknowns,
                            definition.derivatives,
                            definition.parameters,
                            held_symbols_});
  made.registers = made.tape.make_workspace();
  made.values.resize(values.size());
  return made;
}

void PreparedMode::evaluate(Formulas& formulas, double t) noexcept {
  const double* inputs[] = {&t, x_.data(), dx_.data(), data_.parameters.data(), held_.data()};
  formulas.tape.evaluate(inputs, formulas.registers, formulas.values.data());
}

void PreparedMode::find_affinity(const HybridSystem& system) {
  const DaeDefinition& definition = core_->definition();
  is_affine_ = core_->has_constant_jacobian();
  const std::vector<Expr> residuals = definition.residuals;
  reads_time_ = false;
  for (const Expr& leaf : leaves_of(residuals))
    reads_time_ = reads_time_ || leaf.same_as(system.time()) || leaf.same_as(definition.time);
  if (!is_affine_) return;
  std::unordered_set<const Node*> read;
  for (const auto* by : {&definition.unknowns, &definition.derivatives})
    for (const JacobianEntry& entry : jacobian(residuals, *by))
      for (const Expr& leaf : leaves_of(entry.value)) read.insert(leaf.node());
  for (std::size_t k = 0; k < definition.held.size(); ++k)
    if (read.contains(definition.held[k].node())) matrix_held_.push_back(k);
}

void PreparedMode::load_jacobian(double t) noexcept {
  core_->jacobian(data_, t, x_.data(), dx_.data(), jacobian_.data());
  const Pattern& pattern = core_->pattern();
  const std::size_t n = x_.size();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  std::fill(e_.begin(), e_.end(), 0.0);
  std::fill(g_.begin(), g_.end(), 0.0);
  for (std::size_t j = 0; j < n; ++j)
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      const auto place = static_cast<std::size_t>(k);
      const auto row = static_cast<std::size_t>(pattern.row[place]);
      g_[j * n + row] = jacobian_[place];
      e_[j * n + row] = jacobian_[nonzeros + place];
    }
}

// K y = -(G_z z + r), where y are the slopes of the states and the other unknowns.
bool PreparedMode::fill(Configuration& c, double t) noexcept {
  const std::size_t n = x_.size();
  const std::size_t d = differential_.size();
  load_jacobian(t);
  for (std::size_t k = 0; k < d; ++k)
    std::copy_n(e_.data() + differential_[k] * n, n, matrix_.data() + k * n);
  for (std::size_t k = 0; k < algebraic_.size(); ++k)
    std::copy_n(g_.data() + algebraic_[k] * n, n, matrix_.data() + (d + k) * n);
  // Rows in balance: torques and angles differ by many orders.
  for (std::size_t i = 0; i < n; ++i) {
    double largest = 0.0;
    for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, std::abs(matrix_[j * n + i]));
    work_[i] = largest > 0.0 ? 1.0 / largest : 0.0;
    for (std::size_t j = 0; j < n; ++j) matrix_[j * n + i] *= work_[i];
  }
  if (!dense::factor(matrix_.data(), n, pivots_.data(), 1e-13)) return false;
  for (std::size_t j = 0; j < n; ++j) {
    double* column = c.inverse.data() + j * n;
    std::fill_n(column, n, 0.0);
    column[j] = work_[j];
    dense::solve(matrix_.data(), pivots_.data(), n, column);
  }
  for (std::size_t k = 0; k < d; ++k) {
    double* column = c.reaction.data() + k * n;
    dense::multiply(c.inverse.data(), g_.data() + differential_[k] * n, n, n, column);
    for (std::size_t i = 0; i < n; ++i) column[i] = -column[i];
  }
  for (std::size_t k = 0; k < matrix_held_.size(); ++k) c.key[k] = data_.held[matrix_held_[k]];
  c.has_steps = false;
  c.is_filled = true;
  return true;
}

bool PreparedMode::choose_configuration(double t, bool may_allocate) noexcept {
  const auto is_at = [&](const Configuration& c) {
    if (!c.is_filled) return false;
    for (std::size_t k = 0; k < matrix_held_.size(); ++k)
      if (c.key[k] != data_.held[matrix_held_[k]]) return false;
    return true;
  };
  for (Configuration& c : configurations_)
    if (is_at(c)) {
      active_ = &c;
      return true;
    }
  if (may_allocate) {
    // The spare ones are for later: a new one goes before them.
    configurations_.emplace_front(x_.size(), differential_.size());
    configurations_.front().key.resize(matrix_held_.size());
    active_ = &configurations_.front();
  } else {
    const std::size_t spare = configurations_.size() - 1 - oldest_ % kSpareConfigurations;
    oldest_ = (oldest_ + 1) % kSpareConfigurations;
    active_ = &configurations_[spare];
  }
  active_->is_filled = false;
  return fill(*active_, t);
}

bool PreparedMode::enter(double t, const SystemState& at, bool may_allocate) noexcept {
  const DaeDefinition& definition = core_->definition();
  for (std::size_t k = 0; k < definition.held.size(); ++k)
    data_.held[k] = at.value_of(definition.held[k]);
  for (std::size_t k = 0; k < held_.size(); ++k) held_[k] = at.value_of(held_symbols_[k]);
  // Guesses, too, come from the point alone: the same point always gives the same numbers.
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const Expr& symbol = definition.unknowns[i];
    x_[i] = symbol.is_variable() && symbol.node()->order <= 1 ? at.value_of(symbol) : 0.0;
    dx_[i] = 0.0;
  }
  if (is_affine_ && !choose_configuration(t, may_allocate)) return false;
  if (is_affine_ && may_allocate && !active_->has_steps) {
    // Prepared for good, so that the first step in it is as quick as the others.
    for (std::size_t k = 0; k < differential_.size(); ++k)
      std::copy_n(active_->reaction.data() + k * x_.size(), differential_.size(),
                  matrix_.data() + k * differential_.size());
    active_->step.prepare(matrix_.data(), step_);
    active_->has_steps = true;
  }
  return complete(t);
}

void PreparedMode::forcing(double t, double* r) noexcept {
  core_->residual(data_, t, zero_.data(), zero_.data(), r);
}

void PreparedMode::complete_affine(double t) noexcept {
  const std::size_t n = x_.size();
  const std::size_t d = differential_.size();
  forcing(t, r_.data());
  for (std::size_t i = 0; i < n; ++i) residual_[i] = -r_[i];
  for (std::size_t k = 0; k < d; ++k) z_[k] = x_[differential_[k]];
  double* y = work_.data();
  dense::multiply(active_->inverse.data(), residual_.data(), n, n, y);
  std::copy_n(y, d, b0_.data());
  dense::multiply_add(active_->reaction.data(), z_.data(), n, d, y);
  for (std::size_t k = 0; k < d; ++k) dx_[differential_[k]] = y[k];
  for (std::size_t k = 0; k < algebraic_.size(); ++k) x_[algebraic_[k]] = y[d + k];
}

bool PreparedMode::complete_nonlinear(double t) noexcept {
  const std::size_t n = x_.size();
  const std::size_t d = differential_.size();
  double change = 1.0;
  for (int k = 0; k < kMostNewton; ++k) {
    if (k == 0 || change > 0.1) {  // else the factors at hand converge
      load_jacobian(t);
      for (std::size_t j = 0; j < d; ++j)
        std::copy_n(e_.data() + differential_[j] * n, n, matrix_.data() + j * n);
      for (std::size_t j = 0; j < algebraic_.size(); ++j)
        std::copy_n(g_.data() + algebraic_[j] * n, n, matrix_.data() + (d + j) * n);
      if (!dense::factor(matrix_.data(), n, pivots_.data())) return false;
    }
    core_->residual(data_, t, x_.data(), dx_.data(), residual_.data());
    dense::solve(matrix_.data(), pivots_.data(), n, residual_.data());
    change = 0.0;
    for (std::size_t j = 0; j < d; ++j) {
      double& slope = dx_[differential_[j]];
      slope -= residual_[j];
      change = std::max(change, std::abs(residual_[j]) / (1.0 + std::abs(slope)));
    }
    for (std::size_t j = 0; j < algebraic_.size(); ++j) {
      double& value = x_[algebraic_[j]];
      value -= residual_[d + j];
      change = std::max(change, std::abs(residual_[d + j]) / (1.0 + std::abs(value)));
    }
    if (!std::isfinite(change)) return false;
    if (change < 1e-11) return true;
  }
  return change < 1e-6;
}

bool PreparedMode::complete(double t) noexcept {
  if (!is_affine_) return complete_nonlinear(t) && is_finite();
  complete_affine(t);
  return is_finite();
}

bool PreparedMode::is_finite() const noexcept {
  double sum = 0.0;
  for (const double v : x_) sum += 0.0 * v;
  for (const double v : dx_) sum += 0.0 * v;
  return sum == 0.0;
}

bool PreparedMode::advance_affine(double t, std::size_t ticks) noexcept {
  const std::size_t n = x_.size();
  const std::size_t d = differential_.size();
  if (!active_->has_steps) {
    for (std::size_t k = 0; k < d; ++k)
      std::copy_n(active_->reaction.data() + k * n, d, matrix_.data() + k * d);
    active_->step.prepare(matrix_.data(), step_);
    active_->has_steps = true;
  }
  for (std::size_t k = 0; k < d; ++k) z_[k] = x_[differential_[k]];
  constexpr std::size_t kWhole = std::size_t{1} << AffineStep::kLevels;
  std::size_t done = 0;
  for (int level = 0; level <= AffineStep::kLevels; ++level) {
    const std::size_t part = kWhole >> level;
    if ((ticks & part) == 0) continue;
    done += part;
    const double* b1 = b0_.data();
    if (reads_time_) {
      forcing(t + step_ * static_cast<double>(done) / static_cast<double>(kWhole), r_.data());
      for (std::size_t i = 0; i < n; ++i) residual_[i] = -r_[i];
      double* y = work_.data();
      dense::multiply(active_->inverse.data(), residual_.data(), n, n, y);
      std::copy_n(y, d, b1_.data());
      b1 = b1_.data();
    }
    active_->step.advance(level, z_.data(), b0_.data(), b1, work_.data() + n);
    if (reads_time_) std::swap(b0_, b1_);
  }
  for (std::size_t k = 0; k < d; ++k) x_[differential_[k]] = z_[k];
  return true;
}

// Linearly implicit Euler with E and G from the search for the point where it begins:
// (E/h + G) v = -F(t + h, x, 0). Returns how far the full step and the two halves are apart, in
// units of what is allowed; not finite if it fails.
double PreparedMode::extrapolated_step(double t, double length) noexcept {
  const std::size_t n = x_.size();
  for (std::size_t i = 0; i < n * n; ++i) {
    matrix_[i] = e_[i] / length + g_[i];
    half_matrix_[i] = 2.0 * e_[i] / length + g_[i];
  }
  if (!dense::factor(matrix_.data(), n, pivots_.data()) ||
      !dense::factor(half_matrix_.data(), n, half_pivots_.data()))
    return std::nan("");
  const auto part = [&](double end, const std::vector<double>& lu,
                        const std::vector<std::size_t>& pivots, std::vector<double>& x) {
    core_->residual(data_, end, x.data(), zero_.data(), residual_.data());
    dense::solve(lu.data(), pivots.data(), n, residual_.data());
    for (std::size_t i = 0; i < n; ++i) x[i] -= residual_[i];
  };
  full_x_ = x_;
  part(t + length, matrix_, pivots_, full_x_);
  part(t + 0.5 * length, half_matrix_, half_pivots_, x_);
  part(t + length, half_matrix_, half_pivots_, x_);
  const std::vector<double>& nominal = core_->definition().nominal;
  double apart = 0.0;
  for (const std::size_t i : differential_)
    apart = std::max(
        apart, std::abs(x_[i] - full_x_[i]) / (kAllowed * (nominal[i] + std::abs(start_x_[i]))));
  for (std::size_t i = 0; i < n; ++i) x_[i] = 2.0 * x_[i] - full_x_[i];
  return is_finite() ? apart : std::nan("");
}

// In parts where the step is too long for what is not linear in it (a clutch that is about to
// stick), at most kMostParts of them.
bool PreparedMode::advance_nonlinear(double t, double length) noexcept {
  double done = 0.0;
  double part = length;
  while (done < length) {
    part = std::min(part, length - done);
    start_x_ = x_;
    const double apart = extrapolated_step(t + done, part);
    if (!(apart <= 1.0) && part > 1.5 * length / kMostParts) {
      x_ = start_x_;
      part *= 0.5;
      continue;
    }
    if (std::isnan(apart)) return false;
    done += part;
    if (length - done < 1e-9 * length) break;
    if (!complete_nonlinear(t + done)) return false;
    if (apart < 0.2) part *= 2.0;
  }
  return true;
}

bool PreparedMode::advance(double t, double length, std::size_t ticks) noexcept {
  if (ticks == 0) return true;
  const bool solved = is_affine_ ? advance_affine(t, ticks) : advance_nonlinear(t, length);
  return solved && complete(t + length);
}

bool PreparedMode::reset(std::size_t place, double value) noexcept {
  const Reset& r = resets_[place];
  if (r.place == npos) return false;
  x_[r.place] = r.sign * value;
  return true;
}

void PreparedMode::save() noexcept {
  std::copy(x_.begin(), x_.end(), saved_x_.begin());
  std::copy(dx_.begin(), dx_.end(), saved_dx_.begin());
  std::copy(b0_.begin(), b0_.end(), saved_b0_.begin());
  if (is_affine_) return;
  std::copy(e_.begin(), e_.end(), saved_e_.begin());
  std::copy(g_.begin(), g_.end(), saved_g_.begin());
}

void PreparedMode::restore() noexcept {
  std::copy(saved_x_.begin(), saved_x_.end(), x_.begin());
  std::copy(saved_dx_.begin(), saved_dx_.end(), dx_.begin());
  std::copy(saved_b0_.begin(), saved_b0_.end(), b0_.begin());
  if (is_affine_) return;
  std::copy(saved_e_.begin(), saved_e_.end(), e_.begin());
  std::copy(saved_g_.begin(), saved_g_.end(), g_.begin());
}

void PreparedMode::interpolate(double fraction) noexcept {
  for (std::size_t i = 0; i < x_.size(); ++i)
    x_[i] = saved_x_[i] + fraction * (x_[i] - saved_x_[i]);
}

void PreparedMode::relations(double t, double* values) noexcept {
  evaluate(relations_, t);
  std::copy(relations_.values.begin(), relations_.values.end(), values);
}

void PreparedMode::outputs(double t, double* values) noexcept {
  evaluate(outputs_, t);
  std::copy(outputs_.values.begin(), outputs_.values.end(), values);
}

std::size_t PreparedMode::jumping_variable(const SystemState& before, const SystemState& after,
                                           double duration) const noexcept {
  double fastest = 0.0;
  for (const Target& target : targets_)
    if (target.is_slope)
      fastest = std::max({fastest, std::abs(before.slopes[target.variable]),
                          std::abs(after.slopes[target.variable])});
  for (const Target& target : targets_) {
    if (!target.is_slope) continue;
    const double x = before.values[target.variable];
    const double y = after.values[target.variable];
    if (!(std::abs(y - x) <= duration * fastest + 1e-7 * std::max({std::abs(x), std::abs(y), 1.0})))
      return target.variable;
  }
  return npos;
}

void PreparedMode::write(double t, SystemState& state) noexcept {
  evaluate(variables_, t);
  for (std::size_t k = 0; k < targets_.size(); ++k)
    (targets_[k].is_slope ? state.slopes : state.values)[targets_[k].variable] =
        variables_.values[k];
}

}  // namespace saltus
