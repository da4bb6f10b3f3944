#include "model/delay_line.h"

#include <algorithm>
#include <cmath>

#include "expr/function.h"

namespace saltus {
namespace {

// Places in a step: Lobatto's, which interpolate well and include both ends.
const std::array<double, DelayLine::kPoints> kPlaces = {0.0, 0.5 - std::sqrt(0.125), 0.5,
                                                        0.5 + std::sqrt(0.125), 1.0};

// Breaks of the fifth derivative are below what the integrators resolve.
constexpr int kHighestOrder = 4;

// Arrivals are hit exactly up to the rounding of t and of the duration.
double rounding(double t) { return 8.0 * std::numeric_limits<double>::epsilon() * std::abs(t); }

}  // namespace

std::array<double, DelayLine::kPoints> DelayLine::points(double from, double to) {
  std::array<double, kPoints> result{};
  for (std::size_t k = 0; k < kPoints; ++k) result[k] = from + kPlaces[k] * (to - from);
  result.back() = to;
  return result;
}

double DelayLine::Piece::at(double s, int derivative) const {
  const double length = to - from;
  const double u = std::clamp((s - from) / length, 0.0, 1.0);
  double sum = 0.0;
  for (std::size_t k = kPoints; k-- > static_cast<std::size_t>(derivative);) {
    double factor = 1.0;
    for (int j = 0; j < derivative; ++j) factor *= static_cast<double>(k) - j;
    sum = sum * u + factor * coefficients[k];
  }
  return sum / std::pow(length, derivative);
}

void DelayLine::begin(double start, double duration) {
  duration_ = duration;
  pieces_.clear();
  // The signal goes on from a constant.
  breaks_ = {{start, 1, 0, true}};
  left_ = -std::numeric_limits<double>::infinity();
}

void DelayLine::append(double from, double to, std::span<const double, kPoints> values,
                       double small) {
  Piece piece{from, to, {}};
  // Newton's divided differences, then multiplied out.
  std::array<double, kPoints> d{};
  std::copy(values.begin(), values.end(), d.begin());
  for (std::size_t order = 1; order < kPoints; ++order)
    for (std::size_t k = kPoints; k-- > order;)
      d[k] = (d[k] - d[k - 1]) / (kPlaces[k] - kPlaces[k - order]);
  std::array<double, kPoints>& c = piece.coefficients;
  c[0] = d[kPoints - 1];
  for (std::size_t k = kPoints - 1; k-- > 0;) {
    for (std::size_t j = kPoints; j-- > 1;) c[j] = c[j - 1] - kPlaces[k] * c[j];
    c[0] = d[k] - kPlaces[k] * c[0];
  }
  if (!breaks_.empty() && !breaks_.back().measured) measure(breaks_.back(), piece, small);
  // The step may be taken again from its start, so what its start reads must stay.
  while (pieces_.size() > 1 && pieces_.front().to < from - duration_) pieces_.pop_front();
  pieces_.push_back(piece);
}

void DelayLine::measure(Break& at, const Piece& next, double small) const {
  at.measured = true;
  if (pieces_.empty()) return;
  const Piece& last = pieces_.back();
  const double jump = std::abs(next.at(at.time, 0) - last.at(at.time, 0));
  const double before = last.at(at.time, 1);
  const double after = next.at(at.time, 1);
  const double shorter = std::min(last.to - last.from, next.to - next.from);
  constexpr double kSlopeError = 1e-3;  // of polynomials at their ends
  if (jump > small) {
    at.order = 0;
  } else if (std::abs(after - before) >
             kSlopeError * std::max(std::abs(after), std::abs(before)) + small / shorter) {
    at.order = 1;
  } else {
    at.order = at.order_of_cause + 1;
  }
}

void DelayLine::add_break(double t, int order_of_cause) {
  if (!breaks_.empty() && t <= breaks_.back().time) return;
  if (t <= left_) return;
  breaks_.push_back({t, 0, order_of_cause, false});
}

double DelayLine::next_arrival() const {
  for (const Break& b : breaks_)
    if (!b.measured || b.order <= kHighestOrder) return b.time + duration_;
  return std::numeric_limits<double>::infinity();
}

int DelayLine::arrive(double t) {
  int order = -1;
  while (!breaks_.empty() && breaks_.front().time + duration_ <= t + rounding(t)) {
    const Break& b = breaks_.front();
    if (b.time + duration_ >= t - rounding(t) && (order < 0 || b.order < order)) order = b.order;
    left_ = b.time;
    breaks_.pop_front();
  }
  return order;
}

double DelayLine::value(double s, double before, int derivative) const {
  double right = std::numeric_limits<double>::infinity();
  for (const Break& b : breaks_)
    if (!b.measured || b.order <= kHighestOrder) {
      right = b.time;
      break;
    }
  const double at = std::clamp(s, std::min(left_, right), right);
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), at,
                                      [](double x, const Piece& p) { return x < p.from; });
  auto index = after - pieces_.begin() - 1;  // the last piece that begins at or before
  if (index >= 0 && pieces_[static_cast<std::size_t>(index)].from == at && at == right) --index;
  if (index < 0) return derivative == 0 ? before : 0.0;
  return pieces_[static_cast<std::size_t>(index)].at(at, derivative);
}

namespace {

std::shared_ptr<const Function> reader(const std::shared_ptr<DelayLine>& line, int derivative) {
  Function f;
  f.name = "delay";
  for (int k = 0; k < derivative; ++k) f.name += "'";
  f.arity = 2;
  f.evaluate = [line, derivative](const double* inputs) {
    return line->value(inputs[0], inputs[1], derivative);
  };
  f.partial = [line, derivative](std::size_t argument, const std::vector<Expr>& arguments) {
    return argument == 0 ? call(reader(line, derivative + 1), arguments) : Expr(0.0);
  };
  return std::make_shared<const Function>(std::move(f));
}

}  // namespace

Expr delayed(const std::shared_ptr<DelayLine>& line, const Expr& time, const Expr& duration,
             const Expr& before) {
  return call(reader(line, 0), {time - duration, before});
}

}  // namespace saltus
