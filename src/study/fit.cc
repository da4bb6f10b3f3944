#include "study/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/kept_work.h"
#include "base/readable_file.h"
#include "base/suggest.h"

namespace saltus {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Index = Eigen::Index;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.push_back(cell);
      cell.clear();
    } else if (c != '\r') {
      cell += c;
    }
  }
  cells.push_back(cell);
  for (std::string& text : cells) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
  }
  return cells;
}

double number_of(const std::string& text, const std::string& path, int line) {
  double value = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw Error(fmt::format("'{}' is not a finite number", text), {path, line, 1});
  return value;
}

// The value at a time between stored points: the cubic through the four nearest that no event
// separates, or as many as there are.
double interpolate(const std::vector<double>& t, const std::vector<double>& x, double at) {
  auto upper = static_cast<std::size_t>(std::upper_bound(t.begin(), t.end(), at) - t.begin());
  if (upper > 0 && t[upper - 1] == at) return x[upper - 1];
  if (upper == 0) return x.front();
  if (upper == t.size()) return x.back();
  std::size_t first = upper - 1, last = upper;
  if (first > 0 && t[first - 1] < t[first]) --first;
  if (last + 1 < t.size() && t[last + 1] > t[last]) ++last;
  double value = 0.0;
  for (std::size_t i = first; i <= last; ++i) {
    double weight = 1.0;
    for (std::size_t j = first; j <= last; ++j)
      if (j != i) weight *= (at - t[j]) / (t[i] - t[j]);
    value += weight * x[i];
  }
  return value;
}

// Keeps the values of some expressions at all stored points.
class CurveSink : public ResultSink {
 public:
  explicit CurveSink(const std::vector<std::string>& names) : curves_(names.size()) {
    for (const std::string& name : names) one_.emplace_back(std::vector<RunRecord>{{name, name}});
  }
  void begin(const Trajectory& layout) override {
    for (RecordSink& sink : one_) sink.begin(layout);
  }
  void store(double time, ModeId mode, const double* columns) override {
    times_.push_back(time);
    for (std::size_t k = 0; k < one_.size(); ++k) {
      one_[k].store(time, mode, columns);
      curves_[k].push_back(one_[k].values().front());
    }
  }
  double at(std::size_t curve, double time) const {
    return interpolate(times_, curves_[curve], time);
  }

 private:
  std::deque<RecordSink> one_;
  std::vector<double> times_;
  std::vector<std::vector<double>> curves_;
};

class Problem {
 public:
  Problem(const std::function<TranslatedModel(const Settings&)>& translate,
          const Measurements& data, const std::vector<FreeParameter>& free, SimulateOptions options)
      : translate_(translate),
        data_(data),
        free_(free),
        options_(std::move(options)),
        model_(translate({})) {
    const HybridSystem& system = model_.system;
    for (const FreeParameter& p : free) {
      const auto found = std::ranges::find(system.parameters(), p.name, &Parameter::name);
      if (found == system.parameters().end()) {
        std::vector<std::string> known;
        for (const Parameter& q : system.parameters()) known.push_back(q.name);
        throw Error(fmt::format("{} has no parameter '{}' to be fitted{}", system.name(), p.name,
                                did_you_mean(p.name, known)));
      }
      translates_ = translates_ || model_.used.contains(p.name);
      start_.push_back(found->value);
    }
    const double begin = options_.start_time.value_or(system.experiment.start_time);
    if (!options_.stop_time) options_.stop_time = data.times.back();
    const double reach = 1e-9 * (*options_.stop_time - begin);
    if (data.times.front() < begin - reach || data.times.back() > *options_.stop_time + reach)
      throw Error(
          fmt::format("the data from {:g} to {:g} s do not lie within the run from {:g} to "
                      "{:g} s",
                      data.times.front(), data.times.back(), begin, *options_.stop_time));
    options_.tolerance = std::min(options_.tolerance.value_or(system.experiment.tolerance), 1e-8);
    options_.interval = grid(begin);
    for (std::size_t j = 0; j < data.names.size(); ++j) scale_.push_back(spread(j));
  }

  const std::vector<double>& start() const { return start_; }
  std::size_t runs() const { return runs_; }
  double scale(std::size_t j) const { return scale_[j]; }

  // Model at the times of the data; as Measurements::values. Throws Error if the run fails.
  std::vector<double> values(const VectorXd& p) {
    ++runs_;
    Settings settings;
    for (std::size_t i = 0; i < free_.size(); ++i)
      settings.emplace_back(free_[i].name, p(static_cast<Index>(i)));
    HybridSystem system = translates_ ? translate_(settings).system : model_.system;
    const KeptWork::Scope scope(kept_);
    if (!translates_)
      for (const auto& [name, value] : settings) system.set(name, value);
    CurveSink sink(data_.names);
    SimulateOptions options = options_;
    options.sink = &sink;
    const SimulateResult result = simulate(system, options);
    if (result.time < data_.times.back() * (1.0 - 1e-12)) {
      if (!result.completed()) throw Error(result.message);
      throw Error(fmt::format("the run ends at t = {:g}, before the data: {}", result.time,
                              result.message));
    }
    std::vector<double> all;
    for (const double t : data_.times)
      for (std::size_t j = 0; j < data_.names.size(); ++j) all.push_back(sink.at(j, t));
    return all;
  }

