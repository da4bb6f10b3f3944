#pragma once

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "modelica/load.h"

// What the tests of the flattener share: texts of equations and messages.

namespace saltus {

inline FlatModel flatten_text(const std::string& text, LoadOptions options = {}) {
  options.use_modelica_path = false;
  return load_modelica_text(text, "", options);
}

// "file:line:column: error: ..." of a model that is wrong; empty if it is not.
inline std::string message_of(const std::string& text) {
  try {
    flatten_text(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::vector<std::string> texts_of(const std::vector<EquationItem>& items) {
  std::vector<std::string> result;
  for (const EquationItem& item : items)
    if (const auto* e = std::get_if<Equation>(&item.value))
      result.push_back(to_string(e->equality));
  return result;
}

inline std::vector<std::string> discrete_texts(const FlatModel& model) {
  std::vector<std::string> result;
  for (const DiscreteEquation& e : model.discrete_equations)
    result.push_back(to_string(e.target) + " := " + to_string(e.value));
  return result;
}

inline const Variable* find_variable(const FlatModel& model, const std::string& name) {
  for (const Variable& v : model.system.variables())
    if (v.name == name) return &v;
  return nullptr;
}

inline const Parameter* find_parameter(const FlatModel& model, const std::string& name) {
  for (const Parameter& p : model.system.parameters())
    if (p.name == name) return &p;
  return nullptr;
}

inline std::string derived_text(const FlatModel& model, const std::string& name) {
  for (const Derived& d : model.system.derived())
    if (d.name == name) return to_string(d.value);
  return "";
}

}  // namespace saltus
