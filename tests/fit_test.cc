// Parameters of a drivetrain from its own noisy measurements, across a switch.

#include "study/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "modelica/parameter_use.h"

namespace saltus {
namespace {

constexpr const char* kDrivetrain = R"(
model Drivetrain "An engine drives a load through a clutch that locks and a shaft"
  parameter Real J1 = 0.5, J2 = 0.3, J3 = 2;
  parameter Real c = 60, d = 0.8, mu = 9, b = 0.15;
  parameter Real twice = 1, copy = 0;
  Real w1(start = 30, fixed = true), w2(start = 0, fixed = true), w3(start = 0, fixed = true);
  Real phi(start = 0, fixed = true), tau, shaft;
  Boolean locked(start = false, fixed = true);
equation
  J1*der(w1) = 4 - tau - b*w1;
  J2*der(w2) = tau - shaft;
  J3*der(w3) = shaft - twice*copy;
  der(phi) = w2 - w3;
  shaft = c*phi + d*(w2 - w3);
  when w1 <= w2 then
    locked = true;
  end when;
  if locked then
    w1 = w2;
  else
    tau = mu;
  end if;
  annotation(experiment(StopTime = 4, Tolerance = 1e-9));
end Drivetrain;
)";

const std::vector<std::pair<std::string, double>> kTrue = {
    {"c", 60.0}, {"d", 0.8}, {"mu", 9.0}, {"b", 0.15}};
const Settings kGuess = {{"c", 45.0}, {"d", 1.2}, {"mu", 10.0}, {"b", 0.1}};

CompiledModel::Source drivetrain(const Settings& guess) {
  return [guess](const Settings& settings) {
    LoadOptions options;
    options.use_modelica_path = false;
    for (const Settings* some : {&guess, &settings})
      for (const auto& [name, value] : *some) {
        char number[40];
        std::snprintf(number, sizeof number, "%.17g", value);
        std::erase_if(options.overrides, [&name = name](const auto& o) { return o.first == name; });
        options.overrides.emplace_back(name, number);
      }
    const ParameterUse use;
    TranslatedModel model{build(load_modelica_text(kDrivetrain, {}, options))};
    model.used = use.names();
    return model;
  };
}

// Sampled from a run of its own, by another way than a fit takes: stored points.
Measurements measure(double noise, unsigned seed) {
  Measurements data;
  data.names = {"w1", "w2", "w3"};
  const SimulateResult result =
      simulate(drivetrain({})({}).system, {.tolerance = 1e-10, .interval = 0.05});
  std::vector<std::vector<double>> columns;
  for (const std::string& name : data.names) columns.push_back(result.trajectory.column(name));
  std::mt19937 random(seed);
  std::normal_distribution<> normal(0.0, 1.0);
  for (std::size_t k = 0; k < result.trajectory.size(); ++k) {
    if (k > 0 && result.trajectory.time[k] - result.trajectory.time[k - 1] < 1e-9) continue;
    const double grid = std::round(result.trajectory.time[k] / 0.05) * 0.05;
    if (std::abs(result.trajectory.time[k] - grid) > 1e-12) continue;  // of the event
    data.times.push_back(result.trajectory.time[k]);
    for (const auto& column : columns) data.values.push_back(column[k]);
  }
  for (std::size_t j = 0; j < data.names.size(); ++j) {
    double low = 1e300, high = -1e300;
    for (std::size_t k = j; k < data.values.size(); k += data.names.size()) {
      low = std::min(low, data.values[k]);
      high = std::max(high, data.values[k]);
    }
    for (std::size_t k = j; k < data.values.size(); k += data.names.size())
      data.values[k] += noise * (high - low) * normal(random);
  }
  return data;
}

std::vector<FreeParameter> all_free() {
  std::vector<FreeParameter> free;
  for (const auto& [name, value] : kTrue) free.push_back({name, -INFINITY, INFINITY});
  return free;
}

TEST(Fit, FindsFourParametersOfExactDataAcrossALock) {
  const Measurements data = measure(0.0, 1);
  ASSERT_EQ(data.times.size(), 81U);
  const FitResult result = fit(drivetrain(kGuess), data, all_free(), {});
  EXPECT_TRUE(result.converged) << result.message;
  EXPECT_EQ(result.why_differences, "");
  for (std::size_t i = 0; i < kTrue.size(); ++i)
    EXPECT_NEAR(result.parameters[i].value / kTrue[i].second, 1.0, 1e-5) << kTrue[i].first;
  // One run gives the Jacobian, too: as many runs as points that were tried.
  EXPECT_LE(result.runs, 14U);
}

// Confidence intervals mean what they say: 3 deviations cover all four in 99 of 100 cases.
// SALTUS_FIT_SEEDS gives another number of cases.
TEST(Fit, IntervalsCoverTheTruth) {
  const char* wanted = std::getenv("SALTUS_FIT_SEEDS");
  const int seeds = wanted == nullptr ? 12 : std::atoi(wanted);
  int covered = 0;
  double squares = 0.0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const FitResult result =
        fit(drivetrain(kGuess), measure(0.01, static_cast<unsigned>(seed)), all_free(), {});
    ASSERT_TRUE(result.converged) << "seed " << seed << ": " << result.message;
    bool all = true;
    for (std::size_t i = 0; i < kTrue.size(); ++i) {
      const FittedParameter& p = result.parameters[i];
      const double error = (p.value - kTrue[i].second) / p.deviation;
      squares += error * error;
      all = all && std::abs(error) <= 3.0;
    }
    covered += all ? 1 : 0;
  }
  EXPECT_GE(covered, (95 * seeds) / 100);
  // Intervals that cover because they are too wide would be no use: errors are of unit variance.
  const double variance = squares / (4.0 * seeds);
  EXPECT_GT(variance, 0.5);
  EXPECT_LT(variance, 1.8);
}

TEST(Fit, KeepsWithinBounds) {
  std::vector<FreeParameter> free = {{"c", 0.0, 50.0}, {"d", 0.0, 10.0}};
  const FitResult result = fit(drivetrain({{"c", 40.0}, {"d", 1.0}}), measure(0.0, 1), free, {});
  EXPECT_DOUBLE_EQ(result.parameters[0].value, 50.0);
  EXPECT_TRUE(result.parameters[0].at_bound);
  EXPECT_FALSE(result.parameters[1].at_bound);
}

TEST(Fit, SaysWhichParametersCannotBeToldApart) {
  const std::vector<FreeParameter> free = {
      {"mu", -INFINITY, INFINITY}, {"twice", -INFINITY, INFINITY}, {"copy", -INFINITY, INFINITY}};
  const FitResult result =
      fit(drivetrain({{"twice", 0.5}, {"copy", 0.2}}), measure(0.01, 1), free, {});
  EXPECT_THAT(result.not_told_apart, testing::UnorderedElementsAre("twice", "copy"));
  EXPECT_THAT(result.message, testing::HasSubstr("do not tell"));
}

TEST(Fit, RefusesWhatCannotBe) {
  const Measurements data = measure(0.0, 1);
  EXPECT_THROW(fit(drivetrain({}), data, {{"cc", 0.0, 1.0}}, {}), Error);
  EXPECT_THROW(fit(drivetrain({}), data, {}, {}), Error);
  EXPECT_THROW(fit(drivetrain({}), data, all_free(), {.stop_time = 3.0}), Error);
  Measurements wrong = data;
  wrong.names[0] = "w9";
  EXPECT_THROW(fit(drivetrain({}), wrong, all_free(), {}), Error);
}

}  // namespace
}  // namespace saltus
