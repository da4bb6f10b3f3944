// Expressions of the syntax tree to values.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/placeholder.h"
#include "base/stack.h"
#include "base/stop_request.h"
#include "expr/differentiate.h"
#include "expr/function.h"
#include "expr/number.h"
#include "expr/table.h"
#include "expr/traverse.h"
#include "modelica/flattener.h"
#include "modelica/operators.h"
#include "modelica/parameter_use.h"
#include "modelica/statements.h"
#include "modelica/traced.h"

namespace saltus {

void Flattener::refuse(const std::string& what, const Place& place) {
  throw Error(fmt::format("{}: not supported", what), place.location());
}

Value Flattener::evaluate(const Expression& expression, const Scope& scope) {
  const Place& place = expression.place;
  check_stop();
  if (stack_is_low())
    throw Error("this value leads through too many others: give some of them as numbers",
                place.location());
  return std::visit(
      [&](const auto& e) -> Value {
        using T = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<T, RealLiteral>) {
          return Value::real(e.value);
        } else if constexpr (std::is_same_v<T, IntegerLiteral>) {
          return Value::integer(static_cast<double>(e.value));
        } else if constexpr (std::is_same_v<T, BooleanLiteral>) {
          return Value::boolean(e.value ? 1.0 : 0.0);
        } else if constexpr (std::is_same_v<T, StringLiteral>) {
          return Value::string(e.value);
        } else if constexpr (std::is_same_v<T, ComponentReference>) {
          return reference(e, scope, place);
        } else if constexpr (std::is_same_v<T, UnaryExpression>) {
          return evaluate_unary(e, scope, place);
        } else if constexpr (std::is_same_v<T, BinaryExpression>) {
          return evaluate_binary(expression, e, scope);
        } else if constexpr (std::is_same_v<T, IfExpression>) {
          return evaluate_if(e, scope, place);
        } else if constexpr (std::is_same_v<T, RangeExpression>) {
          return evaluate_range(e, scope, place);
        } else if constexpr (std::is_same_v<T, CallExpression>) {
          return call(expression, e, scope);
        } else if constexpr (std::is_same_v<T, ArrayConstructor>) {
          std::vector<Value> parts;
          for (const ExpressionPtr& element : e.elements)
            parts.push_back(evaluate(*element, scope));
          return stack(parts, place);
        } else if constexpr (std::is_same_v<T, ArrayComprehension>) {
          return iterate(e.body, e.iterators, scope, place);
        } else if constexpr (std::is_same_v<T, MatrixConstructor>) {
          return evaluate_matrix(e, scope, place);
        } else if constexpr (std::is_same_v<T, PartialApplication>) {
          // A function may be an argument already, with some of its inputs bound.
          const Found given = e.function.absolute || e.function.parts.size() > 1
                                  ? Found{}
                                  : lookup(e.function.parts.front(), scope);
          FunctionValue bound;
          if (given.local != nullptr && given.local->type == BasicType::kFunction)
            bound = *given.local->function;
          else
            bound.function = &tree_.class_instance(tree_.lookup_class(e.function, scope));
          for (const NamedArgument& argument : e.named)
            bound.bound.emplace_back(argument.name, evaluate(*argument.value, scope));
          Value value;
          value.type = BasicType::kFunction;
          value.function = std::make_shared<FunctionValue>(std::move(bound));
          return value;
        } else if constexpr (std::is_same_v<T, EndSubscript>) {
          if (end_values_.empty()) throw Error("'end' outside of a subscript", place.location());
          return Value::integer(static_cast<double>(end_values_.back()));
        } else if constexpr (std::is_same_v<T, TupleExpression>) {
          throw Error("a list of results is only allowed on the left of an equation or assignment",
                      place.location());
        } else {
          throw Error("':' is only allowed as a subscript", place.location());
        }
      },
      expression.value);
}

