#include "simulate/rounding_watch.h"

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "simulate/mode_run.h"

namespace saltus {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t kMostUnknowns = 120;
constexpr std::size_t kMostStates = 40;
// Growth by more than exp() of that in one step is looked at in every step.
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

// exp(z) by a Pade approximation that is exact for slow parts and leaves nothing of fast ones that
// decay, in as many parts as growth needs.
Eigen::VectorXd advance(const Eigen::MatrixXd& whole, double growth, Eigen::VectorXd v) {
  constexpr double kMostParts = 1000.0;
  const int parts = std::max(1, static_cast<int>(std::ceil(std::min(growth, kMostParts))));
  const Eigen::MatrixXd z = whole / parts;
  const Eigen::Index n = z.rows();
  const Eigen::MatrixXd squared = z * z;
  const Eigen::PartialPivLU<Eigen::MatrixXd> left(Eigen::MatrixXd::Identity(n, n) - 0.6 * z +
                                                  0.15 * squared - squared * z / 60.0);
  for (int k = 0; k < parts; ++k) {
    const Eigen::VectorXd right = v + 0.4 * (z * v) + 0.05 * (squared * v);
    v = left.solve(right);
  }
  return v;
}

}  // namespace

// x' = A x of those under der(), and what they say of all unknowns.
struct RoundingWatch::Linear {
  std::vector<std::size_t> states;  // by unknown of the Dae
  Eigen::MatrixXd slopes;           // A
  Eigen::MatrixXd all;              // unknowns by states
};

struct RoundingWatch::Work {
  std::vector<double> values;       // of the Jacobian
  std::vector<Eigen::Index> place;  // by unknown: among the states, or -1
  Eigen::MatrixXd by_others, by_states;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu;
  Eigen::EigenSolver<Eigen::MatrixXd> eigen;
};

RoundingWatch::RoundingWatch()
    : before_(std::make_unique<Linear>()),
      middle_(std::make_unique<Linear>()),
      now_(std::make_unique<Linear>()),
      work_(std::make_unique<Work>()) {}

RoundingWatch::~RoundingWatch() = default;

// On the continuous extension of the last step.
bool RoundingWatch::linearise(ModeRun& mode, double t, Linear& out) {
  const Dae& dae = mode.dae();
  const std::size_t n = dae.unknown_count();
  const Integrator& integrator = mode.integrator();
  out.states.clear();
  if (n > kMostUnknowns || dae.equation_count() != n || integrator.x().size() != n) return false;
  auto& [values, place, by_others, by_states, lu, eigen] = *work_;
  place.assign(n, -1);
  for (std::size_t j = 0; j < n; ++j) {
    if (!dae.is_differential(j)) continue;
    place[j] = static_cast<Eigen::Index>(out.states.size());
    out.states.push_back(j);
  }
  const auto count = static_cast<Eigen::Index>(out.states.size());
  if (out.states.empty() || out.states.size() > kMostStates) return false;
  const Pattern& pattern = dae.pattern();
  const auto nonzeros = static_cast<std::size_t>(pattern.nonzeros());
  values.resize(2 * nonzeros);
  x_.assign(integrator.x().begin(), integrator.x().end());
  dx_.assign(integrator.dx().begin(), integrator.dx().end());
  if (t < integrator.time()) integrator.interpolate(t, mode.all_unknowns(), x_.data(), dx_.data());
  dae.jacobian(mode.data(), t, x_.data(), dx_.data(), values.data());
  const auto size = static_cast<Eigen::Index>(n);
  // What the states determine: their slopes and the other unknowns.
  by_others.setZero(size, size);
  by_states.setZero(size, count);
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
  lu.compute(by_others);
  out.all = lu.solve(by_states);
  if (!out.all.allFinite()) return false;  // of higher index, as it stands
  out.slopes.resize(count, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto j = static_cast<Eigen::Index>(out.states[static_cast<std::size_t>(k)]);
    out.slopes.row(k) = out.all.row(j);
    out.all.row(j).setZero();
    out.all(j, k) = 1.0;
  }
  return true;
}

