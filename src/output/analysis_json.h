#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/report.h"

namespace saltus {

// The analysis of a system's modes as one object; docs/guide/command_line.md lists the fields.
nlohmann::ordered_json to_json(const SystemAnalysis& analysis);
std::string to_json_text(const SystemAnalysis& analysis);

}  // namespace saltus
