// The program as a servant of another one (the Python module): requests come as lines of JSON on
// standard input, answers go as lines of JSON to standard output, points go to a file that the
// other one names, as plain numbers column by column, to be mapped into its memory.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analysis/report.h"
#include "base/error.h"
#include "base/stop_request.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/linear_model.h"
#include "cli/load.h"
#include "cli/study_model.h"
#include "expr/differentiate.h"
#include "output/analysis_json.h"
#include "output/json.h"
#include "output/report.h"
#include "simulate/run.h"
#include "study/expression.h"
#include "study/fit.h"
#include "study/names_of_system.h"
#include "study/steady.h"

namespace saltus {
namespace {

using Json = nlohmann::ordered_json;

// Numbers in a file of a given name, mapped.
class MappedNumbers {
 public:
  MappedNumbers(const std::string& path, std::size_t count) : bytes_(count * sizeof(double)) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes_)) != 0)
      throw Error(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
    if (bytes_ > 0) memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory_ == MAP_FAILED) throw Error(fmt::format("cannot map '{}'", path));
  }
  ~MappedNumbers() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  MappedNumbers(const MappedNumbers&) = delete;
  MappedNumbers& operator=(const MappedNumbers&) = delete;
  double* data() { return static_cast<double*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

// A system described by text: what saltus.System of the Python module says.
HybridSystem read_system(const Json& description) {
  HybridSystem system(description.at("name").get<std::string>());
  for (const Json& p : description.at("parameters"))
    system.parameter(p.at("name").get<std::string>(), p.at("value").get<double>(),
                     {p.value("unit", ""), p.value("description", "")});
  const NameResolver resolve = [&](const std::string& name) { return find_result(system, name); };
  const auto read = [&](const Json& text, const std::string& where) {
    try {
      return parse_expression(text.get<std::string>(), resolve);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", where, error.message()));
    }
  };
  for (const Json& v : description.at("variables")) {
    const auto name = v.at("name").get<std::string>();
    VariableOptions options;
    options.start = read(v.at("start"), "start value of " + name);
    options.fixed = v.value("fixed", false);
    options.nominal = v.value("nominal", 1.0);
    options.unit = v.value("unit", "");
    options.description = v.value("description", "");
    system.variable(name, options);
  }
  for (const Json& m : description.at("modes")) {
    const auto name = m.at("name").get<std::string>();
    Mode& mode = system.mode(name);
    for (const Json& text : m.at("equations")) {
      try {
        mode.equations.emplace_back(parse_equation(text.get<std::string>(), resolve));
      } catch (const Error& error) {
        throw Error(fmt::format("equation {} of mode {}: {}", mode.equations.size() + 1, name,
                                error.message()));
      }
    }
    for (const Json& g : m.at("guards")) {
      Guard guard;
      guard.name = g.value("name", "");
      guard.value = read(g.at("value"), "guard " + guard.name + " of mode " + name);
      guard.to = g.value("to", "");
      guard.priority = g.value("priority", 1);
      for (const auto& [variable, value] : g.at("set").items())
        guard.set.push_back({find_result(system, variable), read(value, "value of " + variable)});
      mode.guards.push_back(std::move(guard));
    }
  }
  if (!description.value("initial_mode", "").empty())
    system.initial_mode = description.at("initial_mode").get<std::string>();
  system.experiment.stop_time = description.value("stop_time", system.experiment.stop_time);
  return system;
}

// An input given as arrays: {"time": [...], "value": [...], "joining": "spline", "source": "..."}.
InputData read_input(const Json& data) {
  InputData input;
  input.source = data.at("source").get<std::string>();
  input.times = data.at("time").get<std::vector<double>>();
  input.values = data.at("value").get<std::vector<double>>();
  const auto joining = data.at("joining").get<std::string>();
  if (joining == "hold") {
    input.joining = Joining::kHold;
  } else if (joining == "spline") {
    input.joining = Joining::kSpline;
  } else if (joining != "linear") {
    throw Error(fmt::format("{}: values are joined by 'hold', 'linear' or 'spline', not '{}'",
                            input.source, joining));
  }
  return input;
}

class Servant {
 public:
  Json answer(const Json& request) {
    const auto what = request.at("do").get<std::string>();
    if (what == "load") return load(request);
    if (what == "simulate") return simulate(request);
    if (what == "analyze") return analyze(request);
    if (what == "linearize") return linearise(request);
    if (what == "steady") return steady(request);
    if (what == "fit") return fit(request);
    if (what == "report") return report(request);
    throw Error(fmt::format("there is no request '{}'", what));
  }

 private:
  Json load(const Json& request) {
    CompiledModel::Source translate;
    if (request.contains("system")) {
      const Json& description = request.at("system");
      translate = [description](const Settings& settings) {
        TranslatedModel model{read_system(description)};
        for (const auto& [name, value] : settings) model.system.set(name, value);
        return model;
      };
    } else {
      ModelChoice choice;
      choice.model = request.at("model").get<std::string>();
      for (const auto& [name, value] : request.at("settings").items())
        choice.settings.push_back(name + "=" +
                                  (value.is_string() ? value.get<std::string>() : value.dump()));
      for (const auto& [name, value] : request.at("inputs").items())
        choice.inputs.push_back(name + "=" + value.get<std::string>());
      const Json arrays = request.value("data", Json::object());
      for (const auto& [name, data] : arrays.items())
        choice.data.emplace_back(name, read_input(data));
      for (const Json& folder : request.at("libraries"))
        choice.libraries.push_back(folder.get<std::string>());
      translate = translator(choice);
    }
    run_.reset();
    translate_ = translate;
    run_ = std::make_unique<CompiledModel::Run>(CompiledModel(std::move(translate)));
    const HybridSystem& system = run_->system();
    Json parameters = Json::object(), variables = Json::array();
    for (const Parameter& p : system.parameters())
      parameters[p.name] = {{"value", p.value}, {"unit", p.unit}, {"description", p.description}};
    for (const Variable& v : system.variables()) variables.push_back(v.name);
    for (const Derived& d : system.derived()) variables.push_back(d.name);
    Json warnings = Json::array();
    if (system.flat() != nullptr) warnings = system.flat()->written.warnings;
    return {{"name", system.name()},
            {"parameters", parameters},
            {"variables", variables},
            {"start_time", system.experiment.start_time},
            {"stop_time", system.experiment.stop_time},
            {"warnings", warnings}};
  }

  // The model with the values of a request.
  CompiledModel::Run& with_settings(const Json& request) {
    if (run_ == nullptr) throw Error("no model is loaded");
    run_->reset();
    Settings settings;
    const Json given = request.value("parameters", Json::object());
    for (const auto& [name, value] : given.items())
      settings.emplace_back(name, value.get<double>());
    run_->set(settings);
    return *run_;
  }

  static SimulateOptions options_of(const Json& request) {
    const Json given = request.value("options", Json::object());
    SimulateOptions options;
    const auto number = [&](const char* name, auto& target) {
      if (given.contains(name) && !given.at(name).is_null()) target = given.at(name).get<double>();
    };
    number("start_time", options.start_time);
    number("stop_time", options.stop_time);
    number("tolerance", options.tolerance);
    number("absolute_tolerance", options.absolute_tolerance);
    number("interval", options.interval);
    number("max_step", options.max_step);
    number("max_seconds", options.max_seconds);
    number("hysteresis", options.hysteresis);
    if (given.contains("method")) {
      const auto name = given.at("method").get<std::string>();
      const std::optional<Method> method = parse_method(name);
      if (!method) throw Error(fmt::format("there is no method '{}'", name));
      options.method = *method;
    }
    if (given.contains("formulation")) {
      const auto name = given.at("formulation").get<std::string>();
      const std::optional<Formulation> formulation = parse_formulation(name);
      if (!formulation) throw Error(fmt::format("there is no formulation '{}'", name));
      options.formulation = *formulation;
    }
    if (given.contains("sensitivities"))
      options.sensitivities = given.at("sensitivities").get<std::vector<std::string>>();
    return options;
  }

  Json simulate(const Json& request) {
    Json answer;
    with_settings(request).apply(
        [&](const HybridSystem& system) { answer = simulate(system, request); });
    return answer;
  }

  Json simulate(const HybridSystem& system, const Json& request) {
    SimulateOptions options = options_of(request);
    const InterruptFlag interrupt;
    options.stop_requested = interrupt.flag();
    const StopScope scope(options.stop_requested, options.max_seconds, 0.5);
    Run run(system, options);
    try {
      run_to_end(run);
    } catch (const StopRequested& stop) {
      abandon(run, stop);
    }
    last_ = finish(run);
    const Trajectory& t = last_.trajectory;
    write_points(t, request.at("points").get<std::string>());
    Json signals = Json::array();
    for (std::size_t k = 0; k < t.signals.size(); ++k) {
      if (is_internal(t.signals[k].name)) continue;
      const Trajectory::Source source = t.source(k);
      const bool constant = source.column == Trajectory::Source::kNoColumn;
      signals.push_back({t.signals[k].name, t.signals[k].unit, t.signals[k].description,
                         constant ? Json(nullptr) : Json(source.column), source.factor});
    }
    Json parameters = Json::array();
    for (std::size_t k = 0; k < t.parameters.size(); ++k)
      parameters.push_back({t.parameters[k].name, t.parameters[k].unit, t.parameters[k].description,
                            t.parameter_values[k]});
    return {{"points", t.size()},         {"columns", t.width()},
            {"signals", signals},         {"parameters", parameters},
            {"mode_names", t.mode_names}, {"absent", absent_signals(run.system, t)},
            {"summary", to_json(last_)}};
  }

  // Time, number of the mode, then column after column.
  static void write_points(const Trajectory& t, const std::string& path) {
    const std::size_t n = t.size();
    MappedNumbers numbers(path, n * (t.width() + 2));
    double* to = numbers.data();
    std::copy(t.time.begin(), t.time.end(), to);
    for (std::size_t k = 0; k < n; ++k) to[n + k] = static_cast<double>(t.mode[k].index());
    constexpr std::size_t kTile = 64;  // rows and columns at a time, so that both stay in the cache
    for (std::size_t i0 = 0; i0 < n; i0 += kTile)
      for (std::size_t j = 0; j < t.width(); ++j)
        for (std::size_t i = i0; i < std::min(i0 + kTile, n); ++i)
          to[(j + 2) * n + i] = t.values[i * t.width() + j];
  }

  // By mode that was active: signals that are no unknowns there and hold their last value.
  static Json absent_signals(const HybridSystem& system, const Trajectory& t) {
    std::vector<bool> visited(t.mode_names.size(), false);
    for (const ModeId mode : t.mode) visited[mode.index()] = true;
    std::vector<bool> in_some(system.variables().size(), false);
    std::map<std::size_t, std::vector<bool>> unknown;  // by mode
    for (std::size_t m = 0; m < visited.size(); ++m) {
      if (!visited[m]) continue;
      std::vector<bool>& here = unknown[m];
      here.assign(system.variables().size(), false);
      for (const VariableId id : unknowns_of(system, system.modes()[m]))
        here[id.index()] = in_some[id.index()] = true;
    }
    Json result = Json::object();
    bool differ = false;
    for (const auto& [m, here] : unknown) differ = differ || here != in_some;
    if (!differ) return result;
    for (std::size_t k = 0; k < t.signals.size(); ++k) {
      if (is_internal(t.signals[k].name)) continue;
      const std::vector<Expr> leaves = leaves_of(value_of_signal(system, t.signals[k].name));
      for (const auto& entry : unknown) {
        const auto& here = entry.second;
        // What no mode knows is given otherwise, by an event or for good.
        const bool absent = std::ranges::any_of(leaves, [&](const Expr& leaf) {
          return leaf.is_variable() && leaf.node()->index < here.size() &&
                 !here[leaf.node()->index] && in_some[leaf.node()->index];
        });
        if (absent) result[t.signals[k].name].push_back(entry.first);
      }
    }
    return result;
  }

  // A number where the name is made for this run only.
  static Expr value_of_signal(const HybridSystem& system, const std::string& name) {
    try {
      return find_result(system, name);
    } catch (const Error&) {
      return 0.0;
    }
  }

  Json analyze(const Json& request) {
    const HybridSystem& system = with_settings(request).system();
    constexpr std::size_t kModes = 64;
    return to_json(analyse_modes(system, kModes));
  }

  Json linearise(const Json& request) {
    return to_json(linearize(with_settings(request).system(), request.at("at").get<double>(),
                             request.at("inputs").get<std::vector<std::string>>(),
                             request.at("outputs").get<std::vector<std::string>>(),
                             options_of(request)));
  }

  Json steady(const Json& request) {
    const SteadyState s =
        find_steady_state(with_settings(request).system(), request.at("at").get<double>(),
                          request.at("longest").get<double>(), options_of(request));
    Json values = Json::object();
    for (std::size_t k = 0; k < s.names.size(); ++k) values[s.names[k].name] = s.values[k];
    return {{"mode", s.mode},         {"unique", s.is_unique},     {"stable", s.is_stable()},
            {"residual", s.residual}, {"poles", to_json(s.poles)}, {"values", values}};
  }

  // Measurements by rows, null where nothing was measured.
  Json fit(const Json& request) const {
    Measurements data;
    data.names = request.at("names").get<std::vector<std::string>>();
    data.times = request.at("times").get<std::vector<double>>();
    for (const Json& value : request.at("values"))
      data.values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                            : value.get<double>());
    std::vector<FreeParameter> free;
    for (const Json& p : request.at("free")) {
      const auto bound = [&](const char* side, double otherwise) {
        return p.at(side).is_null() ? otherwise : p.at(side).get<double>();
      };
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      free.push_back(
          {p.at("name").get<std::string>(), bound("lower", -kInfinity), bound("upper", kInfinity)});
    }
    Settings given;
    const Json parameters = request.value("parameters", Json::object());
    for (const auto& [name, value] : parameters.items())
      given.emplace_back(name, value.get<double>());
    const CompiledModel::Source with_given = [this, &given](const Settings& settings) {
      Settings all = given;
      for (const auto& [name, value] : settings) {
        std::erase_if(all, [&name = name](const auto& setting) { return setting.first == name; });
        all.emplace_back(name, value);
      }
      return translate_(all);
    };
    const FitResult result = saltus::fit(with_given, data, free, options_of(request));
    Json fitted = Json::array();
    for (const FittedParameter& p : result.parameters)
      fitted.push_back({{"name", p.name},
                        {"value", p.value},
                        {"deviation", p.deviation},
                        {"start", p.start},
                        {"at_bound", p.at_bound}});
    return {{"converged", result.converged},
            {"message", result.message},
            {"parameters", fitted},
            {"misfits", result.misfits},
            {"correlations", result.correlations},
            {"not_told_apart", result.not_told_apart},
            {"why_differences", result.why_differences},
            {"runs", result.runs},
            {"fitted", result.fitted}};
  }

  Json report(const Json& /*request*/) { return {{"html", report_html(last_)}}; }

  CompiledModel::Source translate_;
  std::unique_ptr<CompiledModel::Run> run_;
  SimulateResult last_;
};

