#include "output/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/version.h"
#include "output/ball_test_data.h"

namespace saltus {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> result;
  for (const auto& item : object.items()) result.push_back(item.key());
  return result;
}

TEST(Json, HasExactlyTheDocumentedFields) {
  const Json json = to_json(ball_result());
  EXPECT_EQ(keys(json),
            (std::vector<std::string>{"saltus", "model", "method", "formulation", "tolerance",
                                      "status", "message", "time", "final", "warnings", "events",
                                      "modes", "sensitivities", "statistics"}));
  EXPECT_EQ(
      keys(json["events"][0]),
      (std::vector<std::string>{"time", "kind", "tags", "class", "from", "to", "causes", "jumps",
                                "impulses", "discrete", "iterations", "slope", "condition"}));
  EXPECT_EQ(keys(json["modes"][0]),
            (std::vector<std::string>{"name", "conditions", "unknowns", "mu", "d", "a", "v", "u",
                                      "visits", "seconds"}));
  EXPECT_EQ(
      keys(json["statistics"]),
      (std::vector<std::string>{"steps", "rejected", "residuals", "jacobians", "factorizations",
                                "newton_iterations", "events", "translate_seconds",
                                "analyse_seconds", "integrate_seconds", "wall_seconds"}));
}

TEST(Json, TextReadsBackAsTheSameObject) {
  SimulateResult result = ball_result();
  result.sensitivities = {{"g", {{"h", 0.1 + 0.2}}}};
  const Json json = Json::parse(to_json_text(result));
  EXPECT_EQ(json, to_json(result));
  EXPECT_EQ(json["saltus"], kVersion);
  EXPECT_EQ(json["sensitivities"]["g"]["h"].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(json["events"][0]["class"], "pinnacle");
  EXPECT_EQ(json["events"][0]["jumps"]["v"][1].get<double>(), result.events[0].jumps["v"].second);
  EXPECT_EQ(json["modes"][1]["a"], 2);
}

TEST(Json, EmptyPartsAreEmptyObjectsAndArrays) {
  const Json json = to_json(SimulateResult{});
  EXPECT_EQ(json["final"], Json::object());
  EXPECT_EQ(json["events"], Json::array());
  EXPECT_EQ(json["modes"], Json::array());
  EXPECT_EQ(json["sensitivities"], Json::object());
  SimulateResult one;
  one.events.emplace_back();
  EXPECT_EQ(to_json(one)["events"][0]["jumps"], Json::object());
  EXPECT_EQ(to_json(one)["events"][0]["tags"], Json::array());
}

TEST(Json, StatusSaysHowTheRunEnded) {
  SimulateResult result;
  EXPECT_EQ(to_json(result)["status"], "completed");
  result.reason = StopReason::kTerminated;
  EXPECT_EQ(to_json(result)["status"], "terminated");
  result.reason = StopReason::kNewtonFailed;
  EXPECT_EQ(to_json(result)["status"], "newton-failed");
}

TEST(Json, WhatIsNotFiniteIsNull) {
  SimulateResult result;
  result.time = std::numeric_limits<double>::infinity();
  result.final = {{"x", std::numeric_limits<double>::quiet_NaN()}};
  const Json json = to_json(result);
  EXPECT_TRUE(json["time"].is_null());
  EXPECT_TRUE(json["final"]["x"].is_null());
}

TEST(Json, SurvivesANameThatIsNotUtf8) {
  SimulateResult result;
  result.model = "b\xff";
  EXPECT_TRUE(Json::parse(to_json_text(result)).contains("statistics"));
}

}  // namespace
}  // namespace saltus
