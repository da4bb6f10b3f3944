#include "base/strong_components.h"

#include <algorithm>

namespace saltus {

std::vector<std::vector<std::size_t>> strong_components(
    const std::vector<std::vector<std::size_t>>& reads) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Visit {
    std::size_t item = 0;
    std::size_t next = 0;  // of what it reads
  };
  std::vector<std::size_t> index(reads.size(), kNone);
  std::vector<std::size_t> low(reads.size(), 0);
  std::vector<bool> open(reads.size(), false);
  std::vector<std::size_t> stack;
  std::vector<Visit> visits;
  std::vector<std::vector<std::size_t>> result;
  std::size_t count = 0;
  const auto enter = [&](std::size_t v) {
    index[v] = low[v] = count++;
    stack.push_back(v);
    open[v] = true;
    visits.push_back({v, 0});
  };
  for (std::size_t first = 0; first < reads.size(); ++first) {
    if (index[first] == kNone) enter(first);
    while (!visits.empty()) {
      const std::size_t v = visits.back().item;
      if (visits.back().next < reads[v].size()) {
        const std::size_t w = reads[v][visits.back().next++];
        if (index[w] == kNone) {
          enter(w);
        } else if (open[w]) {
          low[v] = std::min(low[v], low[w]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low[visits.back().item] = std::min(low[visits.back().item], low[v]);
      if (low[v] != index[v]) continue;
      result.emplace_back();
      do {
        result.back().push_back(stack.back());
        open[stack.back()] = false;
        stack.pop_back();
      } while (result.back().back() != v);
    }
  }
  return result;
}

}  // namespace saltus
