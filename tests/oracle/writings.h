#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/system.h"
#include "oracle/network.h"

namespace saltus::oracle {

// Ways to write the same network. Each stands for the laws of network.h.
enum class Writing { kLibrary, kSign, kDiode, kWhen, kMachine, kMsl, kSystem };
const std::vector<std::pair<std::string, Writing>>& writings();

// A model and what its unknowns are called, by body.
struct Written {
  std::string text;  // its last class is the model
  std::vector<std::string> speeds;
  std::vector<std::string> angles;
  std::function<HybridSystem()> system = {};  // instead of the text
};

// Empty if the network has an element that this writing has no form for.
std::optional<Written> write(const Network& network, Writing writing);

}  // namespace saltus::oracle
