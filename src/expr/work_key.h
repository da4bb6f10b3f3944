#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expr/graph.h"

namespace saltus {

// What a pure function was asked: expressions of one graph, numbers, texts. Equal expressions of a
// graph are one node, so two questions are equal if their keys are.
class WorkKey {
 public:
  WorkKey& add(const Expr& e) {
    if (e.node() == nullptr) return add_word(0).add(e.number());
    return add_word(reinterpret_cast<std::uintptr_t>(e.node()));
  }
  WorkKey& add(std::span<const Expr> list) {
    add(list.size());
    for (const Expr& e : list) add(e);
    return *this;
  }
  WorkKey& add(const std::vector<Expr>& list) { return add(std::span<const Expr>(list)); }
  WorkKey& add(double value) { return add_word(std::bit_cast<std::uint64_t>(value)); }
  WorkKey& add(std::size_t number) { return add_word(number); }
  WorkKey& add(const std::string& text) {
    add(text.size());
    for (std::size_t k = 0; k < text.size(); k += 8) {
      std::uint64_t word = 0;
      for (std::size_t i = k; i < std::min(k + 8, text.size()); ++i)
        word = word << 8U | static_cast<unsigned char>(text[i]);
      add_word(word);
    }
    return *this;
  }

  bool operator==(const WorkKey&) const = default;
  std::size_t hash() const {
    std::uint64_t h = 0x9e3779b97f4a7c15;
    for (const std::uint64_t word : words_) h = (h ^ word) * 0xff51afd7ed558ccd + (h >> 29U);
    return h ^ (h >> 32U);
  }

 private:
  WorkKey& add_word(std::uint64_t word) {
    words_.push_back(word);
    return *this;
  }
  std::vector<std::uint64_t> words_;
};

// The graph of the first expression that is no number; null: there is none.
inline const Graph* graph_of(std::span<const Expr> expressions) {
  for (const Expr& e : expressions)
    if (e.node() != nullptr) return e.node()->graph;
  return nullptr;
}

// Answers by question. Those that were asked with numbers of a run may be many: all are forgotten
// when there are too many.
template <class Answer>
class KeptAnswers {
 public:
  // Null: it was not asked.
  std::shared_ptr<const Answer> find(const WorkKey& key) const {
    const auto found = answers_.find(key);
    return found == answers_.end() ? nullptr : found->second;
  }
  void keep(WorkKey key, std::shared_ptr<const Answer> answer) {
    constexpr std::size_t kMost = 10000;
    if (answers_.size() >= kMost) answers_.clear();
    answers_.insert_or_assign(std::move(key), std::move(answer));
  }

 private:
  struct Hash {
    std::size_t operator()(const WorkKey& key) const { return key.hash(); }
  };
  std::unordered_map<WorkKey, std::shared_ptr<const Answer>, Hash> answers_;
};

}  // namespace saltus
