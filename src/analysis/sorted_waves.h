#pragma once

#include <cstddef>
#include <vector>

#include "expr/expr.h"

namespace saltus {

// Orders items by what they read: each wave reads only what waves before it have set. Where items
// read each other in a circle, the one of least index breaks it. reads[k]: the items k reads.
std::vector<std::vector<std::size_t>> sort_into_waves(
    const std::vector<std::vector<std::size_t>>& reads);

// A slot and what it is set to.
struct SlotAssignment {
  Expr slot;
  Expr value;
};

// The same for relations and discrete equations, which read slots that others set.
std::vector<std::vector<std::size_t>> sort_into_waves(const std::vector<SlotAssignment>& items);

}  // namespace saltus
