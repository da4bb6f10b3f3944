#pragma once

// Included by modelica/expression.h.

#include <type_traits>

#include "modelica/expression.h"

namespace saltus {

template <class Visit>
void for_each_child(const Expression& expression, Visit&& visit) {
  const auto one = [&](const ExpressionPtr& child) {
    if (child != nullptr) visit(*child);
  };
  const auto all = [&](const std::vector<ExpressionPtr>& children) {
    for (const ExpressionPtr& child : children) one(child);
  };
  const auto reference = [&](const ComponentReference& r) {
    for (const ComponentReference::Part& part : r.parts) all(part.subscripts);
  };
  const auto named = [&](const std::vector<NamedArgument>& arguments) {
    for (const NamedArgument& argument : arguments) one(argument.value);
  };
  const auto iterators = [&](const std::vector<Iterator>& list) {
    for (const Iterator& iterator : list) one(iterator.range);
  };
  std::visit(
      [&](const auto& e) {
        using T = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<T, ComponentReference>) {
          reference(e);
        } else if constexpr (std::is_same_v<T, UnaryExpression>) {
          one(e.operand);
        } else if constexpr (std::is_same_v<T, BinaryExpression>) {
          one(e.left);
          one(e.right);
        } else if constexpr (std::is_same_v<T, IfExpression>) {
          for (const auto& [condition, value] : e.branches) {
            one(condition);
            one(value);
          }
          one(e.otherwise);
        } else if constexpr (std::is_same_v<T, RangeExpression>) {
          one(e.start);
          one(e.step);
          one(e.stop);
        } else if constexpr (std::is_same_v<T, CallExpression>) {
          reference(e.function);
          all(e.arguments);
          named(e.named);
          iterators(e.iterators);
        } else if constexpr (std::is_same_v<T, PartialApplication>) {
          named(e.named);
        } else if constexpr (std::is_same_v<T, ArrayConstructor> ||
                             std::is_same_v<T, TupleExpression>) {
          all(e.elements);
        } else if constexpr (std::is_same_v<T, ArrayComprehension>) {
          one(e.body);
          iterators(e.iterators);
        } else if constexpr (std::is_same_v<T, MatrixConstructor>) {
          for (const auto& row : e.rows) all(row);
        }
      },
      expression.value);
}

}  // namespace saltus
