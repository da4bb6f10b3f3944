#include <fmt/format.h>

#include <ostream>
#include <variant>
#include <vector>

#include "expr/expr.h"
#include "expr/function.h"
#include "expr/graph.h"
#include "expr/table.h"

// Readable maths in Modelica's notation. Work is kept on an explicit stack, and the text is cut off
// at kMaxLength, because a small graph with much sharing can stand for an astronomically long text.

namespace saltus {

namespace {

constexpr std::size_t kMaxLength = std::size_t{1} << 20;

enum Precedence { kAny, kOrs, kAnds, kRelation, kSum, kProduct, kPower, kPrimary };

// A number, or a node, where at least this precedence is needed; or text.
struct Operand {
  Expr expr;
  Precedence needed = kAny;
};
using Piece = std::variant<std::string, Operand>;

Expr child(const Node* n, std::size_t i) { return Expr(n->children[i]); }
bool is_negative(const Expr& a) { return a.is_number() && a.number() < 0.0; }
bool is_square(const Node* n) { return n->op == Op::kMultiply && n->children[0] == n->children[1]; }

Precedence precedence_of(const Expr& a) {
  if (a.is_number()) return is_negative(a) ? kSum : kPrimary;
  const Node* n = a.node();
  switch (n->op) {
    case Op::kSelect:
      return kAny;
    case Op::kOr:
      return kOrs;
    case Op::kAnd:
      return kAnds;
    case Op::kNot:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kEqual:
      return kRelation;
    case Op::kNegate:
    case Op::kAdd:
    case Op::kSubtract:
      return kSum;
    case Op::kMultiply:
      if (is_square(n)) return kPower;
      return is_negative(child(n, 0)) ? kSum : kProduct;
    case Op::kDivide:
      return is_negative(child(n, 0)) ? kSum : kProduct;
    case Op::kPow:
      return kPower;
    default:
      return kPrimary;
  }
}

const char* function_name(Op op) {
  switch (op) {
    case Op::kSqrt:
      return "sqrt";
    case Op::kExp:
      return "exp";
    case Op::kLog:
      return "log";
    case Op::kLog10:
      return "log10";
    case Op::kSin:
      return "sin";
    case Op::kCos:
      return "cos";
    case Op::kTan:
      return "tan";
    case Op::kAsin:
      return "asin";
    case Op::kAcos:
      return "acos";
    case Op::kAtan:
      return "atan";
    case Op::kSinh:
      return "sinh";
    case Op::kCosh:
      return "cosh";
    case Op::kTanh:
      return "tanh";
    case Op::kAbs:
      return "abs";
    case Op::kSign:
      return "sign";
    case Op::kFloor:
      return "floor";
    case Op::kCeil:
      return "ceil";
    case Op::kTrunc:
      return "trunc";
    case Op::kAtan2:
      return "atan2";
    case Op::kMin:
      return "min";
    case Op::kMax:
      return "max";
    default:
      return "";
  }
}

std::string name_of_lookup(const Node* n) {
  return n->table->name + std::string(static_cast<std::size_t>(n->order), '\'');
}

std::vector<Piece> infix(const Node* n, Precedence left, const char* sign, Precedence right) {
  return {Operand{child(n, 0), left}, sign, Operand{child(n, 1), right}};
}

// 0 < x reads better as x > 0, which is how it was written.
std::vector<Piece> relation(const Node* n, const char* sign, const char* reversed) {
  if (!child(n, 0).is_number()) return infix(n, kSum, sign, kSum);
  return {Operand{child(n, 1), kSum}, reversed, Operand{child(n, 0), kSum}};
}

std::vector<Piece> function_call(std::string name, const Node* n) {
  std::vector<Piece> pieces = {std::move(name), "("};
  for (std::size_t i = 0; i < n->children.size(); ++i) {
    if (i > 0) pieces.emplace_back(", ");
    pieces.emplace_back(Operand{child(n, i), kAny});
  }
  pieces.emplace_back(")");
  return pieces;
}

std::vector<Piece> variable(const Node* n) {
  const std::string& name = n->graph->name(n->variable());
  if (n->order == 0) return {name};
  if (n->order == 1) return {fmt::format("der({})", name)};
  return {fmt::format("der({}, {})", name, n->order)};
}

// A leading negative factor is left bare: the node as a whole counts as a sum ("-2*x").
Precedence leading(const Node* n) { return is_negative(child(n, 0)) ? kSum : kProduct; }

std::vector<Piece> pieces_of(const Node* n) {
  switch (n->op) {
    case Op::kConstant:
      return {fmt::format("{}", n->value)};
    case Op::kTime:
      return {"time"};
    case Op::kVariable:
      return variable(n);
    case Op::kParameter:
      return {n->graph->name(n->parameter())};
    case Op::kSlot:
      return {n->graph->name(n->slot())};
    case Op::kNegate:
      return {"-", Operand{child(n, 0), kProduct}};
    case Op::kNot:
      return {"not ", Operand{child(n, 0), kPrimary}};
    case Op::kAdd:
      if (is_negative(child(n, 1))) {
        return {Operand{child(n, 0), kSum}, " - ", Operand{-child(n, 1).number(), kProduct}};
      }
      return infix(n, kSum, " + ",
                   precedence_of(child(n, 1)) == kSum && child(n, 1).node()->op != Op::kNegate &&
                           !is_negative(child(n, 1))
                       ? kSum
                       : kProduct);
    case Op::kSubtract:
      return infix(n, kSum, " - ", kProduct);
    case Op::kMultiply:
      if (is_square(n)) return {Operand{child(n, 0), kPrimary}, "^2"};
      return infix(n, leading(n), "*", child(n, 1).node()->op == Op::kDivide ? kPower : kProduct);
    case Op::kDivide:
      return infix(n, leading(n), "/", kPower);
    case Op::kPow:
      return infix(n, kPrimary, "^", kPrimary);
    case Op::kLess:
      return relation(n, " < ", " > ");
    case Op::kLessEqual:
      return relation(n, " <= ", " >= ");
    case Op::kEqual:
      return infix(n, kSum, " == ", kSum);
    case Op::kAnd:
      return infix(n, kAnds, " and ", kAnds);
    case Op::kOr:
      return infix(n, kOrs, " or ", kOrs);
    case Op::kSelect:
      return {"if ",    Operand{child(n, 0), kOrs}, " then ", Operand{child(n, 1), kOrs},
              " else ", Operand{child(n, 2), kAny}};
    case Op::kTable:
      return function_call(name_of_lookup(n), n);
    case Op::kCall:
      return function_call(n->function->name, n);
    default:
      return function_call(function_name(n->op), n);
  }
}

std::vector<Piece> pieces_of(const Operand& operand) {
  std::vector<Piece> pieces;
  if (operand.expr.node() == nullptr) {
    pieces = {fmt::format("{}", operand.expr.number())};
  } else {
    pieces = pieces_of(operand.expr.node());
  }
  if (precedence_of(operand.expr) < operand.needed) {
    pieces.insert(pieces.begin(), "(");
    pieces.emplace_back(")");
  }
  return pieces;
}

}  // namespace

std::string to_string(const Expr& a) {
  std::string text;
  std::vector<Piece> stack = {Operand{a, kAny}};
  while (!stack.empty()) {
    const Piece piece = std::move(stack.back());
    stack.pop_back();
    if (const auto* literal = std::get_if<std::string>(&piece)) {
      text += *literal;
      if (text.size() > kMaxLength) return text + "...";
      continue;
    }
    std::vector<Piece> pieces = pieces_of(std::get<Operand>(piece));
    for (auto it = pieces.rbegin(); it != pieces.rend(); ++it) stack.push_back(std::move(*it));
  }
  return text;
}

std::string to_string(const Equality& a) { return to_string(a.lhs) + " = " + to_string(a.rhs); }

std::ostream& operator<<(std::ostream& out, const Expr& a) { return out << to_string(a); }

}  // namespace saltus