Value Flattener::evaluate_unary(const UnaryExpression& e, const Scope& scope, const Place& place) {
  Value operand = evaluate(*e.operand, scope);
  switch (e.op) {
    case UnaryOperator::kNot:
      if (operand.type == BasicType::kRecord) return overloaded("'not'", {operand}, place);
      if (operand.type != BasicType::kBoolean)
        throw Error(fmt::format("'not' needs a Boolean, not {}", spelling(operand.type)),
                    place.location());
      return map_numbers(operand, BasicType::kBoolean, [](const Expr& x) { return !x; });
    case UnaryOperator::kMinus:
    case UnaryOperator::kElementMinus:
      if (operand.type == BasicType::kRecord) return overloaded("'-'", {operand}, place);
      return negate(operand, place);
    default:
      if (!is_numeric(operand.type) && operand.type != BasicType::kRecord)
        throw Error(fmt::format("'+' needs numbers, not {}", spelling(operand.type)),
                    place.location());
      return operand;
  }
}

Value Flattener::evaluate_binary(const Expression& expression, const BinaryExpression& e,
                                 const Scope& scope) {
  const Place& place = expression.place;
  if (e.op == BinaryOperator::kAnd || e.op == BinaryOperator::kOr) {
    const auto side = [&](const ExpressionPtr& operand) {
      Value value = evaluate(*operand, scope);
      if (value.type != BasicType::kBoolean && value.type != BasicType::kRecord)
        throw Error(
            fmt::format("'{}' needs Booleans, not {}", spelling(e.op), spelling(value.type)),
            operand->place.location());
      return value;
    };
    Value left = side(e.left);
    const bool is_and = e.op == BinaryOperator::kAnd;
    // The right side may be meaningless where the left one decides.
    if (left.type == BasicType::kBoolean && left.is_scalar() && left.number().is_number() &&
        (left.number().number() != 0.0) != is_and)
      return left;
    const Value right = side(e.right);
    if (left.type == BasicType::kRecord || right.type == BasicType::kRecord)
      return overloaded(is_and ? "'and'" : "'or'", {left, right}, place);
    if (left.dimensions != right.dimensions)
      throw Error(fmt::format("'{}' of {} and {}", spelling(e.op), to_text(left.dimensions),
                              to_text(right.dimensions)),
                  place.location());
    Value result = left;
    for (std::size_t i = 0; i < result.numbers.size(); ++i)
      result.numbers[i] =
          is_and ? left.numbers[i] && right.numbers[i] : left.numbers[i] || right.numbers[i];
    return result;
  }
  // String(e) == "a": what the text would say if it were said later.
  const bool is_equality = e.op == BinaryOperator::kEqual || e.op == BinaryOperator::kNotEqual;
  const auto operand = [&](const Expression& side) {
    const auto* c = side.as<CallExpression>();
    const bool is_text = c != nullptr && c->function.text() == "String";
    if (!is_equality || !is_text || trace_ != nullptr) return evaluate(side, scope);
    ++in_message_;
    try {
      Value value = evaluate(side, scope);
      --in_message_;
      return value;
    } catch (...) {
      --in_message_;
      throw;
    }
  };
  const Value left = operand(*e.left);
  const Value right = operand(*e.right);
  if (left.type == BasicType::kRecord || right.type == BasicType::kRecord) {
    const std::string name = spelling(e.op);
    if (!name.starts_with('.')) return overloaded("'" + name + "'", {left, right}, place);
    // For scalars the same; no operator of whole arrays, such as a scalar product, is meant.
    const std::string scalar = "'" + name.substr(1) + "'";
    if (left.is_scalar() && right.is_scalar()) return overloaded(scalar, {left, right}, place);
    return overloaded_elements(scalar, left, right, place);
  }
  switch (e.op) {
    case BinaryOperator::kLess:
    case BinaryOperator::kLessEqual:
    case BinaryOperator::kGreater:
    case BinaryOperator::kGreaterEqual:
    case BinaryOperator::kEqual:
    case BinaryOperator::kNotEqual: {
      if (scope.instance != nullptr) component_ = scope.instance->path;
      Value result = compare(e.op, left, right, expression);
      component_.clear();
      return result;
    }
    default:
      return arithmetic(e.op, left, right, place);
  }
}

