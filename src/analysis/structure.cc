#include "analysis/structure.h"

#include <algorithm>
#include <unordered_map>

#include "expr/differentiate.h"
#include "expr/graph.h"

namespace saltus {
namespace {

constexpr std::ptrdiff_t kNone = -1;

// Augmenting-path matching of equations to unknowns over the edges that `usable` admits. Searches
// mark what they reach; after a failed search the marks are the set that cannot be matched.
class Matching {
 public:
  explicit Matching(const Signature& signature)
      : signature_(signature),
        unknown_of_(signature.rows.size(), kNone),
        equation_of_(signature.unknown_count, kNone),
        equation_mark_(signature.rows.size(), 0),
        unknown_mark_(signature.unknown_count, 0),
        reached_from_(signature.unknown_count, 0) {}

  // Breadth-first so that long chains of equations need no recursion.
  template <class Usable>
  bool augment(std::size_t start, Usable&& usable) {
    ++search_;
    reached_equations_.assign(1, start);
    reached_unknowns_.clear();
    equation_mark_[start] = search_;
    for (std::size_t head = 0; head < reached_equations_.size(); ++head) {
      const std::size_t equation = reached_equations_[head];
      for (const SignatureEntry& entry : signature_.rows[equation]) {
        if (unknown_mark_[entry.unknown] == search_ || !usable(equation, entry)) continue;
        unknown_mark_[entry.unknown] = search_;
        reached_from_[entry.unknown] = equation;
        reached_unknowns_.push_back(entry.unknown);
        const std::ptrdiff_t owner = equation_of_[entry.unknown];
        if (owner == kNone) {
          flip(entry.unknown);
          return true;
        }
        const auto next = static_cast<std::size_t>(owner);
        if (equation_mark_[next] != search_) {
          equation_mark_[next] = search_;
          reached_equations_.push_back(next);
        }
      }
    }
    return false;
  }

  const std::vector<std::size_t>& reached_equations() const { return reached_equations_; }
  const std::vector<std::size_t>& reached_unknowns() const { return reached_unknowns_; }
  const std::vector<std::ptrdiff_t>& unknown_of() const { return unknown_of_; }
  const std::vector<std::ptrdiff_t>& equation_of() const { return equation_of_; }

 private:
  // Reassigns along the path that reached a free unknown.
  void flip(std::size_t unknown) {
    for (;;) {
      const std::size_t equation = reached_from_[unknown];
      const std::ptrdiff_t previous = unknown_of_[equation];
      unknown_of_[equation] = static_cast<std::ptrdiff_t>(unknown);
      equation_of_[unknown] = static_cast<std::ptrdiff_t>(equation);
      if (previous == kNone) return;
      unknown = static_cast<std::size_t>(previous);
    }
  }

  const Signature& signature_;
  std::vector<std::ptrdiff_t> unknown_of_, equation_of_;
  std::vector<std::size_t> equation_mark_, unknown_mark_;
  std::vector<std::size_t> reached_from_;
  std::vector<std::size_t> reached_equations_, reached_unknowns_;
  std::size_t search_ = 0;
};

}  // namespace

Signature signature_of(std::span<const Expr> residuals, std::span<const VariableId> unknowns) {
  Signature signature;
  signature.unknown_count = unknowns.size();
  std::unordered_map<VariableId, std::size_t> column;
  for (std::size_t j = 0; j < unknowns.size(); ++j) column.emplace(unknowns[j], j);
  for (const Expr& residual : residuals) {
    auto& row = signature.rows.emplace_back();
    std::unordered_map<std::size_t, std::size_t> place;
    for (const Expr& leaf : leaves_of(residual)) {
      if (!leaf.is_variable()) continue;
      const auto found = column.find(leaf.node()->variable());
      if (found == column.end()) continue;
      const auto [it, inserted] = place.emplace(found->second, row.size());
      if (inserted) row.push_back({found->second, leaf.node()->order});
      SignatureEntry& entry = row[it->second];
      entry.order = std::max(entry.order, leaf.node()->order);
    }
  }
  return signature;
}

namespace {

// Unknowns whose equation would serve one of the free ones as well, and so on along the matching.
std::vector<std::size_t> find_rivals(const Signature& signature, const Offsets& offsets) {
  std::vector<std::vector<std::size_t>> equations_of(signature.unknown_count);
  for (std::size_t i = 0; i < signature.rows.size(); ++i)
    for (const SignatureEntry& entry : signature.rows[i]) equations_of[entry.unknown].push_back(i);
  std::vector<std::size_t> found = offsets.free_unknowns;
  std::vector<bool> seen(signature.unknown_count, false);
  for (const std::size_t j : found) seen[j] = true;
  for (std::size_t k = 0; k < found.size(); ++k)
    for (const std::size_t i : equations_of[found[k]]) {
      const std::ptrdiff_t rival = offsets.unknown_of[i];
      if (rival < 0 || seen[static_cast<std::size_t>(rival)]) continue;
      seen[static_cast<std::size_t>(rival)] = true;
      found.push_back(static_cast<std::size_t>(rival));
    }
  found.erase(found.begin(),
              found.begin() + static_cast<std::ptrdiff_t>(offsets.free_unknowns.size()));
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Offsets find_offsets(const Signature& signature) {
  const std::size_t m = signature.rows.size();
  const std::size_t n = signature.unknown_count;
  Offsets offsets;
  offsets.c.assign(m, 0);
  offsets.d.assign(n, 0);
  for (const auto& row : signature.rows)
    for (const SignatureEntry& entry : row)
      offsets.d[entry.unknown] = std::max(offsets.d[entry.unknown], entry.order);

  // Does a transversal exist at all? Otherwise differentiating would never end.
  Matching any(signature);
  for (std::size_t i = 0; i < m; ++i) {
    const bool matched = any.augment(i, [](std::size_t, const SignatureEntry&) { return true; });
    if (!matched && offsets.excess_equations.empty()) {
      offsets.excess_equations = any.reached_equations();
      offsets.unknowns_of_excess = any.reached_unknowns();
      std::sort(offsets.excess_equations.begin(), offsets.excess_equations.end());
      std::sort(offsets.unknowns_of_excess.begin(), offsets.unknowns_of_excess.end());
    }
  }
  for (std::size_t j = 0; j < n; ++j)
    if (any.equation_of()[j] == kNone) offsets.free_unknowns.push_back(j);
  offsets.unknown_of = any.unknown_of();
  if (!offsets.free_unknowns.empty()) offsets.rivals = find_rivals(signature, offsets);
  offsets.solvable = offsets.excess_equations.empty() && offsets.free_unknowns.empty();
  if (!offsets.solvable) return offsets;

  // Match equations to highest derivatives; a set of equations that cannot be matched is
  // differentiated once more, and with it the unknowns it reaches.
  Matching highest(signature);
  for (std::size_t i = 0; i < m; ++i) {
    while (!highest.augment(i, [&](std::size_t equation, const SignatureEntry& entry) {
      return entry.order + offsets.c[equation] == offsets.d[entry.unknown];
    })) {
      for (const std::size_t equation : highest.reached_equations()) ++offsets.c[equation];
      for (const std::size_t unknown : highest.reached_unknowns()) ++offsets.d[unknown];
    }
  }
  offsets.unknown_of = highest.unknown_of();
  return offsets;
}

}  // namespace saltus
