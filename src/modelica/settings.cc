// What is set from outside: parameters and start values by name, elements of arrays included.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/flattener.h"

namespace saltus {

// Elements are set where they get their values: a modification cannot name them.
void Flattener::sort_settings(const Modification& settings) {
  settings_ = settings;
  std::erase_if(settings_.arguments, [&](const Argument& argument) {
    std::string name = argument.name.text();
    if (name.find('[') == std::string::npos) return false;
    std::string plain = name;
    std::erase(plain, ' ');
    element_settings_[plain] = {std::move(name), argument.modification->value};
    return true;
  });
}

bool Flattener::has_settings(const Instance& leaf) const {
  return std::any_of(element_settings_.begin(), element_settings_.end(), [&](const auto& setting) {
    const std::string& name = setting.first;
    return name == leaf.path || (name.starts_with(leaf.path) && name[leaf.path.size()] == '[' &&
                                 name.find(']', leaf.path.size()) + 1 == name.size());
  });
}

void Flattener::apply_settings(Instance& leaf, Value& value, bool is_final) {
  const auto setting_of = [&](const std::string& name) -> ElementSetting* {
    const auto found = element_settings_.find(name);
    if (found == element_settings_.end()) return nullptr;
    if (is_final) throw Error(fmt::format("--set {}: it is final", found->second.name));
    found->second.used = true;
    return &found->second;
  };
  const Scope scope{root_, root_->type.info->definition, nullptr};
  if (const ElementSetting* whole = setting_of(leaf.path)) {
    value = evaluate(*whole->value, scope);
    check_type(leaf, value, whole->value->place);
  }
  if (leaf.dimensions->empty()) return;
  for (std::size_t k = 0; k < value.count(); ++k) {
    const ElementSetting* one = setting_of(leaf.path + subscript_text(*leaf.dimensions, k));
    if (one == nullptr) continue;
    Value given = evaluate(*one->value, scope);
    if (!given.is_scalar())
      throw Error(fmt::format("--set {}: the value of an element is a scalar, not {}", one->name,
                              to_text(given.dimensions)));
    Value all = value;  // with the type of this one, to be checked as a whole
    all.type = given.type;
    check_type(leaf, all, one->value->place);
    if (value.type == BasicType::kString) {
      value.strings[k] = given.text();
    } else {
      value.numbers[k] = given.number();
    }
  }
}

// Those that reached nothing.
void Flattener::check_settings() {
  for (const auto& [plain, setting] : element_settings_) {
    if (setting.used) continue;
    const auto wrong = [&, &given = setting.name](const std::string& why) {
      throw Error(fmt::format("--set {}: {}", given, why));
    };
    Instance* at = root_;
    for (std::size_t from = 0; from < plain.size();) {
      const std::size_t end = std::min(plain.find_first_of(".[", from), plain.size());
      const std::string part = plain.substr(from, end - from);
      Instance* next = at->is_leaf() ? nullptr : find_child(*at, part);
      if (next == nullptr)
        wrong(fmt::format(
            "{} has no '{}'{}", at->path.empty() ? "the model" : "'" + at->path + "'", part,
            did_you_mean(part, at->is_leaf() ? std::vector<std::string>{} : child_names(*at))));
      resolve(*next);
      at = next;
      from = end + 1;
      if (end == plain.size() || plain[end] != '[') continue;
      const std::size_t close = plain.find(']', end);
      if (close == std::string::npos) wrong("expected ']'");
      const std::string subscripts = plain.substr(end, close + 1 - end);
      const Dimensions& size = dimensions(*at);
      if (size.empty()) wrong(fmt::format("'{}' is scalar", at->path));
      std::size_t flat = 0;
      while (flat < element_count(size) && subscript_text(size, flat) != subscripts) ++flat;
      if (flat == element_count(size))
        wrong(fmt::format("'{}' is {}, so there is no element {}", at->path, to_text(size),
                          subscripts));
      if (!at->is_leaf()) at = at->elements.at(flat).get();
      from = close + 2;
    }
    if (!at->is_leaf())
      wrong(
          fmt::format("it is a {}, not a parameter or variable", at->type.info->definition->name));
    wrong(at->variability == Variability::kConstant ? "it is a constant" : "it cannot be changed");
  }
}

// A name that reached nothing is a mistake, not a modification without effect.
void Flattener::check_overrides(const char* option, const Modification& overrides) {
  for (const Argument& argument : overrides.arguments) {
    Instance* at = root_;
    for (const std::string& part : argument.name.parts) {
      Instance* next = at->is_leaf() ? nullptr : find_child(*at, part);
      if (next == nullptr) {
        const std::vector<std::string> names =
            at->is_leaf() ? std::vector<std::string>{} : child_names(*at);
        throw Error(fmt::format("{} {}: {} has no '{}'{}", option, argument.name.text(),
                                at->path.empty() ? "the model" : "'" + at->path + "'", part,
                                did_you_mean(part, names)));
      }
      resolve(*next);
      at = next;
    }
    if (!at->is_leaf())
      throw Error(fmt::format("--set {}: it is a {}, not a parameter or variable",
                              argument.name.text(), at->type.info->definition->name));
    if (at->variability == Variability::kConstant)
      throw Error(fmt::format("--set {}: it is a constant", argument.name.text()));
    const Layer* layer = binding_layer(*at);
    if (at->variability == Variability::kParameter &&
        (layer == nullptr || layer->argument != &argument))
      throw Error(fmt::format("--set {}: it cannot be changed", argument.name.text()));
    if (at->component->final)
      throw Error(fmt::format("--set {}: it is final", argument.name.text()));
  }
}

}  // namespace saltus