  // (model - data) / spread, where something was measured.
  VectorXd residuals(const std::vector<double>& model) const {
    std::vector<double> r;
    for (std::size_t k = 0; k < data_.values.size(); ++k)
      if (!std::isnan(data_.values[k]))
        r.push_back((model[k] - data_.values[k]) / scale_[k % data_.names.size()]);
    return Eigen::Map<const VectorXd>(r.data(), static_cast<Index>(r.size()));
  }

 private:
  // Such that the times of the data are stored points, where they are evenly spaced; otherwise a
  // quarter of the shortest distance, and cubics between.
  double grid(double begin) const {
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < data_.times.size(); ++k) {
      const double step = data_.times[k] - (k == 0 ? begin : data_.times[k - 1]);
      if (step > 1e-12) shortest = std::min(shortest, step);
    }
    for (const double t : data_.times) {
      const double steps = (t - begin) / shortest;
      if (std::abs(steps - std::round(steps)) > 1e-7 * std::max(1.0, steps)) return shortest / 4.0;
    }
    return shortest;
  }

  double spread(std::size_t j) const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t k = j; k < data_.values.size(); k += data_.names.size())
      if (!std::isnan(data_.values[k])) {
        low = std::min(low, data_.values[k]);
        high = std::max(high, data_.values[k]);
      }
    if (!(high >= low)) throw Error(fmt::format("there are no data for '{}'", data_.names[j]));
    return high > low ? high - low : std::max(std::abs(high), 1.0);
  }

  const std::function<TranslatedModel(const Settings&)>& translate_;
  const Measurements& data_;
  const std::vector<FreeParameter>& free_;
  SimulateOptions options_;
  TranslatedModel model_;
  KeptWork kept_{&model_.system.graph()};
  bool translates_ = false;
  std::vector<double> start_, scale_;
  std::size_t runs_ = 0;
};

// Central differences; one-sided at a bound.
MatrixXd jacobian_of(Problem& problem, const VectorXd& p, const VectorXd& size,
                     const std::vector<FreeParameter>& free) {
  MatrixXd j;
  for (Index i = 0; i < p.size(); ++i) {
    const FreeParameter& bound = free[static_cast<std::size_t>(i)];
    const double h = 1e-4 * size(i);
    VectorXd above = p, below = p;
    above(i) = std::min(p(i) + h, bound.upper);
    below(i) = std::max(p(i) - h, bound.lower);
    const VectorXd difference =
        problem.residuals(problem.values(above)) - problem.residuals(problem.values(below));
    if (j.size() == 0) j.resize(difference.size(), p.size());
    j.col(i) = difference / (above(i) - below(i));
  }
  return j;
}

void assess(const MatrixXd& j, const VectorXd& r, const VectorXd& size, FitResult& result) {
  const Index n = j.cols(), m = j.rows();
  const MatrixXd scaled = j * size.asDiagonal();
  const Eigen::JacobiSVD<MatrixXd> svd(scaled, Eigen::ComputeThinV);
  const VectorXd& s = svd.singularValues();
  result.correlations.assign(static_cast<std::size_t>(n * n), kNaN);
  constexpr double kToldApart = 1e-6;
  if (!(s(n - 1) > kToldApart * s(0)) || m <= n) {
    for (Index i = 0; i < n; ++i)
      if (m <= n || std::abs(svd.matrixV()(i, n - 1)) > 0.1)
        result.not_told_apart.push_back(result.parameters[static_cast<std::size_t>(i)].name);
    for (FittedParameter& p : result.parameters) p.deviation = kNaN;
    return;
  }
  const double variance = r.squaredNorm() / static_cast<double>(m - n);
  const MatrixXd inverse =
      svd.matrixV() * s.cwiseAbs2().cwiseInverse().asDiagonal() * svd.matrixV().transpose();
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
  require_file(path);
  std::ifstream in(path);
  if (!in) throw Error(fmt::format("cannot read the data '{}'", path));
  std::string line;
  if (!std::getline(in, line)) throw Error(fmt::format("the data '{}' are empty", path));
  const std::vector<std::string> heading = cells_of(line);
  if (heading.size() < 2)
    throw Error("the data need a column of times and at least one of values", {path, 1, 1});
  Measurements data;
  std::vector<std::size_t> places;
  if (columns.empty()) {
    for (std::size_t k = 1; k < heading.size(); ++k) {
      if (std::ranges::find(data.names, heading[k]) != data.names.end())
        throw Error(fmt::format("there are two columns '{}'", heading[k]), {path, 1, 1});
      data.names.push_back(heading[k]);
      places.push_back(k);
    }
  }
  for (const std::string& text : columns) {
    const std::size_t sign = text.find('=');
    const std::string result = text.substr(0, sign);
    const std::string column = sign == std::string::npos ? text : text.substr(sign + 1);
    const auto found = std::ranges::find(heading, column);
    if (found == heading.end())
      throw Error(fmt::format("the data '{}' have no column '{}'{}", path, column,
                              did_you_mean(column, heading)));
    data.names.push_back(result);
    places.push_back(static_cast<std::size_t>(found - heading.begin()));
  }
  for (int number = 2; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != heading.size())
      throw Error(fmt::format("{} cells, where the heading has {}", cells.size(), heading.size()),
                  {path, number, 1});
    const double time = number_of(cells[0], path, number);
    if (!data.times.empty() && !(time > data.times.back()))
      throw Error("the times of the data must increase", {path, number, 1});
    data.times.push_back(time);
    for (const std::size_t k : places)
      data.values.push_back(cells[k].empty() ? kNaN : number_of(cells[k], path, number));
  }
  if (data.times.size() < 2)
    throw Error(fmt::format("the data '{}' have {}; a fit needs at least two times", path,
                            data.times.empty() ? "no rows" : "one row"));
  return data;
}

