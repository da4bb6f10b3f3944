#include "modelica/balance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "expr/differentiate.h"
#include "model/aliases.h"

namespace saltus {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kNamesShown = 20;

constexpr std::size_t kEquationsShown = 6;

// Rows are equations, or what one of several branches puts in their place.
struct Row {
  std::vector<std::size_t> unknowns;
  std::size_t preferred = kNone;       // x of x = ... and der(x) = ...
  const Equation* equation = nullptr;  // null: one of several
};

struct Incidence {
  std::vector<Row> rows;
  bool varies = false;  // branches of different size
};

// The variable an equation is written for, if its left side is one or a multiple of its derivative.
std::size_t preferred_of(const Equation& equation) {
  const Node* left = equation.equality.lhs.node();
  if (left == nullptr) return kNone;
  if (left->op == Op::kVariable) return left->variable().index();
  if (left->op != Op::kMultiply) return kNone;
  for (const Node* factor : left->children)
    if (factor->op == Op::kVariable && factor->order > 0) return factor->variable().index();
  return kNone;
}

void add_unknowns(const std::vector<EquationItem>& items, std::vector<std::size_t>& unknowns,
                  std::size_t& count, bool& varies) {
  for (const EquationItem& item : items) {
    if (const auto* equation = std::get_if<Equation>(&item.value)) {
      ++count;
      for (const Expr& leaf : leaves_of(equation->residual())) {
        if (leaf.node()->op == Op::kVariable) unknowns.push_back(leaf.node()->variable().index());
      }
      continue;
    }
    const auto& branching = std::get<IfEquation>(item.value);
    std::vector<std::size_t> sizes;
    for (const auto& branch : branching.branches) {
      std::size_t inside = 0;
      add_unknowns(branch, unknowns, inside, varies);
      sizes.push_back(inside);
    }
    if (sizes.empty()) continue;
    varies = varies || std::any_of(sizes.begin(), sizes.end(),
                                   [&](std::size_t s) { return s != sizes.front(); });
    count += sizes.front();
  }
}

Incidence incidence_of(const FlatModel& flat) {
  Incidence result;
  for (const EquationItem& item : flat.equations) {
    Row row;
    std::size_t count = 0;
    add_unknowns({item}, row.unknowns, count, result.varies);
    std::sort(row.unknowns.begin(), row.unknowns.end());
    row.unknowns.erase(std::unique(row.unknowns.begin(), row.unknowns.end()), row.unknowns.end());
    row.equation = std::get_if<Equation>(&item.value);
    if (row.equation != nullptr) row.preferred = preferred_of(*row.equation);
    result.rows.insert(result.rows.end(), count, row);
  }
  return result;
}

// Maximum matching of unknowns with rows by shortest augmenting paths. Equations written for one
// unknown are given to it first, so that what is left over is what a reader would miss.
class Matching {
 public:
  Matching(const Incidence& incidence, std::size_t unknowns)
      : rows_(incidence.rows),
        rows_of_(unknowns),
        row_of_(unknowns, kNone),
        unknown_of_(rows_.size(), kNone),
        reached_from_(rows_.size(), kNone) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (const std::size_t u : rows_[row].unknowns) rows_of_[u].push_back(row);
      const std::size_t u = rows_[row].preferred;
      if (u == kNone || row_of_[u] != kNone || rows_of_[u].empty() || rows_of_[u].back() != row)
        continue;
      row_of_[u] = row;
      unknown_of_[row] = u;
    }
    for (std::size_t u = 0; u < unknowns; ++u)
      if (row_of_[u] == kNone) augment(u);
  }

  // Unknowns that have no equation of their own.
  std::vector<std::size_t> left_over() const {
    std::vector<std::size_t> found;
    for (std::size_t u = 0; u < rows_of_.size(); ++u)
      if (row_of_[u] == kNone) found.push_back(u);
    return found;
  }

  // Others that could be left over in their place.
  std::vector<std::size_t> rivals(const std::vector<std::size_t>& left) const {
    std::vector<std::size_t> found = left;
    std::vector<bool> seen(rows_of_.size(), false);
    for (const std::size_t u : left) seen[u] = true;
    for (std::size_t k = 0; k < found.size(); ++k) {
      for (const std::size_t row : rows_of_[found[k]]) {
        const std::size_t rival = unknown_of_[row];
        if (rival == kNone || seen[rival]) continue;
        seen[rival] = true;
        found.push_back(rival);
      }
    }
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(left.size()));
    std::sort(found.begin(), found.end());
    return found;
  }

  // Equations for which no unknown is left.
  std::vector<std::size_t> surplus() const {
    std::vector<std::size_t> found;
    for (std::size_t row = 0; row < rows_.size(); ++row)
      if (unknown_of_[row] == kNone) found.push_back(row);
    return found;
  }

  // All equations that share too few unknowns with this one, in order.
  std::vector<std::size_t> crowd(std::size_t surplus_row) const {
    std::vector<std::size_t> found = {surplus_row};
    std::vector<bool> seen(rows_.size(), false);
    seen[surplus_row] = true;
    for (std::size_t k = 0; k < found.size(); ++k)
      for (const std::size_t u : rows_[found[k]].unknowns) {
        const std::size_t row = row_of_[u];
        if (row == kNone || seen[row]) continue;
        seen[row] = true;
        found.push_back(row);
      }
    return found;
  }

 private:
  void augment(std::size_t start) {
    std::vector<std::size_t> queue = {start};
    std::vector<std::size_t> touched;
    const auto clear = [&] {
      for (const std::size_t row : touched) reached_from_[row] = kNone;
    };
    for (std::size_t k = 0; k < queue.size(); ++k) {
      for (const std::size_t row : rows_of_[queue[k]]) {
        if (reached_from_[row] != kNone) continue;
        reached_from_[row] = queue[k];
        touched.push_back(row);
        if (unknown_of_[row] != kNone) {
          queue.push_back(unknown_of_[row]);
          continue;
        }
        for (std::size_t r = row; r != kNone;) {
          const std::size_t u = reached_from_[r];
          const std::size_t before = row_of_[u];
          row_of_[u] = r;
          unknown_of_[r] = u;
          r = before;
        }
        clear();
        return;
      }
    }
    clear();
  }

  const std::vector<Row>& rows_;
  std::vector<std::vector<std::size_t>> rows_of_;  // of each unknown
  std::vector<std::size_t> row_of_;
  std::vector<std::size_t> unknown_of_;
  std::vector<std::size_t> reached_from_;  // row: unknown; of one search
};

