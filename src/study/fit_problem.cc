#include "study/fit_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/stop_request.h"
#include "base/suggest.h"
#include "expr/differentiate.h"
#include "expr/tape.h"
#include "simulate/run.h"
#include "simulate/run_until.h"
#include "simulate/settle.h"
#include "study/names_of_system.h"

namespace saltus {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Index = Eigen::Index;

// Takes points that nobody wants.
class NoSink : public ResultSink {
 public:
  void begin(const Trajectory&) override {}
  void store(double, ModeId, const double*) override {}
};

double spread(const Measurements& data, std::size_t j) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t k = j; k < data.values.size(); k += data.names.size())
    if (!std::isnan(data.values[k])) {
      low = std::min(low, data.values[k]);
      high = std::max(high, data.values[k]);
    }
  if (!(high >= low)) throw Error(fmt::format("there are no data for '{}'", data.names[j]));
  return high > low ? high - low : std::max(std::abs(high), 1.0);
}

}  // namespace

// The measured results as formulas of a state, and their derivatives by its symbols.
struct FitProblem::Outputs {
  Outputs(const HybridSystem& of, const std::vector<std::string>& names) : system(of) {
    std::vector<Expr> formulas;
    for (const std::string& name : names) formulas.push_back(parse_result(system, name));
    for (const Expr& leaf : leaves_of(formulas)) {
      const Node& node = *leaf.node();
      if (leaf.is_variable() || node.op == Op::kParameter) leaves.push_back(leaf);
      if (leaf.is_variable() && node.order > 0)
        problem = fmt::format("'{}' is measured", to_string(leaf));
    }
    entries = jacobian(formulas, leaves);
    count = formulas.size();
    for (const JacobianEntry& e : entries) formulas.push_back(e.value);
    tape = Tape(formulas, state_inputs(system));
    registers = tape.make_workspace();
    numbers.resize(formulas.size());
    for (const Parameter& p : system.parameters()) parameters.push_back(p.value);
  }

  void evaluate(double t, const SystemState& state) {
    const double* inputs[] = {&t, state.values.data(), state.slopes.data(), parameters.data(),
                              state.slots.data()};
    tape.evaluate(inputs, registers, numbers.data());
  }

  // By output: the derivative by a parameter, from those of the variables.
  VectorXd derivative(const std::string& parameter, const std::map<std::string, double>& by) const {
    VectorXd result = VectorXd::Zero(static_cast<Index>(count));
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const Node& leaf = *leaves[entries[k].column].node();
      double tangent = 0.0;
      if (leaf.op == Op::kParameter) {
        tangent = system.graph().name(leaf.parameter()) == parameter ? 1.0 : 0.0;
      } else {
        const auto found = by.find(system.variable(leaf.variable()).name);
        tangent = found == by.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
      }
      result(static_cast<Index>(entries[k].row)) += numbers[count + k] * tangent;
    }
    return result;
  }

  const HybridSystem& system;
  std::vector<Expr> leaves;
  std::vector<JacobianEntry> entries;
  std::size_t count = 0;
  Tape tape;
  Tape::Workspace registers;
  std::vector<double> numbers, parameters;
  std::string problem;  // why there are no derivatives
};

FitProblem::FitProblem(const CompiledModel::Source& translate, const Measurements& data,
                       const std::vector<FreeParameter>& free, SimulateOptions options)
    : data_(data), free_(free), options_(std::move(options)), model_(translate) {
  for (const FreeParameter& p : free) {
    const auto& known = model_.parameters();
    const auto found = std::ranges::find(known, p.name, &ParameterValue::name);
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const ParameterValue& q : known) names.push_back(q.name);
      throw Error(fmt::format("{} has no parameter '{}' to be fitted{}", model_.name(), p.name,
                              did_you_mean(p.name, names)));
    }
    start_.push_back(found->value);
    if (model_.decides_structure(p.name))
      why_differences_ = fmt::format("'{}' decides about the structure of the model", p.name);
  }
  const double begin = options_.start_time.value_or(model_.experiment().start_time);
  if (!options_.stop_time) options_.stop_time = data.times.back();
  const double reach = 1e-9 * (*options_.stop_time - begin);
  if (data.times.front() < begin - reach || data.times.back() > *options_.stop_time + reach)
    throw Error(
        fmt::format("the data from {:g} to {:g} s do not lie within the run from {:g} to "
                    "{:g} s",
                    data.times.front(), data.times.back(), begin, *options_.stop_time));
  options_.tolerance = std::min(options_.tolerance.value_or(model_.experiment().tolerance), 1e-8);
  options_.interval = std::max(*options_.stop_time - begin, 0.0);
  run_ = std::make_unique<CompiledModel::Run>(model_);
  check_names(run_->system());
  for (std::size_t j = 0; j < data.names.size(); ++j) scale_.push_back(spread(data, j));
}

