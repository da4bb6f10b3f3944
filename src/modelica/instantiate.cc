// The tree of components: types, conditions, sizes, inner and outer.

#include <fmt/format.h>

#include "base/error.h"
#include "base/suggest.h"
#include "modelica/flattener.h"
#include "modelica/instance_rules.h"

namespace saltus {
namespace {

constexpr std::size_t kMaxElements = 10'000'000;

// parameter < constant: the stronger restriction wins.
Variability stricter(Variability a, Variability b) {
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

}  // namespace

void Flattener::make_root(const ClassDefinition& model) {
  const TypeRef& type = tree_.type_of(tree_.element_of(model));
  if (type.info->basic || model.kind == ClassKind::kFunction || model.kind == ClassKind::kPackage)
    throw Error(fmt::format("'{}' is a {}; only models and blocks can be simulated",
                            model.qualified_name(), spelling(model.kind)),
                model.place.location());
  if (type.definition->partial || model.partial)
    throw Error(fmt::format("'{}' is partial and cannot be simulated", model.qualified_name()),
                model.place.location());
  tree_.root = std::make_unique<Instance>();
  root_ = tree_.root.get();
  root_->layers = type.modifications;
  tree_.set_type(*root_, type);
  root_->resolved = true;
  root_->active = true;
  root_->dimensions = Dimensions{};
}

std::vector<std::string> Flattener::child_names(Instance& instance) {
  expand(instance);
  std::vector<std::string> names;
  for (const auto& c : instance.children) names.push_back(c->name);
  return names;
}

Instance& Flattener::child(Instance& instance, const std::string& name, const Place& place) {
  if (Instance* found = find_child(instance, name)) return *found;
  const std::string whose =
      instance.path.empty() ? "the model" : fmt::format("'{}'", instance.path);
  throw Error(fmt::format("{} (a {}) has no '{}'{}", whose, instance.type.info->definition->name,
                          name, did_you_mean(name, child_names(instance))),
              place.location());
}

void Flattener::resolve(Instance& instance) {
  if (instance.resolved) return;
  const Component& declared = *instance.component;
  const Component& component = instance.replacement ? *instance.replacement : declared;
  const TypeRef& type = type_named(instance.type_name, instance.type_scope);
  instance.layers.insert(instance.layers.end(), type.modifications.begin(),
                         type.modifications.end());
  tree_.set_type(instance, type);
  instance.resolved = true;
  const Instance* parent = instance.parent;
  instance.variability =
      stricter(stricter(component.variability, declared.variability), parent->variability);
  instance.causality = component.causality != Causality::kNone  ? component.causality
                       : declared.causality != Causality::kNone ? declared.causality
                       : parent->causality != Causality::kNone  ? parent->causality
                                                                : instance.type.causality;
  instance.connection = component.connection != Connection::kPotential  ? component.connection
                        : declared.connection != Connection::kPotential ? declared.connection
                                                                        : parent->connection;
  instance.is_protected = declared.visibility == Visibility::kProtected || parent->is_protected;
  const ClassDefinition& definition = *instance.type.info->definition;
  if (declared.outer) {
    Instance*& inner = declared.inner ? instance.beyond : instance.target;
    inner = find_inner(instance);
    check_outer(instance, *inner);
    if (!declared.inner) return;
  }
  if (definition.kind == ClassKind::kFunction || definition.kind == ClassKind::kPackage)
    throw Error(fmt::format("'{}' is a {}; it cannot be the type of a component",
                            definition.qualified_name(), spelling(definition.kind)),
                component.type.place.location());
  check_component(instance);
  check_replacement(instance);
  // Not in packages, where only the constants are asked for.
  const Instance* top = parent;
  while (top->parent != nullptr) top = top->parent;
  if (definition.partial && !instance.type.info->basic && top == root_ && is_active(instance))
    throw Error(
        fmt::format("'{}' is a partial {} and cannot be used as a component{}",
                    definition.qualified_name(), spelling(definition.kind),
                    declared.replaceable ? fmt::format("; redeclare '{}'", instance.path) : ""),
        component.type.place.location());
}

Instance* Flattener::find_inner(const Instance& outer) {
  // Around a package is the component it is declared in.
  const auto around = [](const Instance& i) {
    return i.parent != nullptr ? i.parent : i.type.scope.instance;
  };
  for (Instance* at = around(*outer.parent); at != nullptr; at = around(*at)) {
    if (!at->resolved || at->type.info->basic) continue;
    Instance* found = find_child(*at, outer.component->name);
    if (found != nullptr && found->component->inner) {
      resolve(*found);
      return found->target != nullptr ? found->target : found;
    }
  }
  if (Instance* added = add_inner(outer)) return added;
  throw Error(fmt::format("'{}' is an outer component, but no component around it declares "
                          "'inner {} {}'",
                          outer.path, outer.type_name.text(), outer.component->name),
              outer.component->place.location());
}

// An inner component that nobody declares is made at the top of the model, if its type is complete
// and all that ask for it mean the same type (section 5.4).
Instance* Flattener::add_inner(const Instance& outer) {
  const ClassInfo& info = *outer.type.info;
  const Instance* top = &outer;
  while (top->parent != nullptr) top = top->parent;
  if (top != root_ || info.basic || info.definition->partial ||
      find_child(*root_, outer.component->name) != nullptr)
    return nullptr;
  Component& component = synthetic_.emplace_back();
  component.name = outer.component->name;
  component.place = outer.component->place;
  component.type = outer.type_name;
  component.inner = true;
  auto made = std::make_unique<Instance>();
  Instance& inner = *made;
  inner.parent = root_;
  inner.name = inner.path = component.name;
  inner.component = &component;
  inner.owner = outer.owner;
  inner.type_scope = outer.type_scope;
  inner.type_name = outer.type_name;
  inner.layers = outer.type.modifications;
  tree_.set_type(inner, outer.type);
  inner.resolved = true;
  inner.active = true;
  inner.dimensions = Dimensions{};
  root_->child_index.emplace(component.name, &inner);
  root_->children.push_back(std::move(made));
  std::string message =
      fmt::format("no component declares 'inner {} {}'; it was added to the model",
                  outer.type_name.text(), component.name);
  if (const ModificationPtr& annotation = info.definition->annotation())
    if (const Argument* said = annotation->find("missingInnerMessage"))
      if (said->modification != nullptr && said->modification->value != nullptr)
        if (const auto* text = said->modification->value->as<StringLiteral>())
          message = text->value;
  const SourceLocation where = component.place.location();
  flat_.warnings.push_back(
      fmt::format("{}:{}:{}: warning: {}", where.file, where.line, where.column, message));
  instantiate(inner);
  return &inner;
}

bool Flattener::is_active(Instance& instance) {
  if (instance.active) return *instance.active;
  if (instance.parent != nullptr && instance.component == nullptr) return true;
  const ExpressionPtr& condition = instance.component->condition;
  bool active = true;
  if (condition != nullptr) {
    const Value value = evaluate(*condition, {instance.parent, instance.owner, nullptr});
    if (value.type != BasicType::kBoolean || !value.is_scalar())
      throw Error(fmt::format("the condition of '{}' is not Boolean", instance.path),
                  condition->place.location());
    active = constant_number(value, condition->place, "the condition of a component") != 0.0;
  }
  instance.active = active;
  return active;
}

const Dimensions& Flattener::dimensions(Instance& instance) {
  if (instance.dimensions) return *instance.dimensions;
  resolve(instance);
  if (instance.target != nullptr) return dimensions(*instance.target);
  const Component& component =
      instance.replacement != nullptr && !instance.replacement->dimensions.empty()
          ? *instance.replacement
          : *instance.component;
  std::vector<std::pair<ExpressionPtr, Scope>> expressions;
  const Scope declared = &component == instance.component
                             ? Scope{instance.parent, instance.owner, nullptr}
                             : instance.type_scope;
  for (const ExpressionPtr& e : component.dimensions) expressions.emplace_back(e, declared);
  for (const auto& d : instance.type.dimensions) expressions.push_back(d);
  if (expressions.empty()) {
    instance.dimensions = Dimensions{};
    return *instance.dimensions;
  }
  if (instance.busy)
    throw Error(fmt::format("the size of '{}' depends on itself", instance.path),
                component.place.location());
  instance.busy = true;
  Dimensions& result = instance.measured;
  result.clear();
  std::optional<Value> bound;
  for (std::size_t k = 0; k < expressions.size(); ++k) {
    const auto& [expression, scope] = expressions[k];
    if (expression->as<WholeDimension>() != nullptr) {
      if (!bound) {
        ++measuring_;
        try {
          bound = binding(instance);
          if (!bound) bound = attribute(instance, "start");
        } catch (...) {
          --measuring_;
          throw;
        }
        --measuring_;
      }
      if (!bound && instance.parent != nullptr && instance.parent->type.info != nullptr &&
          instance.parent->definition().kind == ClassKind::kExpandableConnector) {
        added_.insert(&instance);  // what is connected to it says its size
        result.push_back(0);
        continue;
      }
      if (!bound || bound->dimensions.size() <= k)
        throw Error(fmt::format("the size of '{}' is not known: it is declared with ':' and has no "
                                "value to take it from",
                                instance.path),
                    component.place.location());
      result.push_back(bound->dimensions[k]);
      continue;
    }
    const Value value = evaluate(*expression, scope);
    if ((value.type == BasicType::kEnumeration || value.type == BasicType::kBoolean) &&
        value.dimensions.size() == 1) {
      result.push_back(value.count());  // the type: one element for each value
      continue;
    }
    if (value.type == BasicType::kReal)
      throw Error(fmt::format("the size of '{}' is not an Integer", instance.path),
                  expression->place.location());
    const double size = constant_number(value, expression->place, "the size of an array");
    if (size < 0.0)
      throw Error(fmt::format("the size of '{}' is {}", instance.path, size),
                  expression->place.location());
    result.push_back(static_cast<std::size_t>(size));
  }
  instance.busy = false;
  if (element_count(result) > kMaxElements)
    throw Error(fmt::format("'{}' has {} elements: too many", instance.path, element_count(result)),
                component.place.location());
  instance.dimensions = result;
  return *instance.dimensions;
}

void Flattener::make_elements(Instance& instance) {
  const Dimensions& size = dimensions(instance);
  if (size.empty() || !instance.elements.empty()) return;
  const std::size_t count = element_count(size);
  instance.elements.reserve(count);
  // What modifies the type as a whole, as `model M = A(k = 2)` does, is meant for every element;
  // only what the type itself says about its own dimensions is not.
  const auto first_of_type =
      instance.layers.end() - static_cast<std::ptrdiff_t>(std::min(
                                  instance.layers.size(), instance.type.modifications.size()));
  const Layers own(instance.layers.begin(), first_of_type);
  const Layers of_type(first_of_type, instance.layers.end());
  const auto inner =
      static_cast<std::ptrdiff_t>(std::min(instance.type.dimensions.size(), size.size()));
  for (std::size_t flat = 0; flat < count; ++flat) {
    auto made = std::make_unique<Instance>();
    Instance& e = *made;
    const std::string subscript = subscript_text(size, flat);
    e.parent = instance.parent;
    e.component = instance.component;
    e.replacement = instance.replacement;
    e.owner = instance.owner;
    e.name = instance.name + subscript;
    e.path = instance.path + subscript;
    const std::vector<std::size_t> index = subscripts_of(size, flat);
    e.layers = element_layers(own, index);
    for (Layer& layer : element_layers(of_type, {index.end() - inner, index.end()}))
      e.layers.push_back(std::move(layer));
    e.type_scope = instance.type_scope;
    e.type_name = instance.type_name;
    tree_.set_type(e, instance.type);
    e.resolved = true;
    e.variability = instance.variability;
    e.causality = instance.causality;
    e.connection = instance.connection;
    e.is_protected = instance.is_protected;
    e.active = true;
    e.dimensions = Dimensions{};
    instance.elements.push_back(std::move(made));
  }
}

// Where an outer component says how large it is, the inner one is that large.
void Flattener::check_outer_size(Instance& instance) {
  const std::vector<ExpressionPtr>& given = instance.component->dimensions;
  const Dimensions& inner = dimensions(*instance.target);
  for (std::size_t k = 0; k < given.size() && k < inner.size(); ++k) {
    if (given[k]->as<WholeDimension>() != nullptr) continue;
    const Value size = evaluate(*given[k], {instance.parent, instance.owner, nullptr});
    if (!size.is_scalar() || size.type != BasicType::kInteger) continue;
    const double wanted = constant_number(size, given[k]->place, "the size of an array");
    if (wanted != static_cast<double>(inner[k]))
      throw Error(fmt::format("outer '{}' and inner '{}' do not fit: {} and {} elements",
                              instance.path, instance.target->path, wanted, inner[k]),
                  instance.component->place.location());
  }
}

void Flattener::instantiate(Instance& instance) {
  if (!is_active(instance)) return;
  resolve(instance);
  if (instance.target != nullptr) {
    check_outer_size(instance);
    return;
  }
  check_modifiers(instance);
  if (instance.is_leaf()) {
    dimensions(instance);
    return;
  }
  if (!dimensions(instance).empty()) {
    make_elements(instance);
    for (const auto& element : instance.elements) instantiate(*element);
    if (instance.type.connector && !instance.elements.empty())
      check_connector(*instance.elements.front());
    return;
  }
  expand(instance);
  // An inner component that is missing may be added to the model on the way.
  for (std::size_t k = 0; k < instance.children.size(); ++k) {
    Instance& c = *instance.children[k];
    instantiate(c);
    if (c.resolved && c.target == nullptr && c.type.connector && !c.is_array()) check_connector(c);
  }
}

}  // namespace saltus