std::string component_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

// "'x', 'y' of the model; 'a.q' of 'a'": grouped by component.
std::string by_component(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (std::size_t k = 0; k < names.size() && k < kNamesShown; ++k) {
    const std::string owner = component_of(names[k]);
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == owner; });
    if (same == groups.end())
      groups.push_back({owner, {"'" + names[k] + "'"}});
    else
      same->second.push_back("'" + names[k] + "'");
  }
  std::vector<std::string> parts;
  for (const auto& [owner, members] : groups)
    parts.push_back(owner.empty() ? fmt::format("{}", fmt::join(members, ", "))
                                  : fmt::format("{} of '{}'", fmt::join(members, ", "), owner));
  if (names.size() > kNamesShown)
    parts.push_back(fmt::format("and {} more", names.size() - kNamesShown));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string text_of(const Row& row) {
  if (row.equation == nullptr) return "an if-equation";
  const std::string place = row.equation->where.file.empty()
                                ? std::string()
                                : fmt::format(" (line {})", row.equation->where.line);
  return fmt::format("'{}'{}", row.equation->name, place);
}

void warn_of_surplus(FlatModel& flat, const Incidence& incidence, const Matching& matching) {
  for (const std::size_t row : matching.surplus()) {
    const Equation* equation = incidence.rows[row].equation;
    if (equation == nullptr || equation->where.file.empty()) continue;
    const std::vector<std::size_t> crowd = matching.crowd(row);
    std::vector<std::string> others;
    for (const std::size_t r : crowd)
      if (r != row && others.size() < kEquationsShown) others.push_back(text_of(incidence.rows[r]));
    if (crowd.size() > others.size() + 1)
      others.push_back(fmt::format("and {} more", crowd.size() - others.size() - 1));
    const SourceLocation& at = equation->where;
    flat.warnings.push_back(
        fmt::format("{}:{}:{}: warning: one equation too many: '{}'{}{}", at.file, at.line,
                    at.column, equation->name,
                    others.empty() ? " contains no unknown" : "; its unknowns are determined by ",
                    fmt::join(others, ", ")));
    if (flat.warnings.size() > kNamesShown) return;
  }
}

}  // namespace

void check_reinits(FlatModel& flat) {
  if (flat.reinits.empty()) return;
  const Aliases aliases = find_aliases(flat);
  const auto kept = [&](std::size_t variable) {
    const std::vector<Expr> leaves = leaves_of(aliases.value[variable]);
    return leaves.size() == 1 && leaves[0].is_variable() ? leaves[0].node()->index : variable;
  };
  std::vector<bool> differentiated(flat.system.variables().size(), false);
  mark_differentiated(flat.equations, differentiated);
  std::vector<bool> has_state = differentiated;
  for (std::size_t i = 0; i < differentiated.size(); ++i)
    if (differentiated[i]) has_state[kept(i)] = true;
  for (const Reinit& reinit : flat.reinits) {
    if (reinit.handover != Handover::kReset) continue;
    const std::size_t variable = reinit.variable.node()->index;
    if (has_state[variable] || has_state[kept(variable)]) continue;
    flat.warnings.push_back(fmt::format(
        "{}:{}:{}: warning: reinit() of '{}', which no equation differentiates: its "
        "value follows from the others and may not stay as set",
        reinit.where.file, reinit.where.line, reinit.where.column, to_string(reinit.variable)));
  }
}

void check_balance(FlatModel& flat, const std::vector<SourceLocation>& places,
                   const SourceLocation& model) {
  const Incidence incidence = incidence_of(flat);
  if (incidence.varies) return;
  const auto& variables = flat.system.variables();
  const Matching matching(incidence, variables.size());
  const std::size_t unknowns = variables.size();
  const std::size_t equations = incidence.rows.size();
  if (equations >= unknowns) {
    warn_of_surplus(flat, incidence, matching);
    return;
  }
  const std::vector<std::size_t> left = matching.left_over();
  const auto names = [&](const std::vector<std::size_t>& which) {
    std::vector<std::string> result;
    for (const std::size_t u : which) result.push_back(variables[u].name);
    return by_component(result);
  };
  const std::vector<std::size_t> rivals = matching.rivals(left);
  const std::size_t missing = unknowns - equations;
  const bool known = !left.empty() && left.front() < places.size();
  throw Error(fmt::format("'{}' has {} unknowns but {} equation{}: {} missing for {}{}",
                          flat.system.name(), unknowns, equations, equations == 1 ? "" : "s",
                          missing == 1 ? "one is" : fmt::format("{} are", missing), names(left),
                          rivals.empty() ? "" : fmt::format(" (or instead for {})", names(rivals))),
              known ? places[left.front()] : model);
}

}  // namespace saltus
