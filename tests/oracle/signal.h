#pragma once

#include <string>
#include <vector>

namespace saltus::oracle {

// A function of time in pieces: value + slope (t - begin) + amplitude sin(omega t + phase) from
// `begin` to the beginning of the next piece. The first piece begins at 0.
struct Piece {
  double begin = 0.0;
  double value = 0.0;
  double slope = 0.0;
  double amplitude = 0.0;
  double omega = 0.0;
  double phase = 0.0;

  double at(double t) const;
  bool is_zero() const { return value == 0.0 && slope == 0.0 && amplitude == 0.0; }
};

struct Signal {
  std::vector<Piece> pieces = {Piece{}};

  static Signal constant(double value) { return {{Piece{.value = value}}}; }
  // Index of the piece in force just after t.
  std::size_t piece_at(double t) const;
  double at(double t) const { return pieces[piece_at(t)].at(t); }  // just after t
  double integral(double from, double to) const;
  // As a Modelica expression of `time`, times `factor`.
  std::string text() const;
};

// Shortest text that reads back as the same number.
std::string number_text(double value);

}  // namespace saltus::oracle
