#include "study/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#ifdef SALTUS_WITH_CERES
#include <ceres/ceres.h>
#include <glog/logging.h>
#endif

#include "base/error.h"
#include "base/stop_request.h"
#include "linalg/dense.h"
#include "study/data_file.h"
#include "study/fit_problem.h"

namespace saltus {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Index = Eigen::Index;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

#ifdef SALTUS_WITH_CERES

// The residuals for Ceres: it asks for derivatives where it has asked for values before.
class Residuals : public ceres::CostFunction {
 public:
  // `size`: what the parameters are in units of.
  Residuals(FitProblem& problem, VectorXd size, VectorXd start, FitProblem::Point at_start)
      : problem_(problem),
        size_(std::move(size)),
        p_(std::move(start)),
        point_(std::move(at_start)) {
    set_num_residuals(static_cast<int>(point_.residuals.size()));
    mutable_parameter_block_sizes()->push_back(static_cast<int>(size_.size()));
  }

  bool Evaluate(double const* const* parameters, double* residuals,
                double** jacobians) const override {
    const VectorXd p = size_.cwiseProduct(Eigen::Map<const VectorXd>(parameters[0], size_.size()));
    if (p != p_) {
      try {
        FitProblem::Point point = problem_.at(p);
        if (!point.residuals.allFinite() || !point.jacobian.allFinite()) return false;
        point_ = std::move(point);
        p_ = p;
      } catch (const StopRequested&) {
        throw;
      } catch (const Error&) {
        return false;  // the model does not run there: a shorter step
      }
    }
    Eigen::Map<VectorXd>(residuals, point_.residuals.size()) = point_.residuals;
    if (jacobians != nullptr && jacobians[0] != nullptr)
      Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          jacobians[0], point_.jacobian.rows(), point_.jacobian.cols()) =
          point_.jacobian * size_.asDiagonal();
    return true;
  }

 private:
  FitProblem& problem_;
  VectorXd size_;
  mutable VectorXd p_;
  mutable FitProblem::Point point_;  // at p_
};

class Reporter : public ceres::IterationCallback {
 public:
  Reporter(const FitOptions& how, Index residuals) : how_(how), residuals_(residuals) {}
  ceres::CallbackReturnType operator()(const ceres::IterationSummary& summary) override {
    if (how_.progress)
      how_.progress(summary.iteration,
                    std::sqrt(2.0 * summary.cost / static_cast<double>(residuals_)));
    return ceres::SOLVER_CONTINUE;
  }

 private:
  const FitOptions& how_;
  Index residuals_;
};

// Moves `p` to where the sum of squares is least; whether it has come there.
bool minimise(FitProblem& problem, const std::vector<FreeParameter>& free,
              const FitProblem::Point& at_start, const FitOptions& how, VectorXd& p) {
  FLAGS_minloglevel = google::GLOG_FATAL;  // what it would print is in the result
  VectorXd size(p.size());
  for (Index i = 0; i < p.size(); ++i) size(i) = p(i) != 0.0 ? std::abs(p(i)) : 1.0;
  VectorXd scaled = p.cwiseQuotient(size);
  ceres::Problem least_squares;
  least_squares.AddResidualBlock(new Residuals(problem, size, p, at_start), nullptr, scaled.data());
  for (Index i = 0; i < p.size(); ++i) {
    const FreeParameter& bound = free[static_cast<std::size_t>(i)];
    if (std::isfinite(bound.lower))
      least_squares.SetParameterLowerBound(scaled.data(), static_cast<int>(i),
                                           bound.lower / size(i));
    if (std::isfinite(bound.upper))
      least_squares.SetParameterUpperBound(scaled.data(), static_cast<int>(i),
                                           bound.upper / size(i));
  }
  Reporter reporter(how, at_start.residuals.size());
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.max_num_iterations = how.max_iterations;
  options.parameter_tolerance = how.tolerance;
  options.function_tolerance = 1e-12;
  options.gradient_tolerance = 1e-14;
  options.logging_type = ceres::SILENT;
  options.callbacks.push_back(&reporter);
  ceres::Solver::Summary summary;
  ceres::Solve(options, &least_squares, &summary);
  p = size.cwiseProduct(scaled);
  for (Index i = 0; i < p.size(); ++i)
    p(i) = std::clamp(p(i), free[static_cast<std::size_t>(i)].lower,
                      free[static_cast<std::size_t>(i)].upper);
  // No way down is left: this is the bottom, as well as runs tell.
  const bool is_stuck =
      summary.termination_type == ceres::FAILURE && summary.final_cost <= summary.initial_cost;
  return summary.termination_type == ceres::CONVERGENCE || is_stuck;
}

#else

bool minimise(FitProblem&, const std::vector<FreeParameter>&, const FitProblem::Point&,
              const FitOptions&, VectorXd&) {
  throw Error("a fit needs Ceres Solver (libceres-dev), without which Saltus was built");
}

#endif

