#pragma once

#include <span>
#include <string>

#include "model/system.h"

namespace saltus {

struct Example {
  std::string name;
  std::string summary;  // one line
  HybridSystem (*build)();
};

// The bundled examples by short name, in the order to read them.
std::span<const Example> examples();

}  // namespace saltus
