#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/report.h"
#include "simulate/result.h"

namespace saltus {

// The summary of a run as one object; docs/guide/output.md lists the fields. Numbers that are not
// finite become null. `status` is "completed", "terminated" or to_string of the stop reason.
nlohmann::ordered_json to_json(const SimulateResult& result);
// The same as indented text; doubles read back exactly.
std::string to_json_text(const SimulateResult& result);
void write_json(const SimulateResult& result, const std::string& path);

// The analysis of a system's modes as one object; docs/guide/command_line.md lists the fields.
nlohmann::ordered_json to_json(const SystemAnalysis& analysis);
std::string to_json_text(const SystemAnalysis& analysis);

}  // namespace saltus
