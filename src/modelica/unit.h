#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace saltus {

// A unit of measurement as powers of the base units, for comparison only: no value is ever
// converted. Angles are numbers, as the SI has it.
struct Unit {
  static constexpr std::size_t kBaseUnits = 7;  // m, kg, s, A, K, mol, cd
  std::array<double, kBaseUnits> powers{};
  double scale = 1.0;   // of one such unit in base units
  bool offset = false;  // counts from another zero: degC

  Unit operator*(const Unit& other) const;
  Unit operator/(const Unit& other) const;
  Unit power(double exponent) const;

  bool same_dimension(const Unit& other) const;
  bool is_number() const { return same_dimension({}); }
  std::string text() const;  // "kg.m/s2"; "1" of a number
};

// Reads "N.m", "kg/(m.s2)", "1/s" (Modelica specification, chapter 19); none for a symbol that is
// not known here and for what is no unit.
std::optional<Unit> parse_unit(std::string_view text);

}  // namespace saltus
