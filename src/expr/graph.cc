#include "expr/graph.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace saltus {

namespace {

constexpr std::size_t kChunkBits = 10;
constexpr std::size_t kChunk = std::size_t{1} << kChunkBits;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 32);
}

std::uint32_t hash_of(const Node& n) {
  std::uint64_t h =
      mix((static_cast<std::uint64_t>(n.op) << 56) ^
          (static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.order)) << 32) ^ n.index);
  if (n.op == Op::kConstant) h ^= mix(std::bit_cast<std::uint64_t>(n.value) + 1);
  if (n.table != nullptr) h ^= mix(reinterpret_cast<std::uintptr_t>(n.table));
  if (n.function != nullptr) h ^= mix(reinterpret_cast<std::uintptr_t>(n.function));
  if (is_commutative(n.op)) {
    h += mix(n.children[0]->id + 1) + mix(n.children[1]->id + 1);
  } else {
    for (const Node* child : n.children) h = mix(h ^ (child->id + std::uint64_t{1}));
  }
  h = mix(h);
  return static_cast<std::uint32_t>(h ^ (h >> 32));
}

bool same_fields(const Node& a, const Node& b) {
  if (a.op != b.op || a.index != b.index || a.order != b.order || a.table != b.table ||
      a.function != b.function || a.children.size() != b.children.size() ||
      std::bit_cast<std::uint64_t>(a.value) != std::bit_cast<std::uint64_t>(b.value)) {
    return false;
  }
  if (std::equal(a.children.begin(), a.children.end(), b.children.begin())) return true;
  return is_commutative(a.op) && a.children[0] == b.children[1] && a.children[1] == b.children[0];
}

}  // namespace

Children::Children(std::initializer_list<const Node*> few)
    : size_(static_cast<std::uint32_t>(few.size())) {
  std::copy(few.begin(), few.end(), few_.begin());
}

Children::Children(std::span<const Node* const> children)
    : size_(static_cast<std::uint32_t>(children.size())) {
  if (is_in_place()) {
    std::copy(children.begin(), children.end(), few_.begin());
  } else {
    array_ = children.data();
  }
}

// Nodes in chunks; an open-addressing index from hash to id + 1 (0: free) finds them.
struct Graph::Storage {
  struct Entry {
    std::uint32_t hash = 0;
    std::uint32_t id_plus_one = 0;
  };

  std::vector<std::unique_ptr<Node[]>> chunks;
  std::size_t count = 0;
  std::vector<Entry> entries = std::vector<Entry>(1024);
  std::vector<std::unique_ptr<const Node*[]>> child_arrays;
  std::vector<std::string> variable_names;
  std::vector<std::string> parameter_names;
  std::vector<std::string> slot_names;
  std::unordered_map<const Node*, Expr> slopes;  // by symbol
  std::unordered_map<const Table*, std::shared_ptr<const Table>> tables;
  std::unordered_map<const Function*, std::shared_ptr<const Function>> functions;

  const Node& node(std::size_t id) const { return chunks[id >> kChunkBits][id & (kChunk - 1)]; }

  Node& append() {
    if ((count & (kChunk - 1)) == 0) chunks.push_back(std::make_unique<Node[]>(kChunk));
    Node& made = chunks.back()[count & (kChunk - 1)];
    ++count;
    return made;
  }

  void grow() {
    std::vector<Entry> larger(entries.size() * 2);
    const std::size_t mask = larger.size() - 1;
    for (const Entry& entry : entries) {
      if (entry.id_plus_one == 0) continue;
      std::size_t at = entry.hash & mask;
      while (larger[at].id_plus_one != 0) at = (at + 1) & mask;
      larger[at] = entry;
    }
    entries = std::move(larger);
  }
};

Graph::Graph() : storage_(std::make_unique<Storage>()) {}
Graph::~Graph() = default;

