#include "simulate/sliding_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/structure.h"
#include "expr/differentiate.h"

// Y: the highest derivative (or, of algebraic unknowns, the value) of an unknown in one side.
// H: equations between shared unknowns only, present if a side has higher index.

namespace saltus {
namespace {

// A side solved for what its equations determine: F_i differentiated c_i times gives the
// derivatives of order d_j; less often differentiated it is a constraint between lower ones.
struct SideForm {
  std::vector<VariableId> unknowns;
  std::vector<int> order;  // d_j, by unknown
  std::vector<Equation> dynamics;
  std::vector<Expr> constraints;
  std::vector<Expr> from, to;  // what stands for its symbols in the sliding mode

  std::optional<int> order_of(VariableId id) const {
    const auto found = std::lower_bound(unknowns.begin(), unknowns.end(), id);
    if (found == unknowns.end() || *found != id) return {};
    return order[static_cast<std::size_t>(found - unknowns.begin())];
  }
  Expr rewrite(const Expr& e) const { return substitute(e, from, to); }
};

class Builder {
 public:
  Builder(HybridSystem& system, Meeting meeting, std::string name, const std::vector<Expr>& weights,
          const std::vector<VariableId>& tied)
      : system_(system), weights_(weights), tied_(tied) {
    result_.meeting = std::move(meeting);
    result_.mode.name = std::move(name);
  }

  SlidingMode build() {
    for (std::size_t s = 0; s < sides().size(); ++s) forms_.push_back(differentiate(s));
    for (std::size_t s = 0; s < sides().size(); ++s) name_symbols(s);
    add_side_equations();
    collect_constraints();
    std::set<VariableId> all;
    for (const SideForm& form : forms_) all.insert(form.unknowns.begin(), form.unknowns.end());
    for (const VariableId v : all) add_shared_equations(v);
    for (const Expr& h : constraints_) add("constraint of both sides", h == 0.0);
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const std::size_t positive = sides().size() - 1;
      add("surface", forms_[positive].rewrite(crossing(positive, i).value) == 0.0);
    }
    add_guards();
    return std::move(result_);
  }

 private:
  const std::vector<Side>& sides() const { return result_.meeting.sides; }
  const Mode& mode(std::size_t s) const { return system_.modes()[sides()[s].mode.index()]; }
  const Crossing& crossing(std::size_t s, std::size_t surface) const {
    return result_.meeting.crossings[s][surface];
  }
  void add(std::string name, Equality equality) {
    result_.mode.equations.emplace_back(std::move(name), equality);
  }
  Expr hidden(const std::string& text, double nominal) {
    return system_.variable(fmt::format("${}{}", result_.mode.name, text), {.nominal = nominal});
  }

  // Slots that the sides agree on stay slots.
  void freeze_slots(std::size_t s, SideForm& form) {
    for (std::size_t k = 0; k < sides()[s].slots.size(); ++k) {
      const bool differs = std::any_of(sides().begin(), sides().end(), [&](const Side& other) {
        return other.slots[k] != sides()[s].slots[k];
      });
      if (!differs) continue;
      form.from.push_back(system_.graph().slot(SlotId(k)));
      form.to.emplace_back(sides()[s].slots[k]);
    }
  }

  SideForm differentiate(std::size_t s) {
    SideForm form;
    freeze_slots(s, form);
    Mode frozen = mode(s);
    std::vector<Expr> residuals;
    for (Equation& e : frozen.equations) {
      residuals.push_back(form.rewrite(e.residual()));
      e.equality = residuals.back() == 0.0;
    }
    form.unknowns = unknowns_of(system_, frozen);
    const Offsets offsets = find_offsets(signature_of(residuals, form.unknowns));
    if (!offsets.solvable)
      throw Error(fmt::format("mode '{}' is not solvable by structure", mode(s).name));
    form.order = offsets.d;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      Expr f = residuals[i];
      for (int k = 0; k < offsets.c[i]; ++k, f = der(f)) form.constraints.push_back(f);
      form.dynamics.emplace_back(
          fmt::format("{} of mode '{}'", equation_name(mode(s), i), mode(s).name), f == 0.0);
    }
    return form;
  }

  // x^(m) below the highest derivative of some side: a state all sides share.
  Expr shared(VariableId v, int m) {
    if (m == 0) return system_.variable(v).symbol;
    const auto [place, is_new] = shared_.try_emplace({v, m});
    if (is_new) {
      const Variable& variable = system_.variable(v);
      place->second = hidden(fmt::format(".{}'{}", variable.name, m), variable.nominal);
      if (m == 1)
        result_.guesses.push_back({place->second.node()->variable(), first_side_with(v), v, 1});
    }
    return place->second;
  }

