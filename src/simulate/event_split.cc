// Forces that constraints share in many ways: which split is taken, and which bounds are reached
// whatever the split.

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "analysis/split_margins.h"
#include "expr/differentiate.h"
#include "linalg/dense.h"
#include "simulate/event_iteration.h"

namespace saltus {
namespace {

constexpr double kNoEffect = 1e-9;  // of the largest
constexpr double kAgree = 1e-6;     // of conditions on slots

}  // namespace

EventIteration::SplitForm& EventIteration::split_form(std::size_t mode) {
  const auto [place, is_new] = split_forms_.try_emplace(mode);
  SplitForm& form = place->second;
  if (!is_new) return form;
  const FlatMode& flat = modes_.mode(mode);
  const OpenSplit& split = *modes_.open_split(mode);
  std::vector<Expr> residuals;
  for (std::size_t i = 0; i < split.equations.size(); ++i)
    if (std::ranges::find(split.closing, i) == split.closing.end())
      residuals.push_back(split.equations[i].residual());
  std::unordered_set<std::uint32_t> differential, known;
  std::vector<Expr> all = residuals;
  for (const std::size_t i : split.closing) all.push_back(split.equations[i].residual());
  for (const Expr& leaf : leaves_of(all))
    if (leaf.is_variable() && leaf.node()->order > 0) differential.insert(leaf.node()->index);
  for (const Expr& leaf : leaves_of(all))
    if (leaf.is_variable() && !differential.contains(leaf.node()->index) &&
        known.insert(leaf.node()->index).second)
      form.columns.push_back(leaf);
  std::vector<Expr> outputs;
  for (const JacobianEntry& e : jacobian(residuals, form.columns)) {
    form.equation_places.emplace_back(e.row, e.column);
    outputs.push_back(e.value);
  }
  form.rows = residuals.size();
  for (std::size_t g = 0; g < flat.sources.size(); ++g) {
    const std::size_t source = flat.sources[g];
    Expr value;
    if (source < model_.relations.size())
      value = model_.relations[source].value;
    else if (modes_.is_weight_source(source))
      value = flat.mode.guards[g].value;
    else
      continue;
    form.sources.push_back(source);
    form.values.push_back(value);
  }
  for (const JacobianEntry& e : jacobian(form.values, form.columns)) {
    form.margin_places.emplace_back(e.row, e.column);
    outputs.push_back(e.value);
  }
  outputs.insert(outputs.end(), form.values.begin(), form.values.end());
  outputs.insert(outputs.end(), split.conditions.begin(), split.conditions.end());
  form.formulas = Formulas(outputs, state_inputs(system_));
  return form;
}

// Discrete equations with the slots at hand; true if they lead to this mode, held surfaces apart.
bool EventIteration::leads_to(std::size_t mode, double t, const SystemState& at) {
  for (Level& level : levels_) {
    evaluate(level.formulas, t, at);
    for (std::size_t i = 0; i < level.items.size(); ++i)
      if (level.items[i] >= model_.relations.size())
        put(model_.discrete_equations[level.items[i] - model_.relations.size()].target,
            level.formulas.values[i]);
  }
  const FlatMode& wanted = modes_.mode(mode);
  try {
    return modes_.find(parameters_, slots_) == wanted.base &&
           (!wanted.case_of || modes_.decide(*wanted.case_of, parameters_, slots_) == mode);
  } catch (const Error&) {
    return false;
  }
}

// By source: +1 or -1, the sign of the value for which the mode stays, or 0 where it does not
// depend on that.
std::vector<int> EventIteration::sides_that_stay(std::size_t mode, double t, const SystemState& at,
                                                 const std::vector<std::size_t>& sources) {
  const std::vector<double> present_slots = slots_;
  const auto stays = [&](const std::vector<double>& slots) {
    slots_ = slots;
    const bool result = leads_to(mode, t, at);
    slots_ = present_slots;
    return result;
  };
  const auto with_relations = [&](const std::vector<double>& from) {
    std::vector<double> slots = present_slots;
    for (const std::size_t s : sources)
      if (s < model_.relations.size()) {
        const std::size_t i = model_.relations[s].slot.node()->slot().index();
        slots[i] = from[i];
      }
    return slots;
  };
  std::vector<std::vector<double>> references{present_slots, with_relations(left_slots_)};
  const auto remembered = staying_slots_.find(mode);
  if (remembered != staying_slots_.end()) references.push_back(with_relations(remembered->second));
  references.push_back(with_relations(std::vector<double>(present_slots.size(), 0.0)));
  std::vector<int> sides(sources.size(), 0);
  const auto reference = std::ranges::find_if(references, stays);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (sources[k] >= model_.relations.size()) {
      sides[k] = 1;  // weights stay positive
      continue;
    }
    if (reference == references.end()) continue;
    std::vector<double> other = *reference;
    double& slot = other[model_.relations[sources[k]].slot.node()->slot().index()];
    const bool value = slot != 0.0;
    slot = 1.0 - slot;
    if (!stays(other)) sides[k] = value ? 1 : -1;
  }
  if (reference != references.end()) staying_slots_[mode] = *reference;
  return sides;
}

