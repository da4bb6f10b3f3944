#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "modelica/expression.h"

// Prints expressions as Modelica text.

namespace saltus {
namespace {

// Binding strength, weakest first, as in the grammar of Modelica 3.5, appendix A.2.7.
enum Strength { kWeakest, kRange, kOr, kAnd, kNot, kRelation, kSum, kProduct, kPower, kPrimary };

Strength strength(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::kOr:
      return kOr;
    case BinaryOperator::kAnd:
      return kAnd;
    case BinaryOperator::kLess:
    case BinaryOperator::kLessEqual:
    case BinaryOperator::kGreater:
    case BinaryOperator::kGreaterEqual:
    case BinaryOperator::kEqual:
    case BinaryOperator::kNotEqual:
      return kRelation;
    case BinaryOperator::kAdd:
    case BinaryOperator::kSubtract:
    case BinaryOperator::kElementAdd:
    case BinaryOperator::kElementSubtract:
      return kSum;
    case BinaryOperator::kMultiply:
    case BinaryOperator::kDivide:
    case BinaryOperator::kElementMultiply:
    case BinaryOperator::kElementDivide:
      return kProduct;
    case BinaryOperator::kPower:
    case BinaryOperator::kElementPower:
      return kPower;
  }
  return kPrimary;
}

Strength strength(const Expression& expression) {
  if (const auto* binary = expression.as<BinaryExpression>()) return strength(binary->op);
  if (const auto* unary = expression.as<UnaryExpression>()) {
    return unary->op == UnaryOperator::kNot ? kNot : kSum;
  }
  if (expression.as<RangeExpression>() != nullptr) return kRange;
  if (expression.as<IfExpression>() != nullptr) return kWeakest;
  return kPrimary;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

class Printer {
 public:
  std::string text;

  void print(const Expression& expression) {
    std::visit([this](const auto& e) { write(e); }, expression.value);
  }

 private:
  // In parentheses unless it binds at least as strongly as asked.
  void print(const ExpressionPtr& expression, Strength least) {
    if (expression == nullptr) return;
    const bool parentheses = strength(*expression) < least;
    if (parentheses) text += '(';
    print(*expression);
    if (parentheses) text += ')';
  }

  void list(const std::vector<ExpressionPtr>& expressions) {
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      if (i > 0) text += ", ";
      print(expressions[i], kWeakest);
    }
  }

  void named(const std::vector<NamedArgument>& arguments, bool first) {
    for (const NamedArgument& argument : arguments) {
      if (!first) text += ", ";
      first = false;
      text += argument.name + " = ";
      print(argument.value, kWeakest);
    }
  }

  void iterators(const std::vector<Iterator>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      text += i == 0 ? " for " : ", ";
      text += list[i].name;
      if (list[i].range == nullptr) continue;
      text += " in ";
      print(list[i].range, kWeakest);
    }
  }

  void write(const RealLiteral& e) {
    std::string digits = fmt::format("{}", e.value);
    if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
    text += digits;
  }
  void write(const IntegerLiteral& e) { text += std::to_string(e.value); }
  void write(const BooleanLiteral& e) { text += e.value ? "true" : "false"; }
  void write(const StringLiteral& e) { text += quoted(e.value); }
  void write(const ComponentReference& e) { text += e.text(); }
  void write(const UnaryExpression& e) {
    text += spelling(e.op);
    if (e.op == UnaryOperator::kNot) text += ' ';
    print(e.operand, e.op == UnaryOperator::kNot ? kRelation : kProduct);
  }
  void write(const BinaryExpression& e) {
    const Strength own = strength(e.op);
    // Relations and powers do not associate; the others do to the left.
    const bool chain = own != kRelation && own != kPower;
    const auto above = static_cast<Strength>(own + 1);
    print(e.left, chain ? own : above);
    text += own == kPower ? std::string(spelling(e.op)) : fmt::format(" {} ", spelling(e.op));
    print(e.right, above);
  }
  void write(const IfExpression& e) {
    const char* word = "if ";
    for (const auto& [condition, value] : e.branches) {
      text += word;
      print(condition, kWeakest);
      text += " then ";
      print(value, kWeakest);
      word = " elseif ";
    }
    text += " else ";
    print(e.otherwise, kWeakest);
  }
  void write(const RangeExpression& e) {
    print(e.start, kOr);
    if (e.step != nullptr) {
      text += ':';
      print(e.step, kOr);
    }
    text += ':';
    print(e.stop, kOr);
  }
  void write(const CallExpression& e) {
    text += e.function.text() + '(';
    list(e.arguments);
    named(e.named, e.arguments.empty());
    iterators(e.iterators);
    text += ')';
  }
  void write(const PartialApplication& e) {
    text += "function " + e.function.text() + '(';
    named(e.named, true);
    text += ')';
  }
  void write(const ArrayConstructor& e) {
    text += '{';
    list(e.elements);
    text += '}';
  }
  void write(const ArrayComprehension& e) {
    text += '{';
    print(e.body, kWeakest);
    iterators(e.iterators);
    text += '}';
  }
  void write(const MatrixConstructor& e) {
    text += '[';
    for (std::size_t i = 0; i < e.rows.size(); ++i) {
      if (i > 0) text += "; ";
      list(e.rows[i]);
    }
    text += ']';
  }
  void write(const TupleExpression& e) {
    text += '(';
    list(e.elements);
    text += ')';
  }
  void write(const EndSubscript& /*e*/) { text += "end"; }
  void write(const WholeDimension& /*e*/) { text += ':'; }
};

}  // namespace

std::string to_text(const Expression& expression) {
  Printer printer;
  printer.print(expression);
  return printer.text;
}

}  // namespace saltus
