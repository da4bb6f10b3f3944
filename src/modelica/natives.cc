// External functions that Saltus knows: elementary ones, strings, tables.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/placeholder.h"
#include "base/readable_file.h"
#include "expr/table.h"
#include "modelica/flattener.h"
#include "modelica/matrix_file.h"
#include "modelica/numeric_natives.h"
#include "modelica/operators.h"
#include "modelica/random_numbers.h"
#include "modelica/statements.h"
#include "modelica/tables.h"

namespace saltus {

using Arguments = std::vector<NamedValue>;

namespace {

// The hash of Partow that the standard library uses, as a signed number.
double hash_of(const std::string& text) {
  std::uint32_t hash = 0xAAAAAAAAu;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
    hash ^= i % 2 == 0 ? (hash << 7) ^ c * (hash >> 3) : ~((hash << 11) + (c ^ (hash >> 5)));
  }
  return static_cast<double>(static_cast<std::int32_t>(hash));
}

struct Scanned {
  double next = 1.0;  // index, from 1, of the character after it; the start: there is none
  double number = 0.0;
};

// A number at the start of a text, after blanks.
Scanned scan_number(const std::string& text, double from, bool without_sign, bool is_real) {
  Scanned found{from, 0.0};
  if (!(from >= 1.0 && from <= static_cast<double>(text.size()))) return found;
  const std::size_t blank_end = std::min(
      text.find_first_not_of(" \t\r\n\f\v", static_cast<std::size_t>(from) - 1), text.size());
  std::size_t at = blank_end;
  const auto digits = [&](std::size_t k) {
    const std::size_t first = k;
    while (k < text.size() && std::isdigit(static_cast<unsigned char>(text[k])) != 0) ++k;
    return k - first;
  };
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    if (without_sign) return found;
    ++at;
  }
  std::size_t count = digits(at);
  at += count;
  if (is_real && at < text.size() && text[at] == '.') {
    const std::size_t more = digits(at + 1);
    count += more;
    at += 1 + more;
  }
  if (count == 0) return found;
  if (is_real && at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    const std::size_t more = digits(exponent);
    if (more == 0) return found;
    at = exponent + more;
  }
  // What follows an Integer must not make it a Real.
  if (!is_real && at < text.size() && (text[at] == '.' || text[at] == 'e' || text[at] == 'E'))
    return found;
  found.number = std::strtod(text.substr(blank_end, at - blank_end).c_str(), nullptr);
  found.next = static_cast<double>(at + 1);
  return found;
}

// A name at the start of a text, after blanks.
std::pair<double, std::string> scan_identifier(const std::string& text, double from) {
  if (!(from >= 1.0 && from <= static_cast<double>(text.size()))) return {from, ""};
  const std::size_t begin = std::min(
      text.find_first_not_of(" \t\r\n\f\v", static_cast<std::size_t>(from) - 1), text.size());
  if (begin == text.size() || std::isalpha(static_cast<unsigned char>(text[begin])) == 0)
    return {from, ""};
  std::size_t end = begin;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
    ++end;
  return {static_cast<double>(end + 1), text.substr(begin, end - begin)};
}

// A text in double quotes, after blanks; \" is a quote within it and stays as it is written. An
// empty one is none, as the library has it.
std::pair<double, std::string> scan_string(const std::string& text, double from) {
  if (!(from >= 1.0 && from <= static_cast<double>(text.size()))) return {from, ""};
  const std::size_t begin = std::min(
      text.find_first_not_of(" \t\r\n\f\v", static_cast<std::size_t>(from) - 1), text.size());
  if (begin == text.size() || text[begin] != '"') return {from, ""};
  for (std::size_t end = begin + 1; end < text.size(); ++end)
    if (text[end] == '"' && text[end - 1] != '\\') {
      if (end == begin + 1) break;
      return {static_cast<double>(end + 2), text.substr(begin + 1, end - begin - 1)};
    }
  return {from, ""};
}

}  // namespace

