#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "modelica/ast.h"
#include "modelica/value.h"

// The instance tree: what the components of a model become once classes, inheritance and
// modifications are resolved. Nodes are made when something first asks for them.

namespace saltus {

struct Instance;
struct ClassInfo;

// Names that live in an expression or algorithm only: iterators and the variables of a function.
struct Locals {
  const Locals* outer = nullptr;
  std::vector<NamedValue> values;
  std::size_t shadows = 0;  // the first so many hide components of the model (its algorithms)

  // Looks outward; pre(x) in an algorithm asks for the component, past what hides it.
  const Value* find(std::string_view name, bool past_shadows = false) const;
};

// Where a name is looked up: in the locals, among the components of `instance` that class `lexical`
// can see, in `lexical` and the classes around it.
struct Scope {
  Instance* instance = nullptr;  // null: only classes and constants
  const ClassDefinition* lexical = nullptr;
  const Locals* locals = nullptr;
};

// One step from the value of a modification to the part meant for one element.
struct Access {
  std::string field;  // empty: subscript
  std::size_t index = 0;
};

// One modification that reaches an element: either arguments for its parts or a value for itself.
struct Layer {
  const Modification* arguments = nullptr;
  const Argument* argument = nullptr;  // the one that names the element; null: the declaration
  std::size_t part = 0;                // place in a dotted name that is not yet used up
  const Expression* value = nullptr;
  Scope scope;
  std::vector<Access> access;        // to be applied to values
  std::vector<std::size_t> pending;  // subscripts that hold unless the argument says `each`
};
using Layers = std::vector<Layer>;  // the strongest first

struct ClassRef {
  const ClassDefinition* definition = nullptr;
  Scope scope;  // where it is declared
  explicit operator bool() const { return definition != nullptr; }
};

// A modification of an extends clause or short class, and the class it is written in.
struct ExtendsModification {
  const Modification* modification = nullptr;
  const ClassDefinition* lexical = nullptr;
};

// A class with everything it inherits; made once a class.
struct ClassInfo {
  struct Base {  // a base class; the last one is the class itself
    const ClassDefinition* definition = nullptr;
    std::vector<ExtendsModification> modifications;  // on the way to it, the strongest first
  };
  struct Element {
    const Component* component = nullptr;
    std::size_t base = 0;
  };
  struct Member {
    const ClassDefinition* definition = nullptr;
    std::size_t base = 0;
  };

  const ClassDefinition* definition = nullptr;
  std::optional<BasicType> basic;                        // extends Real, enumeration ...
  const ClassDefinition* enumeration = nullptr;          // the one with the literals
  std::vector<ExtendsModification> basic_modifications;  // of the basic type
  Causality basic_causality = Causality::kNone;
  std::vector<Base> bases;
  std::vector<Element> elements;
  std::unordered_map<std::string_view, std::size_t> element_index;
  std::unordered_map<std::string, Member> members;         // classes asked for, null if none
  std::unordered_map<std::string, ClassRef> import_cache;  // of names found by import
  bool complete = false;
};

// A type with short classes resolved.
struct TypeRef {
  const ClassInfo* info = nullptr;
  Layers modifications;  // of short classes, the strongest first
  std::vector<std::pair<ExpressionPtr, Scope>> dimensions;
  Causality causality = Causality::kNone;
  bool connector = false;
  Scope scope;  // around the class
};

struct Instance {
  Instance* parent = nullptr;
  std::string name;  // "x", "x[2]" for an element of an array
  std::string path;  // "a.x[2]"; empty for the model itself
  const Component* component = nullptr;
  const ClassDefinition* owner = nullptr;  // class that declares it
  Layers layers;
  Scope type_scope;  // where the name of the type is looked up
  Name type_name;
  const Component* replacement = nullptr;  // of a redeclaration

  // Known once resolved.
  bool resolved = false;
  TypeRef type;
  Instance* target = nullptr;  // of an `outer` component: the inner one
  Variability variability = Variability::kContinuous;
  Causality causality = Causality::kNone;
  Connection connection = Connection::kPotential;
  bool is_protected = false;

  std::optional<bool> active;  // its condition
  bool busy = false;           // being evaluated: to find cycles
  std::optional<Dimensions> dimensions;

  std::vector<std::unique_ptr<Instance>> elements;  // of an array of class type
  bool expanded = false;
  std::vector<std::unique_ptr<Instance>> children;
  std::unordered_map<std::string_view, Instance*> child_index;

  // Leaves: variables of basic type.
  bool assigned_in_when = false;
  std::optional<Value> value;

  bool is_leaf() const { return type.info->basic.has_value(); }
  bool is_array() const { return dimensions && !dimensions->empty(); }
};

// The part of a layer's modification that names an element, appended to `out`.
void append_child_layers(const Layer& layer, std::string_view name, Layers& out);
// The arguments and value of a modification as layers.
void append_layers(const Modification* modification, const Scope& scope, Layers& out);
// The layers of one element of an array of components.
Layers element_layers(const Layers& layers, const std::vector<std::size_t>& index);

// "[2,3]" of element `flat` of an array.
std::string subscript_text(const Dimensions& dimensions, std::size_t flat);
std::vector<std::size_t> subscripts_of(const Dimensions& dimensions, std::size_t flat);  // from 0

}  // namespace saltus
