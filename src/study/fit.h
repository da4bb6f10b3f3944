#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulate/simulate.h"
#include "study/compiled_model.h"

namespace saltus {

// Measured values of results: one row a time, NaN where nothing was measured.
struct Measurements {
  std::vector<std::string> names;  // results of the model, or expressions of them
  std::vector<double> times;       // s, increasing
  std::vector<double> values;      // values[k * names.size() + j]
};

// A table with a heading and the time in its first column; what is empty was not measured.
// `columns` gives "RESULT=COLUMN" where the names differ; if any is given, only these are read.
// Throws Error with the line for what is no number, and for times that do not increase.
Measurements read_measurements(const std::string& path, const std::vector<std::string>& columns);

struct FreeParameter {
  std::string name;
  double lower, upper;  // bounds; infinite: none
};

struct FitOptions {
  int max_iterations = 50;
  double tolerance = 1e-8;  // relative change of the parameters at which it ends
  std::function<void(int iteration, double misfit)> progress = {};
};

struct FittedParameter {
  std::string name;
  double start = 0.0;
  double value = 0.0;
  double deviation = 0.0;  // standard, from the residuals and the Jacobian at the end; NaN: unknown
  bool at_bound = false;
};

struct FitResult {
  bool converged = false;
  std::string message;
  std::vector<FittedParameter> parameters;
  // Of the residuals, by measured result: their root mean square, in its unit.
  std::vector<double> misfits;
  double start_misfit = 0.0, misfit = 0.0;  // root mean square of residuals over spread of the data
  std::size_t measurements = 0;
  std::size_t runs = 0;
  std::vector<double> correlations;  // parameters x parameters
  // Parameters that the data do not tell apart: a change of them along this direction leaves the
  // residuals as they are. Empty: there are none.
  std::vector<std::string> not_told_apart;
  std::vector<double> fitted;   // as Measurements::values, from the model
  std::string why_differences;  // that derivatives had to be; empty: they are exact
};

// Nonlinear least squares by Levenberg and Marquardt's method (Ceres Solver). Every measured result
// weighs by the spread of its data. Runs are taken at a tolerance of 1e-8 or less. Derivatives are
// those that a run carries along through its switches; where it cannot, they are differences of
// runs. Throws Error if a parameter or result is not known, or the data do not lie within the run.
FitResult fit(const CompiledModel::Source& translate, const Measurements& data,
              const std::vector<FreeParameter>& free, const SimulateOptions& options,
              const FitOptions& how = {});

}  // namespace saltus
