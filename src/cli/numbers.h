#pragma once

#include <cmath>
#include <cstdlib>
#include <string>

namespace saltus {

// Checks of options, for CLI11: what is wrong with the text, or nothing.
inline std::string need_finite(const std::string& text) {
  const bool fits = !text.empty() && std::isfinite(std::strtod(text.c_str(), nullptr));
  return fits ? "" : "it needs a finite number";
}

inline std::string need_word(const std::string& text) {
  return text.empty() ? "it needs a word that is not empty" : "";
}

inline std::string need_count(const std::string& text) {
  const bool fits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return fits ? "" : "it needs a whole number";
}

inline std::string need_positive(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  return std::isfinite(value) && value > 0.0 ? "" : "it needs a positive number";
}

}  // namespace saltus
