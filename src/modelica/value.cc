#include "modelica/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/suggest.h"

namespace saltus {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <class T>
std::vector<T> part_of(const std::vector<T>& all, std::size_t first, std::size_t count) {
  if (all.empty()) return {};
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(count));
}

const Value* find_field(const std::vector<NamedValue>& fields, std::string_view name) {
  for (const auto& [field_name, value] : fields)
    if (field_name == name) return &value;
  return nullptr;
}

}  // namespace

const char* spelling(BasicType type) {
  switch (type) {
    case BasicType::kReal:
      return "Real";
    case BasicType::kInteger:
      return "Integer";
    case BasicType::kBoolean:
      return "Boolean";
    case BasicType::kString:
      return "String";
    case BasicType::kEnumeration:
      return "enumeration";
    case BasicType::kRecord:
      return "record";
    case BasicType::kObject:
      return "external object";
    case BasicType::kFunction:
      return "function";
    case BasicType::kClock:
      return "Clock";
  }
  return "";
}

Value* Record::find(std::string_view name) { return const_cast<Value*>(find_field(fields, name)); }
const Value* Record::find(std::string_view name) const { return find_field(fields, name); }
const Value* ExternalObject::find(std::string_view name) const {
  return find_field(arguments, name);
}

std::size_t element_count(const Dimensions& dimensions) {
  std::size_t count = 1;
  for (const std::size_t d : dimensions) count *= d;
  return count;
}

std::string to_text(const Dimensions& dimensions) {
  return dimensions.empty() ? "scalar" : fmt::format("[{}]", fmt::join(dimensions, ", "));
}

const Expr& Value::number() const {
  if (numbers.empty())
    throw Error(fmt::format("a number is needed, not {} {}", to_text(dimensions), spelling(type)));
  return numbers.front();
}

const std::string& Value::text() const {
  if (strings.empty())
    throw Error(fmt::format("a text is needed, not {} {}", to_text(dimensions), spelling(type)));
  return strings.front();
}

Value Value::real(const Expr& number) { return array(BasicType::kReal, {}, {number}); }
Value Value::integer(const Expr& number) { return array(BasicType::kInteger, {}, {number}); }
Value Value::boolean(const Expr& number) { return array(BasicType::kBoolean, {}, {number}); }

Value Value::string(std::string text) {
  Value value;
  value.type = BasicType::kString;
  value.strings.push_back(std::move(text));
  return value;
}

Value Value::array(BasicType type, Dimensions dimensions, std::vector<Expr> numbers) {
  Value value;
  value.type = type;
  value.dimensions = std::move(dimensions);
  value.numbers = std::move(numbers);
  return value;
}

Value element(const Value& array, std::size_t flat, std::size_t rank) {
  Value result;
  result.type = array.type;
  result.definition = array.definition;
  result.object = array.object;
  result.function = array.function;
  result.dimensions = Dimensions(array.dimensions.begin() + static_cast<std::ptrdiff_t>(rank),
                                 array.dimensions.end());
  const std::size_t size = result.count();
  result.numbers = part_of(array.numbers, flat * size, size);
  result.strings = part_of(array.strings, flat * size, size);
  result.records = part_of(array.records, flat * size, size);
  return result;
}

Value stack(const std::vector<Value>& parts, const Place& place) {
  return stack(parts, {parts.size()}, place);
}

Value stack(const std::vector<Value>& parts, const Dimensions& leading, const Place& place) {
  Value result;
  result.dimensions = leading;
  if (parts.empty()) return result;
  result.type = parts.front().type;
  result.definition = parts.front().definition;
  append(result.dimensions, parts.front().dimensions);
  for (const Value& part : parts) {
    if (part.dimensions != parts.front().dimensions)
      throw Error(fmt::format("elements of one array differ in shape: {} and {}",
                              to_text(parts.front().dimensions), to_text(part.dimensions)),
                  place.location());
    result.type = common_type(result, part, place);
    append(result.numbers, part.numbers);
    append(result.strings, part.strings);
    append(result.records, part.records);
  }
  return result;
}

Value field(const Value& record, const std::string& name, const Place& place) {
  if (record.type != BasicType::kRecord)
    throw Error(
        fmt::format("'.{}' of something that is no record but {}", name, spelling(record.type)),
        place.location());
  std::vector<Value> parts;
  for (const Record& r : record.records) {
    const Value* value = r.find(name);
    if (value == nullptr) {
      std::vector<std::string> names;
      for (const auto& entry : r.fields) names.push_back(entry.first);
      throw Error(fmt::format("the record has no '{}'{}", name, did_you_mean(name, names)),
                  place.location());
    }
    parts.push_back(*value);
  }
  if (record.is_scalar()) return parts.front();
  return stack(parts, record.dimensions, place);
}

Value reshaped(Value value, Dimensions dimensions) {
  value.dimensions = std::move(dimensions);
  return value;
}

BasicType common_type(const Value& a, const Value& b, const Place& place) {
  if (a.type == b.type) return a.type;
  if (is_numeric(a.type) && is_numeric(b.type)) return BasicType::kReal;
  throw Error(fmt::format("{} and {} do not go together", spelling(a.type), spelling(b.type)),
              place.location());
}

}  // namespace saltus
