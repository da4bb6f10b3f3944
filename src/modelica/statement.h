#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "modelica/expression.h"
#include "modelica/place.h"

// Equations and statements of the syntax tree.

namespace saltus {

struct Modification;
using ModificationPtr = std::shared_ptr<const Modification>;

// "text" annotation(...)
struct Comment {
  std::string text;
  ModificationPtr annotation;  // null: none
};

struct EquationClause;
struct Statement;

// One branch of if, when or while. A null condition is the `else`, always last.
template <class Body>
struct Branch {
  ExpressionPtr condition;
  std::vector<Body> body;
  Place place;
};

struct SimpleEquation {  // left = right
  ExpressionPtr left;
  ExpressionPtr right;
};
struct ConditionalEquation {
  std::vector<Branch<EquationClause>> branches;
};
struct ForEquation {
  std::vector<Iterator> iterators;
  std::vector<EquationClause> body;
};
struct WhenEquation {
  std::vector<Branch<EquationClause>> branches;  // when, elsewhen ...; no else
};
struct ConnectEquation {
  ComponentReference left;
  ComponentReference right;
};
// assert(...), terminate(...), reinit(...), transition(...), initialState(...), any call without
// result
struct CallEquation {
  ExpressionPtr call;  // holds a CallExpression
};

struct EquationClause {
  std::variant<SimpleEquation, ConditionalEquation, ForEquation, WhenEquation, ConnectEquation,
               CallEquation>
      value;
  Place place;
  Comment comment;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

struct AssignStatement {  // target := value
  ComponentReference target;
  ExpressionPtr value;
};
struct MultipleAssignStatement {       // (a, , c) := f(x)
  std::vector<ExpressionPtr> targets;  // ComponentReference each; null where left out
  ExpressionPtr call;                  // holds a CallExpression
};
struct CallStatement {
  ExpressionPtr call;  // holds a CallExpression
};
struct IfStatement {
  std::vector<Branch<Statement>> branches;
};
struct ForStatement {
  std::vector<Iterator> iterators;
  std::vector<Statement> body;
};
struct WhileStatement {
  ExpressionPtr condition;
  std::vector<Statement> body;
};
struct WhenStatement {
  std::vector<Branch<Statement>> branches;
};
struct BreakStatement {};
struct ReturnStatement {};

struct Statement {
  std::variant<AssignStatement, MultipleAssignStatement, CallStatement, IfStatement, ForStatement,
               WhileStatement, WhenStatement, BreakStatement, ReturnStatement>
      value;
  Place place;
  Comment comment;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

}  // namespace saltus