// The form of a mode with the split of forces that keeps farthest from all bounds at this point;
// none if its constraints contradict each other there.
std::optional<std::size_t> EventIteration::best_split(std::size_t mode, double t,
                                                      const SystemState& at) {
  SplitForm& form = split_form(mode);
  const OpenSplit& split = *modes_.open_split(mode);
  evaluate(form.formulas, t, at);
  const std::vector<double>& out = form.formulas.values;
  for (std::size_t k = 0; k < split.conditions.size(); ++k)
    if (!(std::abs(out[out.size() - split.conditions.size() + k]) <= kAgree)) return {};
  const auto columns = static_cast<Eigen::Index>(form.columns.size());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(form.rows), columns);
  std::size_t next = 0;
  for (const auto& [row, column] : form.equation_places)
    a(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column)) += out[next++];
  Eigen::MatrixXd slopes =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(form.sources.size()), columns);
  for (const auto& [row, column] : form.margin_places)
    slopes(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column)) += out[next++];
  if (!a.allFinite() || !slopes.allFinite()) return {};
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    if (const double size = a.row(i).cwiseAbs().maxCoeff(); size > 0.0) a.row(i) /= size;
  Eigen::MatrixXd free = FullLu(a, 1e-11).kernel();
  const auto own = [&] { return modes_.close(mode, {}, {}); };
  if (free.cols() != static_cast<Eigen::Index>(split.closing.size())) return own();
  for (Eigen::Index j = 0; j < free.cols(); ++j) free.col(j) /= free.col(j).cwiseAbs().maxCoeff();
  const Eigen::MatrixXd seen = slopes * free;
  std::vector<std::size_t> which, sources;
  const double largest = seen.size() > 0 ? seen.cwiseAbs().maxCoeff() : 0.0;
  for (std::size_t k = 0; k < form.sources.size(); ++k)
    if (seen.row(static_cast<Eigen::Index>(k)).cwiseAbs().maxCoeff() > kNoEffect * largest) {
      which.push_back(k);
      sources.push_back(form.sources[k]);
    }
  const std::vector<int> sides = sides_that_stay(mode, t, at, sources);
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < which.size(); ++k)
    if (sides[k] != 0) rows.push_back(k);
  if (rows.empty()) return own();
  Eigen::VectorXd r(static_cast<Eigen::Index>(rows.size()));
  Eigen::MatrixXd g(static_cast<Eigen::Index>(rows.size()), free.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t k = which[rows[i]];
    const auto place = static_cast<Eigen::Index>(i);
    r(place) = sides[rows[i]] * out[next + k];
    g.row(place) = sides[rows[i]] * seen.row(static_cast<Eigen::Index>(k));
  }
  const SplitMargins best = find_split_margins(r, g);
  std::vector<double> key;
  std::vector<Expr> zero;
  const auto margin = [&](std::size_t row) {
    return Expr(static_cast<double>(sides[rows[row]])) * form.values[which[rows[row]]];
  };
  for (const auto& group : best.groups) {
    for (std::size_t k = 1; k < group.size(); ++k)
      zero.push_back(margin(group[k]) - margin(group[0]));
    for (const std::size_t row : group)
      key.push_back(sides[rows[row]] * (1.0 + static_cast<double>(which[rows[row]])));
    key.push_back(0.0);
  }
  for (Eigen::Index j = 0; j < best.open.cols(); ++j) {
    // The smallest in the directions that no bound decides.
    const Eigen::VectorXd direction = free * best.open.col(j);
    Expr sum = 0.0;
    for (Eigen::Index i = 0; i < direction.size(); ++i)
      if (std::abs(direction(i)) > kNoEffect)
        sum += direction(i) * form.columns[static_cast<std::size_t>(i)];
    zero.push_back(sum);
  }
  if (zero.size() != split.closing.size()) return own();
  return modes_.close(mode, key, zero);
}

}  // namespace saltus