void Flattener::check_may_read(const std::string& file, const Place& place) const {
  if (!library_.may_read(file))
    throw Error(fmt::format("'{}' may not be read: a model reads files below its own folder and "
                            "those of its libraries, and files named with --set",
                            file),
                place.location());
  require_file(file, place.location());
}

std::vector<std::string> Flattener::lines_of(const std::string& file, const Place& place) {
  if (std::filesystem::exists(file)) check_may_read(file, place);
  std::ifstream stream(file);
  if (!stream) throw Error(fmt::format("the file '{}' cannot be read", file), place.location());
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (has_placeholders(line))
      throw Error(fmt::format("line {} of '{}' holds control characters", lines.size() + 1, file),
                  place.location());
    lines.push_back(std::move(line));
  }
  return lines;
}

std::optional<std::vector<Value>> Flattener::call_native(Instance& instance,
                                                         const Arguments& arguments,
                                                         const Place& place) {
  const ClassDefinition& function = instance.definition();
  if (!function.external) {
    if (function.name == "interpolate" &&
        function.qualified_name() == "Modelica.Math.Vectors.interpolate")
      if (std::optional<Value> value = interpolate_vector(arguments, place)) return {{*value}};
    if (function.name == "loadResource" && arguments.size() == 1)
      return {{Value::string(resource_path(arguments[0].second.strings.at(0), place))}};
    return std::nullopt;
  }
  const ExternalFunction& external = *function.external;
  const std::string& name = external.name.empty() ? function.name : external.name;
  if (external.language == "builtin" && arguments.size() <= 2) {
    std::vector<NamedValue> values;
    CallExpression call;
    call.function.parts.push_back({name, {}, place});
    Locals locals;
    for (const auto& [argument_name, value] : arguments) {
      locals.values.emplace_back(argument_name, value);
      ComponentReference reference;
      reference.parts.push_back({argument_name, {}, place});
      call.arguments.push_back(make_expression(reference, place));
    }
    const ExpressionPtr expression = make_expression(call, place);
    if (std::optional<Value> value = call_builtin(
            name, *expression, *expression->as<CallExpression>(), {&instance, &function, &locals}))
      return {{*value}};
    return std::nullopt;
  }
  // Throws std::out_of_range, which the caller explains, where an argument is missing or no text.
  const auto said_at = [&](std::size_t k) -> const std::string& {
    return arguments.at(k).second.strings.at(0);
  };
  const auto text_at = [&](std::size_t k) -> const std::string& {
    if (has_placeholders(said_at(k)))
      refuse("a text that depends on what varies, other than in a message", place);
    return said_at(k);
  };
  if (name == "ModelicaStrings_length")
    return {{Value::integer(static_cast<double>(text_at(0).size()))}};
  if (name == "ModelicaStrings_substring") {
    const std::string& text = text_at(0);
    const double first = constant_number(arguments.at(1).second, place, "the start of a substring");
    const double last = arguments.size() > 2
                            ? constant_number(arguments[2].second, place, "the end of a substring")
                            : first;
    if (!(first >= 1.0 && last <= static_cast<double>(text.size()) && first <= last))
      return {{Value::string("")}};
    const auto begin = static_cast<std::size_t>(first) - 1;
    return {{Value::string(text.substr(begin, static_cast<std::size_t>(last) - begin))}};
  }
  if (name == "ModelicaStrings_skipWhiteSpace") {
    const std::string& text = text_at(0);
    const double from = arguments.size() > 1
                            ? constant_number(arguments[1].second, place, "the start of a text")
                            : 1.0;
    const std::size_t begin = from >= 1.0 && from <= static_cast<double>(text.size())
                                  ? static_cast<std::size_t>(from) - 1
                                  : text.size();
    const std::size_t found = std::min(text.find_first_not_of(" \t\r\n\f\v", begin), text.size());
    return {{Value::integer(static_cast<double>(found + 1))}};
  }
  if (name == "ModelicaStrings_compare") {
    const int order = text_at(0).compare(text_at(1));
    Value value = Value::integer(order < 0 ? 1 : order == 0 ? 2 : 3);
    value.type = BasicType::kEnumeration;
    return {{value}};
  }
  if (name == "ModelicaStrings_hashString") return {{Value::integer(hash_of(text_at(0)))}};
  if (name == "ModelicaStrings_scanReal" || name == "ModelicaStrings_scanInteger") {
    const double from = arguments.size() > 1
                            ? constant_number(arguments[1].second, place, "the start of a number")
                            : 1.0;
    const bool without_sign =
        arguments.size() > 2 && constant_number(arguments[2].second, place, "unsigned") != 0.0;
    const bool is_real = name == "ModelicaStrings_scanReal";
    const Scanned found = scan_number(text_at(0), from, without_sign, is_real);
    return {{Value::integer(found.next),
             is_real ? Value::real(found.number) : Value::integer(found.number)}};
  }
  if (name == "ModelicaStrings_scanIdentifier" || name == "ModelicaStrings_scanString") {
    const double from = arguments.size() > 1
                            ? constant_number(arguments[1].second, place, "the start of a token")
                            : 1.0;
    const auto [next, token] = name.ends_with("String") ? scan_string(text_at(0), from)
                                                        : scan_identifier(text_at(0), from);
    return {{Value::integer(next), Value::string(token)}};
  }
  if (name == "ModelicaIO_readMatrixSizes" || name == "ModelicaIO_readRealMatrix") {
    const std::string file = resource_path(text_at(0), place);
    if (std::filesystem::exists(file)) check_may_read(file, place);
    const FileMatrix matrix = read_matrix_file(file, text_at(1), place);
    const auto count = [](std::size_t k) { return Expr(static_cast<double>(k)); };
    if (name.ends_with("Sizes"))
      return {
          {Value::array(BasicType::kInteger, {2}, {count(matrix.rows), count(matrix.columns)})}};
    for (std::size_t k = 0; k < 2; ++k) {
      const double given =
          constant_number(arguments.at(2 + k).second, place, "the size of a matrix");
      const std::size_t is = k == 0 ? matrix.rows : matrix.columns;
      if (given != static_cast<double>(is))
        throw Error(fmt::format("matrix '{}' of '{}' is {} x {}, not of the size that is asked for",
                                text_at(1), file, matrix.rows, matrix.columns),
                    place.location());
    }
    return {{Value::array(BasicType::kReal, {matrix.rows, matrix.columns},
                          std::vector<Expr>(matrix.numbers.begin(), matrix.numbers.end()))}};
  }
  if (name == "ModelicaStreams_closeFile") return std::vector<Value>{};  // none stays open
  if (name == "ModelicaInternal_readLine" || name == "ModelicaInternal_countLines") {
    const std::vector<std::string> lines = lines_of(resource_path(text_at(0), place), place);
    if (name == "ModelicaInternal_countLines")
      return {{Value::integer(static_cast<double>(lines.size()))}};
    const double line = constant_number(arguments.at(1).second, place, "the number of a line");
    const bool at_end = !(line >= 1.0 && line <= static_cast<double>(lines.size()));
    return {{Value::string(at_end ? "" : lines[static_cast<std::size_t>(line) - 1]),
             Value::boolean(at_end)}};
  }
  // The hidden state is read by impureRandom() only, which is refused.
  if (name == "ModelicaRandom_setInternalState_xorshift1024star") return std::vector<Value>{};
  if (std::optional<std::vector<Value>> results =
          call_numeric(name, function.name, arguments, place))
    return results;
  if (name == "ModelicaInternal_fullPathName") return {{arguments.at(0).second}};
  const bool is_certain = frame_ == nullptr || frame_->is_certain();
  if (name == "ModelicaError") {
    if (is_certain) throw Error(as_written(said_at(0)), place.location());
    failed_ = 1.0;
    failure_ = said_at(0);
    return std::vector<Value>{};
  }
  if (name == "ModelicaInternal_exit") {
    const std::string said =
        fmt::format("the model ended the run by exit({:g})",
                    constant_number(arguments.at(0).second, place, "the status of exit()"));
    if (is_certain) {  // the model is not wrong: its run ends as soon as it begins
      flat_.assertions.push_back({0.0, said, false, place.location()});
    } else {
      failed_ = 1.0;
      failure_ = said;
    }
    return std::vector<Value>{};
  }
  if (name == "ModelicaInternal_print" || name == "ModelicaMessage" || name == "ModelicaWarning") {
    add_printing(said_at(0), arguments.size() > 1 ? text_at(1) : "", place);
    return std::vector<Value>{};
  }
  if (name.starts_with("ModelicaRandom_xorshift") && arguments.size() == 1)
    return random_step(name, arguments[0].second, place);
  if (name.starts_with("ModelicaStandardTables_"))
    if (std::optional<Value> value = call_table(name, arguments, place)) return {{*value}};
  return std::nullopt;
}

