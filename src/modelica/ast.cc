#include "modelica/ast.h"

#include <algorithm>
#include <array>

namespace saltus {

const Argument* Modification::find(std::string_view name) const {
  for (const Argument& argument : arguments) {
    if (argument.name.parts.size() == 1 && argument.name.parts.front() == name) return &argument;
  }
  return nullptr;
}

const char* spelling(ClassKind kind) {
  static constexpr std::array kSpellings = {"class",
                                            "model",
                                            "record",
                                            "operator record",
                                            "block",
                                            "connector",
                                            "expandable connector",
                                            "type",
                                            "package",
                                            "function",
                                            "operator function",
                                            "operator"};
  return kSpellings.at(static_cast<std::size_t>(kind));
}

const Component* ClassDefinition::find_component(std::string_view wanted) const {
  const auto found = component_index_.find(wanted);
  return found == component_index_.end() ? nullptr : &components[found->second];
}

const ClassDefinition* ClassDefinition::find_class(std::string_view wanted) const {
  const auto found = class_index_.find(wanted);
  return found == class_index_.end() ? nullptr : classes[found->second].get();
}

std::string ClassDefinition::qualified_name() const {
  std::vector<const ClassDefinition*> path;
  for (const ClassDefinition* c = this; c != nullptr; c = c->enclosing) path.push_back(c);
  std::string text;
  for (auto c = path.rbegin(); c != path.rend(); ++c) {
    if (!text.empty()) text += '.';
    text += (*c)->name;
  }
  return text;
}

// The first of equal names is kept; the parser reports the others.
void ClassDefinition::index_members() {
  component_index_.clear();
  class_index_.clear();
  for (std::size_t i = 0; i < components.size(); ++i)
    component_index_.emplace(components[i].name, i);
  for (std::size_t i = 0; i < classes.size(); ++i) class_index_.emplace(classes[i]->name, i);
}

}  // namespace saltus
