#include <Eigen/Eigenvalues>

#include "linalg/dense.h"

namespace saltus {

using Eigen::MatrixXd;

Eigenvalues eigenvalues(const MatrixXd& a, bool with_vectors) {
  const Eigen::EigenSolver<MatrixXd> solver(a, with_vectors);
  Eigenvalues found{solver.eigenvalues(), {}, solver.info() == Eigen::Success};
  if (with_vectors)
    found.vectors = found.converged ? solver.eigenvectors()
                                    : Eigen::MatrixXcd(Eigen::MatrixXcd::Zero(a.rows(), a.cols()));
  return found;
}

PencilEigenvalues eigenvalues(const MatrixXd& a, const MatrixXd& b, bool with_vectors) {
  const Eigen::GeneralizedEigenSolver<MatrixXd> solver(a, b, with_vectors);
  PencilEigenvalues found{solver.alphas(), solver.betas(), {}, solver.info() == Eigen::Success};
  if (with_vectors && found.converged) found.vectors = solver.eigenvectors();
  return found;
}

}  // namespace saltus