// Inside of 'when', at its events; elsewhere where it is run once whatever happens.
void Flattener::add_printing(const std::string& text, const std::string& file, const Place& place) {
  const SourceLocation where = place.location();
  const bool is_certain = frame_ == nullptr || frame_->is_certain();
  if (trace_ != nullptr || (!is_certain && in_when_ == 0)) {
    const std::string said = fmt::format(
        "{}:{}:{}: warning: nothing is printed here: it is evaluated all the time; print inside "
        "of 'when'",
        where.file, where.line, where.column);
    if (std::ranges::count(flat_.warnings, said) == 0) flat_.warnings.push_back(said);
    return;
  }
  const Expr reached = is_certain ? Expr(1.0) : frame_->reached();
  // The way up to here may be taken more than once, while what follows is explored.
  for (const Printing& known : flat_.printings)
    if (known.reached.same_as(reached) && known.text == text && known.file == file &&
        known.where.line == where.line && known.where.column == where.column)
      return;
  Expr count = 0.0;
  if (!is_certain) {
    count = hidden_discrete(
        fmt::format("$printed {}", flat_.printings.size() + 1),
        {.type = DiscreteType::kInteger, .start = 0.0, .fixed = true, .where = where});
    flat_.discrete_equations.push_back(
        {count, select(reached, pre_slot(count) + 1.0, pre_slot(count)), where});
  }
  flat_.printings.push_back({count, reached, text, file, where});
}

