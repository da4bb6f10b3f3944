#include "modelica/connection_graph.h"

#include <fmt/format.h>

#include "base/error.h"
#include "modelica/instance.h"

namespace saltus {

std::size_t ConnectionGraph::node(const Instance& record) {
  const auto [it, is_new] = numbers_.try_emplace(&record, nodes_.size());
  if (is_new) {
    nodes_.emplace_back();
    nodes_.back().record = &record;
    nodes_.back().group = it->second;
  }
  return it->second;
}

std::size_t ConnectionGraph::group_of(std::size_t node) {
  while (nodes_[node].group != node) {
    nodes_[node].group = nodes_[nodes_[node].group].group;
    node = nodes_[node].group;
  }
  return node;
}

void ConnectionGraph::add_root(const Instance& record, const Place&) {
  nodes_[node(record)].root = true;
}

void ConnectionGraph::add_potential_root(const Instance& record, double priority) {
  Node& n = nodes_[node(record)];
  n.potential = true;
  n.priority = priority;
}

std::size_t ConnectionGraph::add_edge(const Instance& a, const Instance& b, bool branch,
                                      const Place& place) {
  const std::size_t x = node(a);
  const std::size_t y = node(b);
  edges_.push_back({x, y, branch, false, place});
  return edges_.size() - 1;
}

void ConnectionGraph::add_branch(const Instance& a, const Instance& b, const Place& place) {
  add_edge(a, b, true, place);
}

std::size_t ConnectionGraph::add_connection(const Instance& a, const Instance& b,
                                            const Place& place) {
  connections_.push_back(add_edge(a, b, false, place));
  return connections_.size() - 1;
}

void ConnectionGraph::solve() {
  solved_ = true;
  // All roots are one node of the tree.
  std::size_t first_root = nodes_.size();
  const auto join_root = [&](std::size_t n) {
    if (first_root == nodes_.size()) first_root = n;
    nodes_[group_of(n)].group = group_of(first_root);
  };
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].root) join_root(n);
  for (const bool branches : {true, false})
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      Edge& edge = edges_[e];
      if (edge.branch != branches) continue;
      const std::size_t x = group_of(edge.a);
      const std::size_t y = group_of(edge.b);
      if (x == y && branches)
        throw Error(fmt::format("Connections.branch({}, {}) closes a loop of branches and roots",
                                nodes_[edge.a].record->path, nodes_[edge.b].record->path),
                    edge.place.location());
      if (x == y) {
        edge.broken = true;
        continue;
      }
      nodes_[x].group = y;
      nodes_[edge.a].edges.push_back(e);
      nodes_[edge.b].edges.push_back(e);
    }
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (first_root != nodes_.size() && group_of(n) == group_of(first_root)) continue;
    std::size_t best = nodes_.size();
    for (std::size_t m = n; m < nodes_.size(); ++m)
      if (nodes_[m].potential && group_of(m) == group_of(n) &&
          (best == nodes_.size() || nodes_[m].priority < nodes_[best].priority))
        best = m;
    if (best == nodes_.size())
      throw Error(
          fmt::format("'{}' and what it is connected to have no root: neither "
                      "Connections.root() nor Connections.potentialRoot()",
                      nodes_[n].record->path));
    nodes_[best].root = true;
    join_root(best);
  }
  std::vector<std::size_t> queue;
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].root) {
      nodes_[n].distance = 0;
      queue.push_back(n);
    }
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const std::size_t e : nodes_[queue[k]].edges) {
      const std::size_t other = edges_[e].a == queue[k] ? edges_[e].b : edges_[e].a;
      if (nodes_[other].distance >= 0) continue;
      nodes_[other].distance = nodes_[queue[k]].distance + 1;
      queue.push_back(other);
    }
}

bool ConnectionGraph::is_root(const Instance& record) const {
  const auto it = numbers_.find(&record);
  return it != numbers_.end() && nodes_[it->second].root;
}

bool ConnectionGraph::is_rooted(const Instance& record, const Place& place) const {
  const auto it = numbers_.find(&record);
  if (it != numbers_.end()) {
    const Node& n = nodes_[it->second];
    for (const std::size_t e : n.edges)
      if (edges_[e].branch) {
        const std::size_t other = edges_[e].a == it->second ? edges_[e].b : edges_[e].a;
        return n.distance < nodes_[other].distance;
      }
  }
  throw Error(fmt::format("rooted({}): it is in no Connections.branch()", record.path),
              place.location());
}

}  // namespace saltus
