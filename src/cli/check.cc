#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/destinations.h"
#include "cli/load.h"
#include "cli/say.h"
#include "model/build.h"
#include "output/json.h"

namespace saltus {
namespace {

struct CheckArguments {
  ModelChoice choice;
  std::string json;
};

// Equations in force under the first branches; branches of unequal size are told by the range.
struct Count {
  std::size_t least = 0;
  std::size_t most = 0;
};

Count count_of(const std::vector<EquationItem>& items) {
  Count total;
  for (const EquationItem& item : items) {
    const auto* branching = std::get_if<IfEquation>(&item.value);
    if (branching == nullptr) {
      ++total.least;
      ++total.most;
      continue;
    }
    Count inside{static_cast<std::size_t>(-1), 0};
    for (const auto& branch : branching->branches) {
      const Count c = count_of(branch);
      inside.least = std::min(inside.least, c.least);
      inside.most = std::max(inside.most, c.most);
    }
    total.least += inside.least;
    total.most += inside.most;
  }
  return total;
}

int run_check(const CheckArguments& arguments) {
  if (!is_modelica(arguments.choice.model))
    throw Error(
        fmt::format("'{}' is not a Modelica model: give FILE.mo, FILE.mo:Class or "
                    "Package.Class",
                    arguments.choice.model));
  FlatModel flat = load_flat_model(arguments.choice);
  for (const std::string& warning : flat.warnings) say(warning);
  const Count equations = count_of(flat.equations);
  const std::size_t discretes = flat.discretes.size();
  const std::size_t relations = flat.relations.size();
  const std::size_t unknowns = flat.system.variables().size();
  const std::size_t parameters = flat.system.parameters().size();
  const std::size_t initial = flat.initial_equations.size();
  const std::string name = flat.system.name();
  const HybridSystem system = build(std::move(flat));
  if (!arguments.json.empty()) {
    nlohmann::ordered_json told = {{"model", name},
                                   {"unknowns", unknowns},
                                   {"equations", {equations.least, equations.most}},
                                   {"initial_equations", initial},
                                   {"discrete_variables", discretes},
                                   {"relations", relations},
                                   {"aliases", system.flat()->aliases},
                                   {"parameters", nlohmann::ordered_json::array()},
                                   {"experiment",
                                    {{"start_time", system.experiment.start_time},
                                     {"stop_time", system.experiment.stop_time},
                                     {"tolerance", system.experiment.tolerance}}}};
    for (const Parameter& parameter : system.parameters())
      told["parameters"].push_back({{"name", parameter.name},
                                    {"value", parameter.value},
                                    {"unit", parameter.unit},
                                    {"description", parameter.description}});
    write_text(indented(told), arguments.json);
    if (arguments.json == "-") return kReached;
  }
  tell("{}\n", name);
  tell("  unknowns            {}\n", unknowns);
  if (equations.least == equations.most) {
    tell("  equations           {}\n", equations.least);
  } else {
    tell("  equations           {} to {}, by mode\n", equations.least, equations.most);
  }
  tell("  initial equations   {}\n", initial);
  tell("  discrete variables  {}\n", discretes);
  tell("  relations           {}\n", relations);
  tell("  parameters          {}\n", parameters);
  tell("  aliases             {}\n", system.flat()->aliases);
  return kReached;
}

}  // namespace

void add_check_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "check", "Parse and flatten a Modelica model; count, integrate nothing");
  const auto arguments = std::make_shared<CheckArguments>();
  CheckArguments& a = *arguments;
  command->footer("Exit status: 0 the model can be translated; 2 it is wrong.");
  add_model_options(*command, a.choice);
  command
      ->add_option("--json", a.json,
                   "write the counts, the parameters and the experiment; - is standard output")
      ->option_text("FILE|-");
  command->callback([arguments, &status] { status = run_check(*arguments); });
}

}  // namespace saltus
