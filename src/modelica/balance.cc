#include "modelica/balance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "expr/differentiate.h"

namespace saltus {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kNamesShown = 20;

// Rows are equations, or what one of several branches puts in their place.
struct Incidence {
  std::vector<std::vector<std::size_t>> unknowns;  // of each row
  bool varies = false;                             // branches of different size
};

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
    std::vector<std::size_t> unknowns;
    std::size_t count = 0;
    add_unknowns({item}, unknowns, count, result.varies);
    std::sort(unknowns.begin(), unknowns.end());
    unknowns.erase(std::unique(unknowns.begin(), unknowns.end()), unknowns.end());
    result.unknowns.insert(result.unknowns.end(), count, unknowns);
  }
  return result;
}

// Maximum matching of unknowns with rows by shortest augmenting paths.
class Matching {
 public:
  Matching(const Incidence& incidence, std::size_t unknowns)
      : rows_of_(unknowns),
        row_of_(unknowns, kNone),
        unknown_of_(incidence.unknowns.size(), kNone) {
    for (std::size_t row = 0; row < incidence.unknowns.size(); ++row)
      for (const std::size_t u : incidence.unknowns[row]) rows_of_[u].push_back(row);
    for (std::size_t u = 0; u < unknowns; ++u) augment(u);
  }

  // Unknowns that compete with one that is left over.
  std::vector<std::size_t> undetermined() {
    std::vector<std::size_t> found;
    std::vector<bool> seen(rows_of_.size(), false);
    for (std::size_t u = 0; u < rows_of_.size(); ++u) {
      if (row_of_[u] == kNone && !rows_of_[u].empty() && !seen[u]) {
        seen[u] = true;
        found.push_back(u);
      }
    }
    for (std::size_t k = 0; k < found.size(); ++k) {
      for (const std::size_t row : rows_of_[found[k]]) {
        const std::size_t rival = unknown_of_[row];
        if (rival == kNone || seen[rival]) continue;
        seen[rival] = true;
        found.push_back(rival);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  void augment(std::size_t start) {
    std::vector<std::size_t> queue = {start};
    std::vector<std::size_t> reached_from(unknown_of_.size(), kNone);  // row: unknown
    for (std::size_t k = 0; k < queue.size(); ++k) {
      for (const std::size_t row : rows_of_[queue[k]]) {
        if (reached_from[row] != kNone) continue;
        reached_from[row] = queue[k];
        if (unknown_of_[row] != kNone) {
          queue.push_back(unknown_of_[row]);
          continue;
        }
        for (std::size_t r = row; r != kNone;) {
          const std::size_t u = reached_from[r];
          const std::size_t before = row_of_[u];
          row_of_[u] = r;
          unknown_of_[r] = u;
          r = before;
        }
        return;
      }
    }
  }

  std::vector<std::vector<std::size_t>> rows_of_;  // of each unknown
  std::vector<std::size_t> row_of_;
  std::vector<std::size_t> unknown_of_;
};

}  // namespace

void check_balance(const FlatModel& flat, const SourceLocation& where) {
  const Incidence incidence = incidence_of(flat);
  if (incidence.varies) return;
  const auto& variables = flat.system.variables();
  std::vector<bool> occurs(variables.size(), false);
  for (const auto& row : incidence.unknowns)
    for (const std::size_t u : row) occurs[u] = true;
  const auto unknowns = static_cast<std::size_t>(std::count(occurs.begin(), occurs.end(), true));
  const std::size_t equations = incidence.unknowns.size();
  if (equations >= unknowns) return;
  std::vector<std::string> names;
  const std::vector<std::size_t> undetermined =
      Matching(incidence, variables.size()).undetermined();
  for (const std::size_t u : undetermined) {
    if (names.size() == kNamesShown) {
      names.push_back(fmt::format("and {} more", undetermined.size() - kNamesShown));
      break;
    }
    names.push_back("'" + variables[u].name + "'");
  }
  throw Error(fmt::format("'{}' has {} unknowns but {} equation{}: {} missing for {}",
                          flat.system.name(), unknowns, equations, equations == 1 ? "" : "s",
                          unknowns - equations == 1 ? "one is"
                                                    : fmt::format("{} are", unknowns - equations),
                          fmt::join(names, ", ")),
              where);
}

}  // namespace saltus
