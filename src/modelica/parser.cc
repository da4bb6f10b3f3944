#include "modelica/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "modelica/parser_impl.h"

namespace saltus {

Parser::Parser(std::string_view text, const std::string& file) : file_(intern_file(file)) {
  TokenList list = tokenize(text);
  tokens_ = std::move(list.tokens);
  if (list.unclosed) unclosed_line_ = list.errors.back().line;
  for (LexicalError& e : list.errors) {
    if (static_cast<int>(errors_.size()) == kMaxSyntaxErrors) break;
    errors_.push_back({{*file_, e.line, e.column}, std::move(e.message)});
  }
}

const Token& Parser::peek(std::size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

const Token& Parser::take() {
  const Token& token = tokens_[position_];
  if (position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

void Parser::report(int line, int column, std::string message) {
  // Behind a string or comment that is not closed, nothing is what it seems.
  if (line >= unclosed_line_) return;
  // The lexer has often said it better already; and one line seldom holds two mistakes.
  const auto same_line = [&](const SyntaxError& e) { return e.where.line == line; };
  if (std::any_of(errors_.begin(), errors_.end(), same_line)) return;
  if (static_cast<int>(errors_.size()) == kMaxSyntaxErrors) throw TooManyErrors{};
  errors_.push_back({{*file_, line, column}, std::move(message)});
}

void Parser::fail(std::string message) {
  report(peek().line, peek().column, std::move(message));
  throw Abandoned{};
}

// What may have gone wrong just before: a keyword misspelt, or a string that swallowed text.
std::string Parser::hint() const {
  const Token& before = previous();
  if (before.kind == TokenKind::kString && before.end_line > before.line) {
    return fmt::format("; the string before it began in line {}: is its closing quote missing?",
                       before.line);
  }
  for (const Token* token : {&peek(), &before}) {
    if (token->kind == TokenKind::kIdentifier && token->text.size() > 2) {
      const std::string hint = did_you_mean(std::string(token->text), keywords());
      if (!hint.empty())
        return token == &peek() ? hint : fmt::format("; '{}'{}", before.text, hint);
    }
  }
  return {};
}

void Parser::fail_expected(const std::string& what) {
  fail(fmt::format("expected {}, found {}{}", what, describe(peek()), hint()));
}

void Parser::fail_nesting() {
  fail(fmt::format("nested more than {} levels deep: name a part of it and use the name",
                   kMaxNesting));
}

const Token& Parser::expect(TokenKind kind, std::string_view purpose) {
  if (!at(kind)) fail_expected(fmt::format("{} {}", describe(kind), purpose));
  return take();
}

// Where the text reads on without it: reported, nothing skipped.
void Parser::expect_soft(TokenKind kind, std::string_view purpose) {
  if (accept(kind)) return;
  const Token& before = previous();
  const bool line_ended = peek().line > before.end_line;
  report(line_ended ? before.end_line : peek().line,
         line_ended ? before.end_column + 1 : peek().column,
         fmt::format("expected {} {}, found {}{}", describe(kind), purpose, describe(peek()),
                     line_ended ? "" : hint()));
}

// A bracket that closes; says where its partner is.
void Parser::expect_close(TokenKind kind, const Token& opened) {
  if (accept(kind)) return;
  const int line = opened.line;
  const std::string where = line == peek().line ? std::string() : fmt::format(" of line {}", line);
  fail_expected(fmt::format("',' or {} to close {}{}", describe(kind), describe(opened), where));
}

void Parser::expect_semicolon(const char* after) {
  if (accept(TokenKind::kSemicolon)) return;
  const Token& before = previous();
  if (peek().line > before.end_line) {
    report(before.end_line, before.end_column + 1,
           fmt::format("expected ';' after {}{}", after, hint()));
    return;
  }
  fail_expected(fmt::format("';' after {}", after));
}

// To the start of what may be the next item of a list: behind the next semicolon that is not in
// brackets, or in front of a word that starts a section or ends something. Takes at least one token
// unless such a word is next.
void Parser::skip_item() {
  int brackets = 0;
  while (!at(TokenKind::kEndOfFile)) {
    switch (peek().kind) {
      case TokenKind::kLeftParenthesis:
      case TokenKind::kLeftBracket:
      case TokenKind::kLeftBrace:
        ++brackets;
        break;
      case TokenKind::kRightParenthesis:
      case TokenKind::kRightBracket:
      case TokenKind::kRightBrace:
        brackets = std::max(0, brackets - 1);
        break;
      case TokenKind::kSemicolon:
        // In a matrix a semicolon separates rows; elsewhere brackets that stay open were the
        // mistake.
        take();
        return;
      case TokenKind::kEquation:
      case TokenKind::kAlgorithm:
      case TokenKind::kPublic:
      case TokenKind::kProtected:
        return;
      case TokenKind::kInitial:
        if (next_is(TokenKind::kEquation) || next_is(TokenKind::kAlgorithm)) return;
        break;
      case TokenKind::kEnd: {
        // Not the subscript x[end].
        const TokenKind next = peek(1).kind;
        const bool closes = next == TokenKind::kIdentifier || next == TokenKind::kIf ||
                            next == TokenKind::kFor || next == TokenKind::kWhen ||
                            next == TokenKind::kWhile;
        if (closes && peek(2).kind == TokenKind::kSemicolon) return;
        break;
      }
      case TokenKind::kElse:
      case TokenKind::kElseif:
      case TokenKind::kElsewhen:
        if (brackets == 0 && peek().line > previous().line) return;
        break;
      default:
        break;
    }
    take();
  }
}

std::string Parser::identifier(std::string_view purpose) {
  if (at(TokenKind::kIdentifier)) return std::string(take().text);
  if (is_keyword(peek().kind)) {
    fail(
        fmt::format("expected a name {}, found {}, which is a keyword", purpose, describe(peek())));
  }
  fail_expected(fmt::format("a name {}", purpose));
}

Name Parser::name() {
  Name result;
  result.place = here();
  result.absolute = accept(TokenKind::kDot);
  result.parts.push_back(identifier("of a class"));
  while (at(TokenKind::kDot) && next_is(TokenKind::kIdentifier)) {
    take();
    result.parts.push_back(std::string(take().text));
  }
  return result;
}

std::string Parser::string_comment() {
  if (!at(TokenKind::kString)) return {};
  std::string text = string_value(take());
  while (at(TokenKind::kPlus) && next_is(TokenKind::kString)) {
    take();
    text += string_value(take());
  }
  return text;
}

ModificationPtr Parser::annotation() {
  if (!accept(TokenKind::kAnnotation)) return nullptr;
  return class_modification();
}

Comment Parser::comment() {
  Comment result;
  result.text = string_comment();
  result.annotation = annotation();
  return result;
}

std::shared_ptr<StoredDefinition> Parser::stored_definition() {
  auto definition = std::make_shared<StoredDefinition>();
  try {
    if (at(TokenKind::kWithin)) {
      try {
        take();
        Name within;
        within.place = here();
        if (!at(TokenKind::kSemicolon)) within = name();
        definition->within = std::move(within);
        expect_semicolon("the within clause");
      } catch (const Abandoned&) {
        skip_item();
      }
    }
    while (!at(TokenKind::kEndOfFile)) {
      const std::size_t before = position_;
      try {
        Prefixes given;
        given.place = here();
        given.final = accept(TokenKind::kFinal);
        if (!starts_class()) fail_expected("a class, such as 'model' or 'package'");
        definition->classes.push_back(class_definition(given));
        expect_semicolon("the end of a class");
      } catch (const Abandoned&) {
        // Up to the next class, else every line of this one would be reported.
        while (!at(TokenKind::kEndOfFile) && (position_ == before || !starts_class())) take();
      }
    }
  } catch (const TooManyErrors&) {
  }
  return definition;
}

ExpressionPtr Parser::whole_expression() {
  try {
    ExpressionPtr result = expression();
    if (!at(TokenKind::kEndOfFile)) fail_expected("the end of the expression");
    return result;
  } catch (const Abandoned&) {
  } catch (const TooManyErrors&) {
  }
  return nullptr;
}

ParseResult parse_modelica(std::string_view text, const std::string& file) {
  Parser parser(text, file);
  ParseResult result;
  result.definition = parser.stored_definition();
  result.errors = parser.take_errors();
  std::stable_sort(
      result.errors.begin(), result.errors.end(), [](const SyntaxError& a, const SyntaxError& b) {
        return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
      });
  return result;
}

ExpressionPtr parse_expression(std::string_view text, const std::string& file) {
  Parser parser(text, file);
  ExpressionPtr result = parser.whole_expression();
  const std::vector<SyntaxError> errors = parser.take_errors();
  if (!errors.empty()) throw to_error(errors);
  return result;
}

Error to_error(const std::vector<SyntaxError>& errors) {
  std::string message = errors.front().message;
  for (std::size_t i = 1; i < errors.size(); ++i) {
    message += '\n';
    message += Error(errors[i].message, errors[i].where).what();
  }
  if (static_cast<int>(errors.size()) == kMaxSyntaxErrors) {
    message +=
        fmt::format("\n{}: stopped after {} errors", errors.front().where.file, kMaxSyntaxErrors);
  }
  return Error(message, errors.front().where);
}

}  // namespace saltus