void assess(const MatrixXd& j, const VectorXd& r, const VectorXd& size, FitResult& result) {
  const Index n = j.cols(), m = j.rows();
  const MatrixXd scaled = j * size.asDiagonal();
  const auto [s, u, v] = singular_values(scaled);
  result.correlations.assign(static_cast<std::size_t>(n * n), kNaN);
  constexpr double kToldApart = 1e-6;
  if (!(s(n - 1) > kToldApart * s(0)) || m <= n) {
    for (Index i = 0; i < n; ++i)
      if (m <= n || std::abs(v(i, n - 1)) > 0.1)
        result.not_told_apart.push_back(result.parameters[static_cast<std::size_t>(i)].name);
    for (FittedParameter& p : result.parameters) p.deviation = kNaN;
    return;
  }
  const double variance = r.squaredNorm() / static_cast<double>(m - n);
  const MatrixXd inverse = v * s.cwiseAbs2().cwiseInverse().asDiagonal() * v.transpose();
  for (Index i = 0; i < n; ++i) {
    result.parameters[static_cast<std::size_t>(i)].deviation =
        size(i) * std::sqrt(variance * inverse(i, i));
    for (Index k = 0; k < n; ++k)
      result.correlations[static_cast<std::size_t>(i * n + k)] =
          inverse(i, k) / std::sqrt(inverse(i, i) * inverse(k, k));
  }
}

}  // namespace

Measurements read_measurements(const std::string& path, const std::vector<std::string>& columns) {
  Measurements data;
  std::vector<std::string> wanted;
  for (const std::string& text : columns) {
    const std::size_t sign = text.find('=');
    data.names.push_back(text.substr(0, sign));
    wanted.push_back(sign == std::string::npos ? text : text.substr(sign + 1));
  }
  const DataColumns read = read_columns(path, wanted);
  if (columns.empty()) data.names = read.names;
  if (data.names.empty()) throw Error(fmt::format("the data '{}' have no values", path));
  for (std::size_t k = 1; k < read.times.size(); ++k)
    if (!(read.times[k] > read.times[k - 1]))
      throw Error("the times of the data must increase",
                  {path, k < read.lines.size() ? read.lines[k] : 0, 1});
  data.times = read.times;
  for (std::size_t k = 0; k < read.times.size(); ++k)
    for (const std::vector<double>& values : read.values) {
      if (std::isinf(values[k]))
        throw Error(fmt::format("the data '{}' are not finite at t = {}", path, read.times[k]));
      data.values.push_back(values[k]);
    }
  if (data.times.size() < 2)
    throw Error(fmt::format("the data '{}' have {}; a fit needs at least two times", path,
                            data.times.empty() ? "no rows" : "one row"));
  return data;
}

FitResult fit(const CompiledModel::Source& translate, const Measurements& data,
              const std::vector<FreeParameter>& free, const SimulateOptions& options,
              const FitOptions& how) {
  if (free.empty()) throw Error("nothing is to be fitted; say --free NAME,NAME");
  FitProblem problem(translate, data, free, options);
  FitResult result;
  const auto n = static_cast<Index>(free.size());
  VectorXd p(n);
  for (Index i = 0; i < n; ++i) {
    const FreeParameter& bound = free[static_cast<std::size_t>(i)];
    const double start = problem.start()[static_cast<std::size_t>(i)];
    p(i) = std::clamp(start, bound.lower, bound.upper);
    result.parameters.push_back({bound.name, start, 0.0, kNaN, false});
  }
  FitProblem::Point point = problem.at(p);
  const auto misfit = [](const VectorXd& r) {
    return std::sqrt(r.squaredNorm() / static_cast<double>(r.size()));
  };
  result.measurements = static_cast<std::size_t>(point.residuals.size());
  result.start_misfit = misfit(point.residuals);
  result.converged = minimise(problem, free, point, how, p);
  point = problem.at(p);
  VectorXd size(n);
  for (Index i = 0; i < n; ++i) {
    FittedParameter& parameter = result.parameters[static_cast<std::size_t>(i)];
    size(i) = p(i) != 0.0 ? std::abs(p(i)) : std::max(std::abs(parameter.start), 1e-300);
    parameter.value = p(i);
    parameter.at_bound = p(i) == free[static_cast<std::size_t>(i)].lower ||
                         p(i) == free[static_cast<std::size_t>(i)].upper;
  }
  assess(point.jacobian, point.residuals, size, result);
  result.misfit = misfit(point.residuals);
  result.runs = problem.runs();
  result.why_differences = problem.why_differences();
  result.fitted = point.model;
  for (std::size_t c = 0; c < data.names.size(); ++c) {
    double sum = 0.0, count = 0.0;
    for (std::size_t k = c; k < data.values.size(); k += data.names.size())
      if (!std::isnan(data.values[k])) {
        sum += std::pow(point.model[k] - data.values[k], 2);
        count += 1.0;
      }
    result.misfits.push_back(std::sqrt(sum / count));
  }
  result.message = result.converged
                       ? "converged"
                       : fmt::format("not converged after {} iterations", how.max_iterations);
  if (!result.not_told_apart.empty())
    result.message += fmt::format(
        "; the data do not tell {} apart: they can be changed together "
        "without changing the misfit",
        fmt::join(result.not_told_apart, ", "));
  return result;
}

}  // namespace saltus
