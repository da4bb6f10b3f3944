#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/destinations.h"
#include "cli/load.h"
#include "cli/say.h"
#include "output/analysis_json.h"

namespace saltus {
namespace {

constexpr const char* kFooter =
    R"(mu: strangeness index; d: differential, a: algebraic equations; v: redundant equations; u: free
unknowns. A mode is integrable as it stands if v = u = 0; mu says how often equations had to be
differentiated until all constraints showed. Modes are looked at near the start values.

Examples:
  saltus analyze pendulum
  saltus analyze nag --formulation ggl
  saltus analyze pendulum --json - | jq '.modes[0].hidden'

Exit status: 0 analysed, whatever was found; 1 the result could not be written; 2 the input is
wrong.)";

struct AnalyzeArguments {
  ModelChoice choice;
  std::size_t max_modes = 64;
  std::string formulation = "position";
  std::string json;
};

std::string rank_evidence(const ModeAnalysis& mode) {
  if (mode.gap == 0.0) return "not asked";
  if (mode.gap >= 1e16) return "beyond doubt";
  return fmt::format("{:.0e}", mode.gap);
}

// Long formulas are for the JSON file.
constexpr std::size_t kLongestLine = 200;

std::string shortened(const std::string& line) {
  if (line.size() <= kLongestLine) return line;
  return line.substr(0, kLongestLine) + " ... (--json has it all)";
}

void print_list(const char* title, const std::vector<std::string>& lines) {
  for (std::size_t k = 0; k < lines.size(); ++k)
    tell("  {:<16}{}\n", k == 0 ? title : "", shortened(lines[k]));
}

void print_table(const SystemAnalysis& analysis) {
  std::size_t width = 4;
  for (const ModeAnalysis& mode : analysis.modes) width = std::max(width, mode.name.size());
  tell("{:<{}}  unknowns  equations   mu    d    a    v    u  rank gap\n", "mode", width);
  for (const ModeAnalysis& mode : analysis.modes) {
    const CharacteristicValues& c = mode.values;
    tell("{:<{}}  {:>8}  {:>9}  {:>3}  {:>3}  {:>3}  {:>3}  {:>3}  {}\n", mode.name, width,
         mode.unknowns, mode.equations, c.mu, c.d, c.a, c.v, c.u, rank_evidence(mode));
  }
}

void print_details(const ModeAnalysis& mode) {
  std::vector<std::string> differentiated;
  for (const auto& [equation, times] : mode.differentiated)
    differentiated.push_back(fmt::format("{} ({}x)", equation, times));
  tell("\nmode {}\n", mode.name);
  print_list("conditions", mode.conditions);
  print_list("hidden", mode.hidden);
  print_list("differentiated", differentiated);
  print_list("redundant", mode.redundant);
  print_list("contradictory", mode.contradictory);
  if (!mode.free.empty()) print_list("free", {fmt::format("{}", fmt::join(mode.free, ", "))});
  print_list("guards", mode.guards);
  if (!mode.note.empty()) tell("  {:<16}{}\n", "note", mode.note);
}

int run_analyze(const AnalyzeArguments& arguments) {
  const HybridSystem system = load_model(arguments.choice);
  check_writable({.folder = {}, .formats = {}, .report = {}, .json = arguments.json});
  const SystemAnalysis analysis =
      analyse_modes(system, arguments.max_modes,
                    parse_formulation(arguments.formulation).value_or(Formulation::kPosition));
  int status = kReached;
  if (!arguments.json.empty()) {
    try {
      write_text(to_json_text(analysis), arguments.json);
    } catch (const Error& error) {
      say_error(error);
      status = kStopped;
    }
  }
  if (arguments.json == "-") return status;
  print_table(analysis);
  for (const ModeAnalysis& mode : analysis.modes) print_details(mode);
  if (analysis.left_out > 0)
    tell("\n{} more modes; --max-modes {} shows them all\n", analysis.left_out,
         analysis.modes.size() + analysis.left_out);
  return status;
}

}  // namespace

void add_analyze_command(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "analyze", "Show index, hidden constraints and free unknowns of every mode");
  const auto arguments = std::make_shared<AnalyzeArguments>();
  AnalyzeArguments& a = *arguments;
  command->footer(kFooter);
  add_model_options(*command, a.choice);
  std::vector<std::string> formulations;
  for (const Formulation f : kFormulations) formulations.emplace_back(to_string(f));
  command
      ->add_option("--formulation", a.formulation,
                   "the form to count in, as for simulate; default position: as written")
      ->check(CLI::IsMember(formulations))
      ->option_text("NAME");
  command->add_option("--max-modes", a.max_modes, "at most so many modes; default 64")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  command
      ->add_option("--json", a.json,
                   "write the analysis; - is standard output and prints nothing else")
      ->option_text("FILE|-");
  command->callback([arguments, &status] { status = run_analyze(*arguments); });
}

}  // namespace saltus
