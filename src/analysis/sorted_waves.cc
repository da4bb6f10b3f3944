#include "analysis/sorted_waves.h"

#include <unordered_map>
#include <utility>

#include "expr/differentiate.h"

namespace saltus {

std::vector<std::vector<std::size_t>> sort_into_waves(
    const std::vector<std::vector<std::size_t>>& reads) {
  const std::size_t count = reads.size();
  std::vector<std::vector<std::size_t>> readers(count);
  std::vector<std::size_t> waits_for(count, 0);
  for (std::size_t k = 0; k < count; ++k)
    for (const std::size_t from : reads[k]) {
      if (from == k) continue;
      readers[from].push_back(k);
      ++waits_for[k];
    }
  std::vector<std::vector<std::size_t>> waves;
  std::vector<bool> placed(count, false);
  std::vector<std::size_t> wave;
  for (std::size_t k = 0; k < count; ++k)
    if (waits_for[k] == 0) wave.push_back(k);
  for (std::size_t first_open = 0;;) {
    if (wave.empty()) {
      while (first_open < count && placed[first_open]) ++first_open;
      if (first_open == count) return waves;
      wave.push_back(first_open);
    }
    for (const std::size_t k : wave) placed[k] = true;
    std::vector<std::size_t> next;
    for (const std::size_t k : wave)
      for (const std::size_t reader : readers[k])
        if (!placed[reader] && --waits_for[reader] == 0) next.push_back(reader);
    waves.push_back(std::move(wave));
    wave = std::move(next);
  }
}

std::vector<std::vector<std::size_t>> sort_into_waves(const std::vector<SlotAssignment>& items) {
  std::unordered_map<const Node*, std::size_t> setter;
  for (std::size_t k = 0; k < items.size(); ++k) setter[items[k].slot.node()] = k;
  std::vector<std::vector<std::size_t>> reads(items.size());
  for (std::size_t k = 0; k < items.size(); ++k)
    for (const Expr& leaf : leaves_of(items[k].value)) {
      const auto from = setter.find(leaf.node());
      if (from != setter.end()) reads[k].push_back(from->second);
    }
  return sort_into_waves(reads);
}

}  // namespace saltus
