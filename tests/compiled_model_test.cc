// One model, many runs, many threads: every run gives what a run alone gives. Built with
// ThreadSanitizer it also shows that threads share nothing that changes.

#include "study/compiled_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "modelica/parameter_use.h"

namespace saltus {
namespace {

// Structure changes when the clutch locks, which depends on the parameters; `n` decides at
// translation.
constexpr const char* kClutch = R"(
model Clutch
  parameter Real J1 = 1, J2 = 2, M = 5, w0 = 10;
  parameter Integer n = 2;
  Real w1(start = w0, fixed = true), w2(start = 0, fixed = true), tau, y[n];
  Boolean locked(start = false, fixed = true);
equation
  J1*der(w1) = -tau;
  J2*der(w2) = tau - 0.2*sin(3*time);
  when w1 <= w2 then
    locked = true;
  end when;
  if locked then
    w1 = w2;
  else
    tau = M;
  end if;
  for i in 1:n loop
    y[i] = i*w1;
  end for;
  annotation(experiment(StopTime = 3));
end Clutch;
)";

constexpr const char* kBelt = R"(
model Belt
  parameter Real k = 20, mu = 3, v = 0.4;
  Real x(start = 0, fixed = true), w(start = 0, fixed = true), f;
equation
  der(x) = w;
  der(w) = f - k*x;
  f = mu*(if v - w > 0 then 1 else -1)*(1 + 0.2*exp(-abs(v - w)));
  annotation(experiment(StopTime = 2));
end Belt;
)";

HybridSystem translated(const char* text, const Settings& settings) {
  LoadOptions options;
  options.use_modelica_path = false;
  for (const auto& [name, value] : settings) {
    char number[40];
    std::snprintf(number, sizeof number, "%.17g", value);
    options.overrides.emplace_back(name, number);
  }
  return build(load_modelica_text(text, {}, options));
}

CompiledModel::Source source_of(const char* text) {
  return [text](const Settings& settings) {
    const ParameterUse use;
    TranslatedModel model{translated(text, settings)};
    model.used = use.names();
    return model;
  };
}

// What a run says, to the last bit.
std::string outcome_of(const SimulateResult& result) {
  std::string text = std::string(to_string(result.reason)) + "\n";
  const auto add = [&](const std::string& name, double value) {
    char number[60];
    std::snprintf(number, sizeof number, " %a\n", value);
    text += name + number;
  };
  add("time", result.time);
  for (const auto& [name, value] : result.final) add(name, value);
  for (const Event& event : result.events) add(event.kind, event.time);
  for (const double value : result.trajectory.values)
    if (!std::isnan(value)) add("", value);
  return text;
}

std::string fresh(const char* text, const Settings& settings) {
  return outcome_of(simulate(translated(text, settings)));
}

TEST(CompiledModel, EightThreadsGiveWhatFreshRunsGive) {
  const CompiledModel clutch(source_of(kClutch)), belt(source_of(kBelt));
  constexpr std::size_t kThreads = 8, kRuns = 6;
  const auto settings_of = [](std::size_t k) -> Settings {
    const double a = static_cast<double>(k);
    return k % 2 == 0 ? Settings{{"J1", 0.5 + 0.07 * a}, {"M", 3.0 + 0.3 * a}}
                      : Settings{{"k", 15.0 + a}, {"mu", 2.0 + 0.1 * a}};
  };
  std::vector<std::string> outcomes(kThreads * kRuns);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kRuns; ++i) {
        const std::size_t k = t * kRuns + i;
        CompiledModel::Run run(k % 2 == 0 ? clutch : belt);
        run.set(settings_of(k));
        outcomes[k] = outcome_of(run.simulate());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t k = 0; k < outcomes.size(); ++k)
    EXPECT_EQ(outcomes[k], fresh(k % 2 == 0 ? kClutch : kBelt, settings_of(k))) << "run " << k;
  EXPECT_NE(outcomes[0], outcomes[2]);
}

TEST(CompiledModel, TranslatesOncePerRunAtTheSameTime) {
  std::atomic<int> translations = 0;
  const CompiledModel model([&] {
    ++translations;
    return translated(kBelt, {});
  });
  for (int k = 0; k < 5; ++k) CompiledModel::Run(model).simulate();
  EXPECT_EQ(translations, 1);
  {
    CompiledModel::Run one(model), other(model);
    EXPECT_EQ(outcome_of(one.simulate()), outcome_of(other.simulate()));
  }
  EXPECT_EQ(translations, 2);
  CompiledModel::Run one(model), other(model);
  EXPECT_EQ(translations, 2);
}

TEST(CompiledModel, TranslatesAnewWhereAValueDecidesTheStructure) {
  const CompiledModel model(source_of(kClutch));
  EXPECT_TRUE(model.decides_structure("n"));
  EXPECT_FALSE(model.decides_structure("J1"));
  CompiledModel::Run run(model);
  run.set("n", 3);
  run.set("J1", 2.0);
  const SimulateResult result = run.simulate();
  EXPECT_DOUBLE_EQ(result.final.at("y[3]"), 3.0 * result.final.at("w1"));
  EXPECT_EQ(outcome_of(result), fresh(kClutch, {{"n", 3}, {"J1", 2.0}}));
  run.reset();
  EXPECT_EQ(outcome_of(run.simulate()), fresh(kClutch, {}));
  EXPECT_EQ(model.parameters()[0].value, 1.0);
}

TEST(CompiledModel, RefusesWrongNamesAndKeepsTheValues) {
  const CompiledModel model([] { return translated(kBelt, {}); });
  CompiledModel::Run run(model);
  run.set("mu", 2.0);
  EXPECT_THROW(run.set({{"k", 1.0}, {"muu", 2.0}}), Error);
  EXPECT_THROW(run.set("k", std::nan("")), Error);
  EXPECT_EQ(outcome_of(run.simulate()), fresh(kBelt, {{"mu", 2.0}}));
  EXPECT_THROW(CompiledModel([]() -> HybridSystem { throw Error("no such model"); }), Error);
}

TEST(CompiledModel, RunsOfSystemsInCppAndOutlivesItsName) {
  std::unique_ptr<CompiledModel::Run> run;
  {
    const CompiledModel ball([] {
      HybridSystem system("ball");
      const Expr h = system.variable("h", {.start = 1.0});
      const Expr v = system.variable("v");
      const Expr e = system.parameter("e", 0.7);
      Mode& flying = system.mode("flying");
      flying.equations = {der(h) == v, der(v) == Expr(-9.81)};
      flying.guards = {{.name = "impact", .value = h, .to = "flying", .set = {{v, -e * v}}}};
      return system;
    });
    EXPECT_EQ(ball.parameters().at(0).name, "e");
    run = std::make_unique<CompiledModel::Run>(ball);
  }
  run->set({{"e", 0.5}, {"h", 2.0}});
  const SimulateResult result = run->simulate({.stop_time = 1.0});
  // Falls for sqrt(2 h/g), rises with half the speed.
  const double fall = std::sqrt(2.0 * 2.0 / 9.81), t = 1.0 - fall;
  EXPECT_NEAR(result.final.at("h"), 0.5 * 9.81 * fall * t - 0.5 * 9.81 * t * t, 1e-9);
}

}  // namespace
}  // namespace saltus
