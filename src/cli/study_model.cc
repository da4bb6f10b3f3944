#include "cli/study_model.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/error.h"
#include "cli/numbers.h"
#include "modelica/parameter_use.h"
#include "study/data_file.h"

namespace saltus {

std::function<TranslatedModel(const Settings&)> translator(const ModelChoice& choice) {
  return [choice](const Settings& settings) {
    ModelChoice with = choice;
    for (const auto& [name, value] : settings)
      with.settings.push_back(fmt::format("{}={}", name, value));
    const ParameterUse use;
    try {
      TranslatedModel model{load_model(with, Warnings::kNotSaid)};
      model.used = use.names();
      return model;
    } catch (const Error& error) {
      // What is varied is set, and wrong names are told as those of --set.
      std::string message = error.message();
      for (const auto& [name, value] : settings)
        if (message.starts_with("--set " + name + "=")) message.replace(0, 5, "--vary");
      throw Error(message, error.where());
    }
  };
}

namespace {

// A number for the bytes of a file; empty: there is no such file.
std::string file_fingerprint(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) return {};
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format(" ({:016x})", sum);
}

}  // namespace

std::string model_fingerprint(const ModelChoice& choice) {
  // FILE.mo:Class
  const std::size_t end = choice.model.find(".mo");
  std::string all =
      choice.model +
      file_fingerprint(end == std::string::npos ? choice.model : choice.model.substr(0, end + 3));
  for (const std::string& input : choice.inputs) {  // NAME=FILE:COLUMN
    const std::size_t file = input.find('=') + 1;
    for (std::size_t colon = input.find(':'); colon != std::string::npos;
         colon = input.find(':', colon + 1))
      if (const std::string path = input.substr(file, colon - file); is_data_file(path))
        all += file_fingerprint(path);
  }
  return all;
}

void add_run_options(CLI::App& command, SimulateOptions& options, std::string& method) {
  command.add_option("--start-time", options.start_time, "s; default: the model's, usually 0")
      ->option_text("T");
  command.add_option("--stop-time", options.stop_time, "s; default: the model's")->option_text("T");
  command
      .add_option("--tolerance", options.tolerance,
                  "relative error of a step; default: the model's, usually 1e-6")
      ->option_text("R");
  command
      .add_option("--absolute-tolerance", options.absolute_tolerance,
                  "of every unknown, in its unit; default: tolerance x nominal value")
      ->option_text("A");
  command
      .add_option("--interval", options.interval,
                  "between the points that are looked at, s; 0 looks at every step; default: the "
                  "model's, else 1/500 of the run")
      ->option_text("H");
  command.add_option("--max-step", options.max_step, "no step is longer, s; default: no limit")
      ->option_text("H");
  command
      .add_option("--max-seconds", options.max_seconds, "wall time of one run; default: no limit")
      ->check(need_positive)
      ->option_text("S");
  std::vector<std::string> methods;
  for (const Method m : kMethods) methods.emplace_back(to_string(m));
  command.add_option("--method", method, "as for `saltus simulate`; default radau")
      ->check(CLI::IsMember(methods))
      ->option_text("NAME");
  for (const char* name : {"--start-time", "--stop-time", "--tolerance", "--interval",
                           "--absolute-tolerance", "--max-step"})
    command.get_option(name)->check(need_finite);
}

}  // namespace saltus
