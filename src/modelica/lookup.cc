// Names (chapter 5): locals, components, classes, imports, enclosing classes, the top level.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/instance_tree.h"

namespace saltus {
namespace {

// What the language itself offers besides types, for suggestions.
constexpr std::array<const char*, 48> kOperators = {
    "time",      "der",     "pre",       "edge",    "change", "initial",  "terminal", "sample",
    "reinit",    "assert",  "terminate", "noEvent", "smooth", "homotopy", "sin",      "cos",
    "tan",       "asin",    "acos",      "atan",    "atan2",  "sinh",     "cosh",     "tanh",
    "exp",       "log",     "log10",     "sqrt",    "abs",    "sign",     "min",      "max",
    "sum",       "product", "size",      "zeros",   "ones",   "fill",     "identity", "diagonal",
    "transpose", "cross",   "mod",       "rem",     "floor",  "ceil",     "integer",  "connect"};

// What to add where a name that may be a package was not found anywhere; empty: nothing.
std::string library_hint(const std::string& package) {
  const bool may_be_package = !package.empty() && std::isupper(package.front()) != 0;
  return may_be_package ? fmt::format(
                              "; if it is a package, --library DIR (or MODELICAPATH) names "
                              "the folder that contains '{}'",
                              package)
                        : "";
}

}  // namespace

void InstanceTree::refuse_import(const Import& import, const char* problem) {
  const std::string& package = import.name.parts.front();
  throw Error(fmt::format("import of '{}': {}{}", import.name.text(), problem,
                          lookup_top(package) ? "" : library_hint(package)),
              import.place.location());
}

InstanceTree::Found InstanceTree::lookup(const std::string& name, const Scope& scope,
                                         bool past_shadows) {
  if (scope.locals != nullptr)
    if (const Value* local = scope.locals->find(name, past_shadows))
      return {local, nullptr, nullptr};
  for (Scope at = scope; at.lexical != nullptr; at = outward(at)) {
    if (Found found = lookup_in(name, at)) {
      // Elements of what is around a class are seen from inside if they never change.
      if (found.instance != nullptr && at.lexical != scope.lexical &&
          at.instance != scope.instance && found.instance->parent == at.instance &&
          found.instance->component->variability != Variability::kConstant)
        throw Error(fmt::format("'{}' is found in '{}' around the class, where only constants can "
                                "be used from inside",
                                name, at.lexical->name),
                    found.instance->component->place.location());
      return found;
    }
    if (!at.lexical->encapsulated) continue;
    // Names imported inside were found above; a package may still name itself.
    if (builtin(name) != nullptr) return lookup_top(name);
    const ClassDefinition* top = at.lexical;
    while (top->enclosing != nullptr) top = top->enclosing;
    return top->name == name ? lookup_top(name) : Found{};
  }
  return lookup_top(name);
}

InstanceTree::Found InstanceTree::lookup_top(const std::string& name) {
  const auto [known, is_new] = top_.try_emplace(name);  // null: there is none
  if (is_new) {
    const ClassDefinition* definition = builtin(name);
    if (definition == nullptr) definition = library_->child(nullptr, name);
    if (definition != nullptr) {
      known->second = std::make_unique<ClassElement>();
      known->second->definition = definition;
    }
  }
  return {.cls = known->second.get()};
}

// What is around the class whose text is read: of a base class, the scope the base is declared in.
Scope InstanceTree::outward(const Scope& scope) {
  const ClassInfo& info = *scope.instance->type.info;
  for (const auto& [definition, around] : info.open)
    if (definition == scope.lexical) return around;
  for (const ClassInfo::Base& base : info.bases)
    if (base.definition == scope.lexical) return base.around;
  return scope.instance->type.scope;
}

InstanceTree::Found InstanceTree::lookup_in(const std::string& name, const Scope& scope) {
  Instance& instance = *scope.instance;
  const ClassInfo& info = *instance.type.info;
  if (!info.complete) {
    if (ClassElement* cls = early_class(scope, name)) return {.cls = cls};
    return imported(name, *scope.lexical);
  }
  // Only what this class or its own bases declare: a name of the derived class must not capture.
  const std::size_t self = info.base_of(scope.lexical);
  const bool whole = self + 1 == info.bases.size();
  const auto declared = [&](const auto& has) {
    if (whole) return true;
    for (std::size_t b = info.bases[self].first; b <= self; ++b)
      if (has(*info.bases[b].definition)) return true;
    return false;
  };
  if (info.element_index.contains(name) &&
      declared([&](const ClassDefinition& d) { return d.find_component(name) != nullptr; }))
    return {.instance = find_child(instance, name)};
  if (member(info, name).definition != nullptr &&
      declared([&](const ClassDefinition& d) { return library_->child(&d, name) != nullptr; }))
    return {.cls = class_element(instance, name)};
  return imported(name, *scope.lexical);
}

InstanceTree::Found InstanceTree::imported(const std::string& name,
                                           const ClassDefinition& definition) {
  if (definition.imports.empty()) return {};
  auto& known = imports_[&definition];
  const auto cached = known.find(name);
  if (cached != known.end()) return cached->second;
  Found found;
  for (const Import& import : definition.imports) {
    if (import.kind == Import::Kind::kUnqualified || import.alias != name) continue;
    found = lookup_qualified(import.name);
    if (const char* problem = import_problem(import)) refuse_import(import, problem);
    return known[name] = found;
  }
  const Import* from = nullptr;
  for (const Import& import : definition.imports) {
    if (import.kind != Import::Kind::kUnqualified) continue;
    const Found package = lookup_qualified(import.name);
    const Found inside = package.cls == nullptr ? Found{} : member_of(*package.cls, name);
    if (!inside) continue;
    if ((inside.cls != nullptr && inside.cls->definition->visibility == Visibility::kProtected) ||
        (inside.instance != nullptr &&
         inside.instance->component->visibility == Visibility::kProtected))
      continue;
    if (found && (found.instance != inside.instance || found.cls != inside.cls))
      throw Error(fmt::format("'{}' is imported from '{}' and from '{}'", name, from->name.text(),
                              import.name.text()),
                  import.place.location());
    found = inside;
    from = &import;
  }
  // While a package is being read, what it inherits is not known yet.
  if (found) known[name] = found;
  return found;
}

// What is wrong with an import; null: nothing. Packages and what is public in them are imported.
const char* InstanceTree::import_problem(const Import& import) {
  const Found found = lookup_qualified(import.name);
  if (!found) return "there is no such class";
  if (import.kind == Import::Kind::kUnqualified)
    return found.cls == nullptr || type_of(*found.cls).definition->kind != ClassKind::kPackage
               ? "it is no package"
               : nullptr;
  if (import.name.parts.size() < 2) return nullptr;
  Name around = import.name;
  around.parts.pop_back();
  const Found package = lookup_qualified(around);
  if (package.cls != nullptr && type_of(*package.cls).definition->kind != ClassKind::kPackage)
    return "it is no package and no element of one";
  const bool is_protected =
      (found.cls != nullptr && found.cls->definition->visibility == Visibility::kProtected) ||
      (found.instance != nullptr &&
       found.instance->component->visibility == Visibility::kProtected);
  return is_protected ? "it is protected" : nullptr;
}

InstanceTree::Found InstanceTree::lookup_qualified(const Name& name) {
  Found found = lookup_top(name.parts.front());
  for (std::size_t k = 1; k < name.parts.size() && found.cls != nullptr; ++k)
    found = member_of(*found.cls, name.parts[k]);
  return found;
}

InstanceTree::Found InstanceTree::member_of(ClassElement& cls, const std::string& name) {
  return member_of(class_instance(cls), name);
}

InstanceTree::Found InstanceTree::member_of(Instance& instance, const std::string& name) {
  const ClassInfo& info = *instance.type.info;
  if (ClassElement* cls = class_element(instance, name)) return {.cls = cls};
  if (info.complete && info.element_index.contains(name))
    return {.instance = find_child(instance, name)};
  return {};
}

// Inside of a class that is no package only what never changes and what is encapsulated can be
// meant (section 5.3.2).
void InstanceTree::check_lookup_in(ClassElement& cls, const Found& found, const std::string& name,
                                   const Place& place) {
  if (found.cls == nullptr || found.cls->definition->encapsulated) return;
  const ClassInfo& info = *class_instance(cls).type.info;  // perhaps still being made
  if (!info.complete || info.basic || info.definition->kind == ClassKind::kPackage) return;
  for (const ClassInfo::Element& element : info.elements)
    if (element.component->variability != Variability::kConstant)
      throw Error(fmt::format("'{}' is found in '{}', which is no package: it holds the variable "
                              "'{}'; only encapsulated classes can be used from outside",
                              name, info.definition->name, element.component->name),
                  place.location());
}

ClassElement& InstanceTree::lookup_class(const Name& name, const Scope& scope) {
  Found found = name.absolute ? lookup_top(name.parts.front()) : lookup(name.parts.front(), scope);
  std::string so_far = name.parts.front();
  for (std::size_t k = 1; k < name.parts.size() && found.cls != nullptr; ++k) {
    ClassElement& package = *found.cls;
    found = member_of(package, name.parts[k]);
    if (!found)
      throw Error(fmt::format("there is no class '{}' in '{}'{}", name.parts[k], so_far,
                              did_you_mean(name.parts[k],
                                           library_->child_names(type_of(package).definition))),
                  name.place.location());
    if (found.cls != nullptr && found.cls->definition->visibility == Visibility::kProtected)
      throw Error(fmt::format("'{}' of '{}' is protected and cannot be used from outside",
                              name.parts[k], so_far),
                  name.place.location());
    check_lookup_in(package, found, name.parts[k], name.place);
    so_far += "." + name.parts[k];
  }
  if (found.cls != nullptr) return *found.cls;
  if (found)
    throw Error(fmt::format("'{}' is not a class but a component", name.text()),
                name.place.location());
  unknown_name(name.parts.front(), name.text(), scope, name.place);
}

std::vector<std::string> InstanceTree::names_in(const ClassInfo& info) const {
  std::vector<std::string> names;
  for (const ClassInfo::Element& element : info.elements) names.push_back(element.component->name);
  for (const ClassInfo::Base& base : info.bases)
    for (const std::string& name : library_->child_names(base.definition)) names.push_back(name);
  return names;
}

std::vector<std::string> InstanceTree::visible_names(const Scope& scope) {
  std::vector<std::string> names;
  for (const Locals* l = scope.locals; l != nullptr; l = l->outer)
    for (const auto& entry : l->values) names.push_back(entry.first);
  for (Scope at = scope; at.lexical != nullptr; at = outward(at)) {
    for (const std::string& name : names_in(*at.instance->type.info)) names.push_back(name);
    for (const Import& import : at.lexical->imports)
      if (!import.alias.empty()) names.push_back(import.alias);
    if (at.lexical->encapsulated) break;
  }
  for (const std::string& name : library_->child_names(nullptr)) names.push_back(name);
  for (const auto& entry : builtins_) names.emplace_back(entry.first);
  names.insert(names.end(), kOperators.begin(), kOperators.end());
  names.emplace_back("time");
  return names;
}

void InstanceTree::unknown_name(const std::string& name, const std::string& whole,
                                const Scope& scope, const Place& place) {
  const std::string in =
      scope.lexical == nullptr ? "" : fmt::format(" in '{}'", scope.lexical->name);
  const std::string of = whole == name ? "" : fmt::format(" (of '{}')", whole);
  std::vector<std::string> names = visible_names(scope);
  std::erase(names, name);  // what is seen from elsewhere only
  if (name == "time" || builtins_.contains(name) ||
      std::find(kOperators.begin(), kOperators.end(), name) != kOperators.end())
    throw Error(fmt::format("'{}'{} cannot be used like this", name, of), place.location());
  const std::string suggestion = did_you_mean(name, names);
  throw Error(fmt::format("there is no '{}'{}{}{}", name, of, in,
                          suggestion.empty() && whole != name ? library_hint(name) : suggestion),
              place.location());
}

}  // namespace saltus