std::optional<RoundingWatch::Finding> RoundingWatch::look(double step, double limit, double left) {
  const double before = std::exchange(rate_, 0.0);
  Eigen::EigenSolver<Eigen::MatrixXd>& eigen = work_->eigen;
  eigen.compute(now_->slopes);
  if (eigen.info() != Eigen::Success) return std::nullopt;
  Eigen::Index fastest = 0;
  rate_ = eigen.eigenvalues().real().maxCoeff(&fastest);
  const double needed = std::log(limit / kEpsilon);
  if (std::min(before, rate_) * step > needed) {
    Eigen::Index shows = 0;
    eigen.eigenvectors().col(fastest).cwiseAbs().maxCoeff(&shows);
    return Finding{now_->states[static_cast<std::size_t>(shows)], std::log(10.0) / rate_};
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
  change_.assign(names.size(), 0.0);
  for (std::size_t j = 0; j < names.size(); ++j)
    if (const auto found = known.find(names[j]); found != known.end()) change_[j] = found->second;
  names_ = names;
}

std::optional<RoundingWatch::Finding> RoundingWatch::carry(ModeRun& mode, double step,
                                                           double limit) {
  const Dae& dae = mode.dae();
  take_over(dae);
  // By Magnus, of order 4 where the whole step is known and not too long for that.
  constexpr double kShort = 3.0;
  Eigen::MatrixXd z = step * now_->slopes;
  const double middle = mode.integrator().time() - 0.5 * step;
  if (!is_interrupted_ && before_->states == now_->states && linearise(mode, middle, *middle_) &&
      middle_->states == now_->states) {
    const Eigen::MatrixXd& a = before_->slopes;
    const Eigen::MatrixXd& b = now_->slopes;
    const bool is_short = std::max(a.norm(), b.norm()) * step < kShort;
    z = step / 6.0 * (a + 4.0 * middle_->slopes + b);
    if (is_short) z -= step * step / 12.0 * (a * b - b * a);
  }
  const std::span<const double> x = mode.integrator().x();
  const std::vector<double>& nominal = dae.definition().nominal;
  const auto size_of = [&](std::size_t j) { return std::max(std::abs(x[j]), nominal[j]); };
  Eigen::VectorXd state(static_cast<Eigen::Index>(now_->states.size()));
  for (Eigen::Index k = 0; k < state.size(); ++k) {
    const std::size_t j = now_->states[static_cast<std::size_t>(k)];
    // Signs without a pattern, the same in every run.
    sign_ = sign_ * 6364136223846793005U + 1442695040888963407U;
    const double rounding = kEpsilon * size_of(j) * ((sign_ >> 40U) % 2 == 0 ? 1.0 : -1.0);
    state(k) = change_[j] + rounding;
  }
  const Eigen::VectorXd next = advance(z, rate_ * step, state);
  if (!next.allFinite()) {
    carries_ = false;
    names_.clear();
    return std::nullopt;
  }
  Eigen::Map<Eigen::VectorXd>(change_.data(), static_cast<Eigen::Index>(change_.size())) =
      now_->all * next;
  std::optional<Finding> found;
  double most = limit;
  for (const std::size_t j : now_->states) {
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
  if (!linearise(mode, mode.integrator().time(), *now_)) {
    waits_ = steps_between_looks(kMostUnknowns, kMostStates);
    is_interrupted_ = true;
    return std::nullopt;
  }
  std::optional<Finding> found;
  if (looks) {
    waits_ = steps_between_looks(mode.dae().unknown_count(), now_->states.size());
    found = look(step, limit, left);
  }
  if (!found && carries_) found = carry(mode, step, limit);
  is_over_ = found.has_value();
  if (carries_) std::swap(before_, now_);
  is_interrupted_ = !carries_;
  return found;
}

}  // namespace saltus
