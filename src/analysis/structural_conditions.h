#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/structure.h"

namespace saltus {

// One way to freeze a condition: the rows of the signature that change with it. Entries may only
// vanish or fall in order, because a frozen select() is one of its branches.
struct FrozenRows {
  std::vector<std::size_t> rows;
  std::vector<std::vector<SignatureEntry>> entries;  // by row above
};

// Tells whether freezing changes the unknowns or the offsets. What stays local is decided locally:
// the offsets keep their meaning if their transversal can be repaired and every raised offset keeps
// a cause; only where this fails are they computed anew.
class FreezeTest {
 public:
  // `signature` must outlive the test. Pre: offsets = find_offsets(signature).
  FreezeTest(const Signature& signature, const Offsets& offsets);

  bool changes_structure(const FrozenRows& frozen);

 private:
  std::span<const SignatureEntry> row(std::size_t equation) const;
  bool is_tight(std::size_t equation, const SignatureEntry& entry) const;
  bool loses_an_unknown(const FrozenRows& frozen) const;
  bool repair(std::size_t equation);
  bool keeps_causes(const FrozenRows& frozen);
  bool has_cause(std::size_t equation) const;
  bool differs_when_computed(const FrozenRows& frozen) const;
  void find_causes();

  const Signature& signature_;
  const Offsets& offsets_;
  std::vector<std::ptrdiff_t> equation_of_;          // by unknown, on the transversal
  std::vector<std::ptrdiff_t> unknown_of_;           // by equation
  std::vector<std::vector<std::size_t>> rows_with_;  // by unknown
  std::vector<std::size_t> depth_;                   // by equation: length of its chain of causes
  const FrozenRows* frozen_ = nullptr;
  std::vector<std::size_t> replaced_;  // by equation: index into frozen_->entries + 1; 0: as it was
  // Search for an augmenting path; undo list of the transversal.
  std::vector<std::size_t> mark_, reached_from_, queue_, touched_;
  std::size_t search_ = 0;
};

}  // namespace saltus
