#include <fmt/format.h>
#include <saltus/c_api.h>

#include <atomic>
#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "model/build.h"
#include "modelica/load.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/mat.h"
#include "output/report.h"
#include "simulate/simulate.h"

using saltus::Error;
using saltus::HybridSystem;
using saltus::LoadOptions;
using saltus::SimulateOptions;
using saltus::SimulateResult;

struct saltus_model {
  std::function<saltus::FlatModel(const LoadOptions&)> read;
  LoadOptions options;
  HybridSystem system;
};

struct saltus_result {
  SimulateResult run;
  mutable std::string json;  // made when it is asked for
};

namespace {

thread_local std::string last_error;

// What `call` returns, or `failed` with its exception as the text of saltus_error(): none leaves.
template <class Value, class Call>
Value guarded(Value failed, const Call& call) noexcept {
  try {
    last_error.clear();
    return call();
  } catch (const std::bad_alloc&) {
    last_error = "out of memory";
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "unknown failure";
  }
  return failed;
}

saltus_model* load(std::function<saltus::FlatModel(const LoadOptions&)> read,
                   const char* const* libraries, std::size_t library_count) {
  LoadOptions options;
  for (std::size_t k = 0; k < library_count; ++k) options.libraries.emplace_back(libraries[k]);
  HybridSystem system = saltus::build(read(options));
  return new saltus_model{std::move(read), std::move(options), std::move(system)};
}

template <class Choice>
Choice choose(const char* kind, const char* name, std::optional<Choice> choice) {
  if (!choice) throw Error(fmt::format("there is no {} '{}'", kind, name));
  return *choice;
}

SimulateOptions translate(const saltus_options& from, std::atomic<bool>& stop) {
  SimulateOptions to;
  const auto take = [](double value, std::optional<double>& place) {
    if (!std::isnan(value)) place = value;
  };
  take(from.start_time, to.start_time);
  take(from.stop_time, to.stop_time);
  take(from.tolerance, to.tolerance);
  take(from.interval, to.interval);
  if (!std::isnan(from.max_step)) to.max_step = from.max_step;
  if (!std::isnan(from.max_seconds)) to.max_seconds = from.max_seconds;
  if (from.method != nullptr)
    to.method = choose("method", from.method, saltus::parse_method(from.method));
  if (from.formulation != nullptr)
    to.formulation =
        choose("formulation", from.formulation, saltus::parse_formulation(from.formulation));
  if (from.chattering != nullptr) {
    using saltus::ChatteringAnswer;
    const std::string answer = from.chattering;
    to.chattering = answer == "filippov"     ? ChatteringAnswer::kFilippov
                    : answer == "hysteresis" ? ChatteringAnswer::kHysteresis
                    : answer == "stop"
                        ? ChatteringAnswer::kStop
                        : choose<ChatteringAnswer>("answer to chattering", from.chattering, {});
  }
  if (from.keep_going != nullptr) {
    to.stop_requested = &stop;
    to.progress = [keep_going = from.keep_going, user = from.user, &stop](double time) {
      if (keep_going(time, user) == 0) stop = true;
    };
  }
  return to;
}

}  // namespace

const char* saltus_version() { return saltus::kVersion; }

const char* saltus_error() { return last_error.c_str(); }

saltus_model* saltus_load(const char* model, const char* const* libraries,
                          std::size_t library_count) {
  return guarded<saltus_model*>(nullptr, [&] {
    return load([name = std::string(model)](
                    const LoadOptions& options) { return saltus::load_modelica(name, options); },
                libraries, library_count);
  });
}

saltus_model* saltus_load_text(const char* text, const char* class_name,
                               const char* const* libraries, std::size_t library_count) {
  return guarded<saltus_model*>(nullptr, [&] {
    return load(
        [text = std::string(text), name = std::string(class_name == nullptr ? "" : class_name)](
            const LoadOptions& options) { return saltus::load_modelica_text(text, name, options); },
        libraries, library_count);
  });
}

int saltus_set(saltus_model* model, const char* name, double value) {
  return guarded(1, [&] {
    if (!std::isfinite(value))
      throw Error(fmt::format("'{}' is given a value that is not finite", name));
    LoadOptions options = model->options;
    std::erase_if(options.overrides, [&](const auto& entry) { return entry.first == name; });
    options.overrides.emplace_back(name, fmt::format("{:.17g}", value));
    HybridSystem system = saltus::build(model->read(options));
    model->system = std::move(system);
    model->options = std::move(options);
    return 0;
  });
}

