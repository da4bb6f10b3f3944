#pragma once

#include <string>

#include "modelica/place.h"
#include "modelica/value.h"

namespace saltus {

// The options of String(x, ...): minimumLength, leftJustified, significantDigits, or a format as C
// has it without its percent sign.
class TextFormat {
 public:
  // Pre: one of these names. Throws Error if the value is none of it.
  void add(const std::string& name, const Value& value, const Place& place);

  std::string padded(const std::string& text) const;
  std::string whole(long number) const;
  std::string real(double number) const;

 private:
  std::size_t minimum_length_ = 0;
  bool left_justified_ = true;
  int digits_ = 6;
  std::string flags_;  // of a format: flags, width and precision
  char conversion_ = 0;
};

}  // namespace saltus
