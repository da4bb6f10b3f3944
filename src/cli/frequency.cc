#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/linear_model.h"
#include "cli/say.h"
#include "output/file.h"
#include "study/linearize.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(The mode in force at time T is linearised as by `saltus linearize`. The table goes to --output as CSV: for
bode, frequency in rad/s, then for each output and input magnitude and phase in degrees (continuous from
the lowest frequency on); for step and impulse, time and the change of each output.

Examples:
  saltus frequency rlc --inputs E --outputs i --from 1 --to 1e5
  saltus frequency rlc --inputs E --outputs i --response step --duration 0.01

Exit status: 0 done; 2 the input is wrong.)";

struct FrequencyArguments {
  LinearArguments linear;
  std::string response = "bode";
  double from = 1e-2, to = 1e3, duration = 10.0;
  std::size_t points = 200;
  std::string output;
};

std::string bode_table(const Linearization& l, const FrequencyArguments& a) {
  std::string table = "omega";
  for (const std::string& y : l.outputs)
    for (const std::string& u : l.inputs)
      table += fmt::format(",\"magnitude({0}/{1})\",\"phase({0}/{1})\"", y, u);
  table += "\n";
  std::vector<double> phases(l.outputs.size() * l.inputs.size(), 0.0);
  for (std::size_t k = 0; k < a.points; ++k) {
    const double fraction =
        a.points > 1 ? static_cast<double>(k) / static_cast<double>(a.points - 1) : 0.0;
    const double omega = a.from * std::exp(fraction * (std::log(a.to) - std::log(a.from)));
    table += fmt::format("{}", omega);
    const auto g = l.transfer({0.0, omega});
    for (std::size_t j = 0; j < g.size(); ++j) {
      if (!std::isfinite(g[j].real()) || !std::isfinite(g[j].imag()))
        throw Error(fmt::format("the response at {:g} rad/s is no finite number", omega));
      double phase = std::arg(g[j]) * 180.0 / std::numbers::pi;
      if (k > 0) phase += 360.0 * std::round((phases[j] - phase) / 360.0);
      phases[j] = phase;
      table += fmt::format(",{},{}", std::abs(g[j]), phase);
    }
    table += "\n";
  }
  return table;
}

std::string time_table(const Linearization& l, const FrequencyArguments& a) {
  const double dt = a.duration / static_cast<double>(std::max<std::size_t>(a.points, 2) - 1);
  std::vector<DenseMatrix> responses;
  std::string table = "time";
  for (std::size_t j = 0; j < l.inputs.size(); ++j) {
    responses.push_back(a.response == "step" ? l.step_response(j, dt, a.points)
                                             : l.impulse_response(j, dt, a.points));
    for (const std::string& y : l.outputs) table += fmt::format(",\"{}/{}\"", y, l.inputs[j]);
  }
  table += "\n";
  for (std::size_t k = 0; k < a.points; ++k) {
    table += fmt::format("{}", dt * static_cast<double>(k));
    for (const DenseMatrix& response : responses)
      for (std::size_t i = 0; i < response.columns; ++i) {
        if (!std::isfinite(response.at(k, i)))
          throw Error(fmt::format("the response after {:g} s is no finite number",
                                  dt * static_cast<double>(k)));
        table += fmt::format(",{}", response.at(k, i));
      }
    table += "\n";
  }
  return table;
}

int run_frequency(const FrequencyArguments& a) {
  if (a.linear.inputs.empty())
    throw Error(
        "a response needs an input; say --inputs NAME, a parameter or an input of the model");
  if (!(a.from > 0.0) || !(a.to > a.from) || !std::isfinite(a.to))
    throw Error(fmt::format("the range of frequencies from {:g} to {:g} is empty or not positive",
                            a.from, a.to));
  if (!(a.duration > 0.0) || !std::isfinite(a.duration))
    throw Error("the duration of a response must be positive and finite");
  const Linearization l = linearize_model(a.linear);
  const std::string table = a.response == "bode" ? bode_table(l, a) : time_table(l, a);
  if (!a.linear.json.empty()) write_json_to(a.linear.json, to_json(l));
  if (a.output.empty()) {
    if (a.linear.json != "-") tell(std::string_view(table));
  } else {
    write_file(a.output, table);
    if (a.linear.json != "-") tell("  written  {}\n", a.output);
  }
  return kReached;
}

}  // namespace

void add_frequency_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "frequency", "Frequency, step and impulse responses of the linearised mode");
  const auto arguments = std::make_shared<FrequencyArguments>();
  FrequencyArguments& a = *arguments;
  command->footer(kFooter);
  add_linear_options(*command, a.linear);
  command->add_option("--response", a.response, "default bode")
      ->check(CLI::IsMember({"bode", "step", "impulse"}))
      ->option_text("bode|step|impulse");
  command->add_option("--from", a.from, "lowest frequency, rad/s; default 0.01")->option_text("W");
  command->add_option("--to", a.to, "highest frequency, rad/s; default 1000")->option_text("W");
  command->add_option("--duration", a.duration, "of a step or impulse response, s; default 10")
      ->option_text("T");
  command->add_option("--points", a.points, "of the table; default 200")
      ->check(CLI::Range(1, 1'000'000))
      ->option_text("N");
  command->add_option("--output", a.output, "default: standard output")->option_text("FILE.csv");
  command->callback([arguments, &status] { status = run_frequency(*arguments); });
}

}  // namespace saltus
