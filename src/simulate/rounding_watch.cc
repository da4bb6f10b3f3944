#include "simulate/rounding_watch.h"

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "simulate/mode_run.h"

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t kMostUnknowns = 120;
constexpr std::size_t kMostStates = 40;
// Growth by more than exp() of that in one step is not seen by methods that damp stiff parts.
constexpr double kLongStep = 4.0;

// So many steps cost some twenty times what a look costs.
std::size_t steps_between_looks(std::size_t unknowns, std::size_t states) {
  constexpr double kRatio = 20.0;
  constexpr double kStep = 1000.0;  // operations for each unknown
  constexpr double kLeast = 16.0;
  const auto n = static_cast<double>(unknowns);
  const auto s = static_cast<double>(states);
  return static_cast<std::size_t>(
      std::max(kLeast, kRatio * (n * n * n / 1.5 + 10.0 * s * s * s) / (kStep * n)));
}

// exp(z) by the Pade approximation that Radau IIA has: exact for slow parts, nothing is left of
// fast ones that decay.
Eigen::VectorXd advance(const Eigen::MatrixXd& z, const Eigen::VectorXd& from) {
  const Eigen::Index n = z.rows();
  const Eigen::VectorXd once = z * from;
  const Eigen::VectorXd right = from + 0.4 * once + 0.05 * (z * once);
  const Eigen::MatrixXd squared = z * z;
  const Eigen::MatrixXd left =
      Eigen::MatrixXd::Identity(n, n) - 0.6 * z + 0.15 * squared - squared * z / 60.0;
  return left.partialPivLu().solve(right);
}

}  // namespace

// x' = A x of those under der(), and what they say of all unknowns.
struct RoundingWatch::Linear {
  std::vector<std::size_t> states;  // by unknown of the Dae
  Eigen::MatrixXd slopes;           // A
  Eigen::MatrixXd all;              // unknowns by states
};

RoundingWatch::RoundingWatch() : linear_(std::make_unique<Linear>()) {}

RoundingWatch::~RoundingWatch() = default;

bool RoundingWatch::linearise(ModeRun& mode) {
  const Dae& dae = mode.dae();
  const std::size_t n = dae.unknown_count();
  const Integrator& integrator = mode.integrator();
  linear_->states.clear();
  if (n > kMostUnknowns || dae.equation_count() != n || integrator.x().size() != n) return false;
  std::vector<Eigen::Index> place(n, -1);  // among the states
  for (std::size_t j = 0; j < n; ++j) {
    if (!dae.is_differential(j)) continue;
    place[j] = static_cast<Eigen::Index>(linear_->states.size());
    linear_->states.push_back(j);
  }
  const auto count = static_cast<Eigen::Index>(linear_->states.size());
  if (linear_->states.empty() || linear_->states.size() > kMostStates) return false;
  const Pattern& pattern = dae.pattern();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  std::vector<double> values(2 * nonzeros);
  dae.jacobian(mode.data(), integrator.time(), integrator.x().data(), integrator.dx().data(),
               values.data());
  const auto size = static_cast<Eigen::Index>(n);
  // What the states determine: their slopes and the other unknowns.
  Eigen::MatrixXd by_others = Eigen::MatrixXd::Zero(size, size);
  Eigen::MatrixXd by_states = Eigen::MatrixXd::Zero(size, count);
  for (int j = 0; j < pattern.columns; ++j) {
    const Eigen::Index state = place[static_cast<std::size_t>(j)];
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      const int row = pattern.row[k];
      const double by_x = values[static_cast<std::size_t>(k)];
      by_others(row, j) = state < 0 ? by_x : values[nonzeros + static_cast<std::size_t>(k)];
      if (state >= 0) by_states(row, state) = -by_x;
    }
  }
  if (!by_others.allFinite() || !by_states.allFinite()) return false;
  linear_->all = by_others.partialPivLu().solve(by_states);
  if (!linear_->all.allFinite()) return false;  // of higher index, as it stands
  linear_->slopes.resize(count, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto j = static_cast<Eigen::Index>(linear_->states[static_cast<std::size_t>(k)]);
    linear_->slopes.row(k) = linear_->all.row(j);
    linear_->all.row(j).setZero();
    linear_->all(j, k) = 1.0;
  }
  return true;
}

