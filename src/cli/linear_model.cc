#include "cli/linear_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/numbers.h"
#include "cli/say.h"
#include "cli/study_model.h"
#include "output/file.h"

namespace saltus {
namespace {

// An input is an equation that time alone enters: a constant would be eliminated with its variable.
std::string moved_by_time(const std::string& expression) {
  return fmt::format("({}) + 1e-300*time", expression);
}

}  // namespace

void add_linear_options(CLI::App& command, LinearArguments& a) {
  add_model_options(command, a.choice);
  command.add_option("--at", a.at, "time at which the mode in force is linearised, s; default 0")
      ->check(need_finite)
      ->option_text("T");
  command
      .add_option("--inputs", a.inputs,
                  "parameters, inputs of the model, or variables that an equation gives as a "
                  "function of time")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("NAME,...");
  command
      .add_option("--outputs", a.outputs, "results, or expressions of them; default: the states")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("EXPRESSION,...");
  command.add_option("--json", a.json, "write all numbers; - is standard output")
      ->option_text("FILE|-");
  add_run_options(command, a.options, a.method);
}

Linearization linearize_model(const LinearArguments& arguments) {
  LinearArguments a = arguments;
  a.options.method = parse_method(a.method).value_or(Method::kRadau);
  std::vector<std::string> open;
  if (is_modelica(a.choice.model) && !a.inputs.empty()) {
    const HybridSystem as_it_is = load_model(a.choice, Warnings::kNotSaid);
    for (const std::string& input : a.inputs) {
      if (std::ranges::find(as_it_is.parameters(), input, &Parameter::name) !=
          as_it_is.parameters().end())
        continue;
      const auto given = std::ranges::find_if(
          a.choice.inputs, [&](const std::string& text) { return text.starts_with(input + "="); });
      if (given != a.choice.inputs.end()) {
        *given = input + "=" + moved_by_time(given->substr(input.size() + 1));
      } else {
        open.push_back(input + "=" + moved_by_time("0"));
      }
    }
  }
  const auto linearised = [&](const ModelChoice& choice) {
    return linearize(load_model(choice), a.at, a.inputs, a.outputs, a.options);
  };
  if (open.empty()) return linearised(a.choice);
  ModelChoice with = a.choice;
  with.inputs.insert(with.inputs.end(), open.begin(), open.end());
  try {
    return linearised(with);
  } catch (const Error&) {
    // Then the model gives them itself.
    return linearised(a.choice);
  }
}

nlohmann::ordered_json to_json(const std::vector<std::complex<double>>& values) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& value : values) list.push_back({value.real(), value.imag()});
  return list;
}

nlohmann::ordered_json to_json(const Linearization& l) {
  const auto matrix = [](const DenseMatrix& m) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < m.rows; ++i)
      rows.push_back(
          std::vector<double>(m.values.begin() + static_cast<std::ptrdiff_t>(i * m.columns),
                              m.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * m.columns)));
    return rows;
  };
  return {{"model", l.model},
          {"mode", l.mode},
          {"time", l.time},
          {"states", l.states},
          {"inputs", l.inputs},
          {"outputs", l.outputs},
          {"state_values", l.state_values},
          {"output_values", l.output_values},
          {"A", matrix(l.a)},
          {"B", matrix(l.b)},
          {"C", matrix(l.c)},
          {"D", matrix(l.d)},
          {"poles", to_json(l.poles)},
          {"zeros", to_json(l.zeros)}};
}

std::string to_text(const std::complex<double>& value) {
  if (value.imag() == 0.0) return fmt::format("{:.10g}", value.real());
  return fmt::format("{:.10g} {} {:.10g}i", value.real(), value.imag() < 0.0 ? '-' : '+',
                     std::abs(value.imag()));
}

void write_json_to(const std::string& where, const nlohmann::ordered_json& json) {
  const std::string text = json.dump(2) + "\n";
  if (where == "-") {
    tell(std::string_view(text));
  } else {
    write_file(where, text);
  }
}

}  // namespace saltus
