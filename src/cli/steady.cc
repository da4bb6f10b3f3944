#include "study/steady.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/linear_model.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/say.h"
#include "cli/study_model.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(Newton's method from the point of the run at time T, with all derivatives zero. Where it fails or leads out
of the mode, the run is followed ten times as long before it is tried again.

Examples:
  saltus steady rlc
  saltus steady tanks --longest 1e4 --json -

Exit status: 0 found; 2 there is none to be found, or the input is wrong.)";

struct SteadyArguments {
  ModelChoice choice;
  SimulateOptions options;
  std::string method = "radau";
  double at = 0.0;
  double longest = 1e4;
  std::string json;
};

int run_steady(SteadyArguments a) {
  a.options.method = parse_method(a.method).value_or(Method::kRadau);
  const SteadyState steady = find_steady_state(load_model(a.choice), a.at, a.longest, a.options);
  if (!a.json.empty()) {
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (std::size_t k = 0; k < steady.names.size(); ++k)
      values[steady.names[k].name] = steady.values[k];
    write_json_to(a.json, {{"model", steady.model},
                           {"mode", steady.mode},
                           {"time", steady.time},
                           {"unique", steady.is_unique},
                           {"stable", steady.is_stable()},
                           {"residual", steady.residual},
                           {"poles", to_json(steady.poles)},
                           {"values", values}});
  }
  if (a.json == "-") return kReached;
  tell("{}: equilibrium in mode '{}', {}, found from t = {:g} s\n", steady.model, steady.mode,
       steady.poles.empty() ? "without states"
       : steady.is_stable() ? "stable"
                            : "not asymptotically stable",
       steady.time);
  if (!steady.is_unique)
    say_warning("it is not the only one near by: some unknowns are free to move");
  for (std::size_t k = 0; k < steady.names.size(); ++k)
    tell("  {:<30} {:.12g}{}{}\n", steady.names[k].name, steady.values[k],
         steady.names[k].unit.empty() ? "" : " ", steady.names[k].unit);
  for (const auto& pole : steady.poles) tell("  pole     {}\n", to_text(pole));
  return kReached;
}

}  // namespace

void add_steady_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("steady", "Find an equilibrium");
  const auto arguments = std::make_shared<SteadyArguments>();
  SteadyArguments& a = *arguments;
  command->footer(kFooter);
  add_model_options(*command, a.choice);
  command->add_option("--at", a.at, "time from which the search starts, s; default 0")
      ->check(need_finite)
      ->option_text("T");
  command
      ->add_option("--longest", a.longest, "how long the run is followed at most, s; default 1e4")
      ->check(CLI::NonNegativeNumber)
      ->option_text("T");
  command->add_option("--json", a.json, "write all numbers; - is standard output")
      ->option_text("FILE|-");
  add_run_options(*command, a.options, a.method);
  command->callback([arguments, &status] { status = run_steady(*arguments); });
}

}  // namespace saltus
