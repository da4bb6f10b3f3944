#include "modelica/class_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/error.h"

namespace saltus {
namespace {

using Form = ClassDefinition::Form;

[[noreturn]] void forbid(const std::string& what, const Place& place) {
  throw Error(what, place.location());
}

bool is_function(ClassKind kind) {
  return kind == ClassKind::kFunction || kind == ClassKind::kOperatorFunction;
}

bool is_record(ClassKind kind) {
  return kind == ClassKind::kRecord || kind == ClassKind::kOperatorRecord;
}

bool is_connector(ClassKind kind) {
  return kind == ClassKind::kConnector || kind == ClassKind::kExpandableConnector;
}

std::string article_kind(const ClassDefinition& c) {
  return fmt::format("{} '{}'", spelling(c.kind), c.name);
}

Place place_of_algorithm(const std::vector<std::vector<Statement>>& sections, const Place& other) {
  for (const auto& section : sections)
    if (!section.empty()) return section.front().place;
  return other;
}

// Records, connectors, packages, operators and functions hold declarations only, functions one
// algorithm besides.
void check_sections(const ClassDefinition& c) {
  const bool only_declarations = is_record(c.kind) || is_connector(c.kind) ||
                                 c.kind == ClassKind::kPackage || c.kind == ClassKind::kOperator ||
                                 c.kind == ClassKind::kType;
  if (!only_declarations && !is_function(c.kind)) return;
  const auto no_section = [&](const char* what, const Place& place) {
    forbid(fmt::format("{} may not contain {}", article_kind(c), what), place);
  };
  if (!c.equations.empty()) no_section("equations", c.equations.front().place);
  if (!c.initial_equations.empty())
    no_section("initial equations", c.initial_equations.front().place);
  if (!c.initial_algorithms.empty())
    no_section("an initial algorithm", place_of_algorithm(c.initial_algorithms, c.place));
  if (c.algorithms.empty()) return;
  if (only_declarations) no_section("an algorithm", place_of_algorithm(c.algorithms, c.place));
  if (c.algorithms.size() > 1)
    no_section("more than one algorithm",
               c.algorithms.back().empty() ? c.place : c.algorithms.back().front().place);
}

void check_prefixes(const ClassDefinition& c, const Component& m) {
  const auto no_prefix = [&](const char* what) {
    forbid(
        fmt::format("'{}' is {}, which elements of {} may not be", m.name, what, article_kind(c)),
        m.place);
  };
  const bool record = is_record(c.kind);
  if (record || is_connector(c.kind) || is_function(c.kind)) {
    if (m.inner) no_prefix("inner");
    if (m.outer) no_prefix("outer");
  }
  if (record) {
    if (m.connection == Connection::kFlow) no_prefix("a flow variable");
    if (m.causality == Causality::kInput) no_prefix("an input");
    if (m.causality == Causality::kOutput) no_prefix("an output");
  }
  if (m.connection == Connection::kStream && !is_connector(c.kind)) no_prefix("a stream variable");
  if ((record || is_connector(c.kind)) && m.visibility == Visibility::kProtected)
    no_prefix("protected");
  if (c.kind == ClassKind::kExpandableConnector && m.connection == Connection::kFlow)
    no_prefix("a flow variable");
  if (c.kind == ClassKind::kPackage && m.variability != Variability::kConstant)
    forbid(fmt::format("'{}' of package '{}' is no constant; packages hold constants only", m.name,
                       c.name),
           m.place);
  if (c.kind == ClassKind::kOperator)
    forbid(fmt::format("'{}': operator '{}' may contain functions only", m.name, c.name), m.place);
  if (!is_function(c.kind)) return;
  if (m.causality != Causality::kNone && m.visibility == Visibility::kProtected)
    forbid(
        fmt::format("'{}' is protected, but inputs and outputs of a function are public", m.name),
        m.place);
  // A type with a name of its own may say it: see Flattener::causality_in().
  constexpr std::array<std::string_view, 4> kPlain = {"Real", "Integer", "Boolean", "String"};
  if (m.causality == Causality::kNone && m.visibility == Visibility::kPublic &&
      std::ranges::find(kPlain, m.type.text()) != kPlain.end())
    forbid(fmt::format("'{}' of function '{}' is public but neither input nor output; make it "
                       "protected",
                       m.name, c.name),
           m.place);
}

void check_names(const ClassDefinition& c) {
  constexpr std::array<std::string_view, 4> kReserved = {"Real", "Integer", "Boolean", "String"};
  const auto check = [&](const std::string& name, const Place& place) {
    if (std::ranges::find(kReserved, name) != kReserved.end())
      forbid(fmt::format("'{}' is the name of a predefined type and cannot be declared", name),
             place);
  };
  for (const Component& m : c.components) {
    check(m.name, m.place);
    if (!m.type.absolute && m.type.parts.size() == 1 && m.type.parts[0] == m.name)
      forbid(fmt::format("component '{}' has the name of its own type", m.name), m.place);
  }
  for (const auto& inside : c.classes) check(inside->name, inside->place);
  if (c.enclosing != nullptr) check(c.name, c.place);
  std::unordered_set<std::string_view> imported;
  for (const Import& import : c.imports)
    if (import.kind != Import::Kind::kUnqualified && !imported.insert(import.alias).second)
      forbid(fmt::format("'{}' is imported twice", import.alias), import.place);
}

void check_enumeration(const ClassDefinition& c) {
  constexpr std::array<std::string_view, 5> kAttributes = {"quantity", "min", "max", "start",
                                                           "fixed"};
  std::unordered_set<std::string_view> seen;
  for (const EnumerationLiteral& literal : c.enumeration) {
    if (std::ranges::find(kAttributes, literal.name) != kAttributes.end())
      forbid(fmt::format("'{}' is an attribute of enumerations and cannot be a literal of '{}'",
                         literal.name, c.name),
             literal.place);
    if (!seen.insert(literal.name).second)
      forbid(fmt::format("'{}' is twice a literal of enumeration '{}'", literal.name, c.name),
             literal.place);
  }
}

// Where a statement or equation stands.
struct Around {
  bool in_when = false;
  bool in_loop = false;
  bool in_function = false;
  bool is_initial = false;
};

bool calls_graph(const Expression& call) {
  const auto* c = call.as<CallExpression>();
  if (c == nullptr) return false;
  ComponentReference function = c->function;
  function.absolute = false;
  const std::string name = function.text();
  return name == "Connections.root" || name == "Connections.potentialRoot" ||
         name == "Connections.branch" || name == "Connections.uniqueRoot";
}

void check_statements(const std::vector<Statement>& statements, Around at) {
  for (const Statement& s : statements) {
    Around inside = at;
    if (const auto* w = s.as<WhenStatement>()) {
      if (at.in_when) forbid("'when' inside of 'when'", s.place);
      if (at.in_function) forbid("'when' inside of a function", s.place);
      if (at.is_initial) forbid("'when' inside of an initial algorithm", s.place);
      if (at.in_loop) forbid("'when' inside of a loop of an algorithm", s.place);
      inside.in_when = true;
      for (const auto& branch : w->branches) check_statements(branch.body, inside);
    } else if (const auto* i = s.as<IfStatement>()) {
      for (const auto& branch : i->branches) check_statements(branch.body, at);
    } else if (const auto* f = s.as<ForStatement>()) {
      inside.in_loop = true;
      check_statements(f->body, inside);
    } else if (const auto* l = s.as<WhileStatement>()) {
      inside.in_loop = true;
      check_statements(l->body, inside);
    } else if (s.as<BreakStatement>() != nullptr) {
      if (!at.in_loop) forbid("'break' outside of a loop", s.place);
    } else if (s.as<ReturnStatement>() != nullptr) {
      if (!at.in_function) forbid("'return' outside of a function", s.place);
    } else if (const auto* c = s.as<CallStatement>()) {
      if (calls_graph(*c->call))
        forbid(fmt::format("{} belongs in an equation section, not in an algorithm",
                           c->call->as<CallExpression>()->function.text()),
               s.place);
    }
  }
}

void check_equations(const std::vector<EquationClause>& equations, Around at) {
  for (const EquationClause& e : equations) {
    Around inside = at;
    if (const auto* w = e.as<WhenEquation>()) {
      if (at.in_when) forbid("'when' inside of 'when'", e.place);
      if (at.is_initial) forbid("'when' in an initial equation", e.place);
      inside.in_when = true;
      for (const auto& branch : w->branches) check_equations(branch.body, inside);
    } else if (const auto* i = e.as<ConditionalEquation>()) {
      for (const auto& branch : i->branches) check_equations(branch.body, at);
    } else if (const auto* f = e.as<ForEquation>()) {
      check_equations(f->body, at);
    } else if (e.as<ConnectEquation>() != nullptr) {
      if (at.in_when) forbid("connect() inside of 'when'", e.place);
      if (at.is_initial) forbid("connect() in an initial equation", e.place);
    } else if (const auto* c = e.as<CallEquation>()) {
      if (calls_graph(*c->call) && (at.in_when || at.is_initial))
        forbid(fmt::format("{} inside of {}", c->call->as<CallExpression>()->function.text(),
                           at.in_when ? "'when'" : "an initial equation"),
               e.place);
    }
  }
}

// Section 14.1: what an operator record may define.
void check_operator_name(const ClassDefinition& c) {
  constexpr std::array<std::string_view, 17> kOperators = {
      "'constructor'", "'0'", "'+'",  "'-'",  "'*'",   "'/'",  "'^'",   "'=='",    "'<>'",
      "'>'",           "'<'", "'>='", "'<='", "'and'", "'or'", "'not'", "'String'"};
  if (std::ranges::find(kOperators, c.name) == kOperators.end())
    forbid(fmt::format("{} is no operator that a record can define", c.name), c.place);
}

}  // namespace

void check_class_rules(const ClassDefinition& c) {
  if (c.form == Form::kEnumeration) check_enumeration(c);
  if (c.form != Form::kLong && c.form != Form::kExtends) return;
  for (const auto& inside : c.classes)
    if (inside->kind == ClassKind::kOperator || inside->kind == ClassKind::kOperatorFunction)
      check_operator_name(*inside);
  check_names(c);
  check_sections(c);
  for (const Component& m : c.components) check_prefixes(c, m);
  if (c.kind == ClassKind::kOperator)
    for (const auto& inside : c.classes)
      if (!is_function(inside->kind))
        forbid(fmt::format("'{}': operator '{}' may contain functions only", inside->name, c.name),
               inside->place);
  Around at;
  at.in_function = is_function(c.kind);
  check_equations(c.equations, at);
  for (const auto& section : c.algorithms) check_statements(section, at);
  at.is_initial = true;
  check_equations(c.initial_equations, at);
  for (const auto& section : c.initial_algorithms) check_statements(section, at);
}

bool may_extend(ClassKind derived, ClassKind base) {
  if (derived == base || base == ClassKind::kClass || derived == ClassKind::kClass) return true;
  switch (derived) {
    case ClassKind::kOperatorFunction:
      return base == ClassKind::kFunction;
    case ClassKind::kFunction:
      return base == ClassKind::kOperatorFunction;
    case ClassKind::kOperatorRecord:
      return base == ClassKind::kRecord;
    case ClassKind::kConnector:
      return is_record(base) || base == ClassKind::kType;
    case ClassKind::kBlock:
      return is_record(base);
    case ClassKind::kModel:
      return is_record(base) || base == ClassKind::kBlock;
    default:
      return false;
  }
}

}  // namespace saltus
