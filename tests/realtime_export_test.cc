#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "realtime/export_c.h"

// The exported C99, compiled without a warning and run beside the engine: the same numbers, to the
// last bit.

namespace saltus {
namespace {

HybridSystem from_library(const std::string& name) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  return build(load_modelica(name, options));
}

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

// Inputs of the runs below, in C and here: exact in both.
constexpr const char* kInputText = "(k % 7) * 0.25 - (k % 50 == 49 ? INFINITY : 0.5) + i";
double input_at(int k, int i) {
  return (k % 7) * 0.25 - (k % 50 == 49 ? std::numeric_limits<double>::infinity() : 0.5) + i;
}

void expect_same(const HybridSystem& system, RealtimeOptions options, int samples) {
  RealtimeEngine engine(system, options);
  const CExport made = export_c(engine);
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("saltus_export_{}", made.name);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / (made.name + ".h")) << made.header;
  std::ofstream(folder / (made.name + ".c")) << made.source;
  const std::string text =
      fmt::format(fmt::runtime(kMain), fmt::arg("samples", samples), fmt::arg("input", kInputText));
  std::ofstream(folder / "main.c") << replaced(text, '@', made.name);
  const std::string command = fmt::format(
      "cd '{}' && {} -std=c99 -O1 -Wall -Wextra -pedantic -Werror -ffp-contract=off -o run main.c "
      "{}.c -lm && ./run > numbers.txt",
      folder.string(), SALTUS_C_COMPILER, made.name);
  ASSERT_EQ(std::system(command.c_str()), 0) << command;

  std::FILE* file = std::fopen((folder / "numbers.txt").c_str(), "r");
  ASSERT_NE(file, nullptr);
  std::vector<double> row(engine.output_names().size()), in(engine.inputs().size());
  int events = 0;
  for (int k = 0; k < samples; ++k) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = input_at(k, static_cast<int>(i));
    const unsigned status = engine.step(in.empty() ? nullptr : in.data());
    engine.read_outputs(row.data());
    if ((status & kEventTaken) != 0) ++events;
    unsigned their_status = 0;
    double t = 0.0;
    ASSERT_EQ(std::fscanf(file, "%u %la", &their_status, &t), 2);
    ASSERT_EQ(status, their_status) << made.name << " sample " << k;
    ASSERT_EQ(engine.time(), t);
    for (std::size_t i = 0; i < row.size(); ++i) {
      double value = 0.0;
      ASSERT_EQ(std::fscanf(file, "%la", &value), 1);
      if (std::isnan(row[i])) {
        ASSERT_TRUE(std::isnan(value));
        continue;
      }
      ASSERT_EQ(row[i], value) << engine.output_names()[i] << " at t = " << t;
    }
  }
  std::fclose(file);
  EXPECT_GT(events, 0) << made.name;
  std::filesystem::remove_all(folder);
}

TEST(RealtimeExport, AffineModesAgreeToTheLastBit) {
  expect_same(from_library("Saltus.FutureHybrid.Reduced"),
              {.step = 2e-3, .stop_time = 4.0, .outputs = {"w_m", "w_f", "dphi"}}, 2000);
}

TEST(RealtimeExport, NonlinearModesAgreeToTheLastBit) {
  expect_same(from_library("Saltus.FourSpeed.FullLoad"),
              {.step = 1e-2, .stop_time = 20.0, .outputs = {"car.v", "gearbox.C3.tau", "engine.w"}},
              2000);
}

TEST(RealtimeExport, ReinitsSamplesTablesAndTerminationsAgreeToTheLastBit) {
  expect_same(build(load_modelica_text(R"(model Mixed
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), y;
  discrete Real kept(start = 0, fixed = true);
  Integer count(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81 - 0.1*v;
  y = sin(h)*exp(-h) + (if h > 0.5 then 1 else h^3);
  when h < 0 and v < 0 then
    reinit(v, -0.7*pre(v));
    count = pre(count) + 1;
  end when;
  when sample(0.03, 0.05) then
    kept = h;
  end when;
  when time > 1.4 then
    terminate("enough");
  end when;
end Mixed;)")),
              {.step = 1e-2, .stop_time = 1.6}, 150);
}

TEST(RealtimeExport, InputsAgreeToTheLastBit) {
  expect_same(build(load_modelica_text(R"(model Fed
  input Real u(start = 0.5), k(start = 1);
  Real x(start = 0, fixed = true), y;
  Boolean high(start = false, fixed = true);
equation
  der(x) = u - k*x;
  high = x > (if pre(high) then 0.1 else 0.2);
  y = if high then x else -x;
end Fed;)")),
              {.step = 1e-2, .stop_time = 1.0}, 400);
}

TEST(RealtimeExport, FunctionsHaveTheNameOfTheModel) {
  RealtimeEngine engine(from_library("Saltus.Drivetrain.Examples.Engagement"), {.step = 0.01});
  const CExport made = export_c(engine);
  EXPECT_EQ(made.name, "Engagement");
  EXPECT_NE(made.header.find("void Engagement_init(void);"), std::string::npos);
  EXPECT_EQ(made.source.find("malloc"), std::string::npos);
}

}  // namespace
}  // namespace saltus