Expr Flattener::make_relation(const Expr& value, Strict strict, const Expression& expression) {
  // What is read in a `when` counts at its instants only.
  if ((no_event_ > 0 && no_event_ != located_) || in_when_ > 0 || !varies_continuously(value))
    return strict == Strict::kYes ? value > 0.0 : value >= 0.0;
  const std::string text = to_text(expression);
  const Expr made =
      flat_.relation(value, strict, component_.empty() ? text : component_ + ": " + text,
                     expression.place.location());
  if (machine_in_use_ != nullptr) flat_.leaves_state(made);
  return made;
}

Value Flattener::compare(BinaryOperator op, const Value& a, const Value& b,
                         const Expression& expression) {
  const Place& place = expression.place;
  if (!a.is_scalar() || !b.is_scalar())
    throw Error(fmt::format("'{}' compares scalars, not {} and {}", spelling(op),
                            to_text(a.dimensions), to_text(b.dimensions)),
                place.location());
  common_type(a, b, place);
  const bool equality = op == BinaryOperator::kEqual || op == BinaryOperator::kNotEqual;
  if (a.type == BasicType::kString) {
    if (has_placeholders(a.text()) || has_placeholders(b.text())) {
      if (!equality) refuse("an order of texts that depend on what varies", expression.place);
      const Expr same = same_text(a.text(), b.text(), place);
      return Value::boolean(op == BinaryOperator::kEqual ? same : !same);
    }
    const int order = a.text().compare(b.text());
    const bool holds = op == BinaryOperator::kEqual       ? order == 0
                       : op == BinaryOperator::kNotEqual  ? order != 0
                       : op == BinaryOperator::kLess      ? order < 0
                       : op == BinaryOperator::kLessEqual ? order <= 0
                       : op == BinaryOperator::kGreater   ? order > 0
                                                          : order >= 0;
    return Value::boolean(holds ? 1.0 : 0.0);
  }
  if (!is_number_like(a.type))
    throw Error(fmt::format("'{}' cannot compare {}s", spelling(op), spelling(a.type)),
                place.location());
  const Expr x = a.number();
  const Expr y = b.number();
  if (equality) {
    const bool real = a.type == BasicType::kReal || b.type == BasicType::kReal;
    if (real && no_event_ == 0 && varies_continuously(x - y))
      throw Error(
          fmt::format("'{}' of Reals that change continuously is never hit exactly; compare "
                      "with < or >",
                      spelling(op)),
          place.location());
    if (a.type == BasicType::kBoolean) {
      const Expr same = (x && y) || (!x && !y);
      return Value::boolean(op == BinaryOperator::kEqual ? same : !same);
    }
    return Value::boolean(op == BinaryOperator::kEqual ? equal(x, y) : !equal(x, y));
  }
  switch (op) {
    case BinaryOperator::kLess:
      return Value::boolean(make_relation(y - x, Strict::kYes, expression));
    case BinaryOperator::kLessEqual:
      return Value::boolean(make_relation(y - x, Strict::kNo, expression));
    case BinaryOperator::kGreater:
      return Value::boolean(make_relation(x - y, Strict::kYes, expression));
    default:
      return Value::boolean(make_relation(x - y, Strict::kNo, expression));
  }
}

Expr Flattener::condition_of(const Expression& condition, const Scope& scope, const char* after) {
  const Value value = evaluate(condition, scope);
  if (value.type != BasicType::kBoolean || !value.is_scalar())
    throw Error(fmt::format("the condition after '{}' is not a Boolean", after),
                condition.place.location());
  return value.number();
}

