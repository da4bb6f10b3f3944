#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <system_error>

#include "modelica/parser_impl.h"

namespace saltus {
namespace {

struct Infix {
  TokenKind token;
  BinaryOperator op;
};

constexpr std::array kRelations = {
    Infix{TokenKind::kLess, BinaryOperator::kLess},
    Infix{TokenKind::kLessEqual, BinaryOperator::kLessEqual},
    Infix{TokenKind::kGreater, BinaryOperator::kGreater},
    Infix{TokenKind::kGreaterEqual, BinaryOperator::kGreaterEqual},
    Infix{TokenKind::kEqualEqual, BinaryOperator::kEqual},
    Infix{TokenKind::kNotEqual, BinaryOperator::kNotEqual},
};
constexpr std::array kSums = {
    Infix{TokenKind::kPlus, BinaryOperator::kAdd},
    Infix{TokenKind::kMinus, BinaryOperator::kSubtract},
    Infix{TokenKind::kElementPlus, BinaryOperator::kElementAdd},
    Infix{TokenKind::kElementMinus, BinaryOperator::kElementSubtract},
};
constexpr std::array kProducts = {
    Infix{TokenKind::kTimes, BinaryOperator::kMultiply},
    Infix{TokenKind::kDivide, BinaryOperator::kDivide},
    Infix{TokenKind::kElementTimes, BinaryOperator::kElementMultiply},
    Infix{TokenKind::kElementDivide, BinaryOperator::kElementDivide},
};
constexpr std::array kPowers = {
    Infix{TokenKind::kPower, BinaryOperator::kPower},
    Infix{TokenKind::kElementPower, BinaryOperator::kElementPower},
};

template <std::size_t N>
const Infix* find(const std::array<Infix, N>& table, TokenKind kind) {
  for (const Infix& entry : table) {
    if (entry.token == kind) return &entry;
  }
  return nullptr;
}

UnaryOperator sign(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::kSubtract:
      return UnaryOperator::kMinus;
    case BinaryOperator::kElementAdd:
      return UnaryOperator::kElementPlus;
    case BinaryOperator::kElementSubtract:
      return UnaryOperator::kElementMinus;
    default:
      return UnaryOperator::kPlus;
  }
}

}  // namespace

// Long sums make deep trees without recursion in the parser.
ExpressionPtr Parser::make(Expression::Value value, Place place) {
  ExpressionPtr node = make_expression(std::move(value), place);
  if (node->depth > kMaxExpressionDepth) {
    report(place.line, place.column,
           fmt::format("expression with more than {} levels: split it into several equations",
                       kMaxExpressionDepth));
    throw Abandoned{};
  }
  return node;
}

ExpressionPtr Parser::expression() {
  const Nesting nesting(*this);
  return at(TokenKind::kIf) ? if_expression() : simple_expression();
}

ExpressionPtr Parser::if_expression() {
  const Place place = here();
  IfExpression result;
  const int line = peek().line;
  do {
    take();
    ExpressionPtr condition = expression();
    expect(TokenKind::kThen, "after the condition");
    ExpressionPtr value = expression();
    result.branches.emplace_back(std::move(condition), std::move(value));
  } while (at(TokenKind::kElseif));
  if (!at(TokenKind::kElse)) {
    fail(
        fmt::format("expected 'else' of the if-expression of line {}, found {}; an if-expression "
                    "needs a value for every case{}",
                    line, describe(peek()), hint()));
  }
  take();
  result.otherwise = expression();
  return make(std::move(result), place);
}

ExpressionPtr Parser::simple_expression() {
  ExpressionPtr first = binary(0);
  if (!at(TokenKind::kColon)) return first;
  const Place place = place_of(take());
  ExpressionPtr second = binary(0);
  if (!accept(TokenKind::kColon)) return make(RangeExpression{first, nullptr, second}, place);
  return make(RangeExpression{first, second, binary(0)}, place);
}

// Level 0: or, 1: and, 2: not and relations.
ExpressionPtr Parser::binary(int level) {
  if (level < 2) {
    const TokenKind word = level == 0 ? TokenKind::kOr : TokenKind::kAnd;
    ExpressionPtr left = binary(level + 1);
    while (at(word)) {
      const Place place = place_of(take());
      ExpressionPtr right = binary(level + 1);
      left = make(
          BinaryExpression{level == 0 ? BinaryOperator::kOr : BinaryOperator::kAnd, left, right},
          place);
    }
    return left;
  }
  if (at(TokenKind::kNot)) {
    const Place place = place_of(take());
    if (at(TokenKind::kNot)) fail("'not not' needs parentheses: not (not x)");
    return make(UnaryExpression{UnaryOperator::kNot, binary(2)}, place);
  }
  ExpressionPtr left = arithmetic();
  const Infix* relation = find(kRelations, peek().kind);
  if (relation == nullptr) return left;
  const Place place = place_of(take());
  left = make(BinaryExpression{relation->op, left, arithmetic()}, place);
  if (find(kRelations, peek().kind) != nullptr) {
    fail("relations cannot be chained: write a < b and b < c");
  }
  return left;
}

