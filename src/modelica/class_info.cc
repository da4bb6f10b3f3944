// Classes in their context: what they inherit, and what modifies them.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "modelica/class_rules.h"
#include "modelica/instance_rules.h"
#include "modelica/instance_tree.h"
#include "modelica/parser.h"

namespace saltus {
namespace {

constexpr int kMaxInheritance = 100;

// What the constraining type of a replaced class or component gives to the one that replaces it:
// the modifications of `constrainedby` or, without that, those of the declaration.
template <class Declaration>
const Modification* constraint_of(const Declaration& replaced) {
  return replaced.constraint ? replaced.constraint->modification.get()
                             : replaced.modification.get();
}

bool redeclares_class(const Layer& layer) {
  return layer.argument != nullptr && layer.argument->kind == Argument::Kind::kRedeclareClass &&
         layer.argument->definition != nullptr && layer.value == nullptr;
}

}  // namespace

std::size_t ClassInfo::base_of(const ClassDefinition* wanted) const {
  for (std::size_t b = 0; b < bases.size(); ++b)
    if (bases[b].definition == wanted) return b;
  return bases.empty() ? 0 : bases.size() - 1;
}

InstanceTree::InstanceTree(std::shared_ptr<Library> library) : library_(std::move(library)) {
  const ParseResult parsed = parse_modelica(
      "type Real end Real; type Integer end Integer; type Boolean end Boolean;"
      "type String end String; type Clock end Clock; class ExternalObject end ExternalObject;"
      "type StateSelect = enumeration(never, avoid, default, prefer, always);"
      "type AssertionLevel = enumeration(warning, error);",
      "predefined types");
  if (!parsed.ok()) throw to_error(parsed.errors);
  builtin_classes_ = parsed.definition->classes;
  for (const auto& c : builtin_classes_) builtins_[c->name] = c.get();
}

const ClassDefinition* InstanceTree::builtin(std::string_view name) const {
  const auto it = builtins_.find(name);
  return it == builtins_.end() ? nullptr : it->second;
}

ClassElement& InstanceTree::element_of(const ClassDefinition& definition) {
  if (definition.enclosing == nullptr) {
    const Found found = lookup_top(definition.name);
    if (found.cls != nullptr && found.cls->definition == &definition) return *found.cls;
  } else {
    Instance& around = class_instance(element_of(*definition.enclosing));
    ClassElement* found = class_element(around, definition.name);
    if (found != nullptr && found->definition == &definition) return *found;
    others_.push_back(std::make_unique<ClassElement>());
    others_.back()->scope = {&around, definition.enclosing, nullptr};
    others_.back()->definition = &definition;
    return *others_.back();
  }
  others_.push_back(std::make_unique<ClassElement>());
  others_.back()->definition = &definition;
  return *others_.back();
}

const ClassInfo::Member& InstanceTree::member(const ClassInfo& info, const std::string& name) {
  ClassInfo& cached = const_cast<ClassInfo&>(info);
  const auto it = cached.members.find(name);
  if (it != cached.members.end()) return it->second;
  ClassInfo::Member found;
  // The class itself comes last, and what it declares hides what it inherits.
  for (std::size_t b = info.bases.size(); b-- > 0 && found.definition == nullptr;) {
    found.definition = library_->child(info.bases[b].definition, name);
    found.base = b;
  }
  return cached.members[name] = found;
}

ClassElement* InstanceTree::class_element(Instance& instance, const std::string& name) {
  const auto cached = instance.classes.find(name);
  if (cached != instance.classes.end()) return cached->second.get();
  const ClassInfo& info = *instance.type.info;
  if (!info.complete) return early_class({&instance, info.definition, nullptr}, name);
  const ClassInfo::Member& found = member(info, name);
  if (found.definition == nullptr) return nullptr;
  if (found.definition->outer)
    if (ClassElement* inner = inner_class(instance, name)) return inner;
  return (instance.classes[name] = make_element(instance, found, name)).get();
}

// The class that an outer one stands for; null: none is declared around the instance.
ClassElement* InstanceTree::inner_class(const Instance& instance, const std::string& name) {
  const auto around = [](const Instance& i) {
    return i.parent != nullptr ? i.parent : i.type.scope.instance;
  };
  for (Instance* at = around(instance); at != nullptr; at = around(*at)) {
    if (at->type.info == nullptr || at->type.info->basic || !at->type.info->complete) continue;
    const ClassDefinition* found = member(*at->type.info, name).definition;
    if (found != nullptr && found->inner) return class_element(*at, name);
  }
  return nullptr;
}

// While the bases of an instance are not known yet, only classes that are written in the class at
// hand can be asked for.
ClassElement* InstanceTree::early_class(const Scope& scope, const std::string& name) {
  Instance& instance = *scope.instance;
  const ClassInfo& info = *instance.type.info;
  const ClassDefinition* definition = library_->child(scope.lexical, name);
  if (definition == nullptr) return nullptr;
  const_cast<ClassInfo&>(info).own_bases = true;
  // What the class itself declares stays; what a base declares may be redeclared later.
  const bool is_final = scope.lexical == info.definition && !definition->redeclare;
  auto& known = is_final ? instance.classes : instance.early_classes;
  std::unique_ptr<ClassElement>& made = known[name];
  if (made != nullptr && made->definition == definition) return made.get();
  if (made != nullptr) others_.push_back(std::move(made));
  made = std::make_unique<ClassElement>();
  made->definition = definition;
  made->scope = {&instance, scope.lexical, nullptr};
  for (const Layer& layer : instance.layers) append_child_layers(layer, name, made->environment);
  return made.get();
}

std::unique_ptr<ClassElement> InstanceTree::make_element(Instance& instance,
                                                         const ClassInfo::Member& found,
                                                         const std::string& name) {
  const ClassInfo& info = *instance.type.info;
  auto made = std::make_unique<ClassElement>();
  made->definition = found.definition;
  made->scope = {&instance, info.bases[found.base].definition, nullptr};
  Layers layers = layers_for(instance, info, found.base, name);
  const auto redeclared = std::find_if(layers.begin(), layers.end(), redeclares_class);
  made->environment.assign(layers.begin(), redeclared);
  const auto add_replaced = [&](const ClassDefinition& definition, const Scope& scope) {
    made->replaced.emplace_back(&definition, scope);
    const bool has_modifiers =
        definition.constraint || definition.form == ClassDefinition::Form::kShort;
    if (has_modifiers) append_layers(constraint_of(definition), scope, made->constraint);
  };
  if (redeclared != layers.end()) {
    const Argument& argument = *redeclared->argument;
    if (!found.definition->replaceable || found.definition->final)
      throw Error(fmt::format("'{}' cannot be redeclared: it is {}", name,
                              found.definition->final ? "final" : "not replaceable"),
                  argument.place.location());
    made->definition = argument.definition.get();
    made->scope = redeclared->scope;
    for (auto layer = redeclared + 1; layer != layers.end(); ++layer) {
      if (redeclares_class(*layer)) {
        add_replaced(*layer->argument->definition, layer->scope);
      } else {
        made->constraint.push_back(*layer);
      }
    }
    add_replaced(*found.definition, {&instance, info.bases[found.base].definition, nullptr});
  }
  // What it replaces further down the bases.
  if (found.definition->redeclare || redeclared != layers.end())
    for (std::size_t b = found.base; b-- > 0;)
      if (const ClassDefinition* replaced = library_->child(info.bases[b].definition, name)) {
        for (const BaseLayer& m : info.bases[b].modifications) {
          Layer layer = m.layer;
          if (m.own) layer.scope.instance = &instance;
          append_child_layers(layer, name, made->constraint);
        }
        if (replaced->replaceable || replaced->redeclare)
          add_replaced(*replaced, {&instance, info.bases[b].definition, nullptr});
      }
  return made;
}

// `model extends A` in a class: the A that this class inherits.
ClassElement& InstanceTree::inherited_class(const ClassDefinition& definition, const Scope& scope) {
  if (scope.instance != nullptr) {
    Instance& instance = *scope.instance;
    const ClassInfo& info = *instance.type.info;
    const std::size_t limit = info.base_of(scope.lexical);
    for (std::size_t b = std::min(limit, info.bases.size()); b-- > 0;) {
      const ClassDefinition* found = library_->child(info.bases[b].definition, definition.name);
      if (found == nullptr) continue;
      auto made = std::make_unique<ClassElement>();
      made->definition = found;
      made->scope = {&instance, info.bases[b].definition, nullptr};
      // The modifications on the way from here to there; those from outside reach the whole class.
      const std::size_t outside =
          limit < info.bases.size() ? info.bases[limit].modifications.size() : 0;
      const std::vector<BaseLayer>& all = info.bases[b].modifications;
      for (std::size_t k = outside; k < all.size(); ++k) {
        Layer layer = all[k].layer;
        if (all[k].own) layer.scope.instance = &instance;
        Layers reached;
        append_child_layers(layer, definition.name, reached);
        const auto redeclared = std::find_if(reached.begin(), reached.end(), redeclares_class);
        made->environment.insert(made->environment.end(), reached.begin(), redeclared);
        if (redeclared == reached.end()) continue;
        made->definition = redeclared->argument->definition.get();
        made->scope = redeclared->scope;
        break;
      }
      others_.push_back(std::move(made));
      return *others_.back();
    }
  }
  throw Error(fmt::format("there is no inherited class '{}' to extend", definition.name),
              definition.place.location());
}

// Everything about a type but what it inherits.
const TypeRef& InstanceTree::stripped(ClassElement& cls) {
  if (cls.type) return *cls.type;
  TypeRef result;
  ClassElement* at = &cls;
  for (int depth = 0;; ++depth) {
    const ClassDefinition& definition = *at->definition;
    if (definition.kind == ClassKind::kConnector ||
        definition.kind == ClassKind::kExpandableConnector)
      result.connector = true;
    Layers& layers = result.modifications;
    layers.insert(layers.end(), at->environment.begin(), at->environment.end());
    const bool is_short = definition.form == ClassDefinition::Form::kShort;
    if (is_short) append_layers(definition.modification.get(), at->scope, layers);
    layers.insert(layers.end(), at->constraint.begin(), at->constraint.end());
    if (!is_short) break;
    if (depth > 100)
      throw Error(fmt::format("'{}' is defined by itself", definition.name),
                  definition.place.location());
    for (const ExpressionPtr& dimension : definition.dimensions)
      result.dimensions.emplace_back(dimension, at->scope);
    if (result.causality == Causality::kNone) result.causality = definition.base_causality;
    at = &lookup_class(definition.base, at->scope);
  }
  result.definition = at->definition;
  result.scope = at->scope;
  cls.type = std::move(result);
  return *cls.type;
}

const TypeRef& InstanceTree::type_of(ClassElement& cls) {
  stripped(cls);
  if (cls.instance != nullptr) return *cls.type;
  TypeRef& type = *cls.type;
  cls.instance = std::make_unique<Instance>();
  Instance& instance = *cls.instance;
  instance.name = cls.definition->name;
  instance.path = cls.definition->enclosing != nullptr || cls.scope.instance == nullptr
                      ? cls.definition->qualified_name()
                      : cls.definition->name;
  instance.layers = type.modifications;
  instance.resolved = true;
  instance.active = true;
  instance.dimensions = Dimensions{};
  try {
    type.info = &info_of(type, instance);
  } catch (...) {
    discarded_.push_back(std::move(cls.instance));  // something may point to it
    throw;
  }
  for (const BaseLayer& m : type.info->basic_modifications) {
    type.modifications.push_back(m.layer);
    if (m.own) type.modifications.back().scope.instance = &instance;
  }
  for (const auto& d : type.info->dimensions) type.dimensions.push_back(d);
  if (type.causality == Causality::kNone) type.causality = type.info->basic_causality;
  instance.type = type;
  check_promises(cls);
  return type;
}

// A class has what its constraining class, and those of the classes it replaces, promise.
void InstanceTree::check_promises(ClassElement& cls) {
  if (cls.replaced.empty() && !cls.definition->constraint) return;
  const auto promise_of = [&](const ClassDefinition& definition,
                              const Scope& scope) -> const TypeRef* {
    try {
      if (definition.constraint) return &type_of(lookup_class(definition.constraint->type, scope));
      if (definition.form == ClassDefinition::Form::kShort)
        return &type_of(lookup_class(definition.base, scope));
      if (definition.form != ClassDefinition::Form::kLong) return nullptr;
      others_.push_back(std::make_unique<ClassElement>());
      ClassElement& made = *others_.back();
      made.definition = &definition;
      made.scope = scope;
      return &type_of(made);
    } catch (const Error&) {
      return nullptr;  // what is wrong with it is told where it is used
    }
  };
  const Place& place = cls.definition->place;
  const auto check = [&](const TypeRef& given, const TypeRef& promised) {
    if (const std::string why = misfit(given, promised); !why.empty())
      throw Error(fmt::format("'{}' does not fit '{}', which it must be a subtype of: {}",
                              given.definition->name, promised.definition->name, why),
                  place.location());
  };
  const TypeRef* last = &*cls.type;
  if (cls.definition->constraint)
    if (const TypeRef* own = promise_of(*cls.definition, cls.scope)) {
      // What a short class adds to the dimensions of its base is not promised.
      const std::size_t given = last->dimensions.size() - cls.definition->dimensions.size();
      if (given != own->dimensions.size())
        throw Error(fmt::format("the base of '{}' has {} dimensions, its constraining type {}",
                                cls.definition->name, given, own->dimensions.size()),
                    place.location());
      check(*last, *own);
      last = own;
    }
  for (const auto& [definition, scope] : cls.replaced)
    if (const TypeRef* promised = promise_of(*definition, scope)) {
      check(*last, *promised);
      last = promised;
    }
}

Instance& InstanceTree::class_instance(ClassElement& cls) {
  type_of(cls);
  return *cls.instance;
}

void InstanceTree::set_type(Instance& instance, const TypeRef& type) {
  instance.type = type;
  if (type.info->own_bases && !type.info->basic) instance.type.info = &info_of(type, instance);
}

const ClassInfo& InstanceTree::info_of(const TypeRef& type, Instance& holder) {
  const InfoKey key{type.definition, type.scope.instance, type.scope.lexical};
  const auto known = infos_.find(key);
  if (known != infos_.end()) {
    holder.type.info = known->second.get();
    return *known->second;
  }
  auto made = std::make_unique<ClassInfo>();
  ClassInfo& info = *made;
  info.definition = type.definition;
  holder.own_info = std::move(made);
  holder.type.info = &info;
  holder.type.scope = type.scope;
  add_bases(info, holder, *type.definition, type.scope, {}, 0);
  info.complete = true;
  if (!info.own_bases) infos_[key] = std::move(holder.own_info);
  return info;
}

void InstanceTree::check_rules(const ClassDefinition& definition) {
  if (checked_.contains(&definition)) return;
  check_class_rules(definition);
  checked_.insert(&definition);
}

// A class that has the name of an inherited one replaces it, if it may.
void InstanceTree::check_class_element(const ClassInfo& target, std::size_t first,
                                       const ClassDefinition& own) {
  const bool extends = own.form == ClassDefinition::Form::kExtends;
  for (std::size_t b = target.bases.size(); b-- > first;) {
    const ClassDefinition* inherited = library_->child(target.bases[b].definition, own.name);
    if (inherited == nullptr || inherited == &own) continue;
    const auto cannot = [&](const std::string& why) {
      throw Error(fmt::format("class '{}' cannot be redeclared: {}", own.name, why),
                  own.place.location());
    };
    if (!own.redeclare && !extends && say_the_same(*inherited, own)) return;
    if (!own.redeclare && !extends)
      throw Error(fmt::format("class '{}' is declared twice: here and, inherited, in line {}; "
                              "'redeclare' replaces a class",
                              own.name, inherited->place.line),
                  own.place.location());
    if (inherited->final) cannot("it is final");
    if (!inherited->replaceable) cannot("it is not replaceable");
    if (inherited->visibility != own.visibility)
      cannot(inherited->visibility == Visibility::kPublic ? "it is public" : "it is protected");
    return;
  }
}

void InstanceTree::add_bases(ClassInfo& target, Instance& holder, const ClassDefinition& definition,
                             const Scope& around, const std::vector<BaseLayer>& on_the_way,
                             int depth) {
  if (depth > kMaxInheritance)
    throw Error(fmt::format("'{}' inherits from itself, or over too many classes",
                            definition.qualified_name()),
                definition.place.location());
  using Form = ClassDefinition::Form;
  if (definition.form == Form::kEnumeration) {
    check_rules(definition);
    target.basic = BasicType::kEnumeration;
    target.enumeration = &definition;
    target.basic_modifications = on_the_way;
    return;
  }
  if (builtin(definition.name) == &definition) {
    const std::string& name = definition.name;
    target.basic = name == "Real"      ? BasicType::kReal
                   : name == "Integer" ? BasicType::kInteger
                   : name == "Boolean" ? BasicType::kBoolean
                   : name == "String"  ? BasicType::kString
                   : name == "Clock"   ? BasicType::kClock
                                       : BasicType::kObject;
    target.basic_modifications = on_the_way;
    return;
  }
  check_rules(definition);
  const std::size_t first = target.bases.size();
  target.open.emplace_back(&definition, around);
  if (definition.form == Form::kDerivative)
    add_base(target, holder, lookup_class(definition.base, around), nullptr, definition, on_the_way,
             definition.place, depth);
  if (definition.form == Form::kExtends)
    add_base(target, holder, inherited_class(definition, around), definition.modification.get(),
             definition, on_the_way, definition.place, depth);
  for (const Extends& extends : definition.extends) {
    ClassElement& base = lookup_class(extends.base, {&holder, &definition, nullptr});
    if (base.definition->replaceable && extends.base.parts.size() == 1)
      throw Error(fmt::format("'{}' is replaceable and cannot be extended", base.definition->name),
                  extends.place.location());
    const std::size_t before = target.elements.size();
    add_base(target, holder, base, extends.modification.get(), definition, on_the_way,
             extends.place, depth);
    if (extends.visibility == Visibility::kProtected)
      for (std::size_t k = before; k < target.elements.size(); ++k)
        target.elements[k].is_protected = true;
  }
  for (const auto& own : definition.classes) check_class_element(target, first, *own);
  target.open.pop_back();
  if (target.basic && target.bases.size() > first)
    throw Error(fmt::format("'{}' extends a predefined type beside another class", definition.name),
                definition.place.location());
  if ((target.basic || !target.dimensions.empty()) && !definition.components.empty())
    throw Error(fmt::format("'{}' extends {} and cannot have components", definition.name,
                            target.basic ? "a predefined type" : "an array"),
                definition.components.front().place.location());
  target.bases.push_back({&definition, around, first, on_the_way});
  for (const Component& component : definition.components) {
    const auto [it, is_new] =
        target.element_index.try_emplace(component.name, target.elements.size());
    ClassInfo::Element element{&component, target.bases.size() - 1, {}, false};
    if (is_new) {
      target.elements.push_back(element);
      continue;
    }
    ClassInfo::Element& before = target.elements[it->second];
    if (component.redeclare) {
      const auto cannot = [&](const char* why) {
        throw Error(fmt::format("'{}' cannot be redeclared: it is {}", component.name, why),
                    component.place.location());
      };
      if (before.component->final) cannot("final");
      if (!before.component->replaceable && before.component != &component)
        cannot("not replaceable");
      if (before.component->variability == Variability::kConstant) cannot("constant");
      if (before.component->visibility != component.visibility)
        throw Error(
            fmt::format(
                "'{}' is {} and cannot be redeclared as {}", component.name,
                before.component->visibility == Visibility::kPublic ? "public" : "protected",
                component.visibility == Visibility::kPublic ? "public" : "protected"),
            component.place.location());
      element.replaced = std::move(before.replaced);
      element.replaced.insert(element.replaced.begin(), {before.component, before.base});
      before = std::move(element);
    } else {
      check_same_component(*before.component, component);
    }
  }
}

void InstanceTree::add_base(ClassInfo& target, Instance& holder, ClassElement& base,
                            const Modification* modification, const ClassDefinition& lexical,
                            const std::vector<BaseLayer>& on_the_way, const Place& place,
                            int depth) {
  const TypeRef type = stripped(base);
  if (type.definition == target.definition)
    throw Error(fmt::format("'{}' extends itself", target.definition->name), place.location());
  if (!may_extend(lexical.kind, base.definition->kind) ||
      !may_extend(lexical.kind, type.definition->kind))
    throw Error(fmt::format("a {} cannot extend a {}, here '{}'", spelling(lexical.kind),
                            spelling(base.definition->kind), base.definition->name),
                place.location());
  const auto no_extends = [&](const ClassDefinition& record) {
    throw Error(fmt::format("'{}' cannot be extended: the operators of operator record '{}' would "
                            "be those of two types",
                            base.definition->name, record.name),
                place.location());
  };
  if (lexical.form == ClassDefinition::Form::kLong) {
    if (type.definition->kind == ClassKind::kOperatorRecord) no_extends(*type.definition);
    for (const auto& inside : type.definition->classes)
      if (inside->kind == ClassKind::kOperatorRecord) no_extends(*inside);
  }
  std::vector<BaseLayer> modifications = on_the_way;
  if (modification != nullptr) {
    Layers own;
    append_layers(modification, {nullptr, &lexical, nullptr}, own);
    for (Layer& layer : own) modifications.push_back({std::move(layer), true});
  }
  for (const Layer& layer : type.modifications) modifications.push_back({layer, false});
  if (type.causality != Causality::kNone &&
      (!lexical.components.empty() || lexical.extends.size() > 1))
    throw Error(
        fmt::format("'{}' is an input or output by its declaration; a class that extends it "
                    "holds nothing else",
                    base.definition->name),
        place.location());
  for (const auto& d : type.dimensions) target.dimensions.push_back(d);
  if (target.basic_causality == Causality::kNone) target.basic_causality = type.causality;
  add_bases(target, holder, *type.definition, type.scope, modifications, depth + 1);
}

}  // namespace saltus
