#include "modelica/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace saltus {
namespace {

constexpr std::array<std::string_view, kKeywordCount> kKeywords = {
    "algorithm",   "and",          "annotation", "block",       "break",
    "class",       "connect",      "connector",  "constant",    "constrainedby",
    "der",         "discrete",     "each",       "else",        "elseif",
    "elsewhen",    "encapsulated", "end",        "enumeration", "equation",
    "expandable",  "extends",      "external",   "false",       "final",
    "flow",        "for",          "function",   "if",          "import",
    "impure",      "in",           "initial",    "inner",       "input",
    "loop",        "model",        "not",        "operator",    "or",
    "outer",       "output",       "package",    "parameter",   "partial",
    "protected",   "public",       "pure",       "record",      "redeclare",
    "replaceable", "return",       "stream",     "then",        "true",
    "type",        "when",         "while",      "within"};

// In the order of TokenKind after kString.
constexpr std::array<std::string_view, 28> kSymbols = {
    "(",  ")",  "[", "]",  "{", "}", ",", ";", ":", ":=", ".",  "=",  "==", "<",
    "<=", "<>", ">", ">=", "+", "-", "*", "/", "^", ".+", ".-", ".*", "./", ".^"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

TokenKind word_kind(std::string_view word) {
  static const auto kinds = [] {
    std::unordered_map<std::string_view, TokenKind> map;
    for (std::size_t i = 0; i < kKeywords.size(); ++i)
      map[kKeywords[i]] = static_cast<TokenKind>(i);
    return map;
  }();
  const auto found = kinds.find(word);
  return found == kinds.end() ? TokenKind::kIdentifier : found->second;
}

// kEndOfFile: no symbol.
TokenKind symbol_kind(std::string_view symbol) {
  const auto found = std::find(kSymbols.begin(), kSymbols.end(), symbol);
  if (found == kSymbols.end()) return TokenKind::kEndOfFile;
  const auto first = static_cast<std::ptrdiff_t>(TokenKind::kLeftParenthesis);
  return static_cast<TokenKind>(first + (found - kSymbols.begin()));
}

// What people coming from other languages write, and what to write instead.
std::string_view replacement(std::string_view rest) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kHabits = {{
      {"**", "^"},
      {"&&", "and"},
      {"||", "or"},
      {"!=", "<>"},
      {"!", "not"},
      {"~=", "<>"},
      {"~", "not"},
      {"&", "and"},
      {"|", "or"},
  }};
  for (const auto& [habit, modelica] : kHabits) {
    if (rest.starts_with(habit)) return modelica;
  }
  return {};
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) position_ = 3;
    result_.tokens.reserve(text.size() / 6);
  }

  TokenList run() {
    while (skip_blanks()) token();
    add(TokenKind::kEndOfFile, position_, line_, column_);
    return std::move(result_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  void advance() {
    const char c = text_[position_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if (!continues_character(c)) {
      ++column_;
    }
  }

  void error(int line, int column, std::string message) {
    result_.errors.push_back({line, column, std::move(message)});
  }

  void add(TokenKind kind, std::size_t begin, int line, int column) {
    result_.tokens.push_back({kind, line, column, line_, std::max(1, column_ - 1),
                              text_.substr(begin, position_ - begin)});
  }

  // Returns false at the end of the text.
  bool skip_blanks() {
    while (position_ < text_.size()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
        advance();
      } else if (c == '/' && peek(1) == '/') {
        while (position_ < text_.size() && peek() != '\n') advance();
      } else if (c == '/' && peek(1) == '*') {
        skip_comment();
      } else {
        return true;
      }
    }
    return false;
  }

  void skip_comment() {
    const int line = line_;
    const int column = column_;
    advance();
    advance();
    while (position_ < text_.size()) {
      if (peek() == '*' && peek(1) == '/') {
        advance();
        advance();
        return;
      }
      advance();
    }
    result_.unclosed = true;
    error(line, column, "this comment is not closed: '*/' is missing");
  }

  void token() {
    const char c = peek();
    if (is_letter(c)) {
      word();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"') {
      quoted(TokenKind::kString, "string");
    } else if (c == '\'') {
      quoted(TokenKind::kIdentifier, "quoted identifier");
    } else {
      symbol();
    }
  }

  void word() {
    const std::size_t begin = position_;
    const int column = column_;
    while (is_letter(peek()) || is_digit(peek())) advance();
    add(word_kind(text_.substr(begin, position_ - begin)), begin, line_, column);
  }

  void digits() {
    while (is_digit(peek())) advance();
  }

  void number() {
    const std::size_t begin = position_;
    const int column = column_;
    TokenKind kind = TokenKind::kInteger;
    digits();
    if (peek() == '.') {
      kind = TokenKind::kReal;
      advance();
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
      if (is_digit(peek(sign))) {
        kind = TokenKind::kReal;
        for (std::size_t i = 0; i < sign; ++i) advance();
        digits();
      } else {
        error(line_, column_, "the exponent of this number has no digits");
        for (std::size_t i = 0; i < sign; ++i) advance();
        kind = TokenKind::kReal;
      }
    } else if (is_letter(peek())) {
      error(line_, column,
            fmt::format("'{}{}' is neither a number nor a name: a name starts with a letter, and a "
                        "product needs '*'",
                        text_.substr(begin, position_ - begin), peek()));
    }
    add(kind, begin, line_, column);
  }

  void quoted(TokenKind kind, const char* what) {
    const std::size_t begin = position_;
    const int line = line_;
    const int column = column_;
    const char quote = peek();
    advance();
    while (position_ < text_.size() && peek() != quote) {
      if (kind == TokenKind::kIdentifier && peek() == '\n') break;
      // It marks what messages fill in later.
      if (peek() == '\x1f') error(line_, column_, "a control character inside of a text");
      if (peek() == '\\') {
        check_escape();
        advance();
        if (position_ == text_.size()) break;
      }
      advance();
    }
    if (peek() == quote && position_ < text_.size()) {
      advance();
    } else {
      result_.unclosed = result_.unclosed || position_ == text_.size();
      const Token* suspect = swallowing_string();
      if (kind == TokenKind::kString && suspect != nullptr) {
        error(suspect->line, suspect->column,
              fmt::format("this string ends in line {} only: its closing \" is missing, or that of "
                          "the string in line {}",
                          suspect->end_line, line));
      } else {
        error(line, column, fmt::format("this {} is not closed: {} is missing", what, quote));
      }
    }
    add(kind, begin, line, column);
  }

  // A missing quote makes what follows the string its text, and the next string's text a name.
  const Token* swallowing_string() const {
    for (std::size_t i = 0; i + 1 < result_.tokens.size(); ++i) {
      const Token& token = result_.tokens[i];
      const bool spans = token.kind == TokenKind::kString && token.end_line > token.line;
      if (spans && result_.tokens[i + 1].kind == TokenKind::kIdentifier) return &token;
    }
    return nullptr;
  }

  void check_escape() {
    constexpr std::string_view kEscapes = "'\"?\\abfnrtv";
    if (position_ + 1 < text_.size() && kEscapes.find(peek(1)) == std::string_view::npos) {
      error(line_, column_,
            fmt::format("'\\{}' is no escape sequence; a backslash itself is written '\\\\'",
                        peek(1) < ' ' ? ' ' : peek(1)));
    }
  }

  void symbol() {
    const std::size_t begin = position_;
    const int column = column_;
    const std::string_view rest = text_.substr(position_);
    TokenKind kind = TokenKind::kEndOfFile;
    std::size_t length = 2;
    // Only these end a symbol of two characters.
    if (std::string_view("=>+-*/^").find(peek(1)) != std::string_view::npos) {
      kind = symbol_kind(rest.substr(0, 2));
    }
    if (kind == TokenKind::kEndOfFile) {
      length = 1;
      kind = symbol_kind(rest.substr(0, 1));
    }
    if (kind == TokenKind::kEndOfFile || rest.starts_with("**")) {
      wrong_character(rest);
      return;
    }
    for (std::size_t i = 0; i < length; ++i) advance();
    add(kind, begin, line_, column);
  }

  void wrong_character(std::string_view rest) {
    const int column = column_;
    const std::string_view modelica = replacement(rest);
    if (!modelica.empty()) {
      const std::size_t begin = position_;
      const std::size_t length =
          rest.size() > 1 && (rest[1] == '=' || rest[1] == rest[0]) && rest[1] != '!' ? 2 : 1;
      error(line_, column,
            fmt::format("'{}' is not Modelica: use '{}'", rest.substr(0, length), modelica));
      for (std::size_t i = 0; i < length; ++i) advance();
      // Carry on as if it had been written properly.
      const TokenKind meant = symbol_kind(modelica);
      add(meant == TokenKind::kEndOfFile ? word_kind(modelica) : meant, begin, line_, column);
      return;
    }
    std::size_t length = 1;
    while (length < rest.size() && length < 4 && continues_character(rest[length])) ++length;
    const bool printable = rest[0] >= ' ' || length > 1;
    error(line_, column,
          printable ? fmt::format("unexpected character '{}'", rest.substr(0, length))
                    : fmt::format("unexpected byte 0x{:02X}", static_cast<unsigned char>(rest[0])));
    const char first = rest[0];
    for (std::size_t i = 0; i < length; ++i) advance();
    while (position_ < text_.size() && peek() == first) advance();  // one message for a row of them
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
  int column_ = 1;
  TokenList result_;
};

}  // namespace

TokenList tokenize(std::string_view text) { return Lexer(text).run(); }

bool is_keyword(TokenKind kind) { return kind <= TokenKind::kWithin; }

std::string describe(TokenKind kind) {
  if (is_keyword(kind)) return fmt::format("'{}'", kKeywords.at(static_cast<std::size_t>(kind)));
  switch (kind) {
    case TokenKind::kIdentifier:
      return "a name";
    case TokenKind::kInteger:
    case TokenKind::kReal:
      return "a number";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kEndOfFile:
      return "the end of the file";
    default: {
      const auto first = static_cast<std::size_t>(TokenKind::kLeftParenthesis);
      return fmt::format("'{}'", kSymbols.at(static_cast<std::size_t>(kind) - first));
    }
  }
}

std::string describe(const Token& token) {
  if (token.kind == TokenKind::kEndOfFile) return describe(token.kind);
  if (token.kind == TokenKind::kString) return "a string";
  constexpr std::size_t kLongest = 40;
  if (token.text.size() > kLongest) {
    std::size_t length = kLongest;
    while (length > 0 && continues_character(token.text[length])) --length;
    return fmt::format("'{}...'", token.text.substr(0, length));
  }
  return fmt::format("'{}'", token.text);
}

const std::vector<std::string>& keywords() {
  static const std::vector<std::string> all(kKeywords.begin(), kKeywords.end());
  return all;
}

std::string string_value(const Token& token) {
  std::string_view text = token.text;
  text.remove_prefix(1);
  // A string that is not closed has no quote at its end.
  if (text.ends_with('"')) text.remove_suffix(1);
  std::string value;
  value.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      value += text[i];
      continue;
    }
    constexpr std::string_view kEscapes = "abfnrtv";
    constexpr std::string_view kCharacters = "\a\b\f\n\r\t\v";
    const std::size_t which = kEscapes.find(text[++i]);
    value += which == std::string_view::npos ? text[i] : kCharacters[which];
  }
  return value;
}

}  // namespace saltus