Value Flattener::evaluate_if(const IfExpression& e, const Scope& scope, const Place& place) {
  std::vector<std::pair<Expr, Value>> open;
  std::optional<Value> last;
  for (const auto& [condition, value] : e.branches) {
    const Expr c = condition_of(*condition, scope, "if");
    // A function that calls itself ends only if one branch is left out.
    const std::optional<double> known =
        trace_ != nullptr || c.is_number() ? fixed_number(c) : std::nullopt;
    if (known) {
      if (*known == 0.0) continue;
      last = evaluate(*value, scope);
      break;
    }
    open.emplace_back(c, evaluate(*value, scope));
  }
  Value result = last ? *last : evaluate(*e.otherwise, scope);
  for (std::size_t k = open.size(); k-- > 0;) {
    const auto& [condition, value] = open[k];
    if (value.dimensions != result.dimensions)
      throw Error(fmt::format("the branches of 'if' differ in shape: {} and {}",
                              to_text(value.dimensions), to_text(result.dimensions)),
                  place.location());
    result.type = common_type(value, result, place);
    if (!is_number_like(result.type)) {
      const std::optional<double> known = fixed_number(condition);
      if (!known && (result.type == BasicType::kRecord || result.type == BasicType::kString)) {
        result = join_values(condition, value, result, place);
        continue;
      }
      if (!known)
        refuse(fmt::format("an 'if' between {}s with a changing condition", spelling(result.type)),
               place);
      if (*known != 0.0) result = value;
      continue;
    }
    for (std::size_t i = 0; i < result.numbers.size(); ++i)
      result.numbers[i] = select(condition, value.numbers[i], result.numbers[i]);
  }
  return result;
}

Value Flattener::evaluate_range(const RangeExpression& e, const Scope& scope, const Place& place) {
  const Value start = evaluate(*e.start, scope);
  const Value stop = evaluate(*e.stop, scope);
  const Value step = e.step ? evaluate(*e.step, scope) : Value::integer(1);
  const double first = constant_number(start, place, "a range");
  const double last = constant_number(stop, place, "a range");
  const double by = constant_number(step, place, "a range");
  if (by == 0.0) throw Error("a range with step 0", place.location());
  const double steps = std::floor((last - first) / by * (1.0 + 1e-15) + 1e-12);
  if (steps > 1e7) throw Error("a range with too many elements", place.location());
  std::vector<Expr> numbers;
  for (double k = 0.0; k <= steps; ++k) numbers.emplace_back(first + k * by);
  const bool real = start.type == BasicType::kReal || step.type == BasicType::kReal;
  const std::size_t count = numbers.size();
  Value result = Value::array(real ? BasicType::kReal : start.type, {count}, std::move(numbers));
  result.definition = start.definition;
  return result;
}

Value Flattener::evaluate_matrix(const MatrixConstructor& e, const Scope& scope,
                                 const Place& place) {
  std::vector<Value> rows;
  for (const auto& row : e.rows) {
    std::vector<Value> parts;
    for (const ExpressionPtr& part : row) parts.push_back(promoted(evaluate(*part, scope), 2));
    rows.push_back(concatenate(1, parts, place));
  }
  return concatenate(0, rows, place);
}

std::vector<Value> Flattener::iteration_values(const Iterator& iterator, const Scope& scope,
                                               const IteratorBody& body) {
  const Value range = iterator.range == nullptr ? implicit_range(iterator, scope, body)
                                                : evaluate(*iterator.range, scope);
  if (range.dimensions.size() != 1)
    throw Error(fmt::format("'{}' runs over {}, not over a vector", iterator.name,
                            to_text(range.dimensions)),
                iterator.place.location());
  std::vector<Value> values;
  for (std::size_t i = 0; i < range.dimensions[0]; ++i) values.push_back(element(range, i, 1));
  return values;
}

