#include "analysis/structural_conditions.h"

#include <algorithm>
#include <limits>

namespace saltus {
namespace {

constexpr std::ptrdiff_t kNone = -1;
constexpr std::size_t kNoCause = std::numeric_limits<std::size_t>::max();

}  // namespace

FreezeTest::FreezeTest(const Signature& signature, const Offsets& offsets)
    : signature_(signature),
      offsets_(offsets),
      equation_of_(signature.unknown_count, kNone),
      unknown_of_(offsets.unknown_of),
      rows_with_(signature.unknown_count),
      replaced_(signature.rows.size(), 0),
      mark_(signature.unknown_count, 0),
      reached_from_(signature.unknown_count, 0) {
  for (std::size_t i = 0; i < unknown_of_.size(); ++i)
    if (unknown_of_[i] != kNone)
      equation_of_[static_cast<std::size_t>(unknown_of_[i])] = static_cast<std::ptrdiff_t>(i);
  for (std::size_t i = 0; i < signature.rows.size(); ++i)
    for (const SignatureEntry& entry : signature.rows[i]) rows_with_[entry.unknown].push_back(i);
  if (offsets.solvable) find_causes();
}

std::span<const SignatureEntry> FreezeTest::row(std::size_t equation) const {
  return replaced_[equation] == 0
             ? std::span<const SignatureEntry>(signature_.rows[equation])
             : std::span<const SignatureEntry>(frozen_->entries[replaced_[equation] - 1]);
}

bool FreezeTest::is_tight(std::size_t equation, const SignatureEntry& entry) const {
  return entry.order + offsets_.c[equation] == offsets_.d[entry.unknown];
}

// An equation must be differentiated because another one, differentiated so often, contains the
// unknown it is solved for. Chains of causes start at equations that are not differentiated: the
// depth along them orders the causes, so that no equation causes itself in a circle.
void FreezeTest::find_causes() {
  const std::size_t m = signature_.rows.size();
  depth_.assign(m, kNoCause);
  queue_.clear();
  for (std::size_t i = 0; i < m; ++i) {
    if (offsets_.c[i] != 0) continue;
    depth_[i] = 0;
    queue_.push_back(i);
  }
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::size_t i = queue_[head];
    for (const SignatureEntry& entry : signature_.rows[i]) {
      const std::ptrdiff_t owner = equation_of_[entry.unknown];
      if (owner == kNone || !is_tight(i, entry)) continue;
      const auto k = static_cast<std::size_t>(owner);
      if (depth_[k] != kNoCause) continue;
      depth_[k] = depth_[i] + 1;
      queue_.push_back(k);
    }
  }
}

bool FreezeTest::changes_structure(const FrozenRows& frozen) {
  frozen_ = &frozen;
  if (loses_an_unknown(frozen)) return true;
  if (!offsets_.solvable) return false;
  bool tight_entry_lost = false;
  for (std::size_t k = 0; k < frozen.rows.size(); ++k) {
    const std::size_t i = frozen.rows[k];
    for (const SignatureEntry& entry : signature_.rows[i])
      if (is_tight(i, entry) &&
          std::ranges::none_of(frozen.entries[k], [&](const SignatureEntry& e) {
            return e.unknown == entry.unknown && e.order == entry.order;
          }))
        tight_entry_lost = true;
  }
  if (!tight_entry_lost) return false;  // it takes part in nothing

  for (std::size_t k = 0; k < frozen.rows.size(); ++k) replaced_[frozen.rows[k]] = k + 1;
  touched_.clear();
  const std::vector<std::size_t>& rows = frozen.rows;
  bool repaired = true;
  std::vector<std::size_t> unmatched;
  for (const std::size_t i : rows) {
    const auto j = static_cast<std::size_t>(unknown_of_[i]);
    const auto entries = row(i);
    if (std::ranges::any_of(
            entries, [&](const SignatureEntry& e) { return e.unknown == j && is_tight(i, e); }))
      continue;
    equation_of_[j] = kNone;
    unknown_of_[i] = kNone;
    unmatched.push_back(i);
    touched_.push_back(i);
  }
  for (const std::size_t i : unmatched) repaired = repaired && repair(i);
  const bool local = repaired && keeps_causes(frozen);

  // Back to the transversal of the whole.
  for (const std::size_t i : touched_)
    if (unknown_of_[i] != kNone) equation_of_[static_cast<std::size_t>(unknown_of_[i])] = kNone;
  for (const std::size_t i : touched_) {
    unknown_of_[i] = offsets_.unknown_of[i];
    equation_of_[static_cast<std::size_t>(unknown_of_[i])] = static_cast<std::ptrdiff_t>(i);
  }
  for (const std::size_t i : rows) replaced_[i] = 0;
  if (!repaired) return true;
  return !local && differs_when_computed(frozen);
}

