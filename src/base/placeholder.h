#pragma once

#include <functional>
#include <optional>
#include <string>

namespace saltus {

// A value in a message that is only known when the message is said: the name, marked.
std::string placeholder(const std::string& name);

// The text with values in place of marked names; a name without a value is shown itself.
std::string fill_placeholders(
    const std::string& text,
    const std::function<std::optional<double>(const std::string& name)>& value);

}  // namespace saltus
