#pragma once

namespace saltus {

// The version of project() in the top-level CMakeLists.txt; a test keeps the two equal.
inline constexpr const char* kVersion = "0.2.0";

}  // namespace saltus
