#pragma once

#include <optional>
#include <vector>

namespace saltus::oracle {

// The first x in [0, h] at which the polynomial c[0] + c[1] x + ... becomes negative, by
// subdivision in Bernstein form: every root is found or excluded.
std::optional<double> first_negative(const std::vector<double>& c, double h);

}  // namespace saltus::oracle
