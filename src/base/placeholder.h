#pragma once

#include <functional>
#include <string>

namespace saltus {

// A value in a message that is only known when the message is said: the name, marked.
std::string placeholder(const std::string& name);
bool has_placeholders(const std::string& text);

// The text with values in place of marked names.
std::string fill_placeholders(const std::string& text,
                              const std::function<std::string(const std::string& name)>& value);

}  // namespace saltus
