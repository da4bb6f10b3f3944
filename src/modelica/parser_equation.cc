#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "modelica/parser_impl.h"

namespace saltus {
namespace {

bool is_construct(TokenKind kind) {
  return kind == TokenKind::kIf || kind == TokenKind::kFor || kind == TokenKind::kWhen ||
         kind == TokenKind::kWhile;
}

bool starts_declaration(TokenKind kind) {
  switch (kind) {
    case TokenKind::kParameter:
    case TokenKind::kConstant:
    case TokenKind::kDiscrete:
    case TokenKind::kInput:
    case TokenKind::kOutput:
    case TokenKind::kFlow:
    case TokenKind::kStream:
    case TokenKind::kFinal:
    case TokenKind::kInner:
    case TokenKind::kOuter:
    case TokenKind::kReplaceable:
    case TokenKind::kRedeclare:
    case TokenKind::kImport:
    case TokenKind::kExtends:
      return true;
    default:
      return false;
  }
}

constexpr const char* kDeclarationsFirst =
    "declarations stand before 'equation' and 'algorithm', or after 'public' or 'protected'";

}  // namespace

bool Parser::ends_body() const {
  switch (peek().kind) {
    case TokenKind::kEnd:
    case TokenKind::kElse:
    case TokenKind::kElseif:
    case TokenKind::kElsewhen:
    case TokenKind::kEquation:
    case TokenKind::kAlgorithm:
    case TokenKind::kPublic:
    case TokenKind::kProtected:
    case TokenKind::kExternal:
    case TokenKind::kAnnotation:
    case TokenKind::kEndOfFile:
      return true;
    case TokenKind::kInitial:
      return next_is(TokenKind::kEquation) || next_is(TokenKind::kAlgorithm);
    default:
      return false;
  }
}

// An `end if`, `else` and the like in a section where nothing is open. After a mistake in the
// opening line it is only the rest of that.
bool Parser::skip_stray(std::size_t errors_before) {
  const bool silent = errors_.size() > errors_before;
  if (at(TokenKind::kEnd) && is_construct(peek(1).kind)) {
    if (!silent) {
      report(peek().line, peek().column,
             fmt::format("'end {0}' without an open '{0}'", peek(1).text));
    }
    take();
    take();
    accept(TokenKind::kSemicolon);
    return true;
  }
  if (at(TokenKind::kElse) || at(TokenKind::kElseif) || at(TokenKind::kElsewhen)) {
    if (!silent) {
      report(peek().line, peek().column,
             fmt::format("{} without an open '{}'", describe(peek()),
                         at(TokenKind::kElsewhen) ? "when" : "if"));
    }
    if (take().kind == TokenKind::kElse) return true;
    while (!at(TokenKind::kThen) && !at(TokenKind::kSemicolon) && !ends_body()) take();
    accept(TokenKind::kThen);
    return true;
  }
  return false;
}

// `end if` and the like for the innermost open construct.
void Parser::close() {
  const Open& own = open_.back();
  if (at(TokenKind::kEnd) && next_is(own.kind)) {
    take();
    take();
    return;
  }
  const std::string word = describe(own.kind);
  const std::string hint =
      own.else_if ? "; 'else if' opens a second 'if': to continue the first write 'elseif'" : "";
  const std::string found =
      at(TokenKind::kEnd) ? fmt::format("'end {}'", peek(1).text) : describe(peek());
  report(peek().line, peek().column,
         fmt::format("the {} of line {} is not closed: expected 'end {}', found {}{}", word,
                     own.line, word.substr(1, word.size() - 2), found, hint));
  const TokenKind closed = peek(1).kind;
  if (at(TokenKind::kEnd) && is_construct(closed)) {
    const bool belongs_outside = std::any_of(open_.begin(), open_.end() - 1,
                                             [&](const Open& o) { return o.kind == closed; });
    if (!belongs_outside) {
      take();
      take();
      return;
    }
  }
  throw Abandoned{};
}

// The condition and the word that ends it. A wrong condition does not cost what it governs.
ExpressionPtr Parser::condition(TokenKind word) {
  ExpressionPtr result;
  try {
    result = expression();
  } catch (const Abandoned&) {
    while (!at(word) && !at(TokenKind::kSemicolon) && !ends_body()) take();
    if (!at(word)) throw;
  }
  if (at(TokenKind::kEqual)) {
    report(peek().line, peek().column, "'=' is no comparison: write '=='");
    while (!at(word) && !at(TokenKind::kSemicolon) && !ends_body()) take();
  }
  expect_soft(word, "after the condition");
  return result;
}

std::vector<Iterator> Parser::for_header() {
  std::vector<Iterator> result;
  try {
    result = iterators();
  } catch (const Abandoned&) {
    while (!at(TokenKind::kLoop) && !at(TokenKind::kSemicolon) && !ends_body()) take();
    if (!at(TokenKind::kLoop)) throw;
  }
  expect_soft(TokenKind::kLoop, "after the range of 'for'");
  return result;
}

template <class Body>
std::vector<Branch<Body>> Parser::branches(TokenKind further, bool with_else,
                                           std::vector<Body> (Parser::*body)()) {
  const Nesting nesting(*this);
  const OpenConstruct open(*this, {peek().kind, {}, peek().line, false});
  std::vector<Branch<Body>> result;
  do {
    Branch<Body> branch;
    branch.place = place_of(take());
    branch.condition = condition(TokenKind::kThen);
    branch.body = (this->*body)();
    result.push_back(std::move(branch));
  } while (at(further));
  if (with_else && at(TokenKind::kElse)) {
    Branch<Body> branch;
    branch.place = place_of(take());
    if (at(TokenKind::kIf) && peek().line == branch.place.line) open_.back().else_if = true;
    branch.body = (this->*body)();
    result.push_back(std::move(branch));
  }
  close();
  return result;
}

// Items up to where the body ends; a wrong item is reported and left out.
template <class Item>
std::vector<Item> Parser::items(Item (Parser::*item)(), const char* what) {
  std::vector<Item> result;
  while (!ends_body()) {
    const std::size_t before = position_;
    try {
      result.push_back((this->*item)());
      expect_semicolon(what);
    } catch (const Abandoned&) {
      skip_item();
      if (position_ == before && !ends_body()) take();
    }
  }
  return result;
}

std::vector<EquationClause> Parser::equation_body() {
  return items(&Parser::equation, "the equation");
}

std::vector<Statement> Parser::statement_body() {
  return items(&Parser::statement, "the statement");
}

std::vector<EquationClause> Parser::equation_section() {
  const std::size_t errors_before = errors_.size();
  std::vector<EquationClause> result;
  do {
    std::vector<EquationClause> more = equation_body();
    std::move(more.begin(), more.end(), std::back_inserter(result));
  } while (skip_stray(errors_before));
  return result;
}

std::vector<Statement> Parser::algorithm_section() {
  const std::size_t errors_before = errors_.size();
  std::vector<Statement> result;
  do {
    std::vector<Statement> more = statement_body();
    std::move(more.begin(), more.end(), std::back_inserter(result));
  } while (skip_stray(errors_before));
  return result;
}

EquationClause Parser::equation() {
  EquationClause result;
  result.place = here();
  switch (peek().kind) {
    case TokenKind::kIf:
      result.value = ConditionalEquation{
          branches<EquationClause>(TokenKind::kElseif, true, &Parser::equation_body)};
      break;
    case TokenKind::kWhen:
      result.value = WhenEquation{
          branches<EquationClause>(TokenKind::kElsewhen, false, &Parser::equation_body)};
      break;
    case TokenKind::kFor: {
      const Nesting nesting(*this);
      const OpenConstruct open(*this, {TokenKind::kFor, {}, take().line, false});
      ForEquation loop;
      loop.iterators = for_header();
      loop.body = equation_body();
      close();
      result.value = std::move(loop);
      break;
    }
    case TokenKind::kConnect:
      result.value = connect_equation();
      break;
    case TokenKind::kWhile:
      fail("'while' belongs in an algorithm; equations know 'for'");
    default:
      simple_equation(result);
  }
  result.comment = comment();
  return result;
}

void Parser::simple_equation(EquationClause& result) {
  if (starts_declaration(peek().kind) || starts_class()) {
    fail(fmt::format("{} in an equation section: {}", describe(peek()), kDeclarationsFirst));
  }
  ExpressionPtr left = simple_expression();
  if (at(TokenKind::kEqual) || at(TokenKind::kAssign)) {
    if (at(TokenKind::kAssign)) {
      report(peek().line, peek().column, "':=' assigns, in an algorithm: an equation has '='");
    }
    take();
    result.value = SimpleEquation{std::move(left), expression()};
    return;
  }
  if (left->as<CallExpression>() != nullptr) {
    result.value = CallEquation{std::move(left)};
    return;
  }
  const auto* relation = left->as<BinaryExpression>();
  if (relation != nullptr && relation->op == BinaryOperator::kEqual) {
    report(left->place.line, left->place.column, "'==' compares: an equation has '='");
    result.value = SimpleEquation{relation->left, relation->right};
    return;
  }
  const bool declaration = left->as<ComponentReference>() != nullptr &&
                           at(TokenKind::kIdentifier) && peek().line == previous().line;
  if (declaration) {
    fail(fmt::format("expected '=' after '{}', found {}: {}", to_text(*left), describe(peek()),
                     kDeclarationsFirst));
  }
  fail_expected("'=' of the equation");
}

ConnectEquation Parser::connect_equation() {
  take();
  const Token& opened = expect(TokenKind::kLeftParenthesis, "after 'connect'");
  ConnectEquation result;
  result.left = component_reference();
  if (!at(TokenKind::kComma)) fail_expected("',' and the second connector");
  take();
  result.right = component_reference();
  if (at(TokenKind::kComma)) fail("'connect' takes two connectors");
  expect_close(TokenKind::kRightParenthesis, opened);
  return result;
}

Statement Parser::statement() {
  Statement result;
  result.place = here();
  switch (peek().kind) {
    case TokenKind::kBreak:
      if (std::none_of(open_.begin(), open_.end(), [](const Open& open) {
            return open.kind == TokenKind::kFor || open.kind == TokenKind::kWhile;
          }))
        fail("'break' leaves a 'for' or 'while', and there is none around it");
      take();
      result.value = BreakStatement{};
      break;
    case TokenKind::kReturn:
      take();
      result.value = ReturnStatement{};
      break;
    case TokenKind::kIf:
      result.value =
          IfStatement{branches<Statement>(TokenKind::kElseif, true, &Parser::statement_body)};
      break;
    case TokenKind::kWhen:
      result.value =
          WhenStatement{branches<Statement>(TokenKind::kElsewhen, false, &Parser::statement_body)};
      break;
    case TokenKind::kFor: {
      const Nesting nesting(*this);
      const OpenConstruct open(*this, {TokenKind::kFor, {}, take().line, false});
      ForStatement loop;
      loop.iterators = for_header();
      loop.body = statement_body();
      close();
      result.value = std::move(loop);
      break;
    }
    case TokenKind::kWhile: {
      const Nesting nesting(*this);
      const OpenConstruct open(*this, {TokenKind::kWhile, {}, take().line, false});
      WhileStatement loop;
      loop.condition = condition(TokenKind::kLoop);
      loop.body = statement_body();
      close();
      result.value = std::move(loop);
      break;
    }
    case TokenKind::kConnect:
      fail("'connect' belongs in an equation section");
    case TokenKind::kLeftParenthesis:
      multiple_assignment(result);
      break;
    default:
      assignment_or_call(result);
  }
  result.comment = comment();
  return result;
}

void Parser::expect_assign() {
  if (accept(TokenKind::kAssign)) return;
  if (!at(TokenKind::kEqual)) fail_expected("':='");
  report(peek().line, peek().column, "'=' makes an equation: a statement assigns with ':='");
  take();
}

void Parser::multiple_assignment(Statement& result) {
  const Token& opened = peek();
  const ExpressionPtr targets = parenthesised();
  MultipleAssignStatement assign;
  if (const auto* tuple = targets->as<TupleExpression>()) {
    assign.targets = tuple->elements;
  } else {
    assign.targets = {targets};
  }
  for (const ExpressionPtr& target : assign.targets) {
    if (target != nullptr && target->as<ComponentReference>() == nullptr) {
      report(opened.line, opened.column, "only variables can be assigned to");
    }
  }
  expect_assign();
  const Token& first = peek();
  assign.call = expression();
  if (assign.call->as<CallExpression>() == nullptr) {
    report(first.line, first.column, "several results come from a function call only");
  }
  result.value = std::move(assign);
}

void Parser::assignment_or_call(Statement& result) {
  if (starts_declaration(peek().kind) || starts_class()) {
    fail(fmt::format("{} in an algorithm: {}", describe(peek()), kDeclarationsFirst));
  }
  if (!at(TokenKind::kIdentifier) && !at(TokenKind::kDot)) fail_expected("a statement");
  ExpressionPtr left = reference_or_call();
  if (left->as<CallExpression>() != nullptr) {
    result.value = CallStatement{std::move(left)};
    return;
  }
  const bool declaration = at(TokenKind::kIdentifier) && peek().line == previous().line;
  if (declaration) {
    fail(fmt::format("expected ':=' after '{}', found {}: {}", to_text(*left), describe(peek()),
                     kDeclarationsFirst));
  }
  expect_assign();
  result.value = AssignStatement{*left->as<ComponentReference>(), expression()};
}

}  // namespace saltus
