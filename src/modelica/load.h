#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "model/flat_model.h"
#include "model/input_data.h"

namespace saltus {

struct LoadOptions {
  // Folders that contain packages, searched before those of MODELICAPATH.
  std::vector<std::filesystem::path> libraries{};
  // Outermost modifications: {"clutch.fn_max", "200"}. The value is a Modelica expression.
  std::vector<std::pair<std::string, std::string>> overrides{};
  // Equations NAME = EXPRESSION for variables that the model leaves free. May read its variables.
  std::vector<std::pair<std::string, std::string>> inputs{};
  // The same from data, for scalar variables. What is Boolean or Integer holds its values.
  std::vector<std::pair<std::string, InputData>> data{};
  bool use_modelica_path = true;
  std::filesystem::path bundled{};  // folder searched last; empty: none
};

// Reads a Modelica model: FILE.mo (its last class), FILE.mo:Class, or Qualified.Class found in the
// library folders. Throws Error with file, line and column for wrong text or what is unsupported.
FlatModel load_modelica(const std::string& model, const LoadOptions& options = {});

// The same from text; `name` empty: the last class. `file` is the name for messages.
FlatModel load_modelica_text(std::string_view text, const std::string& name = {},
                             const LoadOptions& options = {}, const std::string& file = "model.mo");

}  // namespace saltus
