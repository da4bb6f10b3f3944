#pragma once

#include <cstddef>
#include <vector>

#include "analysis/analysed_mode.h"

namespace saltus {

// How the unknowns of a mode as written (x) hang together with those of the form that is integrated
// (y), and which of them carry anything over from the mode before: those under der() in its
// equations. Every x is one y up to a constant factor and offset; aliases share a y.
struct CarriedUnknowns {
  explicit CarriedUnknowns(const AnalysedMode& mode);

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  // By unknown of the mode.
  std::vector<bool> under_der;
  std::vector<std::size_t> place;  // x = factor * y[place] + offset
  std::vector<double> factor, offset;

  // By unknown of the integrated form.
  std::vector<bool> given;         // some unknown under der() is read from it
  std::vector<std::size_t> alias;  // the unknown of the mode if it is given only through an alias
};

}  // namespace saltus
