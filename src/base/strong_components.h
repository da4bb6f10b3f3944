#pragma once

#include <cstddef>
#include <vector>

namespace saltus {

// Groups of items that read one another, directly or through others; each group comes after those
// that it reads (Tarjan's algorithm). reads[k]: the items k reads. Does not recurse.
std::vector<std::vector<std::size_t>> strong_components(
    const std::vector<std::vector<std::size_t>>& reads);

}  // namespace saltus