// Modelica.Math.Vectors.interpolate with known points is a table, however many points it has.
std::optional<Value> Flattener::interpolate_vector(const Arguments& arguments, const Place& place) {
  if (arguments.size() < 3) return std::nullopt;
  const auto numbers = [&](const Value& v) -> std::optional<std::vector<double>> {
    std::vector<double> result;
    for (const Expr& e : v.numbers) {
      const std::optional<double> known = fixed_number(e);
      if (!known) return std::nullopt;
      result.push_back(*known);
    }
    return result;
  };
  const std::optional<std::vector<double>> x = numbers(arguments[0].second);
  const std::optional<std::vector<double>> y = numbers(arguments[1].second);
  const Value& u = arguments[2].second;
  if (!x || !y || x->size() != y->size() || x->empty() || !u.is_scalar()) return std::nullopt;
  if (x->size() == 1) return Value::real(arguments[1].second.numbers.front());
  if (std::adjacent_find(x->begin(), x->end(), std::greater_equal<>()) != x->end())
    return std::nullopt;
  if (const std::optional<double> at = fixed_number(u.number())) {
    const auto table = make_table("interpolate", *x, *y);
    return Value::real(table->evaluate(*at));
  }
  const auto table =
      make_table(fmt::format("interpolate at {}:{}", place.line, place.column), *x, *y);
  return Value::real(saltus::lookup(table, u.number()));
}

std::string Flattener::resource_path(const std::string& uri, const Place& place) {
  const std::string scheme = "modelica://";
  if (!uri.starts_with(scheme)) return uri;
  const std::string rest = uri.substr(scheme.size());
  const std::size_t slash = rest.find('/');
  const std::string name = rest.substr(0, slash);
  const ClassDefinition* cls = library_.find(name);
  while (cls != nullptr && cls->enclosing != nullptr) cls = cls->enclosing;
  if (cls == nullptr)
    throw Error(fmt::format("'{}': there is no such package", uri), place.location());
  return (library_.folder_of(*cls) / (slash == std::string::npos ? "" : rest.substr(slash + 1)))
      .string();
}

