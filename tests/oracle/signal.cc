#include "oracle/signal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace saltus::oracle {

double Piece::at(double t) const {
  return value + slope * (t - begin) +
         (amplitude == 0.0 ? 0.0 : amplitude * std::sin(omega * t + phase));
}

std::size_t Signal::piece_at(double t) const {
  std::size_t i = 0;
  while (i + 1 < pieces.size() && pieces[i + 1].begin <= t) ++i;
  return i;
}

double Signal::integral(double from, double to) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& p = pieces[i];
    const double a = i == 0 ? from : std::max(from, p.begin);
    const double b = i + 1 < pieces.size() ? std::min(to, pieces[i + 1].begin) : to;
    if (b <= a) continue;
    const double middle = 0.5 * (a + b);
    sum += (b - a) * (p.value + p.slope * (middle - p.begin));
    if (p.amplitude != 0.0)
      // cos(x) - cos(y) as a product, which has no cancellation over a short interval.
      sum += p.amplitude * 2.0 / p.omega * std::sin(p.omega * middle + p.phase) *
             std::sin(0.5 * p.omega * (b - a));
  }
  return sum;
}

std::string number_text(double value) {
  if (value == 0.0) return "0";  // not -0
  const std::string text = fmt::format("{}", value);
  return value < 0.0 ? "(" + text + ")" : text;
}

namespace {

std::string piece_text(const Piece& p) {
  std::string text;
  if (p.value != 0.0 || (p.slope == 0.0 && p.amplitude == 0.0)) text = number_text(p.value);
  if (p.slope != 0.0)
    text += fmt::format("{}{}*(time - {})", text.empty() ? "" : " + ", number_text(p.slope),
                        number_text(p.begin));
  if (p.amplitude != 0.0)
    text += fmt::format("{}{}*sin({}*time + {})", text.empty() ? "" : " + ",
                        number_text(p.amplitude), number_text(p.omega), number_text(p.phase));
  return text;
}

}  // namespace

std::string Signal::text() const {
  if (pieces.size() == 1) return "(" + piece_text(pieces[0]) + ")";
  std::string text = "(if ";
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
    text += fmt::format("{}time < {} then {} ", i == 0 ? "" : "elseif ",
                        number_text(pieces[i + 1].begin), piece_text(pieces[i]));
  return text + "else " + piece_text(pieces.back()) + ")";
}

}  // namespace saltus::oracle
