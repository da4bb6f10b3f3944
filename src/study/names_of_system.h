#pragma once

#include <string>

#include "model/system.h"

namespace saltus {

// What a name of a result or parameter stands for in the symbols of the system: "w1", "der(w1)",
// "clutch.tau", "J", "time". Throws Error that suggests the nearest name.
Expr find_result(const HybridSystem& system, const std::string& name);

// The same for an expression of such names.
Expr parse_result(const HybridSystem& system, const std::string& text);

}  // namespace saltus
