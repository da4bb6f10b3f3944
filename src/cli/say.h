#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

// What the program says. None of these fails: a standard output that is closed or full is noticed
// once, when the program ends, and a standard error that is so is no reason to lose a run.

namespace saltus {

// To standard output, as it is.
void tell(std::string_view text);

// A line that the model prints, without what a terminal would obey.
void tell_line(std::string_view text);

template <class... Arguments>
void tell(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  tell(std::string_view(fmt::format(format, std::forward<Arguments>(arguments)...)));
}

// To standard error: lines that read "file:line:column: error: text" or "error: text". The line of
// the source follows with a caret, if the file can be read; colours show on a terminal.
void say(std::string_view message);
void say_error(std::string_view text);
void say_error(const Error& error);
// Of a run; what begins with a place in the source needs no other name.
void say_failure(std::string_view model, std::string_view message);
void say_warning(std::string_view text);

}  // namespace saltus