  std::size_t first_side_with(VariableId v) const {
    for (std::size_t s = 0; s < forms_.size(); ++s)
      if (forms_[s].order_of(v)) return s;
    return 0;
  }

  void name_symbols(std::size_t s) {
    SideForm& form = forms_[s];
    Graph& graph = system_.graph();
    for (std::size_t j = 0; j < form.unknowns.size(); ++j) {
      const VariableId v = form.unknowns[j];
      for (int m = 1; m < form.order[j]; ++m) {
        form.from.push_back(graph.variable(v, m));
        form.to.push_back(shared(v, m));
      }
      form.from.push_back(graph.variable(v, form.order[j]));
      // A copy: making a variable may move the system's list.
      const std::string variable_name = system_.variable(v).name;
      const Expr top = hidden(fmt::format(".{}.{}", s, variable_name), system_.variable(v).nominal);
      form.to.push_back(top);
      tops_[{s, v}] = top;
      if (form.order[j] <= 1)
        result_.guesses.push_back({top.node()->variable(), s, v, form.order[j]});
    }
  }

  void add_side_equations() {
    for (const SideForm& form : forms_)
      for (const Equation& e : form.dynamics) add(e.name, form.rewrite(e.residual()) == 0.0);
  }

  // The mixture keeps what each side keeps, so all sides must have the same constraints. They are
  // enforced by multipliers that are zero on the solution (as Gear, Gupta and Leimkuhler do).
  void collect_constraints() {
    for (std::size_t s = 0; s < forms_.size(); ++s) {
      std::vector<Expr> own;
      for (const Expr& h : forms_[s].constraints) own.push_back(forms_[s].rewrite(h));
      if (s == 0) constraints_ = own;
      const auto known = [&](const Expr& h) {
        return std::any_of(constraints_.begin(), constraints_.end(),
                           [&](const Expr& k) { return k.same_as(h) || k.same_as(-h); });
      };
      if (own.size() != constraints_.size() || !std::all_of(own.begin(), own.end(), known))
        throw Error(
            fmt::format("mode '{}' has other constraints than mode '{}'; modes of higher index "
                        "can be mixed only if they share them",
                        mode(s).name, mode(0).name));
    }
    for (std::size_t k = 0; k < constraints_.size(); ++k)
      multipliers_.push_back(hidden(fmt::format(".multiplier{}", k), 1.0));
  }

  Expr multiplier_terms(const Expr& state) const {
    Expr sum = 0.0;
    for (std::size_t k = 0; k < constraints_.size(); ++k)
      sum += partial(constraints_[k], state) * multipliers_[k];
    return sum;
  }

  // Weighs what the sides say, surface by surface; where only one of two says something, it holds.
  Expr mix(std::vector<std::optional<Expr>> said) const {
    for (std::size_t i = weights_.size(); i-- > 0;) {
      const std::size_t half = said.size() / 2;
      for (std::size_t b = 0; b < half; ++b) {
        const std::optional<Expr>& positive = said[b + half];
        if (!said[b])
          said[b] = positive;
        else if (positive)
          said[b] = weights_[i] * *positive + (1.0 - weights_[i]) * *said[b];
      }
      said.resize(half);
    }
    return *said.front();
  }

  // The value that crossing from side s gives to a variable that is none of its own unknowns, if it
  // depends on them (KM's T).
  std::optional<Expr> carried_over(std::size_t s, VariableId v) const {
    if (weights_.size() != 1) return {};
    for (const Assignment& a : crossing(s, 0).set)
      if (a.variable.node()->variable() == v && !is_constant_in_mode(a.value)) return a.value;
    return {};
  }

  // What side s says about the derivative of x^(m).
  std::optional<Expr> flow_of(std::size_t s, VariableId v, int m) {
    const std::optional<int> d = forms_[s].order_of(v);
    if (d && m + 1 < *d) return shared(v, m + 1);
    if (d && m + 1 == *d) return tops_.at({s, v});
    if (d || m > 0) return {};
    const std::optional<Expr> value = carried_over(s, v);
    if (!value) return {};
    return forms_[s].rewrite(der(*value));
  }

