#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/reduce.h"

namespace saltus {

// One stage of the choice of states: Gaussian elimination on the equations differentiated at least
// so many times; the pivot columns become dependent. Rows whose symbol is eliminated anyway go
// first: such entries are constant and cannot go stale. The others take the largest entry of their
// row; those that fill in least go first, so that the work grows with the number of links of a
// chain and not with its square.
//
// What was done is written down, so that it can be repeated with other numbers without searching.
class StageElimination {
 public:
  // `form` must outlive this. The first stage is 1.
  StageElimination(const ReducedForm& form, int stage);

  // `values`: of the entries of the form; `eligible`: by unknown. False if an equation depends on
  // others.
  bool eliminate(const std::vector<double>& values, const std::vector<bool>& eligible);
  // The last elimination with other values; does not allocate. False if an entry exceeds the pivot
  // of its row by more than the factor `loyalty`. Pre: eliminate() returned true.
  bool repeat(const std::vector<double>& values, double loyalty);

  int number() const { return stage_; }
  bool is_pivot(std::size_t unknown) const { return pivoted_[unknown]; }
  // The candidate of an eligible unknown in this stage, or npos.
  std::size_t candidate(std::size_t unknown) const;
  // Of the last elimination or repetition, relative to the largest entry of its equation.
  double smallest_pivot() const { return smallest_pivot_; }
  // After eliminate() returned false: an equation without a pivot.
  std::size_t dependent_row() const { return dependent_row_; }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = static_cast<Index>(-1);
  // An entry of what is left. Each has a place of its own in the record, from the beginning or from
  // where it filled in.
  struct Item {
    Index column;
    Index place;
    double value;
  };
  struct Choice {
    Index column = kNone;
    std::size_t fill = 0;
  };
  struct Step {
    Index row;
    bool is_free;           // the pivot is constant
    Index pivot;            // its place
    Index begin, end;       // the rest of the row in row_places_
    Index subtracted_from;  // end of its part of factors_
  };

  void set_up(const std::vector<double>& values, const std::vector<bool>& eligible);
  Choice choose(Index row) const;
  void pivot(Index row, Index column);
  Index new_place() { return places_++; }

  const ReducedForm& form_;
  int stage_;
  bool avoid_fill_;
  double smallest_pivot_ = 1.0;
  std::size_t dependent_row_ = 0;

  // What is left.
  std::vector<std::vector<Item>> rows_;
  std::vector<std::vector<Index>> rows_with_;  // by column
  std::vector<double> largest_;                // by row, at the beginning
  std::vector<Index> free_column_;             // by row: of a symbol that is eliminated anyway
  std::vector<bool> pivoted_;                  // by column
  std::vector<Index> item_of_;                 // by column: in the row at work

  // The record.
  Index places_ = 0;
  std::vector<Step> steps_;
  std::vector<Index> entry_at_;  // by place that is there from the beginning: entry of the form
  std::vector<Index> row_places_;
  std::vector<Index> factors_;    // places that become zero, step by step
  std::vector<Index> targets_;    // by factor: places from which the rest of the row is subtracted
  std::vector<double> value_at_;  // by place
};

}  // namespace saltus
