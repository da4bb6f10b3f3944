#include "output/json.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/version.h"
#include "output/file.h"

namespace saltus {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Appends a member whose name is new. The object keeps its members in a list: operator[] would
// search all of it.
void append(Json& object, const std::string& name, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(name, std::move(value));
}

Json numbers(const std::map<std::string, double>& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) append(object, name, number(value));
  return object;
}

Json changes(const std::map<std::string, std::pair<double, double>>& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) {
    append(object, name, Json::array({number(value.first), number(value.second)}));
  }
  return object;
}

Json event_json(const Event& event) {
  Json object = {{"time", number(event.time)},
                 {"kind", event.kind},
                 {"tags", event.tags},
                 {"class", event.ontology},
                 {"from", event.from},
                 {"to", event.to},
                 {"causes", event.causes},
                 {"jumps", changes(event.jumps)},
                 {"impulses", numbers(event.impulses)},
                 {"discrete", changes(event.discrete)},
                 {"iterations", event.iterations},
                 {"slope", number(event.slope)},
                 {"condition", number(event.condition)}};
  if (event.fraction) object["fraction"] = number(*event.fraction);
  return object;
}

Json mode_json(const ModeReport& mode) {
  return {{"name", mode.name},
          {"conditions", mode.conditions},
          {"unknowns", mode.unknowns},
          {"mu", mode.mu},
          {"d", mode.d},
          {"a", mode.a},
          {"v", mode.v},
          {"u", mode.u},
          {"visits", mode.visits},
          {"seconds", number(mode.seconds)}};
}

Json statistics_json(const Statistics& statistics) {
  return {{"steps", statistics.steps},
          {"rejected", statistics.rejected},
          {"residuals", statistics.residuals},
          {"jacobians", statistics.jacobians},
          {"factorizations", statistics.factorizations},
          {"newton_iterations", statistics.newton_iterations},
          {"events", statistics.events},
          {"translate_seconds", number(statistics.translate_seconds)},
          {"analyse_seconds", number(statistics.analyse_seconds)},
          {"integrate_seconds", number(statistics.integrate_seconds)},
          {"wall_seconds", number(statistics.wall_seconds)}};
}

}  // namespace

std::string indented(const Json& object) {
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json to_json(const SimulateResult& result) {
  Json object;
  object["saltus"] = kVersion;
  object["model"] = result.model;
  object["method"] = result.method;
  object["formulation"] = result.formulation;
  object["tolerance"] = number(result.tolerance);
  object["status"] =
      result.reason == StopReason::kStopTime ? "completed" : to_string(result.reason);
  object["message"] = result.message;
  object["time"] = number(result.time);
  object["final"] = numbers(result.final);
  object["warnings"] = result.warnings;
  object["events"] = Json::array();
  for (const Event& event : result.events) object["events"].push_back(event_json(event));
  object["modes"] = Json::array();
  for (const ModeReport& mode : result.modes) object["modes"].push_back(mode_json(mode));
  object["sensitivities"] = Json::object();
  for (const auto& [name, values] : result.sensitivities) {
    append(object["sensitivities"], name, numbers(values));
  }
  object["statistics"] = statistics_json(result.statistics);
  return object;
}

std::string to_json_text(const SimulateResult& result) { return indented(to_json(result)); }

void write_json(const SimulateResult& result, const std::string& path) {
  write_file(path, to_json_text(result));
}

}  // namespace saltus
