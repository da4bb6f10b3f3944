#include "modelica/unit.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>

namespace saltus {
namespace {

struct Symbol {
  std::string_view name;
  std::array<double, Unit::kBaseUnits> powers;  // m, kg, s, A, K, mol, cd
  double scale = 1.0;
  bool takes_prefix = true;
  bool offset = false;
};

constexpr double kDay = 86400.0;
constexpr double kDegree = std::numbers::pi / 180.0;

constexpr std::array<Symbol, 44> kSymbols = {{
    {"m", {1}},
    {"g", {0, 1}, 1e-3},
    {"s", {0, 0, 1}},
    {"A", {0, 0, 0, 1}},
    {"K", {0, 0, 0, 0, 1}},
    {"mol", {0, 0, 0, 0, 0, 1}},
    {"cd", {0, 0, 0, 0, 0, 0, 1}},
    {"rad", {}},
    {"sr", {}},
    {"Hz", {0, 0, -1}},
    {"N", {1, 1, -2}},
    {"Pa", {-1, 1, -2}},
    {"J", {2, 1, -2}},
    {"W", {2, 1, -3}},
    {"C", {0, 0, 1, 1}},
    {"V", {2, 1, -3, -1}},
    {"F", {-2, -1, 4, 2}},
    {"Ohm", {2, 1, -3, -2}},
    {"S", {-2, -1, 3, 2}},
    {"Wb", {2, 1, -2, -1}},
    {"T", {0, 1, -2, -1}},
    {"H", {2, 1, -2, -2}},
    {"lm", {0, 0, 0, 0, 0, 0, 1}},
    {"lx", {-2, 0, 0, 0, 0, 0, 1}},
    {"Bq", {0, 0, -1}},
    {"Gy", {2, 0, -2}},
    {"Sv", {2, 0, -2}},
    {"kat", {0, 0, -1, 0, 0, 1}},
    {"eV", {2, 1, -2}, 1.602176634e-19},
    {"bar", {-1, 1, -2}, 1e5},
    {"l", {3}, 1e-3},
    {"L", {3}, 1e-3},
    {"t", {0, 1}, 1e3},
    {"var", {2, 1, -3}},
    {"VA", {2, 1, -3}},
    {"degC", {0, 0, 0, 0, 1}, 1.0, false, true},
    {"min", {0, 0, 1}, 60.0, false},
    {"h", {0, 0, 1}, 3600.0, false},
    {"d", {0, 0, 1}, kDay, false},
    {"deg", {}, kDegree, false},
    {"rev", {}, 2.0 * std::numbers::pi, false},
    {"rpm", {0, 0, -1}, 2.0 * std::numbers::pi / 60.0, false},
    {"ha", {2}, 1e4, false},
    {"atm", {-1, 1, -2}, 101325.0, false},
}};

struct Prefix {
  std::string_view name;
  double scale;
};
constexpr std::array<Prefix, 20> kPrefixes = {
    {{"da", 1e1}, {"Y", 1e24},  {"Z", 1e21},  {"E", 1e18},  {"P", 1e15},  {"T", 1e12}, {"G", 1e9},
     {"M", 1e6},  {"k", 1e3},   {"h", 1e2},   {"d", 1e-1},  {"c", 1e-2},  {"m", 1e-3}, {"u", 1e-6},
     {"n", 1e-9}, {"p", 1e-12}, {"f", 1e-15}, {"a", 1e-18}, {"z", 1e-21}, {"y", 1e-24}}};

const Symbol* find_symbol(std::string_view name) {
  for (const Symbol& symbol : kSymbols)
    if (symbol.name == name) return &symbol;
  return nullptr;
}

std::optional<Unit> operand(std::string_view name) {
  if (const Symbol* symbol = find_symbol(name))
    return Unit{symbol->powers, symbol->scale, symbol->offset};
  for (const Prefix& prefix : kPrefixes) {
    if (!name.starts_with(prefix.name)) continue;
    const Symbol* symbol = find_symbol(name.substr(prefix.name.size()));
    if (symbol != nullptr && symbol->takes_prefix)
      return Unit{symbol->powers, prefix.scale * symbol->scale, false};
  }
  return std::nullopt;
}

// m2, s-1, kg
std::optional<Unit> factor(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end])) != 0) ++end;
  const std::optional<Unit> unit = operand(text.substr(0, end));
  if (!unit || end == text.size()) return unit;
  const std::size_t digits = text[end] == '+' ? end + 1 : end;
  int exponent = 0;
  const char* const last = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data() + digits, last, exponent);
  if (problem != std::errc() || stop != last) return std::nullopt;
  return unit->power(exponent);
}

// Factors with points between them.
std::optional<Unit> product(std::string_view text) {
  Unit result;
  bool is_first = true;
  while (true) {
    const std::size_t point = text.find('.');
    const std::optional<Unit> next = factor(text.substr(0, point));
    if (!next) return std::nullopt;
    result = is_first ? *next : result * *next;
    is_first = false;
    if (point == std::string_view::npos) return result;
    text.remove_prefix(point + 1);
  }
}

}  // namespace

Unit Unit::operator*(const Unit& other) const {
  Unit result{powers, scale * other.scale, false};
  for (std::size_t k = 0; k < kBaseUnits; ++k) result.powers[k] += other.powers[k];
  return result;
}

Unit Unit::operator/(const Unit& other) const { return *this * other.power(-1.0); }

Unit Unit::power(double exponent) const {
  Unit result{powers, std::pow(scale, exponent), false};
  for (double& p : result.powers) p *= exponent;
  return result;
}

bool Unit::same_dimension(const Unit& other) const {
  for (std::size_t k = 0; k < kBaseUnits; ++k)
    if (std::abs(powers[k] - other.powers[k]) > 1e-9) return false;
  return true;
}

std::string Unit::text() const {
  static constexpr std::array<const char*, kBaseUnits> kNames = {"m", "kg",  "s", "A",
                                                                 "K", "mol", "cd"};
  std::string above, below;
  int factors_below = 0;
  for (const std::size_t k : {1, 0, 2, 3, 4, 5, 6}) {
    if (std::abs(powers[k]) < 1e-9) continue;
    std::string& side = powers[k] > 0.0 ? above : below;
    if (powers[k] < 0.0) ++factors_below;
    const double size = std::abs(powers[k]);
    side += (side.empty() ? "" : ".") + std::string(kNames[k]) +
            (std::abs(size - 1.0) < 1e-9 ? "" : fmt::format("{:g}", size));
  }
  if (above.empty()) above = "1";
  if (below.empty()) return above;
  return above + "/" + (factors_below > 1 ? "(" + below + ")" : below);
}

std::optional<Unit> parse_unit(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view above = text.substr(0, slash);
  std::optional<Unit> result = above == "1" ? Unit() : product(above);
  if (!result || slash == std::string_view::npos) return result;
  std::string_view below = text.substr(slash + 1);
  if (below.size() > 2 && below.front() == '(' && below.back() == ')')
    below = below.substr(1, below.size() - 2);
  const std::optional<Unit> divisor = product(below);
  if (!divisor) return std::nullopt;
  return *result / *divisor;
}

}  // namespace saltus
