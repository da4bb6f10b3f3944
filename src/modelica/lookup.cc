// Names: locals, components, classes, imports, enclosing classes, the top level.

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/flattener.h"

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

}  // namespace

Flattener::Found Flattener::lookup(const std::string& name, const Scope& scope) {
  if (scope.locals != nullptr)
    if (const Value* local = scope.locals->find(name, past_shadows_)) return {local, nullptr, {}};
  std::optional<Scope> at = scope;
  bool closed = false;
  while (at && at->lexical != nullptr) {
    if (Found found = lookup_in(name, *at)) {
      // Past an `encapsulated` boundary only the class itself could have been meant.
      return found;
    }
    if (at->lexical->encapsulated) {
      closed = true;
      break;
    }
    at = outward(*at);
  }
  if (closed) {
    if (const ClassDefinition* builtin = builtin_class(name))
      return {.cls = {builtin, {nullptr, nullptr, nullptr}}};
    // Names imported inside were found above; a package may still name itself.
    for (const ClassDefinition* c = at->lexical; c != nullptr; c = c->enclosing)
      if (c->enclosing == nullptr && c->name == name)
        return {.cls = {c, {nullptr, nullptr, nullptr}}};
    return {};
  }
  return lookup_top(name);
}

Flattener::Found Flattener::lookup_top(const std::string& name) {
  if (const ClassDefinition* builtin = builtin_class(name)) return {.cls = {builtin, {}}};
  if (const ClassDefinition* top = library_.child(nullptr, name)) return {.cls = {top, {}}};
  return {};
}

std::optional<Scope> Flattener::outward(const Scope& scope) {
  const ClassDefinition* outer = scope.lexical->enclosing;
  if (scope.instance != nullptr && scope.instance->resolved &&
      scope.instance->type.info->definition == scope.lexical &&
      scope.instance->type.scope.lexical != nullptr) {
    Scope around = scope.instance->type.scope;
    around.locals = nullptr;
    return around;
  }
  if (outer == nullptr) return std::nullopt;
  return Scope{nullptr, outer, nullptr};
}

Flattener::Found Flattener::lookup_in(const std::string& name, const Scope& scope) {
  const ClassInfo& in = info(*scope.lexical);
  const auto element = in.element_index.find(name);
  if (element != in.element_index.end()) {
    Instance& holder =
        scope.instance != nullptr ? *scope.instance : package_instance(*scope.lexical);
    if (Instance* found = find_child(holder, name)) return {nullptr, found, {}};
  } else if (!in.complete && scope.lexical->find_component(name) != nullptr) {
    return {};
  }
  const ClassInfo::Member& cls = member(in, name);
  if (cls.definition != nullptr) {
    if (ClassRef other = redeclared(scope.instance, in, cls.base, name)) return {.cls = other};
    const ClassDefinition* declared_in =
        cls.base < in.bases.size() ? in.bases[cls.base].definition : scope.lexical;
    return {.cls = {cls.definition, {scope.instance, declared_in, nullptr}}};
  }
  const auto cached = in.import_cache.find(name);
  if (cached != in.import_cache.end()) return {.cls = cached->second};
  for (const Import& import : scope.lexical->imports) {
    Found found;
    if (import.kind == Import::Kind::kUnqualified) {
      const Found package = lookup_qualified(import.name);
      if (package.cls) found = member_of(package.cls, name);
    } else if (import.alias == name) {
      found = lookup_qualified(import.name);
      if (!found)
        throw Error(fmt::format("import of '{}': there is no such class", import.name.text()),
                    import.place.location());
    }
    if (found.cls) const_cast<ClassInfo&>(in).import_cache[name] = found.cls;
    if (found) return found;
  }
  return {};
}

Flattener::Found Flattener::lookup_qualified(const Name& name) {
  Found found = lookup_top(name.parts.front());
  for (std::size_t k = 1; k < name.parts.size() && found.cls; ++k)
    found = member_of(found.cls, name.parts[k]);
  return found;
}

// What is inside a class, inherited things included, but nothing around it.
Flattener::Found Flattener::member_of(const ClassRef& cls, const std::string& name) {
  const TypeRef type = resolve_type(cls);
  const ClassInfo& in = *type.info;
  if (in.basic) return {};
  const ClassInfo::Member& found = member(in, name);
  if (found.definition != nullptr) {
    if (ClassRef other = redeclared(nullptr, in, found.base, name)) return {.cls = other};
    const ClassDefinition* declared_in =
        found.base < in.bases.size() ? in.bases[found.base].definition : in.definition;
    return {.cls = {found.definition, {nullptr, declared_in, nullptr}}};
  }
  if (in.element_index.contains(name))
    return {nullptr, find_child(package_instance(*in.definition), name), {}};
  return {};
}

