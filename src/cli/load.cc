#include "cli/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "base/error.h"
#include "base/suggest.h"
#include "examples/examples.h"

namespace saltus {
namespace {

bool is_modelica_file(const std::string& model) {
  return model.ends_with(".mo") || model.find(".mo:") != std::string::npos;
}

HybridSystem find_example(const std::string& model) {
  std::vector<std::string> names;
  for (const Example& example : examples()) {
    if (example.name == model) return example.build();
    names.push_back(example.name);
  }
  if (is_modelica_file(model))
    throw Error(
        fmt::format("'{}': reading Modelica is not supported yet; the bundled examples are {}",
                    model, fmt::join(names, ", ")));
  throw Error(fmt::format("there is no example '{}'{}; the bundled examples are {}", model,
                          did_you_mean(model, names), fmt::join(names, ", ")));
}

void apply(HybridSystem& system, const std::string& setting) {
  const std::size_t sign = setting.find('=');
  if (sign == std::string::npos || sign == 0)
    throw Error(fmt::format("--set {}: write NAME=VALUE, for example --set {}=1.5", setting,
                            system.parameters().empty() ? "x" : system.parameters()[0].name));
  const std::string name = setting.substr(0, sign);
  const std::string text = setting.substr(sign + 1);
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  double value = 0.0;
  const auto [end, problem] = std::from_chars(first, last, value);
  if (problem != std::errc() || end != last)
    throw Error(
        fmt::format("--set {}: '{}' is not a number; write it like 1.5 or 2e-3", setting, text));
  try {
    system.set(name, value);
  } catch (const Error& error) {
    throw Error(fmt::format("--set {}: {}", setting, error.message()));
  }
}

}  // namespace

HybridSystem load_model(const std::string& model, const std::vector<std::string>& settings) {
  HybridSystem system = find_example(model);
  for (const std::string& setting : settings) apply(system, setting);
  return system;
}

}  // namespace saltus
