#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/characteristic_values.h"
#include "expr/graph.h"
#include "expr/tape.h"
#include "model/dae.h"

namespace saltus {

// The derivative array F_k = (F, dF/dt, ..., d^kF/dt^k) in the unknowns and their derivatives up to
// order k + 1 (HM (11)), compiled. For modes of moderate size: everything here is dense.
class DerivativeArray {
 public:
  DerivativeArray(Graph& graph, const DaeDefinition& mode, int levels);

  int levels() const { return levels_; }  // k
  std::size_t equations() const { return m_ * static_cast<std::size_t>(levels_ + 1); }
  std::size_t symbols() const { return n_ * static_cast<std::size_t>(levels_ + 2); }
  const std::vector<Expr>& residuals() const { return residuals_; }  // level by level
  // Symbols x_j^(order), order-major: index order * n + j.
  const std::vector<Expr>& symbol_list() const { return symbols_; }

  // Points: all symbols in symbol order.
  Eigen::VectorXd residual(double t, const Eigen::VectorXd& point,
                           const std::vector<double>& parameters, const std::vector<double>& held);
  Eigen::MatrixXd jacobian(double t, const Eigen::VectorXd& point,
                           const std::vector<double>& parameters, const std::vector<double>& held);
  // 1 where F_x (left half) or F_x' (right half) has an entry that is the same at every point.
  const Eigen::MatrixXd& constant_entries() const { return constant_; }

 private:
  std::size_t m_, n_;
  int levels_;
  Eigen::MatrixXd constant_;
  std::vector<Expr> residuals_, symbols_;
  Tape residual_tape_, jacobian_tape_;
  Tape::Workspace residual_registers_, jacobian_registers_;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  // of the Jacobian's nonzeros
  std::vector<double> values_;
};

// Scales of the rows and columns of the array's Jacobian, such that ranks do not depend on units.
struct ArrayScaling {
  Eigen::VectorXd rows, columns;
};
ArrayScaling balance_array(const DerivativeArray& array, const Eigen::MatrixXd& jacobian,
                           Eigen::Index m, Eigen::Index n);
// Pivots and singular values below this fraction of the largest count as zero then.
constexpr double kArrayRankTolerance = 1e-9;

// Ranks and projectors of HM Hypothesis 10 at a point of the solution set, for the array's level.
struct ArrayPoint {
  int d = 0;
  int a = 0;
  int corank = 0;
  double gap = 1e300;
  Eigen::MatrixXd z1;         // m x d: Z1^T F are the differential equations
  Eigen::MatrixXd z2;         // equations x a: Z2^T F_mu are the constraints, hidden ones included
  Eigen::MatrixXd redundant;  // left null vectors of the array's Jacobian (rows scaled)
  Eigen::MatrixXd free;       // directions of x that nothing determines (columns scaled)
  Eigen::VectorXd row_scale;
  std::vector<bool> occurs_differentiated;
};
ArrayPoint analyse_point(DerivativeArray& array, Eigen::Index m, Eigen::Index n, double t,
                         const Eigen::VectorXd& point, const std::vector<double>& parameters,
                         const std::vector<double>& held);

// What HM Hypothesis 10 gives for a mode near a guess.
struct ArrayAnalysis {
  CharacteristicValues values;
  bool holds = false;      // the hypothesis holds with some mu up to the limit
  bool consistent = true;  // the derivative array could be satisfied
  // Smallest ratio between a singular value that counted and the next one that did not: how clear
  // the ranks were (1e16: beyond doubt; 10: doubtful).
  double gap = 1e300;
  Eigen::VectorXd point;  // on the solution set L_mu
  Eigen::MatrixXd z1;     // m x d: Z1^T F are the differential equations
  Eigen::MatrixXd z2;     // (mu + 1) m x a: Z2^T F_mu are the constraints, hidden ones included
  std::vector<std::size_t> free_unknowns;        // that take part in an undetermined direction
  bool freedom_is_algebraic = false;             // none of those occurs differentiated
  std::vector<std::size_t> redundant_equations;  // of the mode
  std::vector<std::size_t> contradictory_equations;
};

// Smallest mu <= max_levels for which the hypothesis holds at the point found from the guess
// (values of the unknowns and their first derivatives) by least change.
ArrayAnalysis analyse_array(Graph& graph, const DaeDefinition& mode, double t,
                            const std::vector<double>& x, const std::vector<double>& dx,
                            const std::vector<double>& parameters, const std::vector<double>& held,
                            int max_levels = 6);

}  // namespace saltus