FitResult fit(const std::function<TranslatedModel(const Settings&)>& translate,
              const Measurements& data, const std::vector<FreeParameter>& free,
              const SimulateOptions& options, const FitOptions& how) {
  if (free.empty()) throw Error("nothing is to be fitted; say --free NAME,NAME");
  Problem problem(translate, data, free, options);
  FitResult result;
  const auto n = static_cast<Index>(free.size());
  VectorXd p(n), size(n);
  for (Index i = 0; i < n; ++i) {
    const FreeParameter& bound = free[static_cast<std::size_t>(i)];
    const double start = problem.start()[static_cast<std::size_t>(i)];
    p(i) = std::clamp(start, bound.lower, bound.upper);
    size(i) = start != 0.0 ? std::abs(start) : 1.0;
    result.parameters.push_back({bound.name, start, 0.0, kNaN, false});
  }
  std::vector<double> model = problem.values(p);
  VectorXd r = problem.residuals(model);
  result.measurements = static_cast<std::size_t>(r.size());
  result.start_misfit = std::sqrt(r.squaredNorm() / static_cast<double>(r.size()));
  double damping = 1e-3;
  MatrixXd j;
  for (int k = 0; k < how.max_iterations && !result.converged; ++k) {
    for (Index i = 0; i < n; ++i) size(i) = std::max(std::abs(p(i)), 1e-3 * size(i));
    j = jacobian_of(problem, p, size, free) * size.asDiagonal();
    if (how.progress) how.progress(k, std::sqrt(r.squaredNorm() / static_cast<double>(r.size())));
    const MatrixXd normal = j.transpose() * j;
    const VectorXd slope = j.transpose() * r;
    bool improved = false;
    for (int attempt = 0; attempt < 12 && !improved; ++attempt, damping *= 4.0) {
      MatrixXd damped = normal;
      damped.diagonal() +=
          damping * normal.diagonal().cwiseMax(1e-12 * normal.diagonal().maxCoeff());
      const VectorXd step = -damped.ldlt().solve(slope);
      VectorXd next = p + size.cwiseProduct(step);
      for (Index i = 0; i < n; ++i)
        next(i) = std::clamp(next(i), free[static_cast<std::size_t>(i)].lower,
                             free[static_cast<std::size_t>(i)].upper);
      const double change = (next - p).cwiseQuotient(size).cwiseAbs().maxCoeff();
      VectorXd tried;
      std::vector<double> tried_model;
      try {
        tried_model = problem.values(next);
        tried = problem.residuals(tried_model);
      } catch (const Error&) {
        continue;  // the model does not run there: a shorter step
      }
      const bool better = tried.allFinite() && tried.squaredNorm() <= r.squaredNorm();
      if (better) {
        p = next;
        r = tried;
        model = std::move(tried_model);
        improved = true;
        damping /= 40.0;
      }
      if (change <= how.tolerance) {
        result.converged = true;
        break;
      }
    }
    // No way down is left: this is the bottom, as well as runs tell.
    if (!improved) result.converged = true;
  }
  for (Index i = 0; i < n; ++i) size(i) = std::max(std::abs(p(i)), 1e-3 * size(i));
  j = jacobian_of(problem, p, size, free);
  for (Index i = 0; i < n; ++i) {
    FittedParameter& parameter = result.parameters[static_cast<std::size_t>(i)];
    parameter.value = p(i);
    parameter.at_bound = p(i) == free[static_cast<std::size_t>(i)].lower ||
                         p(i) == free[static_cast<std::size_t>(i)].upper;
  }
  assess(j, r, size, result);
  result.misfit = std::sqrt(r.squaredNorm() / static_cast<double>(r.size()));
  result.runs = problem.runs();
  result.fitted = model;
  for (std::size_t c = 0; c < data.names.size(); ++c) {
    double sum = 0.0, count = 0.0;
    for (std::size_t k = c; k < data.values.size(); k += data.names.size())
      if (!std::isnan(data.values[k])) {
        sum += std::pow(model[k] - data.values[k], 2);
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
