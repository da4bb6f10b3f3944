#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace saltus {

// Forces that several constraints share can be split in many ways c; each bound k on them has the
// margin r_k + g_k c. Whether any split keeps within all bounds is decided by the largest smallest
// margin (a linear programme). Where that is zero, the bounds that attain it are those whose
// elements cannot hold any longer: by duality positive multiples of their g_k add up to zero, so
// the same sum of their margins is the same for every split (a cut).
struct SplitMargins {
  // Bounds that share one margin at the best split: those of the smallest margin, then of the
  // smallest one among the others, and so on.
  std::vector<std::vector<std::size_t>> groups;
  Eigen::VectorXd split;  // the best
  Eigen::MatrixXd open;   // columns: directions that no group decides
};

// Pre: one row of g for each entry of r. Rows that are zero take no part.
SplitMargins find_split_margins(const Eigen::VectorXd& r, const Eigen::MatrixXd& g);

}  // namespace saltus
