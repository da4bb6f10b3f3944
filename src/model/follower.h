#pragma once

#include <string_view>

namespace saltus {

// A derived result of this name and that of a discrete variable is the value of that variable at
// any time: it changes without events, and what reads it reads its value.
inline constexpr std::string_view kFollower = "$follows ";

}  // namespace saltus
