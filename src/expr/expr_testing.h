#pragma once

#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "expr/expr.h"
#include "expr/function.h"
#include "expr/graph.h"
#include "expr/table.h"

// For tests only: random expressions, and evaluation by plain recursion over the graph, written
// apart from the simplifier and the tape so that it can judge them.

namespace saltus::testing {

// How often this test program has asked for memory; counted in tape_test.cc.
extern std::atomic<long> allocations;

using Point = std::map<const Node*, double>;

inline double evaluate(const Expr& e, const Point& point) {
  if (e.node() == nullptr) return e.number();
  const Node& n = *e.node();
  const auto arg = [&](std::size_t i) { return evaluate(Expr(n.children[i]), point); };
  switch (n.op) {
    case Op::kConstant:
      return n.value;
    case Op::kTime:
    case Op::kVariable:
    case Op::kParameter:
    case Op::kSlot:
      return point.at(&n);
    case Op::kNegate:
      return -arg(0);
    case Op::kSqrt:
      return std::sqrt(arg(0));
    case Op::kExp:
      return std::exp(arg(0));
    case Op::kLog:
      return std::log(arg(0));
    case Op::kLog10:
      return std::log10(arg(0));
    case Op::kSin:
      return std::sin(arg(0));
    case Op::kCos:
      return std::cos(arg(0));
    case Op::kTan:
      return std::tan(arg(0));
    case Op::kAsin:
      return std::asin(arg(0));
    case Op::kAcos:
      return std::acos(arg(0));
    case Op::kAtan:
      return std::atan(arg(0));
    case Op::kSinh:
      return std::sinh(arg(0));
    case Op::kCosh:
      return std::cosh(arg(0));
    case Op::kTanh:
      return std::tanh(arg(0));
    case Op::kAbs:
      return std::abs(arg(0));
    case Op::kSign:
      return arg(0) > 0 ? 1 : arg(0) < 0 ? -1 : 0;
    case Op::kFloor:
      return std::floor(arg(0));
    case Op::kCeil:
      return std::ceil(arg(0));
    case Op::kTrunc:
      return std::trunc(arg(0));
    case Op::kNot:
      return arg(0) == 0;
    case Op::kAdd:
      return arg(0) + arg(1);
    case Op::kSubtract:
      return arg(0) - arg(1);
    case Op::kMultiply:
      return arg(0) * arg(1);
    case Op::kDivide:
      return arg(0) / arg(1);
    case Op::kPow:
      return std::pow(arg(0), arg(1));
    case Op::kAtan2:
      return std::atan2(arg(0), arg(1));
    case Op::kMin:
      return std::min(arg(0), arg(1));
    case Op::kMax:
      return std::max(arg(0), arg(1));
    case Op::kLess:
      return arg(0) < arg(1);
    case Op::kLessEqual:
      return arg(0) <= arg(1);
    case Op::kEqual:
      return arg(0) == arg(1);
    case Op::kAnd:
      return arg(0) != 0 && arg(1) != 0;
    case Op::kOr:
      return arg(0) != 0 || arg(1) != 0;
    case Op::kSelect:
      return arg(0) != 0 ? arg(1) : arg(2);
    case Op::kTable:
      return n.table->evaluate(arg(0), n.order);
    case Op::kCall: {
      std::vector<double> arguments;
      for (std::size_t i = 0; i < n.children.size(); ++i) arguments.push_back(arg(i));
      return n.function->evaluate(arguments.data());
    }
  }
  return NAN;
}

// Random expressions in the given leaves that are smooth and of moderate size for leaf values
// between 0.5 and 1.5; with_kinks adds min, max, abs, select, relations and rounding.
class RandomExpressions {
 public:
  RandomExpressions(std::vector<Expr> leaves, unsigned seed, bool with_kinks)
      : leaves_(std::move(leaves)), random_(seed), with_kinks_(with_kinks) {}

  Expr next(int depth) {
    if (depth == 0) {
      if (pick(5) == 0) return Expr(0.25 * (1 + pick(8)));
      return leaves_[static_cast<std::size_t>(pick(static_cast<int>(leaves_.size())))];
    }
    const Expr a = next(depth - 1);
    const auto b = [&] { return next(depth - 1); };
    switch (pick(with_kinks_ ? 24 : 17)) {
      case 0:
      case 1:
        return a + b();
      case 2:
      case 3:
        return a - b();
      case 4:
      case 5:
        return a * b();
      case 6:
        return a / (1.5 + pow(b(), 2));
      case 7:
        return sin(a);
      case 8:
        return cos(a);
      case 9:
        return tanh(a);
      case 10:
        return atan(a);
      case 11:
        return sqrt(1.0 + a * a);
      case 12:
        return log(1.0 + a * a);
      case 13:
        return pow(tanh(a), 3);
      case 14:
        return exp(sin(a));
      case 15:
        return atan2(a, 2.0 + cos(b()));
      case 16:
        return pow(1.0 + a * a, 0.5 * tanh(b()));
      case 17:
        return min(a, b());
      case 18:
        return max(a, b());
      case 19:
        return abs(a);
      case 20:
        return select(a < b(), b(), b());
      case 21:
        return floor(a) + trunc(b()) - ceil(a);
      case 22:
        return sign(a) * (a > 0.3 && !(b() <= 0.7));
      default:
        return select(equal(a, b()) || a >= 0.5, -a, b());
    }
  }

 private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  std::vector<Expr> leaves_;
  std::mt19937 random_;
  bool with_kinks_;
};

inline Point random_point(const std::vector<Expr>& leaves, std::mt19937& random) {
  std::uniform_real_distribution<double> value(0.5, 1.5);
  Point point;
  for (const Expr& leaf : leaves) point[leaf.node()] = value(random);
  return point;
}

}  // namespace saltus::testing
