#include "cli/say.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace saltus {
namespace {

constexpr std::size_t kLongestLine = 160;  // of a source that is shown

void put(std::FILE* file, std::string_view text) {
  if (!text.empty()) (void)std::fwrite(text.data(), 1, text.size(), file);
}

bool has_colours() {
  static const bool wanted = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  return wanted;
}

std::string coloured(std::string_view text, const char* code) {
  if (!has_colours()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

// Text of a file or of the model may hold anything; a terminal obeys control characters.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7f)) {
      result += c;
    } else {
      result += '?';
    }
  }
  return result;
}

struct Label {
  std::string_view place;  // "file:line:column: " or empty
  std::string_view kind;   // "error: ", "warning: ", "note: "
  std::string_view text;
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;
};

// "12:" before `end`; moves `end` to where it begins.
std::optional<std::size_t> number_before(std::string_view message, std::size_t& end) {
  if (end == 0 || message[end - 1] != ':') return std::nullopt;
  const std::size_t colon = message.rfind(':', end - 2);
  if (end < 2 || colon == std::string_view::npos) return std::nullopt;
  std::size_t number = 0;
  const char* const last = message.data() + end - 1;
  const auto [stop, problem] = std::from_chars(message.data() + colon + 1, last, number);
  if (problem != std::errc() || stop != last) return std::nullopt;
  end = colon + 1;
  return number;
}

std::optional<Label> label_of(std::string_view message) {
  for (const std::string_view kind : {"error: ", "warning: ", "note: "}) {
    const std::size_t at = message.find(kind);
    if (at == std::string_view::npos) continue;
    Label label{message.substr(0, at), kind, message.substr(at + kind.size()), {}, 0, 0};
    if (at == 0) return label;
    std::size_t end = at - 1;
    if (message[end] != ' ') continue;
    const auto column = number_before(message, end);
    const auto line = column ? number_before(message, end) : std::nullopt;
    if (!line) continue;
    label.file = std::string(message.substr(0, end - 1));
    label.line = *line;
    label.column = *column;
    return label;
  }
  return std::nullopt;
}

void show_source(const Label& label) {
  std::error_code problem;
  if (label.file.empty() || label.line == 0 ||
      !std::filesystem::is_regular_file(label.file, problem))
    return;
  std::ifstream in(label.file);
  std::string source;
  for (std::size_t k = 0; k < label.line; ++k)
    if (!std::getline(in, source)) return;
  if (!source.empty() && source.back() == '\r') source.pop_back();
  if (label.column == 0 || label.column > source.size() + 1 || label.column > kLongestLine) return;
  std::string before;  // as wide as what comes before the caret: tabs stay, and a letter is one
  for (const char c : source.substr(0, label.column - 1)) {
    if ((static_cast<unsigned char>(c) & 0xc0U) == 0x80U) continue;  // inside of a UTF-8 letter
    before += c == '\t' ? '\t' : ' ';
  }
  if (source.size() > kLongestLine) source = source.substr(0, kLongestLine) + " ...";
  put(stderr, fmt::format("  {}\n  {}{}\n", printable(source), before, coloured("^", "1;32")));
}

// "... at FILE:12:3 ..." inside of a message that does not begin with its place.
void show_place_inside(std::string_view text) {
  for (std::size_t at = text.find(" at "); at != std::string_view::npos;
       at = text.find(" at ", at + 1)) {
    const std::string_view rest = text.substr(at + 4);
    Label label;
    const std::size_t first = rest.find(':');
    if (first == std::string_view::npos) return;
    label.file = std::string(rest.substr(0, first));
    const char* const last = rest.data() + rest.size();
    const auto [line, no_line] = std::from_chars(rest.data() + first + 1, last, label.line);
    if (no_line != std::errc() || line == last || *line != ':') continue;
    if (std::from_chars(line + 1, last, label.column).ec != std::errc()) continue;
    show_source(label);
    return;
  }
}

void say_line(std::string_view line) {
  const std::optional<Label> label = label_of(line);
  if (!label) {
    put(stderr, printable(line) + "\n");
    return;
  }
  put(stderr, fmt::format("{}{}{}\n", coloured(printable(label->place), "1"),
                          coloured(label->kind, label->kind[0] == 'e' ? "1;31" : "1;35"),
                          printable(label->text)));
  if (label->file.empty()) {
    show_place_inside(label->text);
  } else {
    show_source(*label);
  }
}

}  // namespace

void tell(std::string_view text) { put(stdout, text); }

void tell_line(std::string_view text) {
  put(stdout, printable(text) + "\n");
  (void)std::fflush(stdout);
}

void say(std::string_view message) {
  while (true) {
    const std::size_t end = message.find('\n');
    say_line(message.substr(0, end));
    if (end == std::string_view::npos) break;
    message.remove_prefix(end + 1);
  }
  (void)std::fflush(stderr);
}

void say_error(std::string_view text) { say(fmt::format("error: {}", text)); }

void say_error(const Error& error) {
  const bool has_place = !error.where().file.empty();  // then what() says "error:" itself
  say(has_place ? std::string(error.what()) : fmt::format("error: {}", error.what()));
}

void say_failure(std::string_view model, std::string_view message) {
  const std::optional<Label> label = label_of(message);
  if (label && !label->file.empty()) {
    say(message);
  } else {
    say_error(fmt::format("{}: {}", model, message));
  }
}

void say_warning(std::string_view text) {
  say(label_of(text) ? std::string(text) : fmt::format("warning: {}", text));
}

}  // namespace saltus
