#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "expr/expr.h"
#include "modelica/ast.h"

// What an expression of a model means: a scalar or an array of numbers, strings or records, with
// numbers as expressions of the graph. Arrays are stored by rows (last subscript fastest).

namespace saltus {

enum class BasicType {
  kReal,
  kInteger,
  kBoolean,
  kString,
  kEnumeration,
  kRecord,
  kObject,    // an ExternalObject
  kFunction,  // a function as argument
  kClock,     // its numbers are slots that stand for clocks
};

const char* spelling(BasicType type);
inline bool is_numeric(BasicType type) {
  return type == BasicType::kReal || type == BasicType::kInteger;
}
// Its elements are Expr.
inline bool is_number_like(BasicType type) {
  return is_numeric(type) || type == BasicType::kBoolean || type == BasicType::kEnumeration;
}

struct Instance;
struct NamedValue;
struct Value;
struct Scope;

struct Record {
  std::vector<NamedValue> fields;
  Value* find(std::string_view name);
  const Value* find(std::string_view name) const;
};

// What the constructor of an ExternalObject was called with.
struct ExternalObject {
  const ClassDefinition* definition = nullptr;
  std::vector<NamedValue> arguments;
  const Value* find(std::string_view name) const;
};

// A function with some inputs already given.
struct FunctionValue {
  Instance* function = nullptr;
  std::vector<NamedValue> bound;
};

using Dimensions = std::vector<std::size_t>;
std::size_t element_count(const Dimensions& dimensions);
std::string to_text(const Dimensions& dimensions);  // "[2, 3]", "scalar"

struct Value {
  BasicType type = BasicType::kReal;
  const ClassDefinition* definition = nullptr;  // of an enumeration or record
  Dimensions dimensions;                        // empty: scalar
  std::vector<Expr> numbers;
  std::vector<std::string> strings;
  std::vector<Record> records;
  std::shared_ptr<const ExternalObject> object;
  std::shared_ptr<const FunctionValue> function;

  static Value real(const Expr& number);
  static Value integer(const Expr& number);
  static Value boolean(const Expr& number);
  static Value string(std::string text);
  static Value array(BasicType type, Dimensions dimensions, std::vector<Expr> numbers);

  bool is_scalar() const { return dimensions.empty(); }
  std::size_t count() const { return element_count(dimensions); }
  // Of a scalar. Throw Error, without a place, where there is none: check the type before.
  const Expr& number() const;
  const std::string& text() const;
};

struct NamedValue {
  NamedValue() = default;
  NamedValue(std::string name, Value value) : first(std::move(name)), second(std::move(value)) {}
  std::string first;
  Value second;
};

// Element `flat` of the first `rank` subscripts: v[i, j] with the other subscripts left.
Value element(const Value& array, std::size_t flat, std::size_t rank);
// {a, b, c}: one more dimension. Throws Error if shapes differ. Pre: not empty.
Value stack(const std::vector<Value>& parts, const Place& place);
// The same with several leading dimensions.
Value stack(const std::vector<Value>& parts, const Dimensions& leading, const Place& place);
// One field of a record or of every record of an array; throws Error if there is none.
Value field(const Value& record, const std::string& name, const Place& place);
// A value with the elements in another shape.
Value reshaped(Value value, Dimensions dimensions);

// The smaller type that holds both, Integer and Real giving Real; throws Error if there is none.
BasicType common_type(const Value& a, const Value& b, const Place& place);

}  // namespace saltus