FitProblem::~FitProblem() = default;

void FitProblem::check_names(const HybridSystem& system) {
  const Outputs outputs(system, data_.names);
  if (why_differences_.empty()) why_differences_ = outputs.problem;
}

FitProblem::Point FitProblem::at(const VectorXd& p) {
  Point point;
  MatrixXd derivatives;
  point.model = model_at(p, why_differences_.empty() ? &derivatives : nullptr);
  point.residuals = residuals(point.model);
  if (!why_differences_.empty()) {
    point.jacobian = differences(p);
    return point;
  }
  point.jacobian.resize(point.residuals.size(), p.size());
  Index row = 0;
  for (std::size_t k = 0; k < data_.values.size(); ++k)
    if (!std::isnan(data_.values[k]))
      point.jacobian.row(row++) =
          derivatives.row(static_cast<Index>(k)) / scale_[k % data_.names.size()];
  return point;
}

// Model at the times of the data, where steps end.
std::vector<double> FitProblem::model_at(const VectorXd& p, MatrixXd* derivatives) {
  ++runs_;
  Settings settings;
  for (std::size_t i = 0; i < free_.size(); ++i)
    settings.emplace_back(free_[i].name, p(static_cast<Index>(i)));
  run_->set(settings);
  NoSink sink;
  SimulateOptions options = options_;
  options.sink = &sink;
  if (derivatives != nullptr) {
    for (const FreeParameter& free : free_) options.sensitivities.push_back(free.name);
    derivatives->resize(static_cast<Index>(data_.values.size()), p.size());
  }
  std::vector<double> all;
  run_->apply([&](const HybridSystem& system) {
    const StopScope scope(options.stop_requested, options.max_seconds, 0.5);
    Run run(system, options);
    Outputs outputs(system, data_.names);
    enter_initial_mode(run);
    for (std::size_t k = 0; k < data_.times.size(); ++k) {
      const double time = std::max(data_.times[k], run.settings.start_time);
      run_until(run, time);
      if (run.log.stopped || run.now.time < time) {
        const std::string why = finish(run).message;
        throw Error(
            fmt::format("the run ends at t = {:g}, before the data: {}", run.now.time, why));
      }
      const SystemState& state = present_state(run);
      outputs.evaluate(run.now.time, state);
      all.insert(all.end(), outputs.numbers.begin(),
                 outputs.numbers.begin() + static_cast<std::ptrdiff_t>(outputs.count));
      if (derivatives == nullptr || !why_differences_.empty()) continue;
      const auto by = run.tangents->results(run.system, run.now.mode, run.now.time, state);
      if (!run.tangents->problem().empty()) {
        why_differences_ = run.tangents->problem();
        continue;
      }
      const auto first = static_cast<Index>(k * data_.names.size());
      for (std::size_t i = 0; i < free_.size(); ++i)
        derivatives->block(first, static_cast<Index>(i), static_cast<Index>(outputs.count), 1) =
            outputs.derivative(free_[i].name, by.at(free_[i].name));
    }
  });
  if (derivatives != nullptr && why_differences_.empty() && !derivatives->allFinite())
    why_differences_ = "a measured result has no derivative";
  return all;
}

VectorXd FitProblem::residuals(const std::vector<double>& model) const {
  std::vector<double> r;
  for (std::size_t k = 0; k < data_.values.size(); ++k)
    if (!std::isnan(data_.values[k]))
      r.push_back((model[k] - data_.values[k]) / scale_[k % data_.names.size()]);
  return Eigen::Map<const VectorXd>(r.data(), static_cast<Index>(r.size()));
}

// Central; one-sided at a bound.
MatrixXd FitProblem::differences(const VectorXd& p) {
  MatrixXd j;
  for (Index i = 0; i < p.size(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    const double size = p(i) != 0.0            ? std::abs(p(i))
                        : start_[place] != 0.0 ? std::abs(start_[place])
                                               : 1.0;
    const double h = 1e-4 * size;
    VectorXd above = p, below = p;
    above(i) = std::min(p(i) + h, free_[place].upper);
    below(i) = std::max(p(i) - h, free_[place].lower);
    const VectorXd difference =
        residuals(model_at(above, nullptr)) - residuals(model_at(below, nullptr));
    if (j.size() == 0) j.resize(difference.size(), p.size());
    j.col(i) = difference / (above(i) - below(i));
  }
  return j;
}

}  // namespace saltus
