#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/destinations.h"
#include "cli/say.h"
#include "output/spring_tables.h"

namespace saltus {
namespace {

constexpr const char* kFooter = R"(Cases, with the numbers of Reiter's tables:
  table5    two regions, damped          undamped  the same without damping: energy
  table2    four regions, damped         table6    the one that time is measured by
  friction  three regions, dry friction  harmonic  driven by a harmonic force

Methods:
  linear           the linear system with the inner stiffness alone
  euler            explicit Euler
  exponential      (I + Z/N)^N at the point where the step begins; N = --factors
  taylor           Taylor series to --order
  constant         the spring force held over the step
  constant-inner   its difference from a linear spring of --inner-stiffness held
  shifting         the deflection shifted to where the linear spring has the same force
  switching        the exact step of the region in which the step begins
  switching-delta  steps are cut where the line between their ends crosses a border
  switching-exact  partial steps to the crossings themselves, within the sample

Columns: largest error of the deflection and of the energy (over the energy at the start) at the
method's own points, against closed formulas; mean error of the energy in the last quarter;
processor time of a step; steps cut at an event.

Examples:
  saltus springs
  saltus springs --case undamped --factors 100 --plot energy.svg

Exit status: 0 compared; 1 a file could not be written; 2 the input is wrong.)";

struct SpringArguments {
  std::string name = "table5";
  std::vector<std::string> methods;
  SpringCompareOptions options;
  std::string csv;
  std::string plot;
};

int run_springs(SpringArguments arguments) {
  if (!arguments.methods.empty()) arguments.options.methods.clear();
  for (const std::string& name : arguments.methods)
    arguments.options.methods.push_back(*parse_spring_method(name));
  for (const SpringCase& known : spring_cases()) {
    if (known.name != arguments.name) continue;
    const SpringComparison comparison = compare_springs(known, arguments.options);
    tell(std::string_view(springs_text(comparison)));
    std::fflush(stdout);
    try {
      if (!arguments.csv.empty()) write_text(springs_csv(comparison), arguments.csv);
      if (!arguments.plot.empty()) write_text(springs_svg(comparison), arguments.plot);
    } catch (const Error& error) {
      say_error(error);
      return kStopped;
    }
  }
  return kReached;
}

}  // namespace

void add_springs_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "springs", "Compare fixed-step methods for a spring that is affine in pieces");
  const auto arguments = std::make_shared<SpringArguments>();
  SpringArguments& a = *arguments;
  std::vector<std::string> cases;
  for (const SpringCase& known : spring_cases()) cases.push_back(known.name);
  std::vector<std::string> methods;
  for (const SpringMethod m : kSpringMethods) methods.emplace_back(to_string(m));
  command->footer(kFooter);
  command->add_option("--case", a.name, "see below; default table5")
      ->check(CLI::IsMember(cases))
      ->option_text("NAME");
  command->add_option("--steps", a.options.steps, "s; default 0.01,0.1,0.2")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("H,...");
  command->add_option("--methods", a.methods, "see below; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(methods))
      ->allow_extra_args(false)
      ->option_text("NAME,...");
  command->add_option("--inner-stiffness", a.options.method.inner_stiffness, "N/m; default 10")
      ->check(CLI::NonNegativeNumber)
      ->option_text("C");
  command->add_option("--factors", a.options.method.factors, "N of exponential; default 10")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  command->add_option("--order", a.options.method.order, "of taylor; default 2")
      ->check(CLI::Range(1, 100))
      ->option_text("N");
  command->add_option("--csv", a.csv, "write the points of every run; - is standard output")
      ->option_text("FILE");
  command->add_option("--plot", a.plot, "write deflection, phase plane and energy")
      ->option_text("FILE.svg");
  command->callback([arguments, &status] { status = run_springs(*arguments); });
}

}  // namespace saltus