// A class redeclared by a modification of the instance or of an extends clause on the way.
ClassRef Flattener::redeclared(Instance* instance, const ClassInfo& in, std::size_t base,
                               const std::string& name) {
  Layers layers;
  if (instance != nullptr)
    for (const Layer& layer : instance->layers) append_child_layers(layer, name, layers);
  if (base < in.bases.size())
    for (const ExtendsModification& m : in.bases[base].modifications) {
      Layers own;
      append_layers(m.modification, {instance, m.lexical, nullptr}, own);
      for (const Layer& layer : own) append_child_layers(layer, name, layers);
    }
  for (const Layer& layer : layers)
    if (layer.argument != nullptr && layer.argument->kind == Argument::Kind::kRedeclareClass)
      return {layer.argument->definition.get(), layer.scope};
  return {};
}

ClassRef Flattener::lookup_class(const Name& name, const Scope& scope) {
  Found found = name.absolute ? lookup_top(name.parts.front()) : lookup(name.parts.front(), scope);
  std::string so_far = name.parts.front();
  for (std::size_t k = 1; k < name.parts.size() && found.cls; ++k) {
    const ClassRef package = found.cls;
    found = member_of(package, name.parts[k]);
    if (!found) {
      const TypeRef type = resolve_type(package);
      const std::vector<std::string> names = library_.child_names(type.info->definition);
      throw Error(fmt::format("there is no class '{}' in '{}'{}", name.parts[k], so_far,
                              did_you_mean(name.parts[k], names)),
                  name.place.location());
    }
    so_far += "." + name.parts[k];
  }
  if (found.cls) return found.cls;
  if (found)
    throw Error(fmt::format("'{}' is not a class but a component", name.text()),
                name.place.location());
  unknown_name(name.parts.front(), name.text(), scope, name.place);
}

TypeRef Flattener::resolve_type(ClassRef cls) {
  TypeRef result;
  for (int depth = 0;; ++depth) {
    const ClassDefinition& definition = *cls.definition;
    if (definition.kind == ClassKind::kConnector ||
        definition.kind == ClassKind::kExpandableConnector)
      result.connector = true;
    if (definition.form != ClassDefinition::Form::kShort) break;
    if (depth > 100)
      throw Error(fmt::format("'{}' is defined by itself", definition.name),
                  definition.place.location());
    append_layers(definition.modification.get(), cls.scope, result.modifications);
    for (const ExpressionPtr& dimension : definition.dimensions)
      result.dimensions.emplace_back(dimension, cls.scope);
    if (result.causality == Causality::kNone) result.causality = definition.base_causality;
    cls = lookup_class(definition.base, cls.scope);
  }
  result.info = &info(*cls.definition);
  result.scope = cls.scope;
  for (const ExtendsModification& m : result.info->basic_modifications)
    append_layers(m.modification, {nullptr, m.lexical, nullptr}, result.modifications);
  if (result.causality == Causality::kNone) result.causality = result.info->basic_causality;
  return result;
}

Instance& Flattener::package_instance(const ClassDefinition& definition) {
  std::unique_ptr<Instance>& made = packages_[&definition];
  if (made == nullptr) {
    made = std::make_unique<Instance>();
    made->name = definition.name;
    made->path = definition.qualified_name();
    made->type.info = &info(definition);
    made->type.scope = {nullptr, definition.enclosing, nullptr};
    made->variability = Variability::kContinuous;
    made->resolved = true;
    made->active = true;
    made->dimensions = Dimensions{};
  }
  return *made;
}

std::vector<std::string> Flattener::visible_names(const Scope& scope) {
  std::vector<std::string> names;
  for (const Locals* l = scope.locals; l != nullptr; l = l->outer)
    for (const auto& entry : l->values) names.push_back(entry.first);
  std::optional<Scope> at = scope;
  while (at && at->lexical != nullptr) {
    const ClassInfo& in = info(*at->lexical);
    for (const ClassInfo::Element& element : in.elements) names.push_back(element.component->name);
    for (const ClassInfo::Base& base : in.bases)
      for (const std::string& name : library_.child_names(base.definition)) names.push_back(name);
    for (const Import& import : at->lexical->imports)
      if (!import.alias.empty()) names.push_back(import.alias);
    if (at->lexical->encapsulated) break;
    at = outward(*at);
  }
  for (const std::string& name : library_.child_names(nullptr)) names.push_back(name);
  for (const auto& entry : builtins_) names.emplace_back(entry.first);
  names.insert(names.end(), kOperators.begin(), kOperators.end());
  names.emplace_back("time");
  return names;
}

void Flattener::unknown_name(const std::string& name, const std::string& whole, const Scope& scope,
                             const Place& place) {
  const std::string in =
      scope.lexical == nullptr ? "" : fmt::format(" in '{}'", scope.lexical->name);
  const std::string of = whole == name ? "" : fmt::format(" (of '{}')", whole);
  std::vector<std::string> names = visible_names(scope);
  const bool is_operator = std::erase(names, name) > 0;  // of the language: known, but no component
  if (is_operator)
    throw Error(fmt::format("'{}'{} cannot be used like this", name, of), place.location());
  throw Error(fmt::format("there is no '{}'{}{}{}", name, of, in, did_you_mean(name, names)),
              place.location());
}

}  // namespace saltus