const Node* Graph::intern(Node candidate) {
  Storage& s = *storage_;
  const std::uint32_t hash = hash_of(candidate);
  const std::size_t mask = s.entries.size() - 1;
  std::size_t at = hash & mask;
  for (; s.entries[at].id_plus_one != 0; at = (at + 1) & mask) {
    if (s.entries[at].hash != hash) continue;
    const Node& found = s.node(s.entries[at].id_plus_one - 1);
    if (same_fields(found, candidate)) return &found;
  }
  const std::size_t id = s.count;
  s.entries[at] = {hash, static_cast<std::uint32_t>(id + 1)};
  if (!candidate.children.is_in_place()) {
    auto& array =
        s.child_arrays.emplace_back(std::make_unique<const Node*[]>(candidate.children.size()));
    std::copy(candidate.children.begin(), candidate.children.end(), array.get());
    candidate.children =
        Children(std::span<const Node* const>(array.get(), candidate.children.size()));
  }
  candidate.graph = this;
  candidate.id = static_cast<std::uint32_t>(id);
  Node& made = s.append();
  made = candidate;
  if (s.count * 2 > s.entries.size()) s.grow();
  return &made;
}

Expr Graph::constant(double value) {
  Node n;
  n.value = value == 0.0 ? 0.0 : value;  // one zero
  return Expr(intern(n));
}

Expr Graph::time() {
  Node n;
  n.op = Op::kTime;
  return Expr(intern(n));
}

Expr Graph::new_variable(std::string name) {
  storage_->variable_names.push_back(std::move(name));
  return variable(VariableId(storage_->variable_names.size() - 1));
}

Expr Graph::slope_of(const Expr& symbol) {
  const auto found = storage_->slopes.find(symbol.node());
  if (found != storage_->slopes.end()) return found->second;
  return storage_->slopes.emplace(symbol.node(), new_variable("d/dt " + to_string(symbol)))
      .first->second;
}

Expr Graph::new_parameter(std::string name) {
  storage_->parameter_names.push_back(std::move(name));
  return parameter(ParameterId(storage_->parameter_names.size() - 1));
}

Expr Graph::new_slot(std::string name) {
  storage_->slot_names.push_back(std::move(name));
  return slot(SlotId(storage_->slot_names.size() - 1));
}

Expr Graph::variable(VariableId id, int order) {
  Node n;
  n.op = Op::kVariable;
  n.index = id.value;
  n.order = order;
  return Expr(intern(n));
}

Expr Graph::parameter(ParameterId id) {
  Node n;
  n.op = Op::kParameter;
  n.index = id.value;
  return Expr(intern(n));
}

Expr Graph::slot(SlotId id) {
  Node n;
  n.op = Op::kSlot;
  n.index = id.value;
  return Expr(intern(n));
}

const std::string& Graph::name(VariableId id) const { return storage_->variable_names[id.index()]; }
const std::string& Graph::name(ParameterId id) const {
  return storage_->parameter_names[id.index()];
}
const std::string& Graph::name(SlotId id) const { return storage_->slot_names[id.index()]; }
std::size_t Graph::node_count() const { return storage_->count; }
std::optional<VariableId> Graph::find_variable(const std::string& name, std::size_t first) const {
  const auto is_slope = [&](const VariableId id) {
    return std::ranges::any_of(
        storage_->slopes, [&](const auto& slope) { return slope.second.node()->variable() == id; });
  };
  for (VariableId id(first); id.index() < variable_count(); id = VariableId(id.index() + 1))
    if (storage_->variable_names[id.index()] == name && !is_slope(id)) return id;
  return std::nullopt;
}

std::size_t Graph::variable_count() const { return storage_->variable_names.size(); }
std::size_t Graph::slot_count() const { return storage_->slot_names.size(); }

void Graph::keep(const std::shared_ptr<const Table>& table) {
  storage_->tables.try_emplace(table.get(), table);
}
void Graph::keep(const std::shared_ptr<const Function>& function) {
  storage_->functions.try_emplace(function.get(), function);
}
std::shared_ptr<const Table> Graph::shared(const Table* table) const {
  return storage_->tables.at(table);
}
std::shared_ptr<const Function> Graph::shared(const Function* function) const {
  return storage_->functions.at(function);
}

}  // namespace saltus
