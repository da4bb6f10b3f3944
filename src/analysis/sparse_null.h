#pragma once

#include <Eigen/Sparse>
#include <cstddef>
#include <utility>
#include <vector>

namespace saltus {

using SparseMatrix = Eigen::SparseMatrix<double>;

struct MatrixPlace {
  int row = 0;
  int column = 0;
};

SparseMatrix assemble(int rows, int columns, const std::vector<MatrixPlace>& places,
                      const std::vector<double>& values);

// Whether a square matrix is regular beyond doubt, whatever the units of its rows and columns.
bool is_regular(SparseMatrix a);

using Combination = std::vector<std::pair<std::size_t, double>>;  // index and factor, increasing

// A basis of { w : a w = 0 }: each column that depends on others with its factors for them.
std::vector<Combination> null_vectors(SparseMatrix a);

}  // namespace saltus
