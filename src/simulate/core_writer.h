#pragma once

#include <cstddef>
#include <unordered_map>
#include <unordered_set>

#include "analysis/analysed_mode.h"
#include "analysis/eliminate.h"
#include "expr/expr.h"
#include "expr/graph.h"

namespace saltus {

// Writes expressions of the system in the symbols of what is integrated of a mode.
class CoreWriter {
 public:
  // What is given must outlive this.
  CoreWriter(const AnalysedMode& mode, const EliminatedForm& form);

  Expr write(const Expr& a);

  // Whether something had to be left out: the slope of something eliminated.
  bool is_incomplete() const { return is_incomplete_; }

 private:
  Expr in_form(const Expr& leaf) const;
  Expr in_core(const Expr& a);

  const AnalysedMode& mode_;
  std::unordered_map<std::size_t, std::size_t> unknown_of_;  // by index of the variable
  std::unordered_map<const Node*, Expr> formula_of_;
  std::unordered_map<const Node*, Expr> derivative_of_;
  std::unordered_set<const Node*> lost_;  // derivatives of what is eliminated
  bool is_incomplete_ = false;
};

}  // namespace saltus
