#pragma once

#include <span>
#include <string>

namespace saltus {

// The candidate a person who wrote `wanted` most likely meant, or "" if none is close. Close means
// few edits (insert, delete, replace, swap of neighbours; case is ignored) for the length of the
// name, or the last part of a qualified name: "w" for "clutch.w", or its beginning. The first of
// equals wins.
std::string nearest(const std::string& wanted, std::span<const std::string> candidates);

// " (did you mean 'x'?)" to append to an error message, or "" if nothing is close.
std::string did_you_mean(const std::string& wanted, std::span<const std::string> candidates);

}  // namespace saltus
