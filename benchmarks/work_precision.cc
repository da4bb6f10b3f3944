// Claim: at equal achieved error Saltus (compiled tapes, Radau IIA) needs no more wall time than a
// hand-written C++ residual and Jacobian with SUNDIALS IDA: geometric mean of the ratio over the
// four index-1 problems <= 1.
//
// Tolerances 1e-3 ... 1e-11; each point is (error at the end, best time of several runs), Saltus
// and IDA in turns. Times are processor time of this single-threaded program: on an idle machine
// that is wall time, on a busy one it does not count the turns of others, which would punish
// whoever runs longer. No time contains compilation of the model. IDA gets the best of its settings
// (algebraic unknowns in the error test or not, two Newton coefficients) and, for the amplifier, of
// both forms of the problem; Saltus has one setting and the form of the problem set. Both curves
// are reduced to their best points, then compared by log-log interpolation at equal errors.
//
//   bench_work_precision [--json FILE]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analysed_mode.h"
#include "analysis/consistent.h"
#include "baseline/baseline.h"
#include "integrate/radau.h"
#include "problems/problem.h"

namespace {

using namespace saltus;

constexpr double kLimit = 1.0;
constexpr int kRounds = 5;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Point {
  double tolerance = 0.0;
  double error = kInfinity;
  double seconds = kInfinity;
};

// Root mean square of the errors relative to scale + |reference|.
double error_of(const Problem& problem, const std::vector<double>& end) {
  double sum = 0.0;
  for (std::size_t i = 0; i < end.size(); ++i) {
    const double e =
        (end[i] - problem.reference[i]) / (problem.scale[i] + std::abs(problem.reference[i]));
    sum += e * e;
  }
  return std::sqrt(sum / static_cast<double>(end.size()));
}

std::vector<double> absolute(const Problem& problem, double tolerance) {
  std::vector<double> atol = problem.scale;
  for (double& a : atol) a *= tolerance;
  return atol;
}

// One of the curves: something that can be run at a tolerance.
class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual Point run(double tolerance) = 0;
};

class SaltusRadau : public Contestant {
 public:
  explicit SaltusRadau(const Problem& problem)
      : problem_(problem),
        mode_(analyse(problem.system, ModeId(0))),
        data_(mode_->dae->make_data()) {
    for (const Variable& v : problem.system.variables()) start_.push_back(v.start.number());
    slope_.assign(start_.size(), 0.0);
    ConsistentSolver(*mode_->dae).solve(data_, 0.0, start_.data(), slope_.data());
  }

  Point run(double tolerance) override {
    const double begin = processor_seconds();
    IntegratorOptions options;
    options.tolerance = tolerance;
    options.absolute_tolerance = absolute(problem_, tolerance);
    Radau radau(*mode_->dae, data_, options);
    radau.restart(0.0, start_, slope_, 0.0);
    bool ok = true;
    while (ok && radau.time() < problem_.t_end) ok = radau.step(problem_.t_end).ok();
    const double seconds = processor_seconds() - begin;
    if (!ok) return {tolerance};
    return {tolerance, error_of(problem_, {radau.x().begin(), radau.x().end()}), seconds};
  }

 private:
  const Problem& problem_;
  std::unique_ptr<const AnalysedMode> mode_;
  DaeData data_;
  std::vector<double> start_, slope_;
};

class Ida : public Contestant {
 public:
  Ida(const Problem& problem, BaselineProblem baseline, IdaOptions options)
      : problem_(problem), baseline_(std::move(baseline)), options_(options) {
    options_.max_steps = 20'000;  // where the defaults fail, they fail slowly
  }

  Point run(double tolerance) override {
    if (failed_at_ == tolerance) return {tolerance};
    const double begin = processor_seconds();
    const BaselineRun run = run_ida(baseline_, tolerance, absolute(problem_, tolerance), options_);
    const double seconds = processor_seconds() - begin;
    if (!run.finished) {
      failed_at_ = tolerance;
      return {tolerance};
    }
    return {tolerance, error_of(problem_, run.end), seconds};
  }

 private:
  const Problem& problem_;
  BaselineProblem baseline_;
  IdaOptions options_;
  double failed_at_ = 0.0;
};

// Points no other point beats in both error and time, by increasing error.
std::vector<Point> best_of(std::vector<Point> points) {
  std::erase_if(points, [](const Point& p) { return !std::isfinite(p.error) || p.error <= 0.0; });
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.error < b.error; });
  std::vector<Point> front;
  for (const Point& p : points)
    if (front.empty() || p.seconds < front.back().seconds) front.push_back(p);
  return front;
}

double time_at(const std::vector<Point>& front, double error) {
  std::size_t k = 1;
  while (k + 1 < front.size() && front[k].error < error) ++k;
  const Point& a = front[k - 1];
  const Point& b = front[k];
  const double s = std::log(error / a.error) / std::log(b.error / a.error);
  return std::exp(std::log(a.seconds) + s * std::log(b.seconds / a.seconds));
}

