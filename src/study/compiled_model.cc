#include "study/compiled_model.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/kept_work.h"

namespace saltus {
namespace {

// What one run works with at a time: expressions belong to one thread.
struct Workplace {
  explicit Workplace(TranslatedModel translated)
      : model(std::move(translated)),
        kept(&model.system.graph()),
        nodes(model.system.graph().node_count()) {}

  // Expressions of modes and of coefficients live as long as the graph: after many runs with other
  // values a new one is cheaper than the memory.
  bool is_worn_out() const {
    constexpr std::size_t kMostNodes = 1'000'000;
    return model.system.graph().node_count() > nodes + kMostNodes;
  }

  TranslatedModel model;
  KeptWork kept;
  std::size_t nodes;  // of the translation
};

}  // namespace

struct CompiledModel::Shared {
  explicit Shared(Source source) : translate(std::move(source)) {
    idle.push_back(std::make_unique<Workplace>(translate({})));
    const TranslatedModel& model = idle.front()->model;
    name = model.system.name();
    experiment = model.system.experiment;
    used = model.used;
    is_flat = model.system.flat() != nullptr;
    for (const Parameter& p : model.system.parameters())
      parameters.push_back({{p.unit, p.description}, p.name, p.value});
  }

  bool decides_structure(const std::string& wanted) const {
    if (used.contains(wanted)) return true;
    // Start values of a flat model may be what others are made of.
    return is_flat &&
           std::ranges::find(parameters, wanted, &ParameterValue::name) == parameters.end();
  }

  std::unique_ptr<Workplace> take() {
    const std::scoped_lock lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<Workplace> place = std::move(idle.back());
      idle.pop_back();
      return place;
    }
    return std::make_unique<Workplace>(translate({}));
  }
  void give_back(std::unique_ptr<Workplace> place) {
    if (place->is_worn_out()) return;
    const std::scoped_lock lock(mutex);
    idle.push_back(std::move(place));
  }
  TranslatedModel translated_with(const Settings& settings) {
    const std::scoped_lock lock(mutex);
    return translate(settings);
  }

  std::mutex mutex;  // of `translate` and `idle`
  Source translate;
  std::vector<std::unique_ptr<Workplace>> idle;
  // From here on nothing changes after the constructor.
  std::string name;
  std::vector<ParameterValue> parameters;
  Experiment experiment;
  std::set<std::string> used;
  bool is_flat = false;
};

struct CompiledModel::Run::State {
  explicit State(std::shared_ptr<Shared> of)
      : shared(std::move(of)), place(shared->take()), system(place->model.system) {}
  ~State() { shared->give_back(std::move(place)); }

  // The system from the translated one and the settings.
  void renew() {
    if (is_own) {
      system = shared->translated_with(settings).system;
      return;
    }
    system = place->model.system;
    for (const auto& [name, value] : settings) system.set(name, value);
  }

  std::shared_ptr<Shared> shared;
  std::unique_ptr<Workplace> place;
  Settings settings;
  HybridSystem system;  // with the settings
  bool is_own = false;  // translated for these settings
};

CompiledModel::CompiledModel(const std::function<HybridSystem()>& source)
    : CompiledModel(Source([source](const Settings& settings) {
        TranslatedModel model{source()};
        for (const auto& [name, value] : settings) model.system.set(name, value);
        return model;
      })) {}

CompiledModel::CompiledModel(Source source)
    : shared_(std::make_shared<Shared>(std::move(source))) {}

const std::string& CompiledModel::name() const { return shared_->name; }
const std::vector<ParameterValue>& CompiledModel::parameters() const { return shared_->parameters; }
const Experiment& CompiledModel::experiment() const { return shared_->experiment; }
bool CompiledModel::decides_structure(const std::string& name) const {
  return shared_->decides_structure(name);
}

CompiledModel::Run::Run(const CompiledModel& model)
    : state_(std::make_unique<State>(model.shared_)) {}
CompiledModel::Run::~Run() = default;

void CompiledModel::Run::set(const Settings& settings) {
  State& s = *state_;
  Settings all = s.settings;
  for (const auto& [name, value] : settings) {
    std::erase_if(all, [&name = name](const auto& setting) { return setting.first == name; });
    all.emplace_back(name, value);
  }
  const bool translates = std::ranges::any_of(
      all, [&](const auto& setting) { return s.shared->decides_structure(setting.first); });
  if (translates) {
    s.system = s.shared->translated_with(all).system;
  } else {
    try {
      for (const auto& [name, value] : settings) s.system.set(name, value);
    } catch (...) {
      s.renew();  // a copy beforehand would be dear: models are large, errors rare
      throw;
    }
  }
  s.settings = std::move(all);
  s.is_own = translates;
}

void CompiledModel::Run::reset() {
  State& s = *state_;
  if (s.settings.empty()) return;
  s.settings.clear();
  s.is_own = false;
  s.renew();
}

const HybridSystem& CompiledModel::Run::system() { return state_->system; }

SimulateResult CompiledModel::Run::simulate(const SimulateOptions& options) {
  SimulateResult result;
  apply([&](const HybridSystem& system) { result = saltus::simulate(system, options); });
  return result;
}

void CompiledModel::Run::apply(const std::function<void(const HybridSystem&)>& task) {
  State& s = *state_;
  if (s.is_own) return task(s.system);
  if (s.place->is_worn_out()) {
    s.place = s.shared->take();
    s.renew();
  }
  const KeptWork::Scope scope(s.place->kept);
  task(s.system);
}

}  // namespace saltus
