#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "model/flat_model.h"
#include "model/input_data.h"

namespace saltus {

// The packages that come with the program: beside it where it was built, in the share folder where
// it is installed. Empty: there are none.
std::filesystem::path bundled_library();
// Name and summary of each model in the packages of examples among them.
std::vector<std::pair<std::string, std::string>> bundled_models();

// This program's own file; empty: it cannot be told.
std::filesystem::path program_path();

// Whether MODEL names Modelica text: FILE.mo, FILE.mo:Class or a qualified class, not an example.
bool is_modelica(const std::string& model);

// MODEL and what the command line says about it.
struct ModelChoice {
  std::string model;
  std::vector<std::string> settings;   // NAME=VALUE of parameters and start values
  std::vector<std::string> inputs;     // NAME=EXPRESSION of variables that are free without it,
                                       // or NAME=FILE:COLUMN
  std::vector<std::string> libraries;  // folders of packages
  std::vector<std::pair<std::string, InputData>> data{};  // of such variables, by name
};

// What MODEL, being Modelica, is as a flat model.
FlatModel load_flat_model(const ModelChoice& choice);

enum class Warnings { kSaid, kNotSaid };

// The system called MODEL on the command line. Throws Error that says what would have been right.
HybridSystem load_model(const ModelChoice& choice, Warnings warnings = Warnings::kSaid);

// Adds MODEL, --set, --input and --library to a command.
void add_model_options(CLI::App& command, ModelChoice& choice);

}  // namespace saltus
