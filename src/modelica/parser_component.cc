#include <fmt/format.h>

#include <array>

#include "base/suggest.h"
#include "modelica/parser_impl.h"

// Components and modifications.

namespace saltus {

// Takes note of flow, parameter, input and the like; false: `kind` is none of them.
bool Parser::component_prefix_word(Component& component, TokenKind kind) {
  const auto set = [&](auto& field, auto unset, auto value) {
    if (field != unset) {
      fail(fmt::format("{} contradicts or repeats the prefix before it", describe(kind)));
    }
    field = value;
    return true;
  };
  switch (kind) {
    case TokenKind::kFlow:
      return set(component.connection, Connection::kPotential, Connection::kFlow);
    case TokenKind::kStream:
      return set(component.connection, Connection::kPotential, Connection::kStream);
    case TokenKind::kDiscrete:
      return set(component.variability, Variability::kContinuous, Variability::kDiscrete);
    case TokenKind::kParameter:
      return set(component.variability, Variability::kContinuous, Variability::kParameter);
    case TokenKind::kConstant:
      return set(component.variability, Variability::kContinuous, Variability::kConstant);
    case TokenKind::kInput:
      return set(component.causality, Causality::kNone, Causality::kInput);
    case TokenKind::kOutput:
      return set(component.causality, Causality::kNone, Causality::kOutput);
    default:
      return false;
  }
}

Component Parser::component_prefix(const Prefixes& given) {
  Component component;
  component.final = given.final;
  component.inner = given.inner;
  component.outer = given.outer;
  component.replaceable = given.replaceable;
  component.redeclare = given.redeclare;
  while (component_prefix_word(component, peek().kind)) take();
  return component;
}

// The type, and before it a prefix that is misspelt: `paramter Real x`.
void Parser::type_of(Component& component) {
  static const std::array<std::string, 12> kWords = {
      "parameter", "constant", "discrete", "input",       "output",    "flow",
      "stream",    "final",    "inner",    "replaceable", "redeclare", "outer"};
  const bool three_names = at(TokenKind::kIdentifier) && next_is(TokenKind::kIdentifier) &&
                           peek(2).kind == TokenKind::kIdentifier && peek(2).line == peek().line;
  if (three_names) {
    const std::string wanted(peek().text);
    const std::string word = nearest(wanted, kWords);
    report(peek().line, peek().column,
           word.empty() ? fmt::format("three names in a row: expected ';', '=' or '(' after '{}'",
                                      peek(1).text)
                        : fmt::format("unknown prefix '{}' (did you mean '{}'?)", wanted, word));
    take();
  }
  if (!at(TokenKind::kIdentifier) && !at(TokenKind::kDot)) {
    fail_expected("a declaration, 'equation' or 'end'");
  }
  component.type = name();
  if (at(TokenKind::kLeftBracket)) component.dimensions = subscripts();
}

void Parser::component_clause(ClassDefinition& c, const Prefixes& given, Visibility visibility) {
  Component shared = component_prefix(given);
  shared.visibility = visibility;
  type_of(shared);
  const std::size_t first = c.components.size();
  do {
    Component component = shared;
    declaration(component);
    if (accept(TokenKind::kIf)) component.condition = expression();
    component.comment = comment();
    c.components.push_back(std::move(component));
  } while (accept(TokenKind::kComma));
  if (at(TokenKind::kConstrainedby)) {
    const std::optional<ConstrainingClause> shared_constraint = constraint();
    for (std::size_t i = first; i < c.components.size(); ++i) {
      c.components[i].constraint = shared_constraint;
    }
  }
}

void Parser::declaration(Component& component) {
  component.place = here();
  component.name = identifier(fmt::format("of a component of type '{}'", component.type.text()));
  if (at(TokenKind::kLeftBracket)) {
    std::vector<ExpressionPtr> own = subscripts();
    component.dimensions.insert(component.dimensions.begin(), own.begin(), own.end());
  }
  component.modification = modification();
}

std::optional<ConstrainingClause> Parser::constraint() {
  take();
  ConstrainingClause result;
  result.type = name();
  if (at(TokenKind::kLeftParenthesis)) result.modification = class_modification();
  result.comment = comment();
  return result;
}

// (a = 1, b(c = 2))
ModificationPtr Parser::class_modification() {
  const Nesting nesting(*this);
  if (!at(TokenKind::kLeftParenthesis)) {
    fail_expected(fmt::format("'(' after {}", describe(previous())));
  }
  const Token& opened = take();
  auto result = std::make_shared<Modification>();
  result->place = place_of(opened);
  if (!at(TokenKind::kRightParenthesis)) {
    do {
      result->arguments.push_back(argument());
    } while (accept(TokenKind::kComma));
  }
  expect_close(TokenKind::kRightParenthesis, opened);
  return result;
}

// (arguments), = value, := value or arguments and value; null: none of these
ModificationPtr Parser::modification() {
  std::shared_ptr<Modification> result;
  if (at(TokenKind::kLeftParenthesis)) {
    result = std::make_shared<Modification>(*class_modification());
  }
  if (at(TokenKind::kEqual) || at(TokenKind::kAssign)) {
    if (result == nullptr) {
      result = std::make_shared<Modification>();
      result->place = here();
    }
    take();
    result->value = expression();
  } else if (at(TokenKind::kEqualEqual)) {
    fail("'==' compares: a value is given with '='");
  }
  return result;
}

Argument Parser::argument() {
  Argument result;
  const Prefixes given = prefixes();
  result.place = given.place;
  result.each = given.each;
  result.final = given.final;
  result.redeclare = given.redeclare;
  result.replaceable = given.replaceable;
  if (given.redeclare || given.replaceable) {
    redeclaration(result, given);
    return result;
  }
  if (!at(TokenKind::kIdentifier)) {
    fail_expected("the name of what is modified, as in (name = value)");
  }
  result.name = name();
  result.modification = modification();
  result.description = string_comment();
  return result;
}

void Parser::redeclaration(Argument& result, const Prefixes& given) {
  if (starts_class()) {
    ClassHandle definition = class_definition(given, true);
    if (at(TokenKind::kConstrainedby)) definition->constraint = constraint();
    result.kind = Argument::Kind::kRedeclareClass;
    result.name.place = definition->place;
    result.name.parts = {definition->name};
    result.definition = std::move(definition);
    return;
  }
  auto component = std::make_shared<Component>(component_prefix(given));
  type_of(*component);
  declaration(*component);
  component->comment = comment();
  if (at(TokenKind::kConstrainedby)) component->constraint = constraint();
  result.kind = Argument::Kind::kRedeclareComponent;
  result.name.place = component->place;
  result.name.parts = {component->name};
  result.component = std::move(component);
}

}  // namespace saltus
