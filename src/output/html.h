#pragma once

#include <string>

namespace saltus {

// `text` as the content of an HTML or SVG element or of a quoted attribute.
std::string escape_html(const std::string& text);

}  // namespace saltus
