#include "study/fit.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/linear_model.h"
#include "cli/say.h"
#include "cli/study_model.h"
#include "output/file.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(The data are a table (.csv) with a heading, a .mat or an .h5 file: times, and measured values under the names
of results; empty cells were not measured. Least squares, each result weighted by the spread of its data, from
the values the model has (--set gives others).

Examples:
  saltus fit drive.mo --data measured.csv --free c,d
  saltus fit drive.mo --data measured.csv --column w1=rpm --free "clutch.mu" --bounds clutch.mu=0:1 --json -

Exit status: 0 converged and all parameters are determined; 1 not so, what was found is told; 2 the input is
wrong.)";

struct FitArguments {
  ModelChoice choice;
  SimulateOptions options;
  std::string method = "radau";
  std::string data, json, output;
  std::vector<std::string> free, bounds, columns;
};

double bound_of(const std::string& number, const std::string& option) {
  double value = 0.0;
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (problem != std::errc() || end != number.data() + number.size() || std::isnan(value))
    throw Error(fmt::format("--bounds {}: '{}' is not a number", option, number));
  return value;
}

std::vector<FreeParameter> free_parameters(const FitArguments& a) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<FreeParameter> free;
  for (const std::string& name : a.free) {
    for (const FreeParameter& other : free)
      if (other.name == name) throw Error(fmt::format("--free: '{}' is listed twice", name));
    free.push_back({name, -kInfinity, kInfinity});
  }
  for (const std::string& text : a.bounds) {
    const std::size_t sign = text.find('=');
    const std::size_t colon = text.find(':', sign == std::string::npos ? 0 : sign);
    bool found = false;
    for (FreeParameter& p : free) {
      if (sign == std::string::npos || colon == std::string::npos || p.name != text.substr(0, sign))
        continue;
      const std::string lower = text.substr(sign + 1, colon - sign - 1);
      const std::string upper = text.substr(colon + 1);
      if (!lower.empty()) p.lower = bound_of(lower, text);
      if (!upper.empty()) p.upper = bound_of(upper, text);
      if (!(p.lower < p.upper)) throw Error(fmt::format("--bounds {}: the range is empty", text));
      found = true;
    }
    if (!found)
      throw Error(fmt::format("--bounds {}: write NAME=LOWER:UPPER for a name of --free", text));
  }
  return free;
}

int run_fit(FitArguments a) {
  a.options.method = parse_method(a.method).value_or(Method::kRadau);
  const std::vector<FreeParameter> free = free_parameters(a);
  std::error_code ignored;
  if (!a.output.empty() && std::filesystem::equivalent(a.data, a.output, ignored))
    throw Error(fmt::format("--output {}: these are the data", a.output));
  const Measurements data = read_measurements(a.data, a.columns);
  const FitResult result = fit(translator(a.choice), data, free, a.options);
  const bool good = result.converged && result.not_told_apart.empty();
  if (!a.json.empty()) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
    for (const FittedParameter& p : result.parameters)
      parameters[p.name] = {
          {"value", p.value},
          {"start", p.start},
          {"deviation", std::isnan(p.deviation) ? nlohmann::ordered_json(nullptr)
                                                : nlohmann::ordered_json(p.deviation)},
          {"at_bound", p.at_bound}};
    write_json_to(a.json, {{"converged", result.converged},
                           {"message", result.message},
                           {"parameters", parameters},
                           {"not_told_apart", result.not_told_apart},
                           {"start_misfit", result.start_misfit},
                           {"misfit", result.misfit},
                           {"runs", result.runs},
                           {"why_differences", result.why_differences}});
  }
  if (!a.output.empty()) {
    std::string table = "time";
    for (const std::string& name : data.names)
      table += fmt::format(",\"{0}\",\"{0} (model)\",\"{0} (residual)\"", name);
    table += "\n";
    for (std::size_t k = 0; k < data.times.size(); ++k) {
      table += fmt::format("{}", data.times[k]);
      for (std::size_t j = 0; j < data.names.size(); ++j) {
        const std::size_t at = k * data.names.size() + j;
        table += fmt::format(",{},{},{}", data.values[at], result.fitted[at],
                             result.fitted[at] - data.values[at]);
      }
      table += "\n";
    }
    write_file(a.output, table);
  }
  if (a.json != "-") {
    tell("{} measurements, {} runs: {}\n", result.measurements, result.runs, result.message);
    for (const FittedParameter& p : result.parameters) {
      tell("  {:<20} {:.8g}", p.name, p.value);
      if (!std::isnan(p.deviation))
        tell(" +- {:.3g} (standard deviation; 95 % from {:.6g} to {:.6g})", p.deviation,
             p.value - 1.96 * p.deviation, p.value + 1.96 * p.deviation);
      tell("{}, was {:.6g}\n", p.at_bound ? ", at its bound" : "", p.start);
    }
    if (!result.why_differences.empty())
      tell("  derivatives are differences of runs: {}\n", result.why_differences);
    for (std::size_t j = 0; j < data.names.size(); ++j)
      tell("  residual of {}: {:.4g} (root mean square)\n", data.names[j], result.misfits[j]);
    if (!a.output.empty()) tell("  written  {}\n", a.output);
  }
  if (!good) say_warning(result.message);
  return good ? kReached : kStopped;
}

}  // namespace

void add_fit_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("fit", "Fit parameters to measured data");
  const auto arguments = std::make_shared<FitArguments>();
  FitArguments& a = *arguments;
  command->footer(kFooter);
  add_model_options(*command, a.choice);
  command->add_option("--data", a.data, "table of measured values")
      ->required()
      ->option_text("FILE");
  command->add_option("--free", a.free, "parameters to be fitted")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("NAME,...");
  command->add_option("--bounds", a.bounds, "limits of a parameter; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=LOWER:UPPER");
  command
      ->add_option("--column", a.columns,
                   "which column holds a result; then only these are read; repeatable")
      ->allow_extra_args(false)
      ->option_text("RESULT=COLUMN");
  command->add_option("--json", a.json, "write all numbers; - is standard output")
      ->option_text("FILE|-");
  command->add_option("--output", a.output, "write data, model and residuals")
      ->option_text("FILE.csv");
  add_run_options(*command, a.options, a.method);
  command->callback([arguments, &status] { status = run_fit(*arguments); });
}

}  // namespace saltus