Json error_answer(const std::string& kind, const std::string& message,
                  const SourceLocation& where = {}) {
  return {{"error",
           {{"kind", kind},
            {"message", message},
            {"file", where.file},
            {"line", where.line},
            {"column", where.column}}}};
}

int run_serve() {
  Servant servant;
  std::string line;
  while (std::getline(std::cin, line)) {
    Json answer;
    try {
      answer = servant.answer(Json::parse(line));
    } catch (const Error& error) {
      answer = error_answer("input", error.message(), error.where());
    } catch (const StopRequested&) {
      answer = error_answer("interrupted", "interrupted");
    } catch (const std::bad_alloc&) {
      answer = error_answer("memory", "out of memory");
    } catch (const Json::exception& error) {
      // Its text begins with a name in brackets that says nothing to a reader.
      const std::string_view text = error.what();
      const std::size_t end = text.find("] ");
      answer = error_answer("request", fmt::format("the request cannot be read: {}",
                                                   text.substr(end == text.npos ? 0 : end + 2)));
    } catch (const std::exception& error) {
      answer = error_answer("failure", error.what());
    }
    std::cout << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    if (!std::cout) break;
  }
  return kReached;
}

}  // namespace

void add_serve_command(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("serve", "Answer requests of the Python module on standard input");
  command->group("");  // not for people
  command->callback([&status] { status = run_serve(); });
}

}  // namespace saltus
