#pragma once

#include <span>
#include <string_view>

namespace saltus {

// A page of docs/guide, embedded when the program is built.
struct HelpPage {
  std::string_view name;
  std::string_view text;
};
std::span<const HelpPage> help_pages();

}  // namespace saltus
