// Leaves: values of parameters and constants, declaration of variables and their attributes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/placeholder.h"
#include "expr/differentiate.h"
#include "modelica/flattener.h"
#include "modelica/instance_rules.h"
#include "modelica/parameter_use.h"

namespace saltus {

namespace {

// The part of a modification's value that is meant for one element.
Value accessed(const Value& whole, const Layer& layer) {
  const Place& place = layer.value->place;
  Value part;
  const Value* from = &whole;
  for (const Access& access : layer.access) {
    if (!access.field.empty()) {
      part = field(*from, access.field, place);
    } else if (from->dimensions.empty()) {
      throw Error(fmt::format("'{}' is scalar but modifies the elements of an array; write 'each' "
                              "to give it to every element",
                              to_text(*layer.value)),
                  place.location());
    } else if (access.index >= from->dimensions[0]) {
      throw Error(fmt::format("'{}' has only {} elements for an array of components",
                              to_text(*layer.value), from->dimensions[0]),
                  place.location());
    } else {
      part = element(*from, access.index, 1);
    }
    from = &part;
  }
  return part;
}

// A function that is run with numbers has no place for what the model may change.
void require_constant(const Instance& leaf, const Instance* root) {
  const Instance* top = &leaf;
  while (top->parent != nullptr) top = top->parent;
  const bool is_number = !leaf.value || std::ranges::all_of(leaf.value->numbers, [](const Expr& e) {
    return e.is_number();
  });
  if (is_number && (top != root || leaf.variability == Variability::kConstant)) return;
  throw Error(
      fmt::format("a function with loops or branches that depend on what varies reads '{}', "
                  "which is no constant: not supported",
                  leaf.path),
      leaf.component->place.location());
}

}  // namespace

const Layer* Flattener::binding_layer(const Instance& leaf) const {
  for (const Layer& layer : leaf.layers) {
    if (layer.value == nullptr) continue;
    // --set of a variable means its start value.
    if (overrides_.contains(layer.argument) && !inputs_.contains(layer.argument) &&
        leaf.variability != Variability::kParameter && leaf.variability != Variability::kConstant)
      continue;
    return &layer;
  }
  return nullptr;
}

Value Flattener::layer_value(const Layer& layer) {
  if (layer.access.empty()) return evaluate(*layer.value, layer.scope);
  // One modification may serve every element of a large array: evaluate it once, and take the
  // element out of it without a copy of the whole.
  const std::string key = fmt::format("{}@{}", static_cast<const void*>(layer.value),
                                      static_cast<const void*>(layer.scope.instance));
  auto cached = layer_values_.find(key);
  if (cached == layer_values_.end() || layer.scope.locals != nullptr) {
    Value whole = evaluate(*layer.value, layer.scope);
    if (layer.scope.locals != nullptr) return accessed(whole, layer);
    cached = layer_values_.insert_or_assign(key, std::move(whole)).first;
  }
  return accessed(cached->second, layer);
}

std::optional<Value> Flattener::binding(Instance& leaf) {
  const Layer* layer = binding_layer(leaf);
  if (layer == nullptr) return std::nullopt;
  return layer_value(*layer);
}

namespace {

// A weaker modification that is final keeps its value.
void check_not_final(const Instance& leaf, const Layer& from, const Layer& given,
                     std::string_view name) {
  bool weaker = false;
  for (const Layer& layer : leaf.layers) {
    if (&layer == &from) {
      weaker = true;
      continue;
    }
    if (!weaker || layer.value != nullptr) continue;
    Layers found;
    append_child_layers(layer, name, found);
    for (const Layer& f : found)
      if (f.argument != nullptr && f.argument->final && given.argument != nullptr)
        throw Error(fmt::format("'{}' of '{}' is final and cannot be modified", name, leaf.path),
                    given.argument->place.location());
  }
}

}  // namespace

std::optional<Value> Flattener::attribute(Instance& leaf, std::string_view name) {
  for (const Layer& layer : leaf.layers) {
    if (layer.value != nullptr) {
      if (name == "start" && overrides_.contains(layer.argument) && &layer != binding_layer(leaf))
        return layer_value(layer);
      continue;
    }
    Layers found;
    append_child_layers(layer, name, found);
    for (const Layer& f : found)
      if (f.value != nullptr) {
        check_not_final(leaf, layer, f, name);
        return layer_value(f);
      }
  }
  return std::nullopt;
}

std::optional<double> Flattener::number_attribute(Instance& leaf, std::string_view name,
                                                  std::size_t index) {
  const std::optional<Value> value = attribute(leaf, name);
  if (!value || value->numbers.empty()) return std::nullopt;
  const Expr& number = value->is_scalar() ? value->number() : value->numbers.at(index);
  const ParameterUse::Pause scaling_and_warnings_only;
  return fixed_number(number);
}

bool Flattener::is_discrete(const Instance& leaf) const {
  const BasicType type = *leaf.type.info->basic;
  return type != BasicType::kReal || leaf.assigned_in_when ||
         leaf.variability == Variability::kDiscrete;
}

void Flattener::check_type(const Instance& leaf, const Value& value, const Place& place) const {
  const BasicType wanted = *leaf.type.info->basic;
  if (value.type != wanted && !(is_numeric(value.type) && is_numeric(wanted)))
    throw Error(fmt::format("'{}' is {} but its value is {}", leaf.path, spelling(wanted),
                            spelling(value.type)),
                place.location());
  if (wanted == BasicType::kInteger && value.type == BasicType::kReal)
    throw Error(fmt::format("'{}' is Integer but its value is Real", leaf.path), place.location());
  const ClassDefinition* own = leaf.type.info->enumeration;
  if (own != nullptr && value.definition != nullptr && own != value.definition &&
      !have_same_literals(*own, *value.definition))
    throw Error(fmt::format("'{}' is of enumeration '{}' but its value of enumeration '{}'",
                            leaf.path, own->name, value.definition->name),
                place.location());
  if (value.dimensions != *leaf.dimensions)
    throw Error(fmt::format("'{}' is {} but its value is {}", leaf.path, to_text(*leaf.dimensions),
                            to_text(value.dimensions)),
                place.location());
}

// Parameters and constants: known before variables are.
bool Flattener::is_known_before(const Instance& leaf) const {
  return leaf.variability == Variability::kParameter ||
         leaf.variability == Variability::kConstant || *leaf.type.info->basic == BasicType::kObject;
}

void Flattener::require_known(const Instance& leaf, const Place& place) const {
  if (variables_allowed_ || measuring_ > 0 || is_known_before(leaf)) return;
  throw Error(fmt::format("'{}' is a variable; its value is not known when the model is "
                          "translated, as parameters, sizes and conditions of components need",
                          leaf.path),
              place.location());
}

const Value& Flattener::value_of(Instance& leaf) {
  resolve(leaf);
  if (root_ == nullptr) require_constant(leaf, tree_.root.get());
  if (leaf.value) return *leaf.value;
  if (leaf.target != nullptr) return value_of(*leaf.target);
  if (!is_active(leaf))
    throw Error(fmt::format("'{}' is used although its condition is false", leaf.path),
                leaf.component->place.location());
  const bool is_parameter = is_known_before(leaf);
  if (measuring_ > 0 && !variables_allowed_ && !is_parameter) {
    // Only the size is asked for: any number does.
    Value& stands = measured_[&leaf];
    const Dimensions& size = dimensions(leaf);
    stands = Value::array(*leaf.type.info->basic, size, {});
    stands.definition = leaf.type.info->enumeration;
    if (stands.type == BasicType::kString) {
      stands.strings.assign(element_count(size), "");
    } else {
      stands.numbers.assign(element_count(size), Expr(1.0));
    }
    return stands;
  }
  require_known(leaf, leaf.component->place);
  dimensions(leaf);
  if (leaf.busy)
    throw Error(fmt::format("the value of '{}' depends on itself", leaf.path),
                leaf.component->place.location());
  // It is no longer, also where its value turns out to be wrong.
  struct Busy {
    Instance& instance;
    explicit Busy(Instance& i) : instance(i) { instance.busy = true; }
    ~Busy() { instance.busy = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
  } const busy(leaf);
  if (is_parameter) {
    declare_parameter(leaf);
    check_attributes(leaf);  // they may read it: constant P p0 = 1e5, with P(start = p0)
  } else {
    check_attributes(leaf);
    declare_variable(leaf);
  }
  return *leaf.value;
}

// Whether a value varies, but with parameters alone that the initial equations find.
bool Flattener::follows_found_parameters(const Value& value) {
  const ParameterUse::Pause looked_at_only;
  bool any = false;
  for (const Expr& number : value.numbers) {
    if (fixed_number(number)) continue;
    for (const Expr& leaf : leaves_of(number)) {
      if (leaf.is_parameter()) continue;
      if (!found_parameters_.contains(leaf.node())) return false;
      any = true;
    }
  }
  return any;
}

bool Flattener::reads_found_parameters(const Expr& value) const {
  return !value.is_number() && std::ranges::any_of(leaves_of(value), [&](const Expr& leaf) {
    return found_parameters_.contains(leaf.node());
  });
}

// With the guesses of the parameters that the initial equations find.
Expr Flattener::guess_of(const Expr& value) {
  std::vector<Expr> found;
  std::vector<Expr> guesses;
  for (const Expr& leaf : leaves_of(value)) {
    if (!found_parameters_.contains(leaf.node())) continue;
    found.push_back(leaf);
    guesses.push_back(leaf.is_variable()
                          ? flat_.system.variable(leaf.node()->variable()).start
                          : flat_.discretes[discrete_numbers_.at(leaf.node())].start);
  }
  return substitute(value, found, guesses);
}

void Flattener::declare_parameter(Instance& leaf) {
  const BasicType type = *leaf.type.info->basic;
  const Place& place = leaf.component->place;
  const Layer* layer = binding_layer(leaf);
  std::optional<Value> value = binding(leaf);
  const bool constant = leaf.variability == Variability::kConstant;
  const std::optional<Value> fixed = attribute(leaf, "fixed");
  const bool has_numbers = type != BasicType::kString && type != BasicType::kObject;
  if (has_numbers && !constant && !value && fixed && fixed->is_scalar() &&
      fixed->number().is_number() && fixed->number().number() == 0.0) {
    // To be found by the initial equations: an unknown that keeps its value.
    declare_variable(leaf);
    for (const Expr& symbol : leaf.value->numbers) {
      if (is_discrete_symbol(symbol)) {
        when_assigned_.insert(symbol.node());
        found_parameters_.insert(symbol.node());
        flat_.discrete_equations.push_back({symbol, pre_slot(symbol), place.location()});
        continue;
      }
      found_parameters_.insert(symbol.node());
      Equation e("parameter " + leaf.path, der(symbol) == 0.0);
      e.where = place.location();
      flat_.equations.emplace_back(std::move(e));
    }
    return;
  }
  if (constant && value)
    for (const Expr& used : leaves_of(value->numbers))
      if (used.is_parameter())
        throw Error(
            fmt::format("constant '{}' depends on the parameter '{}'", leaf.path, to_string(used)),
            place.location());
  if (!value) {
    value = attribute(leaf, "start");
    const bool guessed = value.has_value();
    if (!value && leaf.dimensions->empty() && type == BasicType::kEnumeration) value.reset();
    if (guessed && !constant)
      flat_.warnings.push_back(
          fmt::format("{}:{}:{}: warning: parameter '{}' has no value; its start value is used",
                      place.location().file, place.line, place.column, leaf.path));
    if (!value && !leaf.dimensions->empty() && element_count(*leaf.dimensions) == 0)
      value = Value::array(type, *leaf.dimensions, {});
    if (!value)
      throw Error(
          fmt::format("{} '{}' has no value", constant ? "constant" : "parameter", leaf.path),
          place.location());
    if (value->is_scalar() && !leaf.dimensions->empty() && !value->numbers.empty())
      value = Value::array(
          value->type, *leaf.dimensions,
          std::vector<Expr>(leaf.dimensions->empty() ? 1 : element_count(*leaf.dimensions),
                            value->number()));
  }
  const Place& where = layer != nullptr ? layer->value->place : place;
  if (value->is_scalar() && value->count() == 1 && !leaf.dimensions->empty() &&
      element_count(*leaf.dimensions) == 0)
    value->dimensions = *leaf.dimensions;
  if (value->count() == 0 && element_count(*leaf.dimensions) == 0)
    value = Value::array(type, *leaf.dimensions, {});
  check_type(leaf, *value, where);
  bool is_final = constant;
  for (const Layer& l : leaf.layers)
    if (l.value != nullptr && &l == layer && l.argument != nullptr)
      is_final = is_final || l.argument->final;
  is_final = is_final || (layer != nullptr && layer->argument == nullptr && leaf.component->final);
  if (has_settings(leaf)) apply_settings(leaf, *value, is_final);
  value->type = type;
  if (type == BasicType::kEnumeration) value->definition = leaf.type.info->enumeration;
  if (!constant && has_numbers && follows_found_parameters(*value)) {
    // It follows from what the initial equations give: an unknown as well.
    const std::vector<Expr> numbers = value->numbers;
    declare_variable(leaf);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const Expr& symbol = leaf.value->numbers[k];
      found_parameters_.insert(symbol.node());
      if (is_discrete_symbol(symbol)) {
        when_assigned_.insert(symbol.node());
        flat_.discrete_equations.push_back({symbol, numbers[k], where.location()});
        continue;
      }
      Equation e("parameter " + leaf.path, symbol == numbers[k]);
      e.where = where.location();
      flat_.equations.emplace_back(std::move(e));
    }
    return;
  }
  // Constants of packages are no part of the model's results.
  bool in_model = false;
  for (const Instance* i = &leaf; i != nullptr; i = i->parent) in_model = in_model || i == root_;
  const std::optional<Value> unit = attribute(leaf, "unit");
  for (std::size_t k = 0; k < value->numbers.size(); ++k) {
    Expr& number = value->numbers[k];
    const std::optional<double> known = [&] {
      if (type != BasicType::kReal) return fixed_number(number);
      const ParameterUse::Pause looked_at_only;
      return fixed_number(number);
    }();
    if (!known)
      throw Error(fmt::format("the value of {} '{}' depends on variables",
                              constant ? "constant" : "parameter", leaf.path),
                  where.location());
    if (type != BasicType::kReal) number = *known;
    if (!std::isfinite(*known)) {
      if (constant) continue;
      throw Error(fmt::format("the value of parameter '{}' is not a finite number", leaf.path),
                  where.location());
    }
    constexpr double kLargestWhole = 9007199254740992.0;  // 2^53
    if (type == BasicType::kInteger && std::abs(*known) > kLargestWhole)
      throw Error(fmt::format("the value of {} '{}' is beyond 2^53: whole numbers are not exact "
                              "there",
                              constant ? "constant" : "parameter", leaf.path),
                  where.location());
    if (constant || !in_model) continue;
    const std::string name = leaf.path + subscript_text(*leaf.dimensions, k);
    if (const std::optional<Bounds> bounds = bounds_of(leaf, name, k))
      warn_of_bounds(*bounds, "parameter", *known, where);
    const std::string unit_text = unit && !unit->strings.empty() ? unit->strings.front() : "";
    if (number.is_number() && !is_final && type == BasicType::kReal) {
      number = flat_.system.parameter(
          name, number.number(), {.unit = unit_text, .description = leaf.component->comment.text});
    } else {
      flat_.system.derive(name, number,
                          {.unit = unit_text, .description = leaf.component->comment.text});
    }
  }
  leaf.value = std::move(value);
}

// The value that an equation s = ... of the same class gives a String that never changes.
std::optional<Value> Flattener::string_equation(Instance& leaf) {
  for (const ClassInfo::Base& base : leaf.parent->type.info->bases)
    for (const EquationClause& equation : base.definition->equations) {
      const auto* e = equation.as<SimpleEquation>();
      const auto* r = e == nullptr ? nullptr : e->left->as<ComponentReference>();
      if (r != nullptr && r->parts.size() == 1 && r->parts[0].name == leaf.component->name &&
          r->parts[0].subscripts.empty())
        return evaluate(*e->right, {leaf.parent, base.definition, nullptr});
    }
  return std::nullopt;
}

void Flattener::declare_variable(Instance& leaf) {
  const BasicType type = *leaf.type.info->basic;
  const Place& place = leaf.component->place;
  if (type == BasicType::kString) {
    std::optional<Value> text;
    if (!leaf.assigned_in_when) text = binding(leaf);
    if (!text && !leaf.assigned_in_when) text = string_equation(leaf);
    if (text) check_type(leaf, *text, place);
    const bool changes = !text || std::ranges::any_of(text->strings, has_placeholders);
    leaf.value = changes ? declare_changing_text(leaf) : std::move(*text);
    return;
  }
  Value value = Value::array(type, *leaf.dimensions, {});
  if (type == BasicType::kClock) {
    for (std::size_t k = 0; k < element_count(*leaf.dimensions); ++k)
      value.numbers.push_back(new_clock(leaf.path + subscript_text(*leaf.dimensions, k)));
    leaf.value = std::move(value);
    return;
  }
  if (type == BasicType::kReal && leaf.component->variability == Variability::kDiscrete &&
      !leaf.assigned_in_when && leaf.causality != Causality::kInput && clocks_ == nullptr &&
      binding_layer(leaf) != nullptr && !overrides_.contains(binding_layer(leaf)->argument))
    throw Error(fmt::format("'{}' is a discrete Real; it is given its value in a 'when', not in "
                            "its declaration",
                            leaf.path),
                place.location());
  if (type == BasicType::kEnumeration) value.definition = leaf.type.info->enumeration;
  std::optional<Value> start = attribute(leaf, "start");
  const std::optional<Value> fixed = attribute(leaf, "fixed");
  const std::optional<Value> unit = attribute(leaf, "unit");
  const std::size_t count = element_count(*leaf.dimensions);
  if (has_settings(leaf)) {  // of a variable: its start value
    const Expr first = start && start->is_scalar() ? start->number() : Expr(0.0);
    if (!start || start->is_scalar())
      start = Value::array(type, *leaf.dimensions, std::vector<Expr>(count, first));
    apply_settings(leaf, *start, leaf.component->final);
  }
  const auto element_of = [&](const Value& v, std::size_t k, const char* what) {
    if (v.is_scalar()) return v.number();
    if (v.numbers.size() != count)
      throw Error(fmt::format("'{}' is {} but its {} is {}", leaf.path, to_text(*leaf.dimensions),
                              what, to_text(v.dimensions)),
                  place.location());
    return v.numbers[k];
  };
  bool names_mode = false;
  if (leaf.component->comment.annotation != nullptr)
    if (const Argument* saltus = leaf.component->comment.annotation->find("__Saltus"))
      if (saltus->modification != nullptr)
        if (const Argument* mode = saltus->modification->find("modeName"))
          names_mode = mode->modification != nullptr && mode->modification->value != nullptr &&
                       to_text(*mode->modification->value) == "true";
  const std::string unit_text = unit && !unit->strings.empty() ? unit->strings.front() : "";
  for (std::size_t k = 0; k < count; ++k) {
    const std::string name = leaf.path + subscript_text(*leaf.dimensions, k);
    // A parameter that the initial equations give is mostly the time at the start.
    const Expr start_value = start ? element_of(*start, k, "start value")
                             : type == BasicType::kEnumeration ? Expr(1.0)
                             : leaf.variability == Variability::kParameter
                                 ? Expr(flat_.system.experiment.start_time)
                                 : Expr(0.0);
    bool is_fixed = false;
    if (fixed) is_fixed = fixed_number(element_of(*fixed, k, "fixed")).value_or(0.0) != 0.0;
    // A start value that follows from what the initial equations give is one of them.
    const bool is_found = reads_found_parameters(start_value);
    if (is_found && is_discrete(leaf))
      throw Error(fmt::format("the start value of '{}' depends on a parameter that is found by the "
                              "initial equations; give it as an initial equation",
                              name),
                  place.location());
    if (is_discrete(leaf)) {
      DiscreteOptions options;
      options.type = type == BasicType::kReal      ? DiscreteType::kReal
                     : type == BasicType::kInteger ? DiscreteType::kInteger
                     : type == BasicType::kBoolean ? DiscreteType::kBoolean
                                                   : DiscreteType::kEnumeration;
      options.start = start_value;
      options.fixed = is_fixed;
      options.unit = unit_text;
      options.description = leaf.component->comment.text;
      options.names_mode = names_mode;
      options.where = place.location();
      if (value.definition != nullptr)
        for (const EnumerationLiteral& literal : value.definition->enumeration)
          options.literals.push_back(literal.name);
      const Expr symbol = flat_.discrete(name, std::move(options));
      add_bounds(leaf, name, k, symbol, 1.0, start ? &start_value : nullptr);
      discrete_numbers_[symbol.node()] = flat_.discretes.size() - 1;
      pre_slots_[symbol.node()] = flat_.discretes.back().pre;
      value.numbers.push_back(symbol);
      const auto known = known_discretes_.find(&leaf);
      if (known != known_discretes_.end())
        fixed_numbers_[symbol.node()] = *fixed_number(known->second.numbers[k]);
      continue;
    }
    // A parameter to be found is of the size of its guess: a time of 1e-5 s that is measured by 1
    // would be any time of that size.
    const bool is_guess = leaf.variability == Variability::kParameter && start.has_value();
    const double size = is_guess ? fixed_number(start_value).value_or(1.0) : 1.0;
    const std::optional<double> given = number_attribute(leaf, "nominal", k);
    const double nominal = std::abs(given.value_or(size));
    if (given && !(*given > 0.0 && std::isfinite(*given)))
      flat_.warnings.push_back(
          fmt::format("{}:{}:{}: warning: the nominal value {} of '{}' is not positive; {} is used",
                      place.location().file, place.line, place.column, *given, name,
                      nominal > 0.0 && std::isfinite(nominal) ? nominal : 1.0));
    {
      const ParameterUse::Pause looked_at_only;  // another value may be right
      const std::optional<double> begin = fixed_number(start_value);
      if (begin && !std::isfinite(*begin))
        throw Error(
            fmt::format("the start value {} of '{}' is not finite", to_string(start_value), name),
            place.location());
    }
    variable_places_.push_back(place.location());
    const double scale = nominal > 0.0 && std::isfinite(nominal) ? nominal : 1.0;
    value.numbers.push_back(
        flat_.system.variable(name, {.start = is_found ? guess_of(start_value) : start_value,
                                     .fixed = is_fixed && !is_found,
                                     .nominal = scale,
                                     .unit = unit_text,
                                     .description = leaf.component->comment.text}));
    if (is_fixed && is_found) {
      Equation e("start of " + name, value.numbers.back() == start_value);
      e.where = place.location();
      flat_.initial_equations.emplace_back(std::move(e));
    }
    add_bounds(leaf, name, k, value.numbers.back(), scale, start ? &start_value : nullptr);
  }
  leaf.value = std::move(value);
}

void Flattener::declare_all(Instance& instance) {
  if (!is_active(instance) || instance.target != nullptr) return;
  if (instance.is_leaf()) {
    check_attributes(instance);
    const bool known = instance.variability == Variability::kParameter ||
                       instance.variability == Variability::kConstant;
    // Constants and parameters without use may lack a value; only used ones must have one.
    if (known && binding_layer(instance) == nullptr && !attribute(instance, "start")) return;
    if (*instance.type.info->basic == BasicType::kString && !known &&
        binding_layer(instance) == nullptr)
      return;
    value_of(instance);
    return;
  }
  for (const auto& e : instance.elements) declare_all(*e);
  if (instance.is_array()) return;
  for (const auto& c : instance.children) declare_all(*c);
}

Value Flattener::record_value(Instance& instance) {
  expand(instance);
  Value value;
  value.type = BasicType::kRecord;
  value.definition = instance.type.info->definition;
  Record record;
  for (const auto& c : instance.children)
    if (is_active(*c)) record.fields.emplace_back(c->component->name, instance_value(*c));
  value.records.push_back(std::move(record));
  return value;
}

Value Flattener::instance_value(Instance& given) {
  resolve(given);
  Instance& instance = given.target != nullptr ? *given.target : given;
  if (instance.is_leaf()) return value_of(instance);
  if (dimensions(instance).empty()) return record_value(instance);
  make_elements(instance);
  std::vector<Value> parts;
  for (const auto& e : instance.elements) parts.push_back(record_value(*e));
  if (parts.empty()) {
    Value none;
    none.type = BasicType::kRecord;
    none.definition = instance.type.info->definition;
    none.dimensions = *instance.dimensions;
    return none;
  }
  return stack(parts, *instance.dimensions, instance.component->place);
}

}  // namespace saltus
