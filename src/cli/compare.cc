#include "simulate/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/destinations.h"
#include "cli/interrupt.h"
#include "cli/load.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "output/comparison.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(Formulations of a mode with constraints g(p) = 0 on positions p, velocities v, multipliers lambda:
  reduced         all constraints and their derivatives; states chosen as the solution moves (default)
  position        g = 0 as written: index 3; velocities and multipliers are less accurate
  velocity        g' = 0 instead: index 2; positions drift off
  acceleration    g'' = 0 instead: index 1; positions and velocities drift off
  baumgarte       g'' + 2 a g' + a^2 g = 0 with a = --baumgarte: drift is damped
  ggl             g = 0 and g' = 0, p' = v - G^T eta (Gear, Gupta, Leimkuhler): index 2
  overdetermined  g = g' = g'' = 0 beside the equations of motion, by least squares
  minimal         the same made square: some derivatives become unknowns of their own
Constraints on velocity level are treated alike, one level later. Modes without constraints, or of
another kind, keep their form.

Methods:
  radau             Radau IIA of order 5, on every formulation
  bdf               variable order (SUNDIALS IDA), on formulations that are square and of index 1
  half-explicit     Runge-Kutta of order 3 on velocity level with projections, for mechanical modes;
                    explicit: many steps where something is stiff
  derivative-array  Radau IIA on all equations and their derivatives as the mode is written; finds
                    constraints by numbers alone, with dense matrices

Columns: processor time without that of building modes; steps; the largest residuals of the
constraints and their derivatives over all accepted steps, in the unit of the constraint, in brackets
at switches if ten times larger (relative ones are in the CSV file); the largest error of a switch
time and of the final values against a tight run. A run through other modes than the tight one says
"wrong-sequence".

Examples:
  saltus compare four_bar
  saltus compare pendulum --formulations reduced,ggl,overdetermined --tolerances 1e-4,1e-6,1e-8
  saltus compare nag --csv table.csv --plot table.svg

Exit status: 0 compared, whatever was found; 1 interrupted, or a file could not be written; 2 the
input is wrong, or the tight run does not reach the end.)";

struct CompareArguments {
  ModelChoice choice;
  std::vector<std::string> methods;
  std::vector<std::string> formulations;
  CompareOptions options;
  std::string csv;
  std::string plot;
};

int run_compare(CompareArguments arguments) {
  const HybridSystem system = load_model(arguments.choice);
  CompareOptions& options = arguments.options;
  if (!arguments.methods.empty()) options.methods.clear();
  for (const std::string& name : arguments.methods)
    options.methods.push_back(parse_method(name).value_or(Method::kRadau));
  options.formulations.clear();
  for (const std::string& name : arguments.formulations)
    options.formulations.push_back(parse_formulation(name).value_or(Formulation::kReduced));
  const InterruptFlag interrupt;
  options.run.stop_requested = interrupt.flag();
  Comparison comparison;
  {
    ProgressLine line(options.run.start_time.value_or(system.experiment.start_time),
                      options.run.stop_time.value_or(system.experiment.stop_time), true);
    std::string label;
    std::size_t labelled = 0;
    options.progress = [&](std::size_t run, std::size_t runs, const std::string& name,
                           double time) {
      if (label.empty() || run != labelled)
        label = fmt::format("run {} of {}, {}: ", run, runs, name);
      labelled = run;
      line.update(time, label);
    };
    comparison = compare(system, options);
  }
  tell("{}", comparison_text(comparison));
  std::fflush(stdout);
  const auto write = [](const std::string& text, const std::string& path) {
    if (path.empty()) return true;
    try {
      write_text(text, path);
      return true;
    } catch (const Error& error) {
      say_error(error);
      return false;
    }
  };
  bool complete = write(comparison_csv(comparison), arguments.csv);
  complete = write(comparison_svg(comparison), arguments.plot) && complete;
  if (comparison.rows.size() < comparison.runs) {
    say_error(
        fmt::format("interrupted after {} of {} runs", comparison.rows.size(), comparison.runs));
    complete = false;
  }
  return complete ? kReached : kStopped;
}

}  // namespace

void add_compare_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "compare", "Run a model with several methods, formulations and tolerances; tabulate them");
  const auto arguments = std::make_shared<CompareArguments>();
  CompareArguments& a = *arguments;
  std::vector<std::string> names;
  for (const Formulation f : kFormulations) names.emplace_back(to_string(f));
  std::vector<std::string> methods;
  for (const Method m : kMethods) methods.emplace_back(to_string(m));
  command->footer(kFooter);
  add_model_options(*command, a.choice);
  command->add_option("--methods", a.methods, "see below; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(methods))
      ->allow_extra_args(false)
      ->option_text("NAME,...");
  command
      ->add_option("--formulations", a.formulations,
                   "see below; default: all that a method can integrate")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->allow_extra_args(false)
      ->option_text("NAME,...");
  command->add_option("--tolerances", a.options.tolerances, "default 1e-3,1e-6")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("R,...");
  command
      ->add_option("--reference-tolerance", a.options.reference_tolerance,
                   "of the tight run; default: the tightest / 1000, at least 1e-13")
      ->check(need_positive)
      ->option_text("R");
  command->add_option("--start-time", a.options.run.start_time, "s; default: the model's")
      ->option_text("T");
  command->add_option("--stop-time", a.options.run.stop_time, "s; default: the model's")
      ->option_text("T");
  command->add_option("--baumgarte", a.options.run.baumgarte, "1/s; default 10")->option_text("A");
  command->add_option("--max-seconds", a.options.max_seconds, "wall time of a run; default 60")
      ->check(need_positive)
      ->option_text("T");
  command->add_option("--csv", a.csv, "write the table with all digits; - is standard output")
      ->option_text("FILE");
  command->add_option("--plot", a.plot, "write a work-precision diagram")->option_text("FILE.svg");
  command->callback([arguments, &status] { status = run_compare(*arguments); });
}

}  // namespace saltus
