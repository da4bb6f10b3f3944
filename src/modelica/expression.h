#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "modelica/place.h"

// Expressions of the syntax tree, exactly as written: nothing is looked up or evaluated. Trees are
// immutable and shared, so that a modification can be handed to many instances for the price of a
// pointer. Null pointers stand for parts left out, where said.

namespace saltus {

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

// a.b.c or .a.b.c (looked up from the top). Quoted identifiers keep their quotes.
struct Name {
  Place place;
  bool absolute = false;
  std::vector<std::string> parts;

  std::string text() const;  // "a.b.c"
};

// a[1].b[:, 2]. A subscript `:` is an Expression holding WholeDimension.
struct ComponentReference {
  struct Part {
    std::string name;
    std::vector<ExpressionPtr> subscripts;
    Place place;
  };

  bool absolute = false;
  std::vector<Part> parts;

  std::string text() const;  // "a[1].b[:, 2]"
};

struct RealLiteral {
  double value = 0.0;
};
struct IntegerLiteral {  // one too large for 64 bits is a RealLiteral
  std::int64_t value = 0;
};
struct BooleanLiteral {
  bool value = false;
};
struct StringLiteral {  // escapes resolved
  std::string value;
};

enum class UnaryOperator { kPlus, kMinus, kElementPlus, kElementMinus, kNot };

enum class BinaryOperator {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kElementAdd,
  kElementSubtract,
  kElementMultiply,
  kElementDivide,
  kElementPower,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
};

const char* spelling(UnaryOperator op);   // "-", ".-", "not"
const char* spelling(BinaryOperator op);  // "+", ".*", "<=", "and"

struct UnaryExpression {
  UnaryOperator op = UnaryOperator::kPlus;
  ExpressionPtr operand;
};

// The node's place is the operator's.
struct BinaryExpression {
  BinaryOperator op = BinaryOperator::kAdd;
  ExpressionPtr left;
  ExpressionPtr right;
};

// if c1 then v1 elseif c2 then v2 else v
struct IfExpression {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> branches;  // condition, value
  ExpressionPtr otherwise;
};

// start:stop or start:step:stop
struct RangeExpression {
  ExpressionPtr start;
  ExpressionPtr step;  // null: 1
  ExpressionPtr stop;
};

// i in range; a null range is deduced from how i is used as subscript.
struct Iterator {
  std::string name;
  ExpressionPtr range;
  Place place;
};

struct NamedArgument {
  std::string name;
  ExpressionPtr value;
  Place place;
};

// f(a, b, c = d); der, pre, initial, pure are calls of functions of that name. With iterators it is
// a reduction, sum(x[i] for i in 1:3), and `arguments` holds the one body.
struct CallExpression {
  ComponentReference function;
  std::vector<ExpressionPtr> arguments;
  std::vector<NamedArgument> named;
  std::vector<Iterator> iterators;
};

// function f(a = 1), as an argument
struct PartialApplication {
  Name function;
  std::vector<NamedArgument> named;
};

// {a, b, c}
struct ArrayConstructor {
  std::vector<ExpressionPtr> elements;
};

// {body for i in range, j in range}
struct ArrayComprehension {
  ExpressionPtr body;
  std::vector<Iterator> iterators;
};

// [a, b; c, d]
struct MatrixConstructor {
  std::vector<std::vector<ExpressionPtr>> rows;
};

// (a, , c): left side of an equation or assignment with several results; null where left out.
// A single expression in parentheses is just that expression.
struct TupleExpression {
  std::vector<ExpressionPtr> elements;
};

struct EndSubscript {};    // `end` in x[end]
struct WholeDimension {};  // `:` in x[:]

struct Expression {
  using Value =
      std::variant<RealLiteral, IntegerLiteral, BooleanLiteral, StringLiteral, ComponentReference,
                   UnaryExpression, BinaryExpression, IfExpression, RangeExpression, CallExpression,
                   PartialApplication, ArrayConstructor, ArrayComprehension, MatrixConstructor,
                   TupleExpression, EndSubscript, WholeDimension>;

  Value value;
  Place place;
  int depth = 1;  // levels of nested expressions; at most kMaxExpressionDepth from the parser

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

// Deep enough for any text a person writes, shallow enough to walk trees by recursion.
inline constexpr int kMaxExpressionDepth = 2000;

// Makes a node; the depth follows from its children.
ExpressionPtr make_expression(Expression::Value value, Place place = {});

// The expression as Modelica text, with the parentheses it needs.
std::string to_text(const Expression& expression);

// Calls visit(const Expression&) for each child that is not null, in the order of the text.
// Subscripts of component references are children as well.
template <class Visit>
void for_each_child(const Expression& expression, Visit&& visit);

}  // namespace saltus

#include "modelica/expression_children.h"  // IWYU pragma: export