std::optional<Value> Flattener::call_table(const std::string& name, const Arguments& arguments,
                                           const Place& place) {
  if (arguments.empty() || arguments[0].second.object == nullptr) return std::nullopt;
  const std::shared_ptr<const ExternalObject>& object = arguments[0].second.object;
  std::unique_ptr<TableData>& data = tables_[object];
  if (data == nullptr) {
    const auto number_of = [&](const Expr& e) {
      const std::optional<double> known = fixed_number(e);
      if (!known) throw Error("a table holds a value that is not a parameter", place.location());
      return *known;
    };
    data = std::make_unique<TableData>(read_table(
        *object, number_of, [&](const std::string& file) { return library_.may_read(file); },
        place));
  }
  std::vector<Expr> numbers;
  for (std::size_t k = 1; k < arguments.size(); ++k) {
    if (arguments[k].second.numbers.empty()) return std::nullopt;
    numbers.push_back(arguments[k].second.number());
  }
  const auto column = [&]() {
    return static_cast<std::size_t>(
        constant_number(arguments.at(1).second, place, "the column of a table"));
  };
  const auto within = [&](const Expr& u, double low, double high, const Expr& unless = 0.0) {
    if (data->beyond != Beyond::kNone || data->rows.size() < 2) return;
    add_condition(unless || (u >= low && u <= high),
                  fmt::format("table '{}' has values from {} to {} and may not be extrapolated",
                              data->name, low, high),
                  false, place);
  };
  if (name.ends_with("CombiTable1D_getValue")) {
    within(numbers.at(1), data->first(), data->last());
    return Value::real(data->value(column(), numbers.at(1), 0, place));
  }
  if (name.ends_with("CombiTable1D_getDerValue"))
    return Value::real(data->value(column(), numbers.at(1), 1, place) * numbers.at(2));
  if (name.ends_with("CombiTable1D_minimumAbscissa") ||
      name.ends_with("CombiTimeTable_minimumTime"))
    return Value::real(data->first());
  if (name.ends_with("CombiTable1D_maximumAbscissa") ||
      name.ends_with("CombiTimeTable_maximumTime"))
    return Value::real(data->last());
  if (name.ends_with("CombiTable2D_getValue")) {
    within(numbers.at(0), data->corner(false, 0), data->corner(true, 0));
    within(numbers.at(1), data->corner(false, 1), data->corner(true, 1));
    return Value::real(data->value2(numbers.at(0), numbers.at(1), 0, 0));
  }
  if (name.ends_with("CombiTable2D_getDerValue"))
    return Value::real(data->value2(numbers.at(0), numbers.at(1), 1, 0) * numbers.at(2) +
                       data->value2(numbers.at(0), numbers.at(1), 0, 1) * numbers.at(3));
  if (name.ends_with("CombiTable2D_minimumAbscissa"))
    return Value::array(BasicType::kReal, {2}, {data->corner(false, 0), data->corner(false, 1)});
  if (name.ends_with("CombiTable2D_maximumAbscissa"))
    return Value::array(BasicType::kReal, {2}, {data->corner(true, 0), data->corner(true, 1)});
  if (name.ends_with("CombiTimeTable_getValue")) {
    within(numbers.at(1) - data->shift_time, data->first(), data->last(),
           numbers.at(1) < data->start_time);
    return Value::real(data->time_value(column(), numbers.at(1), numbers.at(2), 0, place));
  }
  if (name.ends_with("CombiTimeTable_getDerValue"))
    return Value::real(data->time_value(column(), numbers.at(1), numbers.at(2), 1, place) *
                       numbers.at(4));
  if (name.ends_with("_read")) return Value::real(1.0);
  if (name.ends_with("CombiTimeTable_nextTimeEvent"))
    return Value::real(data->next_event(numbers.at(0)));
  return std::nullopt;
}

}  // namespace saltus
