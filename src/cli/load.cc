#include "cli/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#if defined(__linux__)
#include <sys/auxv.h>
#endif

#include <charconv>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/say.h"
#include "examples/examples.h"
#include "model/build.h"
#include "modelica/library.h"
#include "modelica/load.h"
#include "study/data_file.h"

namespace saltus {
namespace {

HybridSystem find_example(const std::string& model) {
  std::vector<std::string> names;
  for (const Example& example : examples()) {
    if (example.name == model) return example.build();
    names.push_back(example.name);
  }
  throw Error(fmt::format(
      "there is no example '{}'{}; the bundled examples are {}; a Modelica model is FILE.mo, "
      "FILE.mo:Class or Package.Class",
      model, did_you_mean(model, names), fmt::join(names, ", ")));
}

void apply(HybridSystem& system, const std::string& setting) {
  const std::size_t sign = setting.find('=');
  if (sign == std::string::npos || sign == 0)
    throw Error(fmt::format("--set {}: write NAME=VALUE, for example --set {}=1.5", setting,
                            system.parameters().empty() ? "x" : system.parameters()[0].name));
  const std::string name = setting.substr(0, sign);
  const std::string text = setting.substr(sign + 1);
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  double value = 0.0;
  const auto [end, problem] = std::from_chars(first, last, value);
  if (problem != std::errc() || end != last)
    throw Error(
        fmt::format("--set {}: '{}' is not a number; write it like 1.5 or 2e-3", setting, text));
  try {
    system.set(name, value);
  } catch (const Error& error) {
    throw Error(fmt::format("--set {}: {}", setting, error.message()));
  }
}

}  // namespace

std::filesystem::path program_path() {
  std::error_code problem;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
#if defined(__linux__)
  if (problem) {  // a changed root often has no /proc; this is the path that was executed
    const auto* path = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    program = path == nullptr ? "" : std::filesystem::canonical(path, problem);
  }
#endif
  return program;
}

std::filesystem::path bundled_library() {
  const std::filesystem::path program = program_path();
  if (program.empty()) return {};
  std::error_code problem;
  for (const char* place : {"library", "../share/saltus/library"}) {
    const std::filesystem::path folder = program.parent_path() / place;
    if (std::filesystem::is_directory(folder / "Saltus", problem))
      return std::filesystem::weakly_canonical(folder, problem);
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> bundled_models() {
  std::vector<std::pair<std::string, std::string>> models;
  const std::filesystem::path folder = bundled_library();
  if (folder.empty()) return models;
  Library library;
  library.add_folder(folder);
  for (const char* package : {"Saltus.Examples", "Saltus.Drivetrain.Examples"}) {
    const ClassDefinition& parent = library.get(package);
    for (const std::string& name : library.child_names(&parent)) {
      const ClassDefinition* model = library.child(&parent, name);
      if (model == nullptr || model->kind != ClassKind::kModel || model->partial) continue;
      models.emplace_back(model->qualified_name(), model->comment.text);
    }
  }
  return models;
}

bool is_modelica(const std::string& model) {
  for (const Example& example : examples())
    if (example.name == model) return false;
  return model.find('.') != std::string::npos;
}

FlatModel load_flat_model(const ModelChoice& choice) {
  LoadOptions options;
  options.bundled = bundled_library();
  for (const std::string& folder : choice.libraries) options.libraries.emplace_back(folder);
  const auto split = [](const char* option, const std::string& text, const char* wanted) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0)
      throw Error(fmt::format("{} {}: write {}", option, text, wanted));
    return std::pair(text.substr(0, sign), text.substr(sign + 1));
  };
  for (const std::string& setting : choice.settings)
    options.overrides.push_back(split("--set", setting, "NAME=VALUE, for example --set x=1.5"));
  options.data = choice.data;
  for (const std::string& input : choice.inputs) {
    auto [name, value] = split("--input", input,
                               "NAME=EXPRESSION or NAME=FILE:COLUMN, for example --input "
                               "\"u=sin(2*time)\" or --input u=drive.csv:torque");
    InputData data;
    try {
      if (read_input_data(value, data)) {
        options.data.emplace_back(std::move(name), std::move(data));
        continue;
      }
    } catch (const Error& error) {
      throw Error(fmt::format("--input {}: {}", name, error.message()), error.where());
    }
    options.inputs.emplace_back(std::move(name), std::move(value));
  }
  return load_modelica(choice.model, options);
}

HybridSystem load_model(const ModelChoice& choice, Warnings warnings) {
  if (is_modelica(choice.model)) {
    FlatModel flat = load_flat_model(choice);
    if (warnings == Warnings::kSaid)
      for (const std::string& warning : flat.warnings) say(warning);
    return build(std::move(flat));
  }
  if (!choice.inputs.empty() || !choice.data.empty())
    throw Error(fmt::format(
        "--input {}: for models in Modelica; '{}' is written in C++, where a "
        "control law is one more equation of the mode",
        choice.inputs.empty() ? choice.data.front().first : choice.inputs.front(), choice.model));
  HybridSystem system = find_example(choice.model);
  for (const std::string& setting : choice.settings) apply(system, setting);
  return system;
}

void add_model_options(CLI::App& command, ModelChoice& choice) {
  command
      .add_option("MODEL", choice.model,
                  "FILE.mo, FILE.mo:Class, Package.Class, or the name of a bundled example "
                  "(`saltus examples` lists them)")
      ->required()
      ->option_text(" ");
  command.add_option("--set", choice.settings, "give a parameter or start value; repeatable")
      ->option_text("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--input", choice.inputs,
                  "give a variable that the equations leave free, as a function of time, as a "
                  "control law in the model's names, or as measured values: a column of a .csv, "
                  ".mat or .h5 file, joined by lines, a spline, or held; repeatable")
      ->option_text("NAME=EXPRESSION|FILE:COLUMN[:hold|:spline]")
      ->allow_extra_args(false);
  command
      .add_option(
          "--library", choice.libraries,
          "folder that contains Modelica packages, searched before those of MODELICAPATH and "
          "those that come with the program; repeatable")
      ->option_text("DIR")
      ->allow_extra_args(false);
}

}  // namespace saltus
