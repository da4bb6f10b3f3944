#pragma once

#include <cstddef>
#include <vector>

#include "analysis/analysed_mode.h"

namespace saltus {

// By unknown of the mode: whether its equations as written contain its derivative.
std::vector<bool> unknowns_under_der(const AnalysedMode& mode);

// How the unknowns of a mode as written (x) hang together with those of the form that is integrated
// (y), and which of them carry anything over from the mode before: those under der() in its
// equations. Every x is one y up to a constant factor and offset; aliases share a y.
struct CarriedUnknowns {
  explicit CarriedUnknowns(const AnalysedMode& mode);

  // By unknown of the mode.
  std::vector<bool> under_der;
  std::vector<std::size_t> place;  // x = factor * y[place] + offset
  std::vector<double> factor, offset;

  // By unknown of the integrated form.
  std::vector<bool> given;   // some unknown under der() is read from it
  std::vector<bool> shared;  // by several, or only through an alias

  // The values y that change the given values x of unknowns under der() least, in the norm weighted
  // by `nominal` (of the mode's unknowns). Only those that are shared are written.
  void carry(const std::vector<double>& x, const std::vector<double>& nominal,
             std::vector<double>& y) const;
};

}  // namespace saltus