std::optional<RoundingWatch::Finding> RoundingWatch::look(ModeRun& mode, double step, double limit,
                                                          double left) {
  const double now = mode.integrator().time();
  const double since = now - last_look_;
  last_look_ = now;
  rate_ = 0.0;
  const Eigen::EigenSolver<Eigen::MatrixXd> eigen(linear_->slopes);
  if (eigen.info() != Eigen::Success) return std::nullopt;
  Eigen::Index fastest = 0;
  rate_ = eigen.eigenvalues().real().maxCoeff(&fastest);
  if (!(rate_ > 0.0)) {
    skipped_ = 0.0;
    return std::nullopt;
  }
  const double needed = std::log(limit / kEpsilon);
  skipped_ = rate_ * step > kLongStep ? skipped_ + rate_ * std::max(since, step) : 0.0;
  if (skipped_ > needed) {
    Eigen::Index shows = 0;
    eigen.eigenvectors().col(fastest).cwiseAbs().maxCoeff(&shows);
    return Finding{linear_->states[static_cast<std::size_t>(shows)], std::log(10.0) / rate_};
  }
  constexpr double kShare = 0.5;  // the rate may be larger elsewhere
  carries_ = carries_ || rate_ * left > kShare * needed;
  return std::nullopt;
}

// Other states of the same mode, or another mode: what is known goes by name.
void RoundingWatch::take_over(const Dae& dae) {
  const std::vector<std::string>& names = dae.definition().unknown_names;
  if (names == names_) return;
  std::map<std::string, double> known;
  for (std::size_t j = 0; j < names_.size(); ++j) known[names_[j]] = change_[j];
  names_ = names;
  change_.assign(names.size(), 0.0);
  for (std::size_t j = 0; j < names.size(); ++j)
    if (const auto found = known.find(names[j]); found != known.end()) change_[j] = found->second;
}

std::optional<RoundingWatch::Finding> RoundingWatch::carry(ModeRun& mode, double step,
                                                           double limit) {
  const Dae& dae = mode.dae();
  take_over(dae);
  const std::span<const double> x = mode.integrator().x();
  const std::vector<double>& nominal = dae.definition().nominal;
  const auto size_of = [&](std::size_t j) { return std::max(std::abs(x[j]), nominal[j]); };
  Eigen::VectorXd state(static_cast<Eigen::Index>(linear_->states.size()));
  for (Eigen::Index k = 0; k < state.size(); ++k) {
    const std::size_t j = linear_->states[static_cast<std::size_t>(k)];
    // Signs without a pattern, the same in every run.
    sign_ = sign_ * 6364136223846793005U + 1442695040888963407U;
    const double rounding = kEpsilon * size_of(j) * ((sign_ >> 40U) % 2 == 0 ? 1.0 : -1.0);
    state(k) = change_[j] + rounding;
  }
  const Eigen::VectorXd next = advance(step * linear_->slopes, state);
  if (!next.allFinite()) {
    carries_ = false;
    names_.clear();
    return std::nullopt;
  }
  Eigen::Map<Eigen::VectorXd>(change_.data(), static_cast<Eigen::Index>(change_.size())) =
      linear_->all * next;
  std::optional<Finding> found;
  double most = limit;
  for (const std::size_t j : linear_->states) {
    const double share = std::abs(change_[j]) / size_of(j);
    if (!(share > most)) continue;
    most = share;
    found = Finding{j, 0.0};
  }
  return found;
}

std::optional<RoundingWatch::Finding> RoundingWatch::note(ModeRun& mode, double tolerance,
                                                          double length, double left) {
  if (is_over_) return std::nullopt;
  const double step = mode.integrator().time() - mode.integrator().previous_time();
  if (!(step > 0.0)) return std::nullopt;
  constexpr double kLargeShare = 0.05;  // there are few of these
  const bool looks = waits_ == 0 || rate_ * step > kLongStep || step > kLargeShare * length;
  if (waits_ > 0) --waits_;
  if (!looks && !carries_) return std::nullopt;
  // Rounding alone is more than the tolerance; where that is next to rounding, some digits more.
  constexpr double kMany = 10.0;
  constexpr double kLeast = 1e-9;
  const double limit = std::max(kMany * tolerance, kLeast);
  if (!linearise(mode)) {
    waits_ = steps_between_looks(kMostUnknowns, kMostStates);
    return std::nullopt;
  }
  std::optional<Finding> found;
  if (looks) {
    waits_ = steps_between_looks(mode.dae().unknown_count(), linear_->states.size());
    found = look(mode, step, limit, left);
  }
  if (!found && carries_) found = carry(mode, step, limit);
  is_over_ = found.has_value();
  return found;
}

}  // namespace saltus
