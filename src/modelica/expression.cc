#include "modelica/expression.h"

#include <algorithm>
#include <array>

namespace saltus {

std::string Name::text() const {
  std::string result = absolute ? "." : "";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += '.';
    result += parts[i];
  }
  return result;
}

std::string ComponentReference::text() const {
  std::string result = absolute ? "." : "";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += '.';
    result += parts[i].name;
    if (parts[i].subscripts.empty()) continue;
    result += '[';
    for (std::size_t k = 0; k < parts[i].subscripts.size(); ++k) {
      if (k > 0) result += ", ";
      result += to_text(*parts[i].subscripts[k]);
    }
    result += ']';
  }
  return result;
}

const char* spelling(UnaryOperator op) {
  static constexpr std::array kSpellings = {"+", "-", ".+", ".-", "not"};
  return kSpellings.at(static_cast<std::size_t>(op));
}

const char* spelling(BinaryOperator op) {
  static constexpr std::array kSpellings = {"+",  "-", "*",  "/", "^",  ".+", ".-", ".*",  "./",
                                            ".^", "<", "<=", ">", ">=", "==", "<>", "and", "or"};
  return kSpellings.at(static_cast<std::size_t>(op));
}

ExpressionPtr make_expression(Expression::Value value, Place place) {
  auto node = std::make_shared<Expression>(Expression{std::move(value), place, 1});
  int deepest = 0;
  for_each_child(*node, [&](const Expression& child) { deepest = std::max(deepest, child.depth); });
  node->depth = deepest + 1;
  return node;
}

}  // namespace saltus
