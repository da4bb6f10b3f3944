#include "realtime/pivot_order.h"

#include <Eigen/Core>
#include <cmath>
#include <cstdint>

namespace saltus {

PivotOrder::PivotOrder(std::size_t n, const std::vector<Entry>& entries) {
  const auto size = static_cast<Eigen::Index>(n);
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(size, size);
  Eigen::MatrixXi filled = Eigen::MatrixXi::Zero(size, size);
  for (const Entry& e : entries) {
    m(static_cast<Eigen::Index>(e.row), static_cast<Eigen::Index>(e.column)) += e.value;
    filled(static_cast<Eigen::Index>(e.row), static_cast<Eigen::Index>(e.column)) = 1;
  }
  std::vector<Eigen::Index> rows, columns;  // by pivot
  std::vector<bool> row_done(n, false), column_done(n, false);
  std::vector<std::vector<Eigen::Index>> lower(n), upper(n);
  for (std::size_t k = 0; k < n; ++k) {
    Eigen::Index row = -1, column = -1;
    std::int64_t fewest = 0;
    double largest = 0.0;  // of the pivots with the fewest
    for (Eigen::Index j = 0; j < size; ++j) {
      if (column_done[static_cast<std::size_t>(j)]) continue;
      double most = 0.0;
      std::int64_t in_column = 0;
      for (Eigen::Index i = 0; i < size; ++i) {
        if (row_done[static_cast<std::size_t>(i)]) continue;
        most = std::max(most, std::abs(m(i, j)));
        in_column += filled(i, j);
      }
      for (Eigen::Index i = 0; i < size; ++i) {
        if (row_done[static_cast<std::size_t>(i)] || m(i, j) == 0.0 ||
            std::abs(m(i, j)) < 0.1 * most)
          continue;
        std::int64_t in_row = 0;
        for (Eigen::Index c = 0; c < size; ++c)
          if (!column_done[static_cast<std::size_t>(c)]) in_row += filled(i, c);
        const std::int64_t count = (in_row - 1) * (in_column - 1);
        if (row >= 0 && (count > fewest || (count == fewest && std::abs(m(i, j)) <= largest)))
          continue;
        row = i;
        column = j;
        fewest = count;
        largest = std::abs(m(i, j));
      }
    }
    if (row < 0) return;  // singular
    row_done[static_cast<std::size_t>(row)] = column_done[static_cast<std::size_t>(column)] = true;
    rows.push_back(row);
    columns.push_back(column);
    for (Eigen::Index i = 0; i < size; ++i)
      if (!row_done[static_cast<std::size_t>(i)] && filled(i, column) != 0) lower[k].push_back(i);
    for (Eigen::Index j = 0; j < size; ++j)
      if (!column_done[static_cast<std::size_t>(j)] && filled(row, j) != 0) upper[k].push_back(j);
    for (const Eigen::Index i : lower[k]) {
      const double f = m(i, column) / m(row, column);
      for (const Eigen::Index j : upper[k]) {
        m(i, j) -= f * m(row, j);
        filled(i, j) = 1;
      }
    }
  }
  row_place_.resize(n);
  column_place_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    row_place_[static_cast<std::size_t>(rows[k])] = k;
    column_place_[static_cast<std::size_t>(columns[k])] = k;
  }
  lower_start_ = upper_start_ = {0};
  for (std::size_t k = 0; k < n; ++k) {
    for (const Eigen::Index i : lower[k]) lower_.push_back(row_place_[static_cast<std::size_t>(i)]);
    for (const Eigen::Index j : upper[k])
      upper_.push_back(column_place_[static_cast<std::size_t>(j)]);
    lower_start_.push_back(lower_.size());
    upper_start_.push_back(upper_.size());
  }
}

fs_order PivotOrder::tables() const {
  if (row_place_.empty()) return {};
  return {row_place_.data(), column_place_.data(), lower_start_.data(),
          lower_.data(),     upper_start_.data(),  upper_.data()};
}

}  // namespace saltus
