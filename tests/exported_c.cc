#include "exported_c.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "realtime/export_c.h"

namespace saltus {
namespace {

constexpr const char* kMain = R"(#include <math.h>
#include <stdio.h>
#include "@.h"
int main(void) {{
  static double in[@_INPUTS + 1], out[@_OUTPUTS + 1];
  int k, i;
  @_init();
  for (k = 0; k < {samples}; ++k) {{
    unsigned status;
    for (i = 0; i < @_INPUTS; ++i) in[i] = {input};
    status = @_step(@_INPUTS > 0 ? in : NULL);
    @_outputs(out);
    printf("%u %a\n", status, @_time());
    for (i = 0; i < @_OUTPUTS; ++i) printf("%a\n", out[i]);
  }}
  return 0;
}}
)";

std::string replaced(std::string text, char mark, const std::string& by) {
  for (std::size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, 1, by);
  return text;
}

// In C and here: exact in both.
constexpr const char* kInputText = "(k % 7) * 0.25 - (k % 50 == 49 ? INFINITY : 0.5) + i";
double input_at(int k, int i) {
  return (k % 7) * 0.25 - (k % 50 == 49 ? std::numeric_limits<double>::infinity() : 0.5) + i;
}

testing::AssertionResult compare(RealtimeEngine& engine, std::FILE* file, int samples,
                                 int& events) {
  std::vector<double> row(engine.output_names().size()), in(engine.inputs().size());
  for (int k = 0; k < samples; ++k) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = input_at(k, static_cast<int>(i));
    const unsigned status = engine.step(in.empty() ? nullptr : in.data());
    engine.read_outputs(row.data());
    if ((status & kEventTaken) != 0) ++events;
    unsigned their_status = 0;
    double t = 0.0;
    if (std::fscanf(file, "%u %la", &their_status, &t) != 2)
      return testing::AssertionFailure() << "it ended before sample " << k;
    if (status != their_status || t != engine.time())
      return testing::AssertionFailure() << "status " << their_status << " at " << t
                                         << " instead of " << status << " at " << engine.time();
    for (std::size_t i = 0; i < row.size(); ++i) {
      double value = 0.0;
      if (std::fscanf(file, "%la", &value) != 1)
        return testing::AssertionFailure() << "it ended in sample " << k;
      if (row[i] != value && !(std::isnan(row[i]) && std::isnan(value)))
        return testing::AssertionFailure() << engine.output_names()[i] << " = " << value
                                           << " instead of " << row[i] << " at t = " << t;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace

testing::AssertionResult runs_as_exported(const HybridSystem& system,
                                          const RealtimeOptions& options, int samples,
                                          const std::string& flags, int& events) {
  RealtimeEngine engine(system, options);
  const CExport made = export_c(engine);
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                       fmt::format("saltus_export_{}_{}", made.name, getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / (made.name + ".h")) << made.header;
  std::ofstream(folder / (made.name + ".c")) << made.source;
  const std::string text =
      fmt::format(fmt::runtime(kMain), fmt::arg("samples", samples), fmt::arg("input", kInputText));
  std::ofstream(folder / "main.c") << replaced(text, '@', made.name);
  const std::string command = fmt::format(
      "cd '{}' && {} -std=c99 {} -Wall -Wextra -pedantic -Werror -ffp-contract=off -o run main.c "
      "{}.c -lm && ./run > numbers.txt",
      folder.string(), SALTUS_C_COMPILER, flags, made.name);
  if (std::system(command.c_str()) != 0) return testing::AssertionFailure() << command;
  std::FILE* file = std::fopen((folder / "numbers.txt").c_str(), "r");
  if (file == nullptr) return testing::AssertionFailure() << "no numbers";
  testing::AssertionResult result = compare(engine, file, samples, events);
  std::fclose(file);
  if (result) std::filesystem::remove_all(folder);
  return result;
}

}  // namespace saltus
