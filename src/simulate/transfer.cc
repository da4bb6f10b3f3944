#include "simulate/transfer.h"

#include <algorithm>
#include <cmath>

#include "expr/differentiate.h"
#include "locate/guard_watch.h"

namespace saltus {
namespace {

// An impulse counts as one that violates a guard only beyond rounding of its parts.
constexpr double kSmallestPush = 1e-9;
constexpr double kSmallestJump = 1e-7;  // relative: the error of the switch point is no jump

}  // namespace

void FirstToLeave::note(std::size_t item, double leaves) {
  constexpr double kTie = 1e-12;
  if (leaves > 1.0 || leaves > fraction_ + kTie) return;
  if (leaves < fraction_ - kTie) items_.clear();
  fraction_ = std::min(fraction_, leaves);
  items_.push_back(item);
}

void FirstToLeave::follow(std::size_t item, GuardRef value, double band) {
  double beyond = 2.0;
  const auto margin = [&](double s) { return value(s) + band; };
  for (const Root& root : isolator_.isolate(margin).roots)
    if (root.after < 0) beyond = std::min(beyond, root.s);
  if (beyond > 1.0) return;
  double leaves = 0.0;  // where it starts at zero
  for (const Root& root : isolator_.isolate(value).roots)
    if (root.after < 0 && root.s <= beyond) leaves = std::max(leaves, root.s);
  note(item, leaves);
}

void FirstToLeave::follow_line(std::size_t item, double start, double end, double band) {
  if (end >= -band) return;
  start = std::max(start, 0.0);
  note(item, start / (start - end));
}

// Guards that read algebraic unknowns have no value on the way: those unknowns have one only where
// the constraints hold. They are looked at after the projection, or through their impulses.
GuardPath::GuardPath(const AnalysedMode& mode, const CarriedUnknowns& carried) {
  const DaeDefinition& def = mode.written;
  std::vector<Expr> values;
  std::vector<Expr> sizes;
  std::vector<Expr> pushes;
  // Impulses act as der() of an unknown under der(), and as the value of the others.
  std::vector<Expr> reached;
  for (std::size_t j = 0; j < def.unknowns.size(); ++j)
    reached.push_back(carried.under_der[j] ? def.derivatives[j] : def.unknowns[j]);
  std::vector<Expr> everything = def.unknowns;
  everything.insert(everything.end(), def.derivatives.begin(), def.derivatives.end());
  const std::size_t n = def.unknowns.size();
  for (std::size_t g = 0; g < mode.mode->guards.size(); ++g) {
    if (mode.is_time_guard[g]) continue;
    const Expr value[] = {mode.mode->guards[g].value};
    Expr size = 0.0;
    bool only_carried = true;
    for (const JacobianEntry& e : jacobian(value, everything)) {
      only_carried = only_carried && e.column < n && carried.under_der[e.column];
      if (e.column < n)
        size += abs(e.value) * max(abs(def.unknowns[e.column]), def.nominal[e.column]);
    }
    if (only_carried) {
      on_path_.push_back(g);
      values.push_back(value[0]);
      sizes.push_back(size);
    } else if (polynomial_degree(value[0], reached) == 1) {
      on_impulse_.push_back(g);
      // The push of impulse j is its coefficient; by unknown, zero where the guard does not read
      // it.
      std::vector<Expr> by_unknown(n, 0.0);
      for (const JacobianEntry& e : jacobian(value, reached)) by_unknown[e.column] = e.value;
      pushes.insert(pushes.end(), by_unknown.begin(), by_unknown.end());
    }
  }
  values_ = Tape(values, def.inputs());
  sizes_ = Tape(sizes, def.inputs());
  pushes_ = Tape(pushes, def.inputs());
  value_registers_ = values_.make_workspace();
  size_registers_ = sizes_.make_workspace();
  push_registers_ = pushes_.make_workspace();
}

void GuardPath::check(double t, const std::vector<double>& before, const std::vector<double>& after,
                      const std::vector<double>& slopes, const std::vector<double>& jumps,
                      const std::vector<double>& impulses, const DaeData& data,
                      TransferOutcome& outcome) {
  const std::size_t n = before.size();
  std::vector<double> at = before;
  const auto evaluate = [&](const Tape& tape, Tape::Workspace& registers,
                            const std::vector<double>& x, std::vector<double>& out) {
    out.resize(tape.output_count());
    const double* inputs[] = {&t, x.data(), slopes.data(), data.parameters.data(),
                              data.held.data()};
    tape.evaluate(inputs, registers, out.data());
  };
  std::vector<double> values;
  const auto guard_at = [&](std::size_t k, double s) {
    for (std::size_t j = 0; j < n; ++j) at[j] = before[j] + s * jumps[j];
    evaluate(values_, value_registers_, at, values);
    return values[k];
  };

  // Outside before: nothing of the projection happens. By less than what a switch point may be off,
  // the mode is entered at its border, and it matters where the projection ends.
  std::vector<double> sizes;
  evaluate(sizes_, size_registers_, before, sizes);
  std::vector<std::size_t> outside;
  for (std::size_t k = 0; k < on_path_.size(); ++k) {
    const double band = GuardWatch::kBand * sizes[k];
    const double before_it = guard_at(k, 0.0);
    if (before_it < -kSmallestJump * sizes[k] || (before_it < -band && guard_at(k, 1.0) < -band))
      outside.push_back(on_path_[k]);
  }
  if (!outside.empty()) {
    outcome.status = TransferStatus::kOutside;
    outcome.fraction = 0.0;
    outcome.guards = outside;
    return;
  }

  // An impulse of the violating sign exceeds every bound at once.
  std::vector<double> pushes;
  evaluate(pushes_, push_registers_, after, pushes);
  for (std::size_t k = 0; k < on_impulse_.size(); ++k) {
    double push = 0.0;
    double size = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const double part = pushes[k * n + j] * (impulses[j] + jumps[j]);
      push += part;
      size += std::abs(part);
    }
    if (push < -kSmallestPush * size) outcome.guards.push_back(on_impulse_[k]);
  }
  if (!outcome.guards.empty()) {
    outcome.status = TransferStatus::kCutShort;
    outcome.fraction = 0.0;
    return;
  }

  FirstToLeave first;
  for (std::size_t k = 0; k < on_path_.size(); ++k) {
    const auto value = [&](double s) { return guard_at(k, s); };
    first.follow(on_path_[k], value, GuardWatch::kBand * sizes[k]);
  }
  if (!first.any()) return;
  outcome.status = TransferStatus::kCutShort;
  outcome.fraction = first.fraction();
  outcome.guards = first.items();
}

}  // namespace saltus
