#pragma once

#include <string>

#include "oracle/writings.h"

namespace saltus::oracle {

// Text of one element.
struct ElementText {
  std::string declarations;
  std::string equations;
};

// Writes element k, whose torque (on b as -tau) is `tau` and whose slip is the expression `slip`.
// Called for all kinds but springs and gears. `tau` is declared by the caller.
using WriteElement = ElementText (*)(const Network& network, int k, const std::string& tau,
                                     const std::string& slip);

// Speeds w0, w1, ... and angles phi0, phi1, ..., with elements as `write_element` has them.
Written write_equations(const Network& network, WriteElement write_element);

// tau = capacity*sign(slip); free wheels by `when`.
ElementText write_sign(const Network& network, int k, const std::string& tau,
                       const std::string& slip);
// The same, free wheels as an ideal diode: one parameter s along slip and torque.
ElementText write_diode(const Network& network, int k, const std::string& tau,
                        const std::string& slip);
// As the Modelica Standard Library writes friction and one-way clutches: locked keeps the
// acceleration at zero, so the structure never changes.
ElementText write_msl(const Network& network, int k, const std::string& tau,
                      const std::string& slip);
// `when` sets locked and direction; if locked then slip = 0 else tau = direction*capacity.
ElementText write_when(const Network& network, int k, const std::string& tau,
                       const std::string& slip);

}  // namespace saltus::oracle
