#include "expr/traverse.h"

#include <algorithm>
#include <utility>

#include "expr/function.h"
#include "expr/table.h"

namespace saltus {

std::vector<std::unique_ptr<NodeMap::Store>>& NodeMap::free_stores() {
  thread_local std::vector<std::unique_ptr<Store>> stores;
  return stores;
}

NodeMap::NodeMap() {
  auto& stores = free_stores();
  if (stores.empty()) {
    store_ = std::make_unique<Store>();
  } else {
    store_ = std::move(stores.back());
    stores.pop_back();
  }
  clear();
}

NodeMap::~NodeMap() { free_stores().push_back(std::move(store_)); }

void NodeMap::set(const Node* node, std::uint32_t value) {
  auto& cells = store_->cells;
  if (node->id >= cells.size()) cells.resize(std::max<std::size_t>(node->id + 1, 2 * cells.size()));
  cells[node->id] = {store_->epoch, value};
}

void NodeMap::clear() {
  if (++store_->epoch == 0) {  // wrapped: old marks would look fresh
    store_->cells.assign(store_->cells.size(), Cell{});
    store_->epoch = 1;
  }
}

Expr rebuild(const Node* node, std::span<const Expr> a) {
  switch (node->op) {
    case Op::kConstant:
    case Op::kTime:
    case Op::kVariable:
    case Op::kParameter:
    case Op::kSlot:
      return Expr(node);
    case Op::kNegate:
      return -a[0];
    case Op::kSqrt:
      return sqrt(a[0]);
    case Op::kExp:
      return exp(a[0]);
    case Op::kLog:
      return log(a[0]);
    case Op::kLog10:
      return log10(a[0]);
    case Op::kSin:
      return sin(a[0]);
    case Op::kCos:
      return cos(a[0]);
    case Op::kTan:
      return tan(a[0]);
    case Op::kAsin:
      return asin(a[0]);
    case Op::kAcos:
      return acos(a[0]);
    case Op::kAtan:
      return atan(a[0]);
    case Op::kSinh:
      return sinh(a[0]);
    case Op::kCosh:
      return cosh(a[0]);
    case Op::kTanh:
      return tanh(a[0]);
    case Op::kAbs:
      return abs(a[0]);
    case Op::kSign:
      return sign(a[0]);
    case Op::kFloor:
      return floor(a[0]);
    case Op::kCeil:
      return ceil(a[0]);
    case Op::kTrunc:
      return trunc(a[0]);
    case Op::kNot:
      return !a[0];
    case Op::kAdd:
      return a[0] + a[1];
    case Op::kSubtract:
      return a[0] - a[1];
    case Op::kMultiply:
      return a[0] * a[1];
    case Op::kDivide:
      return a[0] / a[1];
    case Op::kPow:
      return pow(a[0], a[1]);
    case Op::kAtan2:
      return atan2(a[0], a[1]);
    case Op::kMin:
      return min(a[0], a[1]);
    case Op::kMax:
      return max(a[0], a[1]);
    case Op::kLess:
      return a[0] < a[1];
    case Op::kLessEqual:
      return a[0] <= a[1];
    case Op::kEqual:
      return equal(a[0], a[1]);
    case Op::kAnd:
      return a[0] && a[1];
    case Op::kOr:
      return a[0] || a[1];
    case Op::kSelect:
      return select(a[0], a[1], a[2]);
    case Op::kTable:
      return lookup(node->graph->shared(node->table), a[0], node->order);
    case Op::kCall:
      return call(node->graph->shared(node->function), std::vector<Expr>(a.begin(), a.end()));
  }
  return Expr(node);
}

}  // namespace saltus
