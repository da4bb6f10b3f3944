#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/load.h"
#include "simulate/simulate.h"
#include "study/study.h"

namespace saltus {

// Translates the chosen model with further settings. It does not say warnings twice.
std::function<TranslatedModel(const Settings&)> translator(const ModelChoice& choice);

// What identifies the text of a model: its name and a checksum of its file, if it is one.
std::string model_fingerprint(const ModelChoice& choice);

// Adds the options of a run that every command with runs has: --stop-time, --tolerance, ...
void add_run_options(CLI::App& command, SimulateOptions& options, std::string& method);

}  // namespace saltus
