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

// Where a name is looked up: in the locals, among the elements of `instance` that the class
// `lexical`, its own or one it inherits from, can see, then in what is around that class. Both are
// null at the top level.
struct Scope {
  Instance* instance = nullptr;
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

// A modification that reaches the elements of a base class.
struct BaseLayer {
  Layer layer;
  bool own = true;  // written in a class that the instance inherits from: its scope is the instance
};

// A class with everything it inherits, in the scope it is declared in.
struct ClassInfo {
  struct Base {  // a base class; the last one is the class itself
    const ClassDefinition* definition = nullptr;
    Scope around;                          // where it is declared
    std::size_t first = 0;                 // its own bases are the ones from here to itself
    std::vector<BaseLayer> modifications;  // on the way to it, the strongest first
  };
  struct Element {
    const Component* component = nullptr;
    std::size_t base = 0;
    std::vector<std::pair<const Component*, std::size_t>>
        replaced;               // by `redeclare`, the last first
    bool is_protected = false;  // by a protected `extends`
  };
  struct Member {  // a class; null: there is none
    const ClassDefinition* definition = nullptr;
    std::size_t base = 0;
  };

  const ClassDefinition* definition = nullptr;
  std::optional<BasicType> basic;                // extends Real, enumeration ...
  const ClassDefinition* enumeration = nullptr;  // the one with the literals
  std::vector<BaseLayer> basic_modifications;    // of the basic type
  Causality basic_causality = Causality::kNone;
  std::vector<std::pair<ExpressionPtr, Scope>> dimensions;  // of base classes like Real[3]
  std::vector<Base> bases;
  std::vector<Element> elements;
  std::unordered_map<std::string_view, std::size_t> element_index;
  std::unordered_map<std::string, Member> members;  // asked for so far
  bool complete = false;
  // While it is made: classes whose bases are being added, with their scopes.
  std::vector<std::pair<const ClassDefinition*, Scope>> open;
  // A base was found through the class itself, so each instance has bases of its own.
  bool own_bases = false;

  // Place of a class among the bases; the class itself if it is none of them.
  std::size_t base_of(const ClassDefinition* wanted) const;
};

// A type with short classes resolved.
struct TypeRef {
  const ClassDefinition* definition = nullptr;
  const ClassInfo* info = nullptr;
  Layers modifications;  // from outside and of short classes, the strongest first
  std::vector<std::pair<ExpressionPtr, Scope>> dimensions;
  Causality causality = Causality::kNone;
  bool connector = false;
  Scope scope;  // around the class
};

// A class as the element of an instance: redeclarations have been made, and what modifies it is
// known. Made once for each instance that is asked for it.
struct ClassElement {
  const ClassDefinition* definition = nullptr;
  Scope scope;         // where it is declared
  Layers environment;  // what modifies it from outside, the strongest first
  Layers constraint;   // weaker than its own modifications: of the class it replaces

  // The definitions it replaces, the last first, with their scopes: it must have what they promise.
  std::vector<std::pair<const ClassDefinition*, Scope>> replaced;

  std::optional<TypeRef> type;         // once asked for
  std::unique_ptr<Instance> instance;  // the class itself: its constants, classes and functions
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
  Instance* beyond = nullptr;  // of an `inner outer` component: the inner one further out
  Variability variability = Variability::kContinuous;
  Causality causality = Causality::kNone;
  Connection connection = Connection::kPotential;
  bool is_protected = false;

  std::optional<bool> active;  // its condition
  bool busy = false;           // being evaluated: to find cycles
  std::optional<Dimensions> dimensions;
  Dimensions measured;  // the first of them, while the others are still to be found

  std::vector<std::unique_ptr<Instance>> elements;  // of an array of class type
  bool expanded = false;
  std::vector<std::unique_ptr<Instance>> children;
  std::unordered_map<std::string_view, Instance*> child_index;

  // Leaves: variables of basic type.
  bool assigned_in_when = false;
  std::optional<Value> value;

  // Classes in it that were asked for; those found before its bases were known come second.
  std::unordered_map<std::string, std::unique_ptr<ClassElement>> classes;
  std::unordered_map<std::string, std::unique_ptr<ClassElement>> early_classes;
  std::unique_ptr<ClassInfo> own_info;  // if it cannot be shared

  const ClassDefinition& definition() const { return *type.info->definition; }
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
