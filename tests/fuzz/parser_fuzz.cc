#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "modelica/parser.h"

// Feeds arbitrary text to the parser. It must neither crash nor hang; every error has a place; and
// an expression that was accepted prints to a text that reads back the same.

namespace saltus {
namespace {

[[noreturn]] void broken(const std::string& what) {
  std::fprintf(stderr, "property broken: %s\n", what.c_str());
  std::abort();
}

void check_printing(const ExpressionPtr& expression) {
  if (expression == nullptr) return;
  const std::string once = to_text(*expression);
  const std::string twice = to_text(*parse_expression(once, "printed"));
  if (once != twice) broken(once + " reads back as " + twice);
}

void check_values(const ModificationPtr& modification) {
  if (modification == nullptr) return;
  check_printing(modification->value);
  for (const Argument& argument : modification->arguments) check_values(argument.modification);
}

void check_class(const ClassDefinition& c) {
  for (const Component& component : c.components) {
    if (c.find_component(component.name) == nullptr) broken("component not indexed");
    check_values(component.modification);
  }
  for (const EquationClause& equation : c.equations) {
    const auto* simple = equation.as<SimpleEquation>();
    if (simple == nullptr || simple->left->as<TupleExpression>() != nullptr) continue;
    check_printing(simple->left);
    check_printing(simple->right);
  }
  for (const auto& nested : c.classes) check_class(*nested);
}

}  // namespace
}  // namespace saltus

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ParseResult result = parse_modelica(text, "fuzz.mo");
  for (const SyntaxError& error : result.errors) {
    if (error.where.line < 1 || error.where.column < 1 || error.message.empty()) broken("no place");
  }
  if (result.ok()) {
    for (const auto& c : result.definition->classes) check_class(*c);
  }
  return 0;
}
