#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/destinations.h"
#include "cli/numbers.h"
#include "cli/say.h"
#include "output/collision_tables.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(Cases: 1 to 7 of Reiter's Tables 13 and 14, two masses on springs that meet; cradle: four masses
that all meet in one sample.

Methods:
  free   no collisions; what time is measured by
  delta  Reiter (129) to (133): the step is cut on the line between its ends, the next one is longer,
         and a separation force keeps the masses apart
  exact  partial steps to the impacts themselves, within the sample; contact as a constraint

Columns: impacts; steps in contact; largest overlap; energy the impacts took, J; energy at the end;
processor time of a step on average and of the first step with an impact.

Examples:
  saltus collisions
  saltus collisions --case 7 --plot rattling.svg
  saltus delta --plot error.svg

Exit status: 0 run; 1 a file could not be written; 2 the input is wrong.)";

struct CollisionArguments {
  std::string name;
  std::optional<double> step, stop_time, restitution, separation;
  std::string csv;
  std::string plot;
};

struct DeltaArguments {
  DeltaErrorOptions options;
  std::string plot;
};

int write_file(const std::string& text, const std::string& path) {
  std::fflush(stdout);
  try {
    if (!path.empty()) write_text(text, path);
  } catch (const Error& error) {
    say_error(error);
    return kStopped;
  }
  return kReached;
}

int run_command(const CollisionArguments& arguments) {
  int status = kReached;
  for (CollisionCase& what : collision_cases()) {
    if (!arguments.name.empty() && what.name != arguments.name) continue;
    what.step = arguments.step.value_or(what.step);
    what.stop_time = arguments.stop_time.value_or(what.stop_time);
    what.restitution = arguments.restitution.value_or(what.restitution);
    what.separation = arguments.separation.value_or(what.separation);
    std::vector<CollisionRun> runs;
    for (const CollisionMethod method : kCollisionMethods)
      runs.push_back(run_collisions(what, method, true));
    tell(std::string_view(collisions_text(what, runs)));
    if (arguments.name.empty()) continue;
    status = std::max(write_file(collisions_csv(runs), arguments.csv),
                      write_file(collisions_svg(what, runs), arguments.plot));
  }
  return status;
}

}  // namespace

void add_collisions_command(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("collisions", "Masses that collide, with a fixed step");
  const auto arguments = std::make_shared<CollisionArguments>();
  CollisionArguments& a = *arguments;
  std::vector<std::string> cases;
  for (const CollisionCase& known : collision_cases()) cases.push_back(known.name);
  command->footer(kFooter);
  CLI::Option* name = command->add_option("--case", a.name, "see below; default: all")
                          ->check(CLI::IsMember(cases))
                          ->option_text("NAME");
  command->add_option("--step", a.step, "s; default: that of the case")
      ->check(need_finite)
      ->option_text("H");
  command->add_option("--stop-time", a.stop_time, "s; default 20")
      ->check(need_finite)
      ->option_text("T");
  command->add_option("--restitution", a.restitution, "default: that of the case")
      ->option_text("C");
  command
      ->add_option("--separation", a.separation,
                   "force on the pushing mass over that on the other; default: that of the case")
      ->option_text("K");
  command->add_option("--csv", a.csv, "write the points; - is standard output")
      ->needs(name)
      ->option_text("FILE");
  command->add_option("--plot", a.plot, "write positions and energy")
      ->needs(name)
      ->option_text("FILE.svg");
  command->callback([arguments, &status] { status = run_command(*arguments); });
}

void add_delta_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "delta", "Error of steps whose length is changed on the line between their ends");
  const auto arguments = std::make_shared<DeltaArguments>();
  DeltaArguments& a = *arguments;
  command->footer(
      "Reiter, Appendix A: an oscillator (his Table 17), one step of eta T and two of eta T and\n"
      "(2 - eta) T against the exact ones, in the 2-norm over that of the state. order: of the\n"
      "error in the step, from half of it.\n\nExit status: 0 run; 1 a file could not be written; 2 "
      "the input is wrong.");
  command->add_option("--steps", a.options.steps, "s; default 0.031,0.093,0.154")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("H,...");
  command->add_option("--mass", a.options.m, "kg; default 1")->option_text("M");
  command->add_option("--damping", a.options.d, "N s/m; default 5")->option_text("D");
  command->add_option("--stiffness", a.options.c, "N/m; default 10")->option_text("C");
  command->add_option("--plot", a.plot, "write the curves")->option_text("FILE.svg");
  command->callback([arguments, &status] {
    tell(std::string_view(delta_text(delta_errors(arguments->options))));
    status = write_file(delta_svg(delta_errors(arguments->options, 100)), arguments->plot);
  });
}

}  // namespace saltus
