#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/system.h"
#include "simulate/simulate.h"

namespace saltus {

// Names and values given to a model when it is translated.
using Settings = std::vector<std::pair<std::string, double>>;

// A model as it comes from text, and the parameters whose values have decided what it is translated
// to: for other values it has to be translated again.
struct TranslatedModel {
  HybridSystem system;
  std::set<std::string> used{};
};

// Of a model as it was translated.
struct ParameterValue : ParameterOptions {
  std::string name;
  double value = 0.0;
};

// A model for many runs, by any number of threads at once:
//
//   const CompiledModel model([] { return build(load_modelica("drive.mo")); });
//   std::jthread other([&] { CompiledModel::Run(model).simulate({.stop_time = 1.0}); });
//   CompiledModel::Run run(model);
//   run.set("J", 0.3);
//   const SimulateResult result = run.simulate();
//
// It never changes: a run has its own values and its own memory, and gives what a run of a model
// gives that is translated anew with the same values. What runs find out about the modes is kept
// and serves later runs. Copies are the same model.
class CompiledModel {
 public:
  using Source = std::function<TranslatedModel(const Settings&)>;

  // `source` makes the model, always the same: once now (what it throws is thrown here), and again
  // for each run that lasts at the same time as others. It is never called by two threads at once.
  explicit CompiledModel(const std::function<HybridSystem()>& source);
  // The same for models whose translation depends on values: these are passed on then, and the
  // source has to apply them.
  explicit CompiledModel(Source source);

  const std::string& name() const;
  const std::vector<ParameterValue>& parameters() const;
  const Experiment& experiment() const;
  // Whether a run with another value of this has to translate the model again.
  bool decides_structure(const std::string& name) const;

  // A run of the model. For one thread at a time; it may outlive the CompiledModel.
  class Run {
   public:
    explicit Run(const CompiledModel& model);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    // Gives a parameter or a start value another value. Throws Error that suggests the nearest
    // name.
    void set(const std::string& name, double value) { set({{name, value}}); }
    void set(const Settings& settings);
    // Back to the values of the model.
    void reset();
    // The model with the values of this run. Valid until they are changed.
    const HybridSystem& system();
    // May be called again, with other values and options.
    SimulateResult simulate(const SimulateOptions& options = {});
    // For what asks more of a run than its result: does the task with the system of this run, while
    // what earlier runs have found is at hand. The system is not to be kept.
    void apply(const std::function<void(const HybridSystem&)>& task);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace saltus
