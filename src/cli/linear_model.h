#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/load.h"
#include "simulate/simulate.h"
#include "study/linearize.h"

namespace saltus {

// What commands that linearise have in common: the model, the time, inputs and outputs.
struct LinearArguments {
  ModelChoice choice;
  SimulateOptions options;
  std::string method = "radau";
  double at = 0.0;
  std::vector<std::string> inputs, outputs;
  std::string json;
};

void add_linear_options(CLI::App& command, LinearArguments& arguments);

// Inputs that the model leaves open and --input does not give are zero.
Linearization linearize_model(const LinearArguments& arguments);

nlohmann::ordered_json to_json(const Linearization& linear);
nlohmann::ordered_json to_json(const std::vector<std::complex<double>>& values);
// "-1 + 2i"
std::string to_text(const std::complex<double>& value);
// To a file, or standard output for "-".
void write_json_to(const std::string& where, const nlohmann::ordered_json& json);

}  // namespace saltus