  void add_shared_equations(VariableId v) {
    int highest = 0;
    for (const SideForm& form : forms_) highest = std::max(highest, form.order_of(v).value_or(0));
    const std::string name = system_.variable(v).name;
    const auto is_tied = std::find(tied_.begin(), tied_.end(), v);
    if (is_tied != tied_.end()) {
      add("carried over: " + name, shared(v, 0) == forms_[0].rewrite(carried_over(0, v).value()));
      return;
    }
    if (highest == 0) {
      add("mixture of " + name, shared(v, 0) == mix(tops_at(v, 0)));
      return;
    }
    for (int m = 0; m < highest; ++m) {
      // Given by an equation of one side, where the value is restored at every crossing.
      const std::vector<std::optional<Expr>> given = tops_at(v, m);
      if (std::any_of(given.begin(), given.end(), [](const auto& e) { return e.has_value(); })) {
        add("value of " + name, shared(v, m) == mix(given));
        continue;
      }
      std::vector<std::optional<Expr>> flows;
      for (std::size_t s = 0; s < forms_.size(); ++s) {
        const std::optional<int> d = forms_[s].order_of(v);
        if (d && *d < m)
          throw Error(fmt::format("'{}' is differentiated {} times in one mode and {} in mode '{}'",
                                  name, highest, *d, mode(s).name));
        flows.push_back(flow_of(s, v, m));
      }
      const Expr state = shared(v, m);
      add(fmt::format("mixture of der({})", to_string(state)),
          der(state) == mix(flows) + multiplier_terms(state));
    }
  }

  // The values of x^(m) in the sides that determine it.
  std::vector<std::optional<Expr>> tops_at(VariableId v, int m) const {
    std::vector<std::optional<Expr>> tops;
    for (std::size_t s = 0; s < forms_.size(); ++s) {
      const std::optional<int> d = forms_[s].order_of(v);
      tops.push_back(d && *d == m ? std::optional(tops_.at({s, v})) : std::nullopt);
    }
    return tops;
  }

  void add_guards() {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const std::string& name = system_.variable(weights_[i].node()->variable()).name;
      result_.mode.guards.push_back({.name = name + " = 0", .value = weights_[i]});
      result_.mode.guards.push_back({.name = name + " = 1", .value = 1.0 - weights_[i]});
      result_.roles.push_back({.exit = SlidingMode::Exit::kNegative, .surface = i});
      result_.roles.push_back({.exit = SlidingMode::Exit::kPositive, .surface = i});
    }
    for (std::size_t s = 0; s < sides().size(); ++s) {
      std::set<std::size_t> crossings;
      for (const Crossing& c : result_.meeting.crossings[s])
        crossings.insert(c.guards.begin(), c.guards.end());
      for (std::size_t g = 0; g < mode(s).guards.size(); ++g)
        if (!crossings.contains(g)) add_other(s, g);
    }
  }

  // A guard of one side; one that several sides have is watched once.
  void add_other(std::size_t s, std::size_t g) {
    Guard other = mode(s).guards[g];
    other.value = forms_[s].rewrite(other.value);
    for (Assignment& a : other.set) a.value = forms_[s].rewrite(a.value);
    std::vector<Guard>& guards = result_.mode.guards;
    for (std::size_t k = 2 * weights_.size(); k < guards.size(); ++k) {
      if (guards[k].value.same_as(other.value) && result_.roles[k].guards[s] == SlidingMode::npos) {
        result_.roles[k].guards[s] = g;
        return;
      }
    }
    const bool taken = std::any_of(guards.begin(), guards.end(),
                                   [&](const Guard& k) { return k.name == other.name; });
    if (taken) other.name = fmt::format("{} of {}", other.name, mode(s).name);
    guards.push_back(std::move(other));
    std::vector<std::size_t> by_side(sides().size(), SlidingMode::npos);
    by_side[s] = g;
    result_.roles.push_back({.guards = std::move(by_side)});
  }

  HybridSystem& system_;
  const std::vector<Expr>& weights_;
  const std::vector<VariableId>& tied_;
  std::vector<SideForm> forms_;
  std::map<std::pair<VariableId, int>, Expr> shared_;
  std::map<std::pair<std::size_t, VariableId>, Expr> tops_;
  std::vector<Expr> constraints_;
  std::vector<Expr> multipliers_;
  SlidingMode result_;
};

}  // namespace

SlidingMode make_sliding_mode(HybridSystem& system, Meeting meeting, std::string name,
                              const std::vector<Expr>& weights,
                              const std::vector<VariableId>& tied) {
  return Builder(system, std::move(meeting), std::move(name), weights, tied).build();
}

}  // namespace saltus