const char* saltus_model_name(const saltus_model* model) { return model->system.name().c_str(); }

void saltus_free_model(saltus_model* model) { delete model; }

void saltus_default_options(saltus_options* options) {
  constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();
  *options = {kUnset,  kUnset,  kUnset,  kUnset,  kUnset, kUnset,
              nullptr, nullptr, nullptr, nullptr, nullptr};
}

saltus_result* saltus_simulate(saltus_model* model, const saltus_options* options) {
  return guarded<saltus_result*>(nullptr, [&] {
    saltus_options defaults;
    saltus_default_options(&defaults);
    std::atomic<bool> stop = false;
    const SimulateOptions how = translate(options == nullptr ? defaults : *options, stop);
    return new saltus_result{saltus::simulate(model->system, how), {}};
  });
}

int saltus_result_completed(const saltus_result* result) { return result->run.completed() ? 1 : 0; }
const char* saltus_result_message(const saltus_result* result) {
  return result->run.message.c_str();
}
double saltus_result_end(const saltus_result* result) { return result->run.time; }

std::size_t saltus_result_points(const saltus_result* result) {
  return result->run.trajectory.size();
}
const double* saltus_result_time(const saltus_result* result) {
  return result->run.trajectory.time.data();
}
std::size_t saltus_result_signals(const saltus_result* result) {
  return result->run.trajectory.signals.size();
}
const char* saltus_result_name(const saltus_result* result, std::size_t signal) {
  const auto& signals = result->run.trajectory.signals;
  return signal < signals.size() ? signals[signal].name.c_str() : "";
}
const char* saltus_result_unit(const saltus_result* result, std::size_t signal) {
  const auto& signals = result->run.trajectory.signals;
  return signal < signals.size() ? signals[signal].unit.c_str() : "";
}

long saltus_result_find(const saltus_result* result, const char* name) {
  return guarded(-1L, [&] { return static_cast<long>(result->run.trajectory.find(name)); });
}

int saltus_result_values(const saltus_result* result, std::size_t signal, double* values) {
  return guarded(1, [&] {
    const saltus::Trajectory& points = result->run.trajectory;
    if (signal >= points.signals.size())
      throw Error(
          fmt::format("there is no signal {}: there are {}", signal, points.signals.size()));
    for (std::size_t k = 0; k < points.size(); ++k) values[k] = points.value(k, signal);
    return 0;
  });
}

double saltus_result_final(const saltus_result* result, const char* name) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return guarded(kNone, [&] {
    const SimulateResult& run = result->run;
    if (const auto place = run.final.find(name); place != run.final.end()) return place->second;
    const saltus::Trajectory& points = run.trajectory;
    for (std::size_t k = 0; k < points.parameters.size(); ++k)
      if (points.parameters[k].name == name) return points.parameter_values[k];
    throw Error(fmt::format("there is no variable or parameter '{}'", name));
  });
}

std::size_t saltus_result_events(const saltus_result* result) { return result->run.events.size(); }

int saltus_result_event(const saltus_result* result, std::size_t index, saltus_event* event) {
  return guarded(1, [&] {
    const auto& events = result->run.events;
    if (index >= events.size())
      throw Error(fmt::format("there is no event {}: there are {}", index, events.size()));
    const saltus::Event& from = events[index];
    *event = {from.time, from.kind.c_str(), from.from.c_str(), from.to.c_str()};
    return 0;
  });
}

const char* saltus_result_json(const saltus_result* result) {
  return guarded<const char*>(nullptr, [&] {
    if (result->json.empty()) result->json = saltus::to_json_text(result->run);
    return result->json.c_str();
  });
}

int saltus_result_write(const saltus_result* result, const char* path) {
  return guarded(1, [&] {
    const std::string ending = std::filesystem::path(path).extension();
    if (ending == ".csv") {
      saltus::write_csv(result->run.trajectory, path);
    } else if (ending == ".mat") {
      saltus::write_mat(result->run.trajectory, path);
    } else if (ending == ".json") {
      saltus::write_json(result->run, path);
    } else if (ending == ".html") {
      saltus::write_report(result->run, path);
    } else {
      throw Error(fmt::format("'{}' ends in none of .csv, .mat, .json, .html", path));
    }
    return 0;
  });
}

void saltus_free_result(saltus_result* result) { delete result; }
