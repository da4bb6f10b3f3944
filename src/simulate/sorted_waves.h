#pragma once

#include <cstddef>
#include <vector>

namespace saltus {

// Orders items by what they read: each wave reads only what waves before it have set. Where items
// read each other in a circle, the one of least index breaks it. reads[k]: the items k reads.
std::vector<std::vector<std::size_t>> sort_into_waves(
    const std::vector<std::vector<std::size_t>>& reads);

}  // namespace saltus