bool FreezeTest::loses_an_unknown(const FrozenRows& frozen) const {
  const auto contains = [&](std::size_t k, std::size_t unknown) {
    return std::ranges::any_of(frozen.entries[k],
                               [&](const SignatureEntry& e) { return e.unknown == unknown; });
  };
  for (std::size_t k = 0; k < frozen.rows.size(); ++k) {
    for (const SignatureEntry& entry : signature_.rows[frozen.rows[k]]) {
      if (contains(k, entry.unknown)) continue;
      bool occurs = false;
      for (const std::size_t i : rows_with_[entry.unknown]) {
        const auto place = std::ranges::find(frozen.rows, i);
        occurs = occurs || place == frozen.rows.end() ||
                 contains(static_cast<std::size_t>(place - frozen.rows.begin()), entry.unknown);
      }
      if (!occurs) return true;
    }
  }
  return false;
}

// Augments the transversal over tight entries, breadth first.
bool FreezeTest::repair(std::size_t equation) {
  ++search_;
  queue_.assign(1, equation);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::size_t i = queue_[head];
    for (const SignatureEntry& entry : row(i)) {
      if (mark_[entry.unknown] == search_ || !is_tight(i, entry)) continue;
      mark_[entry.unknown] = search_;
      reached_from_[entry.unknown] = i;
      const std::ptrdiff_t owner = equation_of_[entry.unknown];
      if (owner != kNone) {
        queue_.push_back(static_cast<std::size_t>(owner));
        continue;
      }
      for (std::size_t unknown = entry.unknown;;) {
        const std::size_t from = reached_from_[unknown];
        const std::ptrdiff_t previous = unknown_of_[from];
        unknown_of_[from] = static_cast<std::ptrdiff_t>(unknown);
        equation_of_[unknown] = static_cast<std::ptrdiff_t>(from);
        touched_.push_back(from);
        if (previous == kNone) return true;
        unknown = static_cast<std::size_t>(previous);
      }
    }
  }
  return false;
}

bool FreezeTest::has_cause(std::size_t equation) const {
  if (offsets_.c[equation] == 0) return true;
  const auto j = static_cast<std::size_t>(unknown_of_[equation]);
  return std::ranges::any_of(rows_with_[j], [&](std::size_t i) {
    return depth_[i] < depth_[equation] &&
           std::ranges::any_of(
               row(i), [&](const SignatureEntry& e) { return e.unknown == j && is_tight(i, e); });
  });
}

// Whose cause may have gone: equations solved for something else now, and those solved for an
// unknown that a changed equation contained.
bool FreezeTest::keeps_causes(const FrozenRows& frozen) {
  for (const std::size_t i : touched_)
    if (!has_cause(i)) return false;
  for (const std::size_t i : frozen.rows)
    for (const SignatureEntry& entry : signature_.rows[i]) {
      const std::ptrdiff_t owner = equation_of_[entry.unknown];
      if (owner != kNone && !has_cause(static_cast<std::size_t>(owner))) return false;
    }
  return true;
}

bool FreezeTest::differs_when_computed(const FrozenRows& frozen) const {
  Signature changed = signature_;
  for (std::size_t k = 0; k < frozen.rows.size(); ++k)
    changed.rows[frozen.rows[k]] = frozen.entries[k];
  const Offsets offsets = find_offsets(changed);
  return !offsets.solvable || offsets.c != offsets_.c || offsets.d != offsets_.d;
}

}  // namespace saltus
