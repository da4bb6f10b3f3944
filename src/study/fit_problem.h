#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "study/compiled_model.h"
#include "study/fit.h"

namespace saltus {

// What a fit minimises: (model - data) / spread at the times of the data, as a function of the free
// parameters, and its derivatives. Internal to `fit`.
class FitProblem {
 public:
  // Throws Error if a parameter or result is not known, or the data do not lie within the run.
  FitProblem(const CompiledModel::Source& translate, const Measurements& data,
             const std::vector<FreeParameter>& free, SimulateOptions options);
  ~FitProblem();
  FitProblem(const FitProblem&) = delete;
  FitProblem& operator=(const FitProblem&) = delete;

  struct Point {
    std::vector<double> model;  // as Measurements::values
    Eigen::VectorXd residuals;  // where something was measured
    Eigen::MatrixXd jacobian;   // residuals x parameters
  };
  // Throws Error if the run fails. Derivatives are the exact ones of the run, carried along through
  // its switches in the same run; where a run has none, they are differences of runs.
  Point at(const Eigen::VectorXd& p);

  const std::vector<double>& start() const { return start_; }
  std::size_t runs() const { return runs_; }
  // Why the derivatives are differences; empty: they are exact.
  const std::string& why_differences() const { return why_differences_; }

 private:
  struct Outputs;
  std::vector<double> model_at(const Eigen::VectorXd& p, Eigen::MatrixXd* derivatives);
  Eigen::VectorXd residuals(const std::vector<double>& model) const;
  Eigen::MatrixXd differences(const Eigen::VectorXd& p);
  void check_names(const HybridSystem& system);

  Measurements data_;
  std::vector<FreeParameter> free_;
  SimulateOptions options_;
  CompiledModel model_;
  std::unique_ptr<CompiledModel::Run> run_;
  std::vector<double> start_, scale_;
  std::size_t runs_ = 0;
  std::string why_differences_;
};

}  // namespace saltus
