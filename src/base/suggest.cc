#include "base/suggest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

namespace saltus {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Optimal string alignment distance; three rows suffice because a swap looks back two.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      const bool swapped =
          i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

bool is_close(std::size_t distance, std::size_t longest) {
  return distance <= std::max<std::size_t>(1, longest / 3) && distance < longest;
}

}  // namespace

std::string nearest(const std::string& wanted, std::span<const std::string> candidates) {
  constexpr std::size_t kLongest = 1000;  // the distance takes the product of both lengths
  if (wanted.empty() || wanted.size() > kLongest) return {};
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t distance = edit_distance(wanted, candidate);
    if (!is_close(distance, std::max(wanted.size(), candidate.size()))) continue;
    if (best == nullptr || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best != nullptr) return *best;
  for (const std::string& candidate : candidates) {
    if (candidate.ends_with('.' + wanted)) return candidate;
  }
  // An abbreviation; of one or two letters it could be anything.
  constexpr std::size_t kShortest = 3;
  for (const std::string& candidate : candidates) {
    if (wanted.size() >= kShortest && candidate.size() > wanted.size() &&
        std::equal(wanted.begin(), wanted.end(), candidate.begin(), same_letter))
      return candidate;
  }
  return {};
}

std::string did_you_mean(const std::string& wanted, std::span<const std::string> candidates) {
  const std::string name = nearest(wanted, candidates);
  return name.empty() ? std::string() : " (did you mean '" + name + "'?)";
}

}  // namespace saltus