ExpressionPtr Parser::arithmetic() {
  ExpressionPtr left;
  if (const Infix* op = find(kSums, peek().kind)) {
    const Place place = place_of(take());
    left = make(UnaryExpression{sign(op->op), term()}, place);
  } else {
    left = term();
  }
  while (const Infix* op = find(kSums, peek().kind)) {
    const Place place = place_of(take());
    left = make(BinaryExpression{op->op, left, term()}, place);
  }
  return left;
}

ExpressionPtr Parser::term() {
  ExpressionPtr left = factor();
  while (const Infix* op = find(kProducts, peek().kind)) {
    const Place place = place_of(take());
    left = make(BinaryExpression{op->op, left, factor()}, place);
  }
  return left;
}

ExpressionPtr Parser::factor() {
  ExpressionPtr base = primary();
  const Infix* op = find(kPowers, peek().kind);
  if (op == nullptr) return base;
  const Place place = place_of(take());
  base = make(BinaryExpression{op->op, base, primary()}, place);
  if (find(kPowers, peek().kind) != nullptr) {
    fail("powers cannot be chained: write (a^b)^c or a^(b^c)");
  }
  return base;
}

ExpressionPtr Parser::primary() {
  const Place place = here();
  switch (peek().kind) {
    case TokenKind::kInteger:
    case TokenKind::kReal:
      return number();
    case TokenKind::kString:
      return make(StringLiteral{string_value(take())}, place);
    case TokenKind::kTrue:
    case TokenKind::kFalse:
      return make(BooleanLiteral{take().kind == TokenKind::kTrue}, place);
    case TokenKind::kEnd:
      take();
      return make(EndSubscript{}, place);
    case TokenKind::kLeftParenthesis:
      return parenthesised();
    case TokenKind::kLeftBracket:
      return matrix();
    case TokenKind::kLeftBrace:
      return array();
    case TokenKind::kIdentifier:
    case TokenKind::kDot:
      return reference_or_call();
    case TokenKind::kDer:
    case TokenKind::kInitial:
    case TokenKind::kPure: {
      ComponentReference function;
      function.parts.push_back({std::string(take().text), {}, place});
      return call(std::move(function), place);
    }
    case TokenKind::kPlus:
    case TokenKind::kMinus:
      fail(fmt::format("a sign cannot follow an operator: put parentheses around it, as in ({}x)",
                       peek().text));
    case TokenKind::kNot:
      fail("'not' binds less than the operator before it: put parentheses around it");
    case TokenKind::kIf:
      fail("an if-expression inside another expression needs parentheses around it");
    default:
      fail_expected("an expression");
  }
}

ExpressionPtr Parser::number() {
  const Token& token = take();
  const char* const end = token.text.data() + token.text.size();
  if (token.kind == TokenKind::kInteger) {
    std::int64_t value = 0;
    if (std::from_chars(token.text.data(), end, value).ec == std::errc()) {
      return make(IntegerLiteral{value}, place_of(token));
    }
  }
  double value = 0.0;
  if (std::from_chars(token.text.data(), end, value).ec == std::errc::result_out_of_range) {
    // Infinite or too small to represent: strtod tells which.
    value = std::strtod(std::string(token.text).c_str(), nullptr);
    if (value > 1.0) {
      report(token.line, token.column, fmt::format("the number {} is too large", token.text));
    }
  }
  return make(RealLiteral{value}, place_of(token));
}

// (e), or a list of results with places left out
ExpressionPtr Parser::parenthesised() {
  const Token& opened = take();
  TupleExpression tuple;
  while (!at(TokenKind::kRightParenthesis)) {
    if (accept(TokenKind::kComma)) {
      tuple.elements.push_back(nullptr);
      if (at(TokenKind::kRightParenthesis)) tuple.elements.push_back(nullptr);
      continue;
    }
    tuple.elements.push_back(expression());
    if (at(TokenKind::kRightParenthesis)) break;
    if (!at(TokenKind::kComma)) expect_close(TokenKind::kRightParenthesis, opened);
    take();
    if (at(TokenKind::kRightParenthesis)) tuple.elements.push_back(nullptr);
  }
  take();
  if (tuple.elements.size() == 1 && tuple.elements.front() != nullptr) {
    return tuple.elements.front();
  }
  return make(std::move(tuple), place_of(opened));
}

