#pragma once

#include "modelica/value.h"

// Arithmetic of Modelica on scalars and arrays. Shapes and types are checked; `place` is where an
// Error points.

namespace saltus {

Value negate(const Value& a, const Place& place);
// + - * / ^ and their elementwise forms.
Value arithmetic(BinaryOperator op, const Value& a, const Value& b, const Place& place);
// Throws Error if an array is larger than any that makes sense.
void require_size(const Dimensions& shape, const Place& place);
// cat(dimension, parts...), the dimension counted from 0.
Value concatenate(std::size_t dimension, const std::vector<Value>& parts, const Place& place);
// A value with dimensions of size 1 added at the end up to the rank given.
Value promoted(Value value, std::size_t rank);
Value transposed(const Value& matrix, const Place& place);

// Applies a function of one number to every element; the result is Real.
template <class Apply>
Value map_numbers(const Value& a, BasicType type, Apply&& apply) {
  Value result = a;
  result.type = type;
  for (Expr& number : result.numbers) number = apply(number);
  return result;
}

}  // namespace saltus
