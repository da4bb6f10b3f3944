#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/suggest.h"
#include "modelica/parser_impl.h"

namespace saltus {

bool Parser::starts_class() const {
  switch (peek().kind) {
    case TokenKind::kEncapsulated:
    case TokenKind::kPartial:
    case TokenKind::kClass:
    case TokenKind::kModel:
    case TokenKind::kRecord:
    case TokenKind::kBlock:
    case TokenKind::kConnector:
    case TokenKind::kType:
    case TokenKind::kPackage:
    case TokenKind::kFunction:
    case TokenKind::kOperator:
    case TokenKind::kExpandable:
    case TokenKind::kPure:
    case TokenKind::kImpure:
      return true;
    default:
      return false;
  }
}

Parser::Prefixes Parser::prefixes() {
  Prefixes given;
  given.place = here();
  while (true) {
    if (accept(TokenKind::kRedeclare)) {
      given.redeclare = true;
    } else if (accept(TokenKind::kFinal)) {
      given.final = true;
    } else if (accept(TokenKind::kInner)) {
      given.inner = true;
    } else if (accept(TokenKind::kOuter)) {
      given.outer = true;
    } else if (accept(TokenKind::kReplaceable)) {
      given.replaceable = true;
    } else if (accept(TokenKind::kEach)) {
      given.each = true;
    } else {
      return given;
    }
  }
}

Parser::ClassHandle Parser::class_definition(const Prefixes& given, bool short_only) {
  const Nesting nesting(*this);
  auto c = std::make_shared<ClassDefinition>();
  c->enclosing = enclosing_;
  c->final = given.final;
  c->inner = given.inner;
  c->outer = given.outer;
  c->redeclare = given.redeclare;
  c->replaceable = given.replaceable;
  class_prefixes(*c);
  const bool extending = accept(TokenKind::kExtends);
  c->place = here();
  c->name = identifier(fmt::format("of the {}", spelling(c->kind)));
  if (!extending && accept(TokenKind::kEqual)) {
    short_class(*c);
  } else if (short_only) {
    fail_expected(fmt::format("'=' after the name of the {}", spelling(c->kind)));
  } else {
    if (extending) {
      c->form = ClassDefinition::Form::kExtends;
      if (at(TokenKind::kLeftParenthesis)) c->modification = class_modification();
    }
    long_class(*c);
  }
  return c;
}

void Parser::class_prefixes(ClassDefinition& c) {
  c.encapsulated = accept(TokenKind::kEncapsulated);
  c.partial = accept(TokenKind::kPartial);
  c.pure = accept(TokenKind::kPure);
  c.impure = accept(TokenKind::kImpure);
  switch (peek().kind) {
    case TokenKind::kClass:
      c.kind = ClassKind::kClass;
      break;
    case TokenKind::kModel:
      c.kind = ClassKind::kModel;
      break;
    case TokenKind::kRecord:
      c.kind = ClassKind::kRecord;
      break;
    case TokenKind::kBlock:
      c.kind = ClassKind::kBlock;
      break;
    case TokenKind::kConnector:
      c.kind = ClassKind::kConnector;
      break;
    case TokenKind::kType:
      c.kind = ClassKind::kType;
      break;
    case TokenKind::kPackage:
      c.kind = ClassKind::kPackage;
      break;
    case TokenKind::kFunction:
      c.kind = ClassKind::kFunction;
      break;
    case TokenKind::kExpandable:
      take();
      if (!at(TokenKind::kConnector)) fail_expected("'connector' after 'expandable'");
      c.kind = ClassKind::kExpandableConnector;
      break;
    case TokenKind::kOperator:
      c.kind = ClassKind::kOperator;
      if (next_is(TokenKind::kRecord) || next_is(TokenKind::kFunction)) {
        take();
        c.kind = at(TokenKind::kRecord) ? ClassKind::kOperatorRecord : ClassKind::kOperatorFunction;
      }
      break;
    default:
      fail_expected("a kind of class, such as 'model' or 'function'");
  }
  take();
}

void Parser::long_class(ClassDefinition& c) {
  const OpenConstruct open(*this, {TokenKind::kClass, c.name, c.place.line, false});
  ClassDefinition* const outside = std::exchange(enclosing_, &c);
  try {
    c.comment.text = string_comment();
    composition(c);
    end_of_class(c);
  } catch (...) {
    enclosing_ = outside;
    throw;
  }
  enclosing_ = outside;
  c.index_members();
  check_unique(c);
}

void Parser::short_class(ClassDefinition& c) {
  if (at(TokenKind::kEnumeration)) {
    enumeration(c);
  } else if (at(TokenKind::kDer)) {
    derivative_class(c);
  } else {
    c.form = ClassDefinition::Form::kShort;
    if (accept(TokenKind::kInput)) {
      c.base_causality = Causality::kInput;
    } else if (accept(TokenKind::kOutput)) {
      c.base_causality = Causality::kOutput;
    }
    c.base = name();
    if (at(TokenKind::kLeftBracket)) c.dimensions = subscripts();
    if (at(TokenKind::kLeftParenthesis)) c.modification = class_modification();
  }
  c.comment = comment();
}

void Parser::enumeration(ClassDefinition& c) {
  c.form = ClassDefinition::Form::kEnumeration;
  take();
  const Token& opened = expect(TokenKind::kLeftParenthesis, "after 'enumeration'");
  if (accept(TokenKind::kColon)) {
    c.open_enumeration = true;
  } else if (!at(TokenKind::kRightParenthesis)) {
    do {
      EnumerationLiteral literal;
      literal.place = here();
      literal.name = identifier("of an enumeration literal");
      literal.comment = comment();
      c.enumeration.push_back(std::move(literal));
    } while (accept(TokenKind::kComma));
  }
  expect_close(TokenKind::kRightParenthesis, opened);
}

void Parser::derivative_class(ClassDefinition& c) {
  c.form = ClassDefinition::Form::kDerivative;
  take();
  const Token& opened = expect(TokenKind::kLeftParenthesis, "after 'der'");
  c.base = name();
  while (accept(TokenKind::kComma)) c.differentiated.push_back(identifier("of a variable"));
  expect_close(TokenKind::kRightParenthesis, opened);
  if (c.differentiated.empty()) fail("der(f, x) names at least one input of the function");
}

void Parser::composition(ClassDefinition& c) {
  Visibility visibility = Visibility::kPublic;
  const std::size_t errors_before = errors_.size();
  while (!at(TokenKind::kEndOfFile)) {
    const std::size_t before = position_;
    try {
      switch (peek().kind) {
        case TokenKind::kEnd:
          if (skip_stray(errors_before)) break;
          return;
        case TokenKind::kElse:
        case TokenKind::kElseif:
        case TokenKind::kElsewhen:
          skip_stray(errors_before);
          break;
        case TokenKind::kPublic:
        case TokenKind::kProtected:
        case TokenKind::kEquation:
        case TokenKind::kAlgorithm:
          section(c, take().kind, false, visibility);
          break;
        case TokenKind::kInitial:
          take();
          if (!at(TokenKind::kEquation) && !at(TokenKind::kAlgorithm)) {
            fail_expected("'equation' or 'algorithm' after 'initial'");
          }
          section(c, take().kind, true, visibility);
          break;
        case TokenKind::kExternal:
          external_clause(c);
          break;
        case TokenKind::kAnnotation:
          class_annotation(c);
          break;
        default:
          if (!misspelt_section(c, visibility)) element(c, visibility);
      }
    } catch (const Abandoned&) {
      skip_item();
      if (position_ == before && !ends_body()) take();
    }
  }
}

void Parser::section(ClassDefinition& c, TokenKind kind, bool initial, Visibility& visibility) {
  switch (kind) {
    case TokenKind::kEquation: {
      std::vector<EquationClause>& all = initial ? c.initial_equations : c.equations;
      std::vector<EquationClause> more = equation_section();
      std::move(more.begin(), more.end(), std::back_inserter(all));
      break;
    }
    case TokenKind::kAlgorithm:
      (initial ? c.initial_algorithms : c.algorithms).push_back(algorithm_section());
      break;
    default:
      visibility = kind == TokenKind::kPublic ? Visibility::kPublic : Visibility::kProtected;
  }
}

// A name alone on its line that is nearly the word of a section: reading on as if it were that word
// spares an error for each line below.
bool Parser::misspelt_section(ClassDefinition& c, Visibility& visibility) {
  static const std::array<std::string, 4> kWords = {"equation", "algorithm", "public", "protected"};
  static constexpr std::array kKinds = {TokenKind::kEquation, TokenKind::kAlgorithm,
                                        TokenKind::kPublic, TokenKind::kProtected};
  if (!at(TokenKind::kIdentifier) || peek(1).line == peek().line) return false;
  const std::string wanted(peek().text);
  const std::string word = nearest(wanted, kWords);
  if (word.empty()) return false;
  report(peek().line, peek().column,
         fmt::format("'{}' does not start a section (did you mean '{}'?)", wanted, word));
  take();
  const auto which =
      static_cast<std::size_t>(std::find(kWords.begin(), kWords.end(), word) - kWords.begin());
  section(c, kKinds.at(which), false, visibility);
  return true;
}

void Parser::element(ClassDefinition& c, Visibility visibility) {
  const int order = static_cast<int>(c.components.size() + c.classes.size() + c.extends.size());
  if (at(TokenKind::kImport)) {
    import_clause(c);
  } else if (at(TokenKind::kExtends)) {
    extends_clause(c, visibility);
    c.extends.back().order = order;
  } else {
    const Prefixes given = prefixes();
    if (given.each) fail("'each' belongs in a modification");
    if (starts_class()) {
      ClassHandle definition = class_definition(given);
      definition->visibility = visibility;
      definition->order = order;
      if (at(TokenKind::kConstrainedby)) definition->constraint = constraint();
      c.classes.push_back(std::move(definition));
      expect_semicolon("the class");
      return;
    }
    const std::size_t first = c.components.size();
    component_clause(c, given, visibility);
    for (std::size_t i = first; i < c.components.size(); ++i) {
      c.components[i].order = order + static_cast<int>(i - first);
    }
  }
  expect_semicolon("the declaration");
}

void Parser::import_clause(ClassDefinition& c) {
  Import clause;
  clause.place = place_of(take());
  if (at(TokenKind::kIdentifier) && next_is(TokenKind::kEqual)) {
    clause.kind = Import::Kind::kRenaming;
    clause.alias = identifier("of the import");
    take();
    clause.name = name();
    c.imports.push_back(clause);
  } else {
    clause.name = name();
    if (accept(TokenKind::kElementTimes)) {
      clause.kind = Import::Kind::kUnqualified;
      c.imports.push_back(clause);
    } else if (at(TokenKind::kDot) && next_is(TokenKind::kLeftBrace)) {
      take();
      const Token& opened = take();
      do {
        Import one = clause;
        one.alias = identifier("of an imported class");
        one.name.parts.push_back(one.alias);
        c.imports.push_back(std::move(one));
      } while (accept(TokenKind::kComma));
      expect_close(TokenKind::kRightBrace, opened);
    } else {
      clause.alias = clause.name.parts.back();
      c.imports.push_back(clause);
    }
  }
  comment();
}

void Parser::extends_clause(ClassDefinition& c, Visibility visibility) {
  Extends clause;
  clause.place = place_of(take());
  clause.visibility = visibility;
  clause.base = name();
  if (at(TokenKind::kLeftParenthesis)) clause.modification = class_modification();
  clause.annotation = annotation();
  c.extends.push_back(std::move(clause));
}

void Parser::external_clause(ClassDefinition& c) {
  ExternalFunction external;
  external.place = place_of(take());
  if (at(TokenKind::kString)) external.language = string_value(take());
  if (at(TokenKind::kIdentifier)) {
    ComponentReference first = component_reference();
    if (accept(TokenKind::kEqual)) {
      external.result = std::move(first);
      external.name = identifier("of the external function");
    } else {
      external.name = first.text();
    }
    const Token& opened = expect(TokenKind::kLeftParenthesis, "after the external function");
    if (!at(TokenKind::kRightParenthesis)) {
      do {
        external.arguments.push_back(expression());
      } while (accept(TokenKind::kComma));
    }
    expect_close(TokenKind::kRightParenthesis, opened);
  }
  external.annotation = annotation();
  c.external = std::move(external);
  expect_semicolon("the external function");
}

// Several annotations of one class count as one.
void Parser::class_annotation(ClassDefinition& c) {
  ModificationPtr more = annotation();
  if (c.comment.annotation != nullptr) {
    auto both = std::make_shared<Modification>(*c.comment.annotation);
    both->arguments.insert(both->arguments.end(), more->arguments.begin(), more->arguments.end());
    more = both;
  }
  c.comment.annotation = std::move(more);
  expect_semicolon("the annotation");
}

void Parser::end_of_class(ClassDefinition& c) {
  const std::string what =
      fmt::format("{} '{}' of line {}", spelling(c.kind), c.name, c.place.line);
  if (!at(TokenKind::kEnd)) {
    fail(fmt::format("{} is not closed: expected 'end {};' before the end of the file", what,
                     c.name));
  }
  const Token& found = peek(1);
  if (found.kind == TokenKind::kIdentifier && found.text != c.name) {
    const auto closes_it = [&](const Open& o) {
      return o.kind == TokenKind::kClass && o.name == found.text;
    };
    if (std::any_of(open_.begin(), open_.end() - 1, closes_it)) {
      fail(fmt::format("{} is not closed: expected 'end {};' before 'end {}'", what, c.name,
                       found.text));
    }
    report(
        found.line, found.column,
        fmt::format("expected 'end {}' to close the {}, found 'end {}'", c.name, what, found.text));
  } else if (found.kind != TokenKind::kIdentifier) {
    take();
    report(previous().line, previous().column,
           fmt::format("expected 'end {}' to close the {}", c.name, what));
    return;
  }
  take();
  take();
}

void Parser::check_unique(const ClassDefinition& c) {
  std::unordered_map<std::string_view, Place> seen;
  const auto check = [&](const std::string& member, const Place& place) {
    const auto [first, fresh] = seen.emplace(member, place);
    if (fresh) return;
    report(place.line, place.column,
           fmt::format("'{}' is declared twice in {} '{}': first in line {}", member,
                       spelling(c.kind), c.name, first->second.line));
  };
  for (const Component& component : c.components) check(component.name, component.place);
  for (const auto& nested : c.classes) check(nested->name, nested->place);
}

}  // namespace saltus