ExpressionPtr Parser::matrix() {
  const Token& opened = take();
  MatrixConstructor result;
  do {
    std::vector<ExpressionPtr>& row = result.rows.emplace_back();
    do {
      row.push_back(expression());
    } while (accept(TokenKind::kComma));
  } while (accept(TokenKind::kSemicolon));
  expect_close(TokenKind::kRightBracket, opened);
  return make(std::move(result), place_of(opened));
}

ExpressionPtr Parser::array() {
  const Token& opened = take();
  if (accept(TokenKind::kRightBrace)) return make(ArrayConstructor{}, place_of(opened));
  ArrayConstructor result;
  result.elements.push_back(function_argument());
  if (at(TokenKind::kFor)) {
    take();
    ArrayComprehension comprehension{result.elements.front(), iterators()};
    expect_close(TokenKind::kRightBrace, opened);
    return make(std::move(comprehension), place_of(opened));
  }
  while (accept(TokenKind::kComma)) result.elements.push_back(function_argument());
  expect_close(TokenKind::kRightBrace, opened);
  return make(std::move(result), place_of(opened));
}

ExpressionPtr Parser::reference_or_call() {
  const Place place = here();
  ComponentReference reference = component_reference();
  if (at(TokenKind::kLeftParenthesis)) return call(std::move(reference), place);
  return make(std::move(reference), place);
}

ExpressionPtr Parser::call(ComponentReference function, Place place) {
  if (!at(TokenKind::kLeftParenthesis)) {
    fail_expected(fmt::format("'(' after '{}'", function.text()));
  }
  const Token& opened = take();
  CallExpression result;
  result.function = std::move(function);
  const auto at_named = [&] { return at(TokenKind::kIdentifier) && next_is(TokenKind::kEqual); };
  if (!at(TokenKind::kRightParenthesis)) {
    if (!at_named()) {
      result.arguments.push_back(function_argument());
      if (accept(TokenKind::kFor)) {
        result.iterators = iterators();
      } else {
        while (at(TokenKind::kComma)) {
          take();
          if (at_named()) break;
          result.arguments.push_back(function_argument());
        }
      }
    }
    if (at_named()) result.named = named_arguments();
  }
  expect_close(TokenKind::kRightParenthesis, opened);
  return make(std::move(result), place);
}

ExpressionPtr Parser::function_argument() {
  return at(TokenKind::kFunction) ? partial_application() : expression();
}

ExpressionPtr Parser::partial_application() {
  const Nesting nesting(*this);
  const Place place = place_of(take());
  PartialApplication result;
  result.function = name();
  const Token& opened = expect(TokenKind::kLeftParenthesis, "after the name of the function");
  if (!at(TokenKind::kRightParenthesis)) result.named = named_arguments();
  expect_close(TokenKind::kRightParenthesis, opened);
  return make(std::move(result), place);
}

std::vector<NamedArgument> Parser::named_arguments() {
  std::vector<NamedArgument> result;
  do {
    if (!(at(TokenKind::kIdentifier) && next_is(TokenKind::kEqual))) {
      fail_expected("a named argument, as in 'name = value': positional ones come first");
    }
    NamedArgument& argument = result.emplace_back();
    argument.place = here();
    argument.name = identifier("of an argument");
    take();
    argument.value = function_argument();
  } while (accept(TokenKind::kComma));
  return result;
}

ComponentReference Parser::component_reference() {
  ComponentReference result;
  result.absolute = accept(TokenKind::kDot);
  do {
    ComponentReference::Part& part = result.parts.emplace_back();
    part.place = here();
    part.name = identifier("of a component");
    if (at(TokenKind::kLeftBracket)) part.subscripts = subscripts();
  } while (accept(TokenKind::kDot));
  return result;
}

std::vector<ExpressionPtr> Parser::subscripts() {
  const Nesting nesting(*this);
  const Token& opened = take();
  std::vector<ExpressionPtr> result;
  do {
    const bool whole =
        at(TokenKind::kColon) && (next_is(TokenKind::kComma) || next_is(TokenKind::kRightBracket));
    result.push_back(whole ? make(WholeDimension{}, place_of(take())) : expression());
  } while (accept(TokenKind::kComma));
  expect_close(TokenKind::kRightBracket, opened);
  return result;
}

std::vector<Iterator> Parser::iterators() {
  std::vector<Iterator> result;
  do {
    Iterator& iterator = result.emplace_back();
    iterator.place = here();
    iterator.name = identifier("of an iteration variable");
    if (accept(TokenKind::kIn)) iterator.range = expression();
  } while (accept(TokenKind::kComma));
  return result;
}

}  // namespace saltus
