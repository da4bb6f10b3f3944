#include "modelica/text_format.h"

#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace saltus {
namespace {

constexpr long kLongest = 1000;

long number_of(const std::string& name, const Value& value, const Place& place) {
  const bool is_number = value.is_scalar() && value.numbers.size() == 1 &&
                         value.number().is_number() && std::isfinite(value.number().number());
  if (!is_number || std::abs(value.number().number()) > kLongest)
    throw Error(fmt::format("{} of String() must be a number up to {}", name, kLongest),
                place.location());
  return std::lround(value.number().number());
}

}  // namespace

void TextFormat::add(const std::string& name, const Value& value, const Place& place) {
  if (name == "format") {
    const std::string text =
        value.type == BasicType::kString && value.is_scalar() ? value.text() : "";
    constexpr std::string_view kWhole = "di";
    constexpr std::string_view kReal = "feEgG";
    const std::size_t end = text.empty() ? 0 : text.size() - 1;
    const bool known = !text.empty() && (kWhole.find(text.back()) != std::string_view::npos ||
                                         kReal.find(text.back()) != std::string_view::npos);
    const std::string before = text.substr(0, end);
    const std::size_t flags = std::min(before.find_first_not_of("-+ #0"), before.size());
    const std::size_t point = before.find_first_not_of("0123456789", flags);
    const bool plain = point == std::string::npos ||
                       (before[point] == '.' &&
                        before.find_first_not_of("0123456789", point + 1) == std::string::npos);
    const auto too_long = [&](std::size_t from) {  // a width or precision
      return from < before.size() && std::strtol(before.c_str() + from, nullptr, 10) > kLongest;
    };
    if (!known || !plain || text.size() > 12 || too_long(flags) ||
        (point != std::string::npos && too_long(point + 1)))
      throw Error(fmt::format("'{}' is no format of String(); one is \"8.3f\"", text),
                  place.location());
    flags_ = before;
    conversion_ = text.back();
  } else if (name == "significantDigits") {
    digits_ = static_cast<int>(std::max(1L, number_of("significantDigits", value, place)));
  } else if (name == "minimumLength") {
    minimum_length_ = static_cast<std::size_t>(std::max(0L, number_of(name, value, place)));
  } else {  // leftJustified
    left_justified_ = number_of(name, value, place) != 0;
  }
}

std::string TextFormat::padded(const std::string& text) const {
  if (text.size() >= minimum_length_) return text;
  const std::string blanks(minimum_length_ - text.size(), ' ');
  return left_justified_ ? text + blanks : blanks + text;
}

std::string TextFormat::whole(long number) const {
  if (conversion_ == 0) return padded(fmt::format("{}", number));
  if (conversion_ != 'd' && conversion_ != 'i') return real(static_cast<double>(number));
  return fmt::sprintf("%" + flags_ + "d", number);
}

std::string TextFormat::real(double number) const {
  if (conversion_ == 0) return padded(fmt::format("{:.{}g}", number, digits_));
  if (conversion_ == 'd' || conversion_ == 'i') return whole(std::lround(number));
  return fmt::sprintf("%" + flags_ + conversion_, number);
}

}  // namespace saltus
