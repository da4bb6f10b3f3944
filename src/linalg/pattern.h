#pragma once

#include <vector>

namespace saltus {

// Structure of a sparse matrix in compressed columns: the rows of column j are
// row[start[j]] ... row[start[j + 1] - 1], increasing.
struct Pattern {
  int rows = 0;
  int columns = 0;
  std::vector<int> start = {0};
  std::vector<int> row;

  int nonzeros() const { return start.back(); }
};

}  // namespace saltus
