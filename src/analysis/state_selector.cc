#include "analysis/state_selector.h"

#include <algorithm>
#include <cmath>

namespace saltus {
namespace {

// A choice stands while no entry exceeds a pivot of its row by more than this. Then all of it is
// made anew: what is worse by less would be next, and every change costs new factorizations.
constexpr double kLoyalty = 3.0;

}  // namespace

StateSelector::StateSelector(const ReducedForm& form)
    : form_(form), registers_(form.entry_values.make_workspace()), values_(form.entries.size()) {
  int last_stage = 0;
  for (const int c : form_.equation_stages) last_stage = std::max(last_stage, c);
  for (int stage = 1; stage <= last_stage; ++stage) stages_.emplace_back(form, stage);
}

std::vector<std::size_t> StateSelector::select(DaeData& data, double t, const double* x,
                                               const double* dx) {
  evaluate(data, t, x, dx);
  if (has_choice_ && form_.constant_entries && values_ == chosen_at_) return chosen_;
  has_choice_ = false;
  found_dependence_ = true;
  chosen_.clear();
  std::vector<bool> eligible(form_.unknown_orders.size());
  for (std::size_t j = 0; j < eligible.size(); ++j) eligible[j] = form_.unknown_orders[j] >= 1;
  std::vector<bool> dependent(form_.candidates.size(), false);
  smallest_pivot_ = 1.0;
  for (StageElimination& stage : stages_) {
    if (!stage.eliminate(values_, eligible)) {
      report_dependence(stage.dependent_row());
      return {};
    }
    smallest_pivot_ = std::min(smallest_pivot_, stage.smallest_pivot());
    // Only unknowns that are dependent in this stage are eligible in the next.
    for (std::size_t j = 0; j < eligible.size(); ++j) {
      const bool pivoted = eligible[j] && stage.is_pivot(j);
      const std::size_t k = pivoted ? stage.candidate(j) : ReducedForm::npos;
      if (k != ReducedForm::npos) dependent[k] = true;
      eligible[j] = pivoted && form_.unknown_orders[j] > stage.number();
    }
  }
  for (std::size_t k = 0; k < dependent.size(); ++k)
    if (!dependent[k]) chosen_.push_back(k);
  if (chosen_.size() != form_.states) return {};
  found_dependence_ = false;
  has_choice_ = true;
  remember_values();
  return chosen_;
}

bool StateSelector::stands(DaeData& data, double t, const double* x, const double* dx,
                           const std::vector<std::size_t>& current) {
  if (!has_choice_ || current != chosen_) return false;
  evaluate(data, t, x, dx);
  if (changed_little()) return true;
  double smallest = 1.0;
  for (StageElimination& stage : stages_) {
    if (!stage.repeat(values_, kLoyalty)) return false;
    smallest = std::min(smallest, stage.smallest_pivot());
  }
  smallest_pivot_ = smallest;
  remember_values();
  return true;
}

void StateSelector::evaluate(DaeData& data, double t, const double* x, const double* dx) {
  const double* inputs[] = {&t, x, dx, data.parameters.data(), data.held.data()};
  form_.entry_values.evaluate(inputs, registers_, values_.data());
}

// Little against the smallest pivot, so that equations which become dependent are looked at.
bool StateSelector::changed_little() const {
  constexpr double kSmallChange = 0.25;
  for (std::size_t e = 0; e < values_.size(); ++e) {
    const double size = row_sizes_[form_.entries[e].equation];
    if (!(std::abs(values_[e] - chosen_at_[e]) <= kSmallChange * smallest_pivot_ * size))
      return false;
  }
  return true;
}

void StateSelector::remember_values() {
  chosen_at_ = values_;
  row_sizes_.assign(form_.equation_stages.size(), 0.0);
  for (std::size_t e = 0; e < values_.size(); ++e) {
    double& size = row_sizes_[form_.entries[e].equation];
    size = std::max(size, std::abs(values_[e]));
  }
}

void StateSelector::report_dependence(std::size_t equation) {
  dependent_equation_ = form_.stage_equations[equation];
  dependent_unknowns_.clear();
  for (const ReducedForm::Entry& entry : form_.entries)
    if (entry.equation == equation) dependent_unknowns_.push_back(entry.unknown);
}

}  // namespace saltus