struct Comparison {
  std::string name;
  std::vector<Point> ours, theirs;
  double from = 0.0, to = 0.0;
  double ratio = kInfinity;
};

Comparison compare(const std::string& name, std::vector<Point> ours, std::vector<Point> theirs) {
  Comparison c{name, best_of(std::move(ours)), best_of(std::move(theirs))};
  if (c.ours.size() < 2 || c.theirs.size() < 2) return c;
  c.from = std::max(c.ours.front().error, c.theirs.front().error);
  c.to = std::min(c.ours.back().error, c.theirs.back().error);
  constexpr int kLevels = 25;
  double sum = 0.0;
  for (int k = 0; k < kLevels; ++k) {
    const double error = c.from * std::pow(c.to / c.from, (k + 0.5) / kLevels);
    sum += std::log(time_at(c.ours, error) / time_at(c.theirs, error));
  }
  c.ratio = std::exp(sum / kLevels);
  return c;
}

Comparison measure(const Problem& problem, const Problem& twin,
                   const std::vector<BaselineProblem>& forms) {
  SaltusRadau saltus(problem);
  std::vector<std::unique_ptr<Contestant>> rivals;
  for (const BaselineProblem& form : forms)
    for (const bool suppress : {false, true})
      for (const double coefficient : {0.33, 0.03})
        rivals.push_back(std::make_unique<Ida>(
            form.name == problem.name ? problem : twin, form,
            IdaOptions{.suppress_algebraic = suppress, .newton_coefficient = coefficient}));
  std::vector<Point> ours, theirs;
  for (int digits = 6; digits <= 22; ++digits) {  // two a decade
    const double tolerance = std::pow(10.0, -0.5 * digits);
    Point own{tolerance};
    std::vector<Point> others(rivals.size());
    for (int round = 0; round < kRounds; ++round) {
      const auto keep = [](Point& best, const Point& p) {
        best = {p.tolerance, p.error, std::min(best.seconds, p.seconds)};
      };
      keep(own, saltus.run(tolerance));
      for (std::size_t k = 0; k < rivals.size(); ++k) keep(others[k], rivals[k]->run(tolerance));
    }
    ours.push_back(own);
    theirs.insert(theirs.end(), others.begin(), others.end());
  }
  return compare(problem.name, std::move(ours), std::move(theirs));
}

void print(const Comparison& c) {
  fmt::print("{}\n  {:>10} {:>10} {:>10} {:>7}\n", c.name, "error", "Saltus ms", "IDA ms", "ratio");
  for (double error = std::pow(10.0, std::ceil(std::log10(c.from))); error <= c.to; error *= 10.0) {
    const double ours = time_at(c.ours, error);
    const double theirs = time_at(c.theirs, error);
    fmt::print("  {:10.0e} {:10.4f} {:10.4f} {:7.2f}\n", error, 1e3 * ours, 1e3 * theirs,
               ours / theirs);
  }
  fmt::print("  errors {:.1e} ... {:.1e}: {:.3f}\n", c.from, c.to, c.ratio);
}

void write_json(const std::string& path, const std::vector<Comparison>& all, double mean) {
  std::ofstream out(path);
  const auto list = [](const std::vector<Point>& points) {
    std::string text;
    for (const Point& p : points)
      text += fmt::format("{}[{:.6g}, {:.6g}]", text.empty() ? "" : ", ", p.error, p.seconds);
    return text;
  };
  out << "{\"problems\": [";
  for (std::size_t i = 0; i < all.size(); ++i)
    out << fmt::format(
        "{}\n  {{\"name\": \"{}\", \"ratio\": {:.4g}, \"saltus\": [{}], \"ida\": [{}]}}",
        i == 0 ? "" : ",", all[i].name, all[i].ratio, list(all[i].ours), list(all[i].theirs));
  out << fmt::format("\n], \"mean_ratio\": {:.4g}, \"limit\": {}}}\n", mean, kLimit);
}

}  // namespace

int main(int argc, char** argv) {
  const Problem amplifier = transistor_amplifier();
  const Problem twin = transistor_amplifier_semi_explicit();
  const Problem kinetics = robertson();
  const Problem akzo = akzo_nobel();
  const Problem ring = diode_ring();
  const std::vector<Comparison> all = {
      measure(kinetics, kinetics, {robertson_baseline()}),
      measure(akzo, akzo, {akzo_nobel_baseline()}),
      measure(amplifier, twin,
              {transistor_amplifier_baseline(), transistor_amplifier_semi_explicit_baseline()}),
      measure(ring, ring, {diode_ring_baseline()})};
  double sum = 0.0;
  for (const Comparison& c : all) {
    print(c);
    sum += std::log(c.ratio);
  }
  const double mean = std::exp(sum / static_cast<double>(all.size()));
  fmt::print("time of Saltus over IDA at equal error, geometric mean: {:.3f} (at most {})\n", mean,
             kLimit);
  if (argc == 3 && std::strcmp(argv[1], "--json") == 0) write_json(argv[2], all, mean);
  return mean <= kLimit ? 0 : 1;
}
