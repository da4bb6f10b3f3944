// Examples of the Modelica Standard Library against reference results of another tool. Neither the
// library nor the references are part of this repository: the tests are skipped unless SALTUS_MSL
// (or MODELICAPATH) names a folder with the package Modelica, and SALTUS_MSL_REFERENCE the folder
// with index.csv and the trajectories.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

// Relative to the range of the signal (docs: the references themselves are good to about 1e-5).
constexpr double kTube = 1e-4;

struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;
};

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> fields;
  std::stringstream in(line);
  for (std::string field; std::getline(in, field, separator);) fields.push_back(field);
  return fields;
}

Table read_compressed(const std::filesystem::path& file) {
  Table table;
  const std::string command = "gzip -dc '" + file.string() + "'";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return table;
  std::string text;
  char buffer[1 << 14];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  std::stringstream in(text);
  std::string line;
  std::getline(in, line);
  table.names = split(line, ',');
  while (std::getline(in, line)) {
    auto& row = table.rows.emplace_back();
    for (const std::string& field : split(line, ',')) row.push_back(std::stod(field));
  }
  return table;
}

class StandardLibrary : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* library = std::getenv("SALTUS_MSL");
    if (library != nullptr) options_.libraries = {library};
    if (library == nullptr && std::getenv("MODELICAPATH") == nullptr)
      GTEST_SKIP() << "set SALTUS_MSL or MODELICAPATH to a folder with the package Modelica";
    const char* references = std::getenv("SALTUS_MSL_REFERENCE");
    if (references == nullptr)
      GTEST_SKIP() << "set SALTUS_MSL_REFERENCE to the folder with the reference results";
    folder_ = references;
  }

  LoadOptions options_;
  std::filesystem::path folder_;
};

TEST_P(StandardLibrary, ExampleStaysInTheTubeAroundTheReference) {
  const std::string name = GetParam();
  const Table reference = read_compressed(folder_ / (name + ".csv.gz"));
  ASSERT_GT(reference.rows.size(), 10u);
  HybridSystem system =
      build(load_modelica("Modelica.Mechanics.Rotational.Examples." + name, options_));
  const double stop = reference.rows.back()[0];
  const SimulateResult result = simulate(system, {.stop_time = stop, .interval = stop / 5000.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;

  const Trajectory& ours = result.trajectory;
  for (std::size_t k = 1; k < reference.names.size(); ++k) {
    const std::string& signal = reference.names[k];
    if (signal.find(".start") != std::string::npos) continue;  // true inside event instants only
    const std::size_t column = ours.find(signal);
    double low = reference.rows[0][k];
    double high = low;
    for (const auto& row : reference.rows) {
      low = std::min(low, row[k]);
      high = std::max(high, row[k]);
    }
    const bool is_mode = signal.ends_with(".mode");
    std::vector<double> expected_modes, modes;
    double worst = 0.0;
    double worst_time = 0.0;
    std::size_t i = 0;
    for (const auto& row : reference.rows) {
      while (i + 1 < ours.size() && ours.time[i + 1] <= row[0]) ++i;
      double value = ours.value(i, column);
      if (i + 1 < ours.size() && ours.time[i + 1] > ours.time[i] && !is_mode)
        value += (row[0] - ours.time[i]) / (ours.time[i + 1] - ours.time[i]) *
                 (ours.value(i + 1, column) - value);
      if (is_mode) {
        if (expected_modes.empty() || expected_modes.back() != row[k])
          expected_modes.push_back(row[k]);
        if (modes.empty() || modes.back() != value) modes.push_back(value);
        continue;
      }
      if (std::abs(value - row[k]) > worst) {
        worst = std::abs(value - row[k]);
        worst_time = row[0];
      }
    }
    if (is_mode)
      EXPECT_EQ(modes, expected_modes) << signal;
    else
      EXPECT_LE(worst, kTube * (high - low)) << signal << " at t = " << worst_time;
  }
}

INSTANTIATE_TEST_SUITE_P(Rotational, StandardLibrary,
                         testing::Values("First", "CoupledClutches", "Backlash", "ElasticBearing",
                                         "LossyGearDemo1", "OneWayClutch"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace saltus
