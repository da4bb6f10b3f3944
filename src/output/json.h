#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "simulate/result.h"

namespace saltus {

// The summary of a run as one object; docs/guide/output.md lists the fields. Numbers that are not
// finite become null. `status` is "completed", "terminated" or to_string of the stop reason.
nlohmann::ordered_json to_json(const SimulateResult& result);
// The same as indented text; doubles read back exactly.
std::string to_json_text(const SimulateResult& result);
void write_json(const SimulateResult& result, const std::string& path);

// Any object as text. A name that is not UTF-8 must not cost the user the whole of it.
std::string indented(const nlohmann::ordered_json& object);

}  // namespace saltus