Value Flattener::iterate(const ExpressionPtr& body, const std::vector<Iterator>& iterators,
                         const Scope& scope, const Place& place) {
  // {f(i, j) for i, j}: the last iterator is the outermost dimension.
  const std::function<Value(std::size_t, const Scope&)> level = [&](std::size_t k,
                                                                    const Scope& s) -> Value {
    if (k == 0) return evaluate(*body, s);
    std::vector<Value> parts;
    for (Value& value : iteration_values(iterators[k - 1], s, {.expression = body.get()})) {
      Locals locals{s.locals, {{iterators[k - 1].name, std::move(value)}}};
      parts.push_back(level(k - 1, {s.instance, s.lexical, &locals}));
    }
    return stack(parts, place);
  };
  return level(iterators.size(), scope);
}

double Flattener::constant_number(const Value& value, const Place& place, const char* what) {
  if (!value.is_scalar() || !is_number_like(value.type))
    throw Error(fmt::format("{} must be a scalar", what), place.location());
  const std::optional<double> known = fixed_number(value.number());
  if (!known)
    throw Error(
        fmt::format("{} depends on variables; it must be known when the model is translated", what),
        place.location());
  return *known;
}

long Flattener::constant_integer(const Expression& expression, const Scope& scope,
                                 const char* what) {
  return std::lround(constant_number(evaluate(expression, scope), expression.place, what));
}

// Without recursion: algorithms make long chains.
std::optional<double> Flattener::fixed_number(const Expr& expression) {
  if (expression.is_number()) return expression.number();
  if (varies_continuously(expression)) {
    if (trace_ == nullptr) return std::nullopt;
    const double value = trace_->at_point(expression);
    trace_->note(expression, value);
    return value;
  }
  if (ParameterUse* use = ParameterUse::present())
    for (const Expr& leaf : leaves_of(expression))
      if (leaf.is_parameter()) use->note(flat_.system.graph().name(leaf.node()->parameter()));
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(expression.node(), position, order,
                   [&](const Node*, const Node* child) { return !fixed_numbers_.contains(child); });
  std::vector<double> arguments;
  for (const Node* node : order) {
    if (fixed_numbers_.contains(node)) continue;
    double value = 0.0;
    if (node->op == Op::kSlot) return std::nullopt;
    if (node->op == Op::kConstant) {
      value = node->value;
    } else if (node->op == Op::kParameter) {
      value = flat_.system.parameters()[node->parameter().index()].value;
    } else {
      arguments.clear();
      for (const Node* c : node->children) arguments.push_back(fixed_numbers_.at(c));
      if (node->op == Op::kTable) {
        value = node->table->evaluate(arguments[0], node->order);
      } else if (node->op == Op::kCall) {
        value = node->function->evaluate(arguments.data());
      } else {
        arguments.resize(3);
        value = apply(node->op, arguments[0], arguments[1], arguments[2]);
      }
    }
    fixed_numbers_[node] = value;
  }
  return fixed_numbers_.at(expression.node());
}

bool Flattener::varies_continuously(const Expr& expression) {
  if (expression.is_number()) return false;
  NodeMap position;
  std::vector<const Node*> order;
  append_postorder(expression.node(), position, order, [&](const Node*, const Node* child) {
    return !is_leaf(child->op) && !varies_.contains(child);
  });
  const auto known = [&](const Node* node) {
    if (is_leaf(node->op)) return node->op == Op::kTime || node->op == Op::kVariable;
    return varies_.at(node);
  };
  for (const Node* node : order) {
    if (is_leaf(node->op) || varies_.contains(node)) continue;
    varies_[node] = std::any_of(node->children.begin(), node->children.end(), known);
  }
  return known(expression.node());
}

bool Flattener::jumps_at_events(const Expr& argument) {
  if (no_event_ > 0 || in_when_ > 0 || !varies_continuously(argument)) return false;
  return in_initial_ == 0 || std::ranges::any_of(leaves_of(argument), &Expr::is_variable);
}

}  // namespace saltus
