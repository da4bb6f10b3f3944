// Runs that find modes as earlier runs have left them give what runs of a model give that is
// translated anew with the same values.

#include "base/kept_work.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "modelica/parameter_use.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

struct Model {
  const char* name;  // in the library, if there is no text
  const char* text;
  int runs;
};

// Two shafts and a brake of dry friction; start values, inertias, times and the torque vary.
constexpr const char* kBrake = R"(
model Brake
  parameter Real J1 = 0.5, J2 = 1.5, c = 40, d = 0.3, w0 = 9, mu = 4, T = 0.8, M = 6, a = 3;
  parameter Real period = 0.37;
  Real w1(start = w0, fixed = true), w2(start = w0/2, fixed = true), phi(start = 0, fixed = true);
  Real tau, load, s;
  discrete Real seen(start = 0, fixed = true);
  Integer count(start = 0, fixed = true);
equation
  der(phi) = w1 - w2;
  tau = c*phi + d*(w1 - w2);
  J1*der(w1) = -tau + (if time > T then M else M*sin(a*time));
  J2*der(w2) = tau - mu*sign(w2) - load;
  load = mu*0.1*tanh(s);
  s + 0.2*s^3 = w1/w0;
  when sample(period, period) then
    seen = w1;
    count = pre(count) + 1;
  end when;
end Brake;
)";

// A lock that changes the structure, with a parameter that decides on which side of the threshold
// the run is, and ratios that make coefficients one or zero.
constexpr const char* kLock = R"(
model Lock
  parameter Real J1 = 1, J2 = 2, i = 1, threshold = 0.7, k = 0, x0 = 0.4;
  Real w1(start = 5, fixed = true), w2(start = x0, fixed = true), tau, v;
  Boolean locked(start = false, fixed = true);
equation
  J1*der(w1) = -tau - 0.1*w1;
  J2*der(w2) = i*tau - k*w2;
  locked = w1 < threshold or pre(locked);
  if locked then
    w1 = i*w2;
  else
    tau = 0.8*w1 + 0.1*(w1 - i*w2);
  end if;
  v = (i - 1)*w1 + w2;
end Lock;
)";

// Reset by reinit, times from parameters.
constexpr const char* kBall = R"(
model Ball
  parameter Real g = 9.81, e = 0.7, h0 = 1, later = 0.9;
  Real h(start = h0, fixed = true), v(start = 0, fixed = true), y;
equation
  der(h) = v;
  der(v) = -g;
  y = if time < later then h else 2*h;
  when h < 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 1.2));
end Ball;
)";

FlatModel load(const Model& model, const Values& values) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}, .overrides = {}};
  options.use_modelica_path = false;
  for (const auto& [name, value] : values) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    options.overrides.emplace_back(name, text);
  }
  return model.text != nullptr
             ? load_modelica_text(model.text, {}, options)
             : load_modelica(std::string("Saltus.Examples.") + model.name, options);
}

// What a run says, to the last bit; or the error it ends with.
std::string outcome_of(const HybridSystem& system) {
  std::string text;
  const auto add = [&](const std::string& name, double value) {
    char number[60];
    std::snprintf(number, sizeof number, " %a\n", value);
    text += name + number;
  };
  try {
    const SimulateResult result = simulate(system, {.interval = 0.0});
    text = std::string(to_string(result.reason)) + " " + result.message + "\n";
    add("time", result.time);
    for (const auto& [name, value] : result.final) add(name, value);
    for (const Event& event : result.events)
      add(event.kind + " " + event.from + " " + event.to, event.time);
    for (const ModeReport& mode : result.modes) add(mode.name, static_cast<double>(mode.visits));
    // What the translator says of --set it says of no parameter that is set later.
    for (const std::string& warning : result.warnings)
      if (!warning.starts_with("--set")) text += warning + "\n";
    add("points", static_cast<double>(result.trajectory.size()));
    double sum = 0.0;
    for (const double value : result.trajectory.values)
      if (!std::isnan(value)) sum += value;
    add("sum", sum);
  } catch (const Error& error) {
    text = error.what();
  }
  return text;
}

class KeptWorkTest : public testing::TestWithParam<Model> {};

TEST_P(KeptWorkTest, GivesWhatAFreshTranslationGives) {
  const Model& model = GetParam();
  std::set<std::string> used;
  const HybridSystem system = [&] {
    const ParameterUse use;
    HybridSystem built = build(load(model, {}));
    used = use.names();
    return built;
  }();
  KeptWork work(&system.graph());
  std::minstd_rand random(7);
  std::uniform_real_distribution<> uniform(0.0, 1.0);
  int varied = 0;
  for (int k = 0; k < model.runs; ++k) {
    Values values;
    for (const Parameter& p : system.parameters()) {
      if (k == 0 || used.contains(p.name) || uniform(random) > 0.4) continue;
      // A value of its own, the one of another run, or one that makes terms vanish.
      const double kind = uniform(random);
      const double factor = kind < 0.7 ? std::exp(0.6 * (uniform(random) - 0.5)) : 1.0;
      values.emplace_back(p.name, kind < 0.95 ? p.value * factor : p.value + 1.0);
      ++varied;
    }
    HybridSystem same = system;
    for (const auto& [name, value] : values) same.set(name, value);
    std::string kept;
    {
      const KeptWork::Scope scope(work);
      kept = outcome_of(same);
    }
    std::string fresh;
    try {
      fresh = outcome_of(build(load(model, values)));
    } catch (const Error&) {
      continue;  // refused when it is translated
    }
    std::string said;
    for (const auto& [name, value] : values) said += name + "=" + std::to_string(value) + " ";
    EXPECT_EQ(kept, fresh) << "run " << k << ": " << said;
  }
  EXPECT_TRUE(varied > 0 || model.runs == 1);
}

INSTANTIATE_TEST_SUITE_P(
    Models, KeptWorkTest,
    testing::Values(Model{"Brake", kBrake, 12}, Model{"Lock", kLock, 12}, Model{"Drop", kBall, 8},
                    Model{"StickSlip", nullptr, 4}, Model{"TwoMassClutch", nullptr, 4},
                    Model{"IdealClutch", nullptr, 4}, Model{"FreeWheel", nullptr, 4},
                    Model{"PositionClutch", nullptr, 4}, Model{"AutomatonClutch", nullptr, 4},
                    Model{"Rectifier", nullptr, 3}, Model{"Tanks", nullptr, 4},
                    Model{"Pendulum", nullptr, 4}, Model{"SliderCrank", nullptr, 3},
                    Model{"NAG", nullptr, 3}),
    [](const auto& model) { return std::string(model.param.name); });

// One system, one memory and one graph a thread: runs in threads do not know of each other.
TEST(KeptWork, ThreadsRunModelsAtOnce) {
  const Model brake{"Brake", kBrake, 0}, lock{"Lock", kLock, 0};
  const std::string alone[] = {outcome_of(build(load(brake, {}))),
                               outcome_of(build(load(lock, {})))};
  std::vector<std::string> outcomes(4);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < outcomes.size(); ++k)
    threads.emplace_back([&, k] {
      const HybridSystem system = build(load(k % 2 == 0 ? brake : lock, {}));
      KeptWork work(&system.graph());
      const KeptWork::Scope scope(work);
      outcome_of(system);
      outcomes[k] = outcome_of(system);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t k = 0; k < outcomes.size(); ++k) EXPECT_EQ(outcomes[k], alone[k % 2]);
}

}  // namespace
}  // namespace saltus
