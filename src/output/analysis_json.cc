#include "output/analysis_json.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "output/json.h"

namespace saltus {
namespace {

using Json = nlohmann::ordered_json;

Json analysis_json(const ModeAnalysis& mode) {
  Json differentiated = Json::object();
  std::unordered_set<std::string> named;  // equations may have the same text
  for (const auto& [equation, times] : mode.differentiated)
    if (named.insert(equation).second)
      differentiated.get_ref<Json::object_t&>().emplace_back(equation, times);
  return {{"name", mode.name},
          {"conditions", mode.conditions},
          {"unknowns", mode.unknowns},
          {"equations", mode.equations},
          {"mu", mode.values.mu},
          {"d", mode.values.d},
          {"a", mode.values.a},
          {"v", mode.values.v},
          {"u", mode.values.u},
          {"hidden", mode.hidden},
          {"differentiated", differentiated},
          {"redundant", mode.redundant},
          {"free", mode.free},
          {"guards", mode.guards}};
}

}  // namespace

Json to_json(const SystemAnalysis& analysis) {
  Json object;
  object["model"] = analysis.model;
  object["modes"] = Json::array();
  for (const ModeAnalysis& mode : analysis.modes) object["modes"].push_back(analysis_json(mode));
  return object;
}

std::string to_json_text(const SystemAnalysis& analysis) { return indented(to_json(analysis)); }

}  // namespace saltus
