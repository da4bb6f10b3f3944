// Strings that change: discrete variables whose numbers stand for texts.
//
// Every text that such a variable can have is known when the model is translated, so it has a
// number (from 1, as literals of an enumeration have). In a Value such a text is a placeholder that
// is filled in when it is said; its number is found again by what the placeholder stands for.

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/placeholder.h"
#include "modelica/flattener.h"
#include "modelica/statements.h"

namespace saltus {

// The number of a text that never changes.
std::size_t Flattener::text_number(const std::string& text) {
  if (changing_texts_ == nullptr) changing_texts_ = std::make_shared<std::vector<std::string>>();
  const auto [entry, is_new] = text_numbers_.try_emplace(text, changing_texts_->size() + 1);
  if (is_new) changing_texts_->push_back(text);
  return entry->second;
}

// The text that a number stands for.
std::string Flattener::changing_text(const Expr& number) {
  if (number.is_number())
    return changing_texts_->at(static_cast<std::size_t>(std::lround(number.number())) - 1);
  const auto [known, is_new] =
      changing_text_slots_.try_emplace(number.node(), flat_.text_values.size());
  if (is_new)
    flat_.text_values.push_back({number, [texts = changing_texts_](double value) {
                                   const long at = std::lround(value) - 1;
                                   return at >= 0 && at < static_cast<long>(texts->size())
                                              ? (*texts)[static_cast<std::size_t>(at)]
                                              : std::string();
                                 }});
  return placeholder(fmt::format("{}", known->second));
}

// What the placeholder that a text consists of stands for; none: it is no placeholder alone.
std::optional<std::size_t> Flattener::text_slot(const std::string& text) const {
  std::string inside;
  fill_placeholders(text, [&](const std::string& name) {
    inside = name;
    return std::string();
  });
  if (inside.empty() || placeholder(inside) != text) return std::nullopt;
  return std::stoul(inside);
}

Expr Flattener::number_of_text(const std::string& text, const Place& place) {
  if (!has_placeholders(text)) return static_cast<double>(text_number(text));
  if (const std::optional<std::size_t> slot = text_slot(text)) {
    const Expr& value = flat_.text_values[*slot].value;
    const auto known = changing_text_slots_.find(value.node());
    if (known != changing_text_slots_.end() && known->second == *slot) return value;
  }
  refuse("a String made of what varies, other than in a message", place);
}

// Whether two texts are the same, where at least one of them varies.
Expr Flattener::same_text(const std::string& a, const std::string& b, const Place& place) {
  for (const auto& [varying, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
    const std::optional<std::size_t> slot = text_slot(*varying);
    if (!slot || has_placeholders(*other)) continue;
    const TextValue& value = flat_.text_values[*slot];
    const auto type = text_types_.find(*slot);
    if (type == text_types_.end() || type->second.first == BasicType::kReal) continue;
    // String(i) == "12": i is the number that is written so.
    std::vector<double> candidates;
    if (type->second.first == BasicType::kInteger) {
      const auto first = other->find_first_not_of(' ');
      long number = 0;
      if (first != std::string::npos &&
          std::from_chars(other->data() + first, other->data() + other->size(), number).ec ==
              std::errc())
        candidates = {static_cast<double>(number)};
    } else if (type->second.first == BasicType::kBoolean) {
      candidates = {0.0, 1.0};
    } else if (type->second.second != nullptr) {
      for (std::size_t k = 0; k < type->second.second->enumeration.size(); ++k)
        candidates.push_back(static_cast<double>(k + 1));
    }
    Expr same = 0.0;
    for (const double candidate : candidates) {
      if (value.text(candidate) != *other) continue;
      same = type->second.first != BasicType::kBoolean ? same || equal(value.value, candidate)
             : candidate != 0.0                        ? same || value.value
                                                       : same || !value.value;
    }
    return same;
  }
  const Expr x = number_of_text(a, place);
  const Expr y = number_of_text(b, place);
  return equal(x, y);
}

// a where the condition holds, b elsewhere.
std::string Flattener::joined_text(const Expr& condition, const std::string& a,
                                   const std::string& b, const Place& place) {
  if (a == b) return a;
  if (const std::optional<double> known = fixed_number(condition)) return *known != 0.0 ? a : b;
  return changing_text(select(condition, number_of_text(a, place), number_of_text(b, place)));
}

// pre() of a text.
std::string Flattener::text_before(const std::string& text, const Place& place) {
  if (!has_placeholders(text)) return text;
  const Expr number = number_of_text(text, place);
  const auto slot = pre_slots_.find(number.node());
  if (slot == pre_slots_.end()) throw Error("pre() needs a variable", place.location());
  return changing_text(slot->second);
}

Value Flattener::with_text_numbers(Value value, const Place& place) {
  if (value.type == BasicType::kString) {
    value.numbers.clear();
    for (const std::string& text : value.strings)
      value.numbers.push_back(number_of_text(text, place));
  }
  for (Record& record : value.records)
    for (NamedValue& field : record.fields)
      field.second = with_text_numbers(std::move(field.second), place);
  return value;
}

// A variable that changes: one discrete variable for each of its elements.
Value Flattener::declare_changing_text(Instance& leaf) {
  const std::optional<Value> start = attribute(leaf, "start");
  const std::optional<Value> fixed = attribute(leaf, "fixed");
  Value value = Value::array(BasicType::kString, *leaf.dimensions, {});
  for (std::size_t k = 0; k < element_count(*leaf.dimensions); ++k) {
    const auto of = [&](const auto& all) { return all.at(all.size() == 1 ? 0 : k); };
    DiscreteOptions options;
    options.type = DiscreteType::kEnumeration;
    options.start = number_of_text(start ? of(start->strings) : "", leaf.component->place);
    options.fixed = fixed && fixed_number(of(fixed->numbers)).value_or(0.0) != 0.0;
    options.description = leaf.component->comment.text;
    options.where = leaf.component->place.location();
    const Expr symbol =
        flat_.discrete(leaf.path + subscript_text(*leaf.dimensions, k), std::move(options));
    discrete_numbers_[symbol.node()] = flat_.discretes.size() - 1;
    pre_slots_[symbol.node()] = flat_.discretes.back().pre;
    changing_discretes_.push_back(flat_.discretes.size() - 1);
    value.strings.push_back(changing_text(symbol));
  }
  return value;
}

// The texts are the literals of the variables: known when all equations are.
void Flattener::name_changing_texts() {
  for (const std::size_t number : changing_discretes_)
    flat_.discretes[number].literals = *changing_texts_;
}

// a where the condition holds, b elsewhere, element by element.
Value Flattener::join_values(const Expr& condition, const Value& a, const Value& b,
                             const Place& place) {
  Value result = a;
  if (a.strings.size() != b.strings.size())
    throw Error("a String that depends on variables: not supported", place.location());
  for (std::size_t i = 0; i < a.strings.size(); ++i)
    result.strings[i] = joined_text(condition, a.strings[i], b.strings[i], place);
  if (a.type == BasicType::kInteger && b.type == BasicType::kReal) result.type = BasicType::kReal;
  for (std::size_t i = 0; i < a.numbers.size() && i < b.numbers.size(); ++i)
    result.numbers[i] = join_numbers(condition, a.numbers[i], b.numbers[i]);
  for (std::size_t r = 0; r < a.records.size() && r < b.records.size(); ++r)
    for (std::size_t f = 0; f < a.records[r].fields.size(); ++f)
      result.records[r].fields[f].second = join_values(condition, a.records[r].fields[f].second,
                                                       b.records[r].fields[f].second, place);
  return result;
}

}  // namespace saltus
