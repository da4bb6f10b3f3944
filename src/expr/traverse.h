#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "expr/graph.h"

// Walking the expression graph without recursion, so that a chain of a hundred thousand operations
// does not exhaust the stack.

namespace saltus {

// A map from nodes to small numbers that is cleared in constant time. Its memory is reused from
// call to call on the same thread; maps may be nested (a user function may differentiate).
class NodeMap {
 public:
  NodeMap();
  ~NodeMap();
  NodeMap(const NodeMap&) = delete;
  NodeMap& operator=(const NodeMap&) = delete;

  static constexpr std::uint32_t kNone = 0xffffffffu;

  std::uint32_t find(const Node* node) const {
    return node->id < store_->cells.size() && store_->cells[node->id].epoch == store_->epoch
               ? store_->cells[node->id].value
               : kNone;
  }
  void set(const Node* node, std::uint32_t value);
  void clear();

 private:
  struct Cell {
    std::uint32_t epoch = 0;
    std::uint32_t value = 0;
  };
  struct Store {
    std::uint32_t epoch = 0;
    std::vector<Cell> cells;
  };
  static std::vector<std::unique_ptr<Store>>& free_stores();

  std::unique_ptr<Store> store_;
};

// Appends the nodes below `root` that `position` does not know yet to `order`, children first, and
// records their positions. Children for which `enter(parent, child)` is false are left out.
template <class Enter>
void append_postorder(const Node* root, NodeMap& position, std::vector<const Node*>& order,
                      Enter&& enter) {
  struct Frame {
    const Node* node;
    std::size_t next;
  };
  if (position.find(root) != NodeMap::kNone) return;
  std::vector<Frame> stack = {{root, 0}};
  while (!stack.empty()) {
    Frame& top = stack.back();
    const Node* node = top.node;
    if (top.next < node->children.size()) {
      const Node* child = node->children[top.next++];
      if (position.find(child) == NodeMap::kNone && enter(node, child)) stack.push_back({child, 0});
      continue;
    }
    position.set(node, static_cast<std::uint32_t>(order.size()));
    order.push_back(node);
    stack.pop_back();
  }
}

inline void append_postorder(const Node* root, NodeMap& position, std::vector<const Node*>& order) {
  append_postorder(root, position, order, [](const Node*, const Node*) { return true; });
}

// The node's operation on other arguments, simplified.
Expr rebuild(const Node* node, std::span<const Expr> arguments);

}  // namespace saltus
