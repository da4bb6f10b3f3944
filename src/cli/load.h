#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "model/flat_model.h"

namespace saltus {

// Whether MODEL names Modelica text: FILE.mo, FILE.mo:Class or a qualified class, not an example.
bool is_modelica(const std::string& model);

// What MODEL, being Modelica, is as a flat model. `libraries` are folders of packages.
FlatModel load_flat_model(const std::string& model, const std::vector<std::string>& settings,
                          const std::vector<std::string>& libraries);

// The system called MODEL on the command line, with every NAME=VALUE of `settings` applied to its
// parameters and start values. Throws Error that says what would have been right.
HybridSystem load_model(const std::string& model, const std::vector<std::string>& settings,
                        const std::vector<std::string>& libraries);

// Adds MODEL, --set and --library to a command.
void add_model_options(CLI::App& command, std::string& model, std::vector<std::string>& settings,
                       std::vector<std::string>& libraries);

}  // namespace saltus
