#include "study/linearize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/commands.h"
#include "cli/linear_model.h"
#include "cli/say.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(The model is run to time T; the mode in force there is written as x' = A x + B u, y = C x + D u in small
changes, with all its constraints (hidden ones too) eliminated.

Examples:
  saltus linearize pendulum --at 1
  saltus linearize rlc --inputs E --outputs i --json -

Exit status: 0 done; 2 the input is wrong, or the run does not reach T.)";

void tell_matrix(const char* name, const DenseMatrix& m, const std::vector<std::string>& rows,
                 const std::vector<std::string>& columns) {
  if (m.rows == 0 || m.columns == 0) return;
  tell("  {} ({} by {}; columns {})\n", name, m.rows, m.columns, fmt::join(columns, ", "));
  for (std::size_t i = 0; i < m.rows; ++i) {
    tell("    {:<20}", rows[i]);
    for (std::size_t j = 0; j < m.columns; ++j) tell(" {:>18.10g}", m.at(i, j));
    tell("\n");
  }
}

int run_linearize(const LinearArguments& a) {
  const Linearization l = linearize_model(a);
  if (!a.json.empty()) write_json_to(a.json, to_json(l));
  if (a.json == "-") return kReached;
  tell("{}: mode '{}' at t = {:.10g} s, {} states\n", l.model, l.mode, l.time, l.states.size());
  for (std::size_t k = 0; k < l.states.size(); ++k)
    tell("  state    {} = {:.10g}\n", l.states[k], l.state_values[k]);
  tell_matrix("A", l.a, l.states, l.states);
  tell_matrix("B", l.b, l.states, l.inputs);
  if (!a.outputs.empty()) {
    tell_matrix("C", l.c, l.outputs, l.states);
    tell_matrix("D", l.d, l.outputs, l.inputs);
  }
  for (const auto& pole : l.poles) tell("  pole     {}\n", to_text(pole));
  for (const auto& zero : l.zeros) tell("  zero     {}\n", to_text(zero));
  if (!a.json.empty()) tell("  written  {}\n", a.json);
  return kReached;
}

}  // namespace

void add_linearize_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "linearize", "Write the mode in force as x' = A x + B u, y = C x + D u");
  const auto arguments = std::make_shared<LinearArguments>();
  command->footer(kFooter);
  add_linear_options(*command, *arguments);
  command->callback([arguments, &status] { status = run_linearize(*arguments); });
}

}  // namespace saltus
