#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "modelica/expression.h"
#include "modelica/place.h"
#include "modelica/statement.h"

// The syntax tree of Modelica 3.5: classes, components and modifications. It says what is written
// and resolves no name. A class knows the class it is written in (`enclosing`), which is what
// lookup needs; the Library owns the trees and adds to a package the classes stored in other files.

namespace saltus {

struct ClassDefinition;
struct Component;
using ClassPtr = std::shared_ptr<const ClassDefinition>;

// One item of a modification or annotation.
struct Argument {
  enum class Kind {
    kModification,       // name(...) = value
    kRedeclareClass,     // redeclare/replaceable class definition: `definition`
    kRedeclareComponent  // redeclare/replaceable component: `component`
  };

  Kind kind = Kind::kModification;
  bool each = false;
  bool final = false;
  bool redeclare = false;
  bool replaceable = false;
  Name name;                                   // what is modified; dotted names are allowed
  ModificationPtr modification;                // null: the name alone
  ClassPtr definition;                         // kRedeclareClass
  std::shared_ptr<const Component> component;  // kRedeclareComponent
  std::string description;
  Place place;
};

// (a = 1, b(c = 2)) = value: arguments, value or both. Annotations are Modifications without value.
struct Modification {
  std::vector<Argument> arguments;
  ExpressionPtr value;  // null: none
  Place place;

  const Argument* find(std::string_view name) const;  // by undotted name; null: none
};

// constrainedby type(modification)
struct ConstrainingClause {
  Name type;
  ModificationPtr modification;  // null: none
  Comment comment;
};

enum class Variability { kContinuous, kDiscrete, kParameter, kConstant };  // as written
enum class Causality { kNone, kInput, kOutput };
enum class Connection { kPotential, kFlow, kStream };
enum class Visibility { kPublic, kProtected };

// One declared component. A clause `Real x, y;` makes two.
struct Component {
  std::string name;
  Place place;  // of the name
  Name type;
  // x[3] of type Real[2]: {3, 2}, the component's own subscripts before those of the type.
  // `:` is WholeDimension.
  std::vector<ExpressionPtr> dimensions;
  ModificationPtr modification;  // null: none
  ExpressionPtr condition;       // null: unconditional
  std::optional<ConstrainingClause> constraint;
  Comment comment;

  Visibility visibility = Visibility::kPublic;
  Variability variability = Variability::kContinuous;
  Causality causality = Causality::kNone;
  Connection connection = Connection::kPotential;
  bool final = false;
  bool inner = false;
  bool outer = false;
  bool replaceable = false;
  bool redeclare = false;

  int order = 0;  // among components, extends clauses and classes of the class, as written
};

struct Extends {
  Name base;
  ModificationPtr modification;  // null: none
  ModificationPtr annotation;    // null: none
  Visibility visibility = Visibility::kPublic;
  Place place;
  int order = 0;
};

struct Import {
  enum class Kind {
    kQualified,   // import A.B.C;  alias is C
    kRenaming,    // import D = A.B.C;  alias is D
    kUnqualified  // import A.B.*;
  };

  Kind kind = Kind::kQualified;
  std::string alias;  // the name it introduces; `import A.{b, c}` makes two imports
  Name name;          // without the `.*`
  Place place;
};

struct EnumerationLiteral {
  std::string name;
  Comment comment;
  Place place;
};

// external "C" result = name(arguments) annotation(...);  An empty name means the name of the
// function, with its inputs and output as arguments.
struct ExternalFunction {
  std::string language = "C";
  std::optional<ComponentReference> result;
  std::string name;
  std::vector<ExpressionPtr> arguments;
  ModificationPtr annotation;
  Place place;
};

enum class ClassKind {
  kClass,
  kModel,
  kRecord,
  kOperatorRecord,
  kBlock,
  kConnector,
  kExpandableConnector,
  kType,
  kPackage,
  kFunction,
  kOperatorFunction,
  kOperator,
};

const char* spelling(ClassKind kind);  // "model", "expandable connector"

struct ClassDefinition {
  enum class Form {
    kLong,         // model A ... end A;
    kExtends,      // model extends A(...) ... end A;  class_modification in `modification`
    kShort,        // type A = input B[3](...);
    kEnumeration,  // type A = enumeration(a, b);
    kDerivative,   // function A = der(f, x);
  };

  std::string name;
  Place place;  // of the name
  ClassKind kind = ClassKind::kClass;
  Form form = Form::kLong;
  Comment comment;  // its annotation is the one of the class, wherever it stands

  Visibility visibility = Visibility::kPublic;
  bool encapsulated = false;
  bool partial = false;
  bool pure = false;
  bool impure = false;
  bool final = false;
  bool inner = false;
  bool outer = false;
  bool replaceable = false;
  bool redeclare = false;
  std::optional<ConstrainingClause> constraint;

  // kShort and kDerivative: the type on the right
  Name base;
  Causality base_causality = Causality::kNone;
  std::vector<ExpressionPtr> dimensions;
  ModificationPtr modification;                 // also kExtends
  std::vector<std::string> differentiated;      // kDerivative
  std::vector<EnumerationLiteral> enumeration;  // kEnumeration
  bool open_enumeration = false;                // enumeration(:)

  // kLong and kExtends
  std::vector<Import> imports;
  std::vector<Extends> extends;
  std::vector<Component> components;
  std::vector<std::shared_ptr<ClassDefinition>> classes;
  std::vector<EquationClause> equations;
  std::vector<EquationClause> initial_equations;
  std::vector<std::vector<Statement>> algorithms;  // one for each section
  std::vector<std::vector<Statement>> initial_algorithms;
  std::optional<ExternalFunction> external;

  const ClassDefinition* enclosing = nullptr;  // null: top level
  int order = 0;

  // Own elements only, not inherited ones; null: none. Classes of a package that are stored in
  // other files come from Library::child.
  const Component* find_component(std::string_view wanted) const;
  const ClassDefinition* find_class(std::string_view wanted) const;

  const ModificationPtr& annotation() const { return comment.annotation; }
  std::string qualified_name() const;  // "A.B.C"

  // Made by the parser once the class is complete.
  void index_members();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Index = std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>>;
  Index component_index_;
  Index class_index_;
};

// One file.
struct StoredDefinition {
  std::optional<Name> within;  // present but empty for `within ;`
  std::vector<std::shared_ptr<ClassDefinition>> classes;
};

}  // namespace saltus
