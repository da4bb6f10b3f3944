#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "modelica/place.h"

namespace saltus {

struct Instance;

// Connections of records with more numbers than degrees of freedom (Modelica 3.6, section 9.4),
// such as the orientation of a frame. Nodes are those records; branches always hold, connections
// may be broken. A spanning tree with one root a component decides which connections are
// equalities; the others close a loop and hold by the record's equalityConstraint() only.
class ConnectionGraph {
 public:
  void add_root(const Instance& node, const Place& place);
  void add_potential_root(const Instance& node, double priority);
  void add_branch(const Instance& a, const Instance& b, const Place& place);
  // Returns its number, from 0.
  std::size_t add_connection(const Instance& a, const Instance& b, const Place& place);

  // Throws Error if branches close a loop or a component has no root.
  void solve();

  // Once solved.
  bool is_solved() const { return solved_; }
  bool is_broken(std::size_t connection) const { return edges_[connections_[connection]].broken; }
  bool is_root(const Instance& node) const;
  // Whether it is nearer to the root than the other end of its branch.
  bool is_rooted(const Instance& node, const Place& place) const;

 private:
  struct Node {
    const Instance* record = nullptr;
    std::size_t group = 0;  // union-find
    bool root = false;
    bool potential = false;
    double priority = 0.0;
    int distance = -1;  // from its root
    std::vector<std::size_t> edges;
  };
  struct Edge {
    std::size_t a = 0;
    std::size_t b = 0;
    bool branch = false;
    bool broken = false;
    Place place;
  };
  std::size_t node(const Instance& record);
  std::size_t group_of(std::size_t node);
  std::size_t add_edge(const Instance& a, const Instance& b, bool branch, const Place& place);

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<std::size_t> connections_;  // edges that are no branches
  std::unordered_map<const Instance*, std::size_t> numbers_;
  bool solved_ = false;
};

}  // namespace saltus
