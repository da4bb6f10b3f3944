#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "expr/tape_program.h"

// The tape as C99. Values are constants of one function, stored to `out` as soon as they are known.

namespace saltus {

namespace {

std::string c_number(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0.0 ? "INFINITY" : "(-INFINITY)";
  std::string text = fmt::format("{:.17g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return value < 0.0 ? "(" + text + ")" : text;
}

std::string c_array(const std::vector<double>& values) {
  std::string text = "{";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i > 0 ? ", " : "") + c_number(values[i]);
  return text + "}";
}

const char* kTableHelper = R"(
#ifndef SALTUS_LOOKUP
#define SALTUS_LOOKUP
static double saltus_line(double y, double slope, double distance, int order) {
  return order == 0 ? y + slope * distance : (order == 1 ? slope : 0.0);
}

/* slope: null for linear interpolation; left, right: slopes beyond the ends. */
static double saltus_lookup(const double* x, const double* y, const double* slope, int n,
                            double left, double right, double u, int order) {
  int low = 0, high = n - 1;
  double h, s, a, b, c;
  if (u < x[0]) return saltus_line(y[0], left, u - x[0], order);
  if (u >= x[n - 1]) return saltus_line(y[n - 1], right, u - x[n - 1], order);
  if (u != u) return u;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (x[middle] <= u) low = middle; else high = middle;
  }
  h = x[low + 1] - x[low];
  if (!slope) return saltus_line(y[low], (y[low + 1] - y[low]) / h, u - x[low], order);
  s = (u - x[low]) / h;
  c = slope[low] * h;
  b = 3.0 * (y[low + 1] - y[low]) - (2.0 * slope[low] + slope[low + 1]) * h;
  a = 2.0 * (y[low] - y[low + 1]) + (slope[low] + slope[low + 1]) * h;
  switch (order) {
    case 0: return y[low] + s * (c + s * (b + s * a));
    case 1: return (c + s * (2.0 * b + s * 3.0 * a)) / h;
    case 2: return (2.0 * b + 6.0 * a * s) / (h * h);
    case 3: return 6.0 * a / (h * h * h);
    default: return 0.0;
  }
}
#endif
)";

const char* c_text(TapeOp op) {
  switch (op) {
#define SALTUS_TEXT(name, arity, ...) \
  case TapeOp::name:                  \
    return #__VA_ARGS__;
    SALTUS_TAPE_PLAIN(SALTUS_TEXT)
#undef SALTUS_TEXT
    default:
      return "";
  }
}

// The text of an operation with the operands in the places of a, b and c. Operands are names,
// numbers or in parentheses, so that precedence does not change.
std::string c_expression(const char* text, const std::array<std::string, 3>& operands) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string result;
  while (*text != '\0') {
    const char* end = text;
    while (is_letter(*end)) ++end;
    const std::string_view word(text, end);
    if (end == text) {
      result += *text++;
    } else if (word == "std") {
      end += 2;  // the colons
    } else if (word.size() == 1 && word[0] >= 'a' && word[0] <= 'c') {
      result += operands[static_cast<std::size_t>(word[0] - 'a')];
    } else {
      result += word;
    }
    text = std::max(text, end);
  }
  return result;
}

std::string c_name(const Function& function) {
  return function.c_name.empty() ? function.name : function.c_name;
}

class CWriter {
 public:
  CWriter(const Tape::Program& program, const std::string& name) : p_(program), name_(name) {}

  std::string write() {
    text_ = "#include <math.h>\n";
    write_tables();
    write_declarations();
    text_ += fmt::format("\nvoid {}(const double* const* in, double* restrict out) {{\n", name_);
    text_ += "  (void)in;\n  (void)out;\n";
    const std::size_t leaves = p_.constants.size() + p_.inputs.size();
    std::multimap<std::uint32_t, std::size_t> stores;
    for (std::size_t i = 0; i < p_.outputs.size(); ++i) stores.emplace(p_.outputs[i], i);
    const auto store = [&](std::uint32_t v) {
      const auto range = stores.equal_range(v);
      for (auto it = range.first; it != range.second; ++it) {
        fmt::format_to(std::back_inserter(text_), "  out[{}] = {};\n", it->second, value(v));
      }
    };
    for (std::uint32_t v = 0; v < leaves; ++v) store(v);
    for (std::size_t k = 0; k < p_.instructions.size(); ++k) {
      fmt::format_to(std::back_inserter(text_), "  const double v{} = {};\n", k,
                     expression(p_.instructions[k]));
      store(static_cast<std::uint32_t>(leaves + k));
    }
    return text_ + "}\n";
  }

 private:
  std::string value(std::uint32_t v) const {
    if (v < p_.constants.size()) return c_number(p_.constants[v]);
    v -= static_cast<std::uint32_t>(p_.constants.size());
    if (v < p_.inputs.size())
      return fmt::format("in[{}][{}]", p_.inputs[v].group, p_.inputs[v].index);
    return fmt::format("v{}", v - p_.inputs.size());
  }

  std::string expression(const TapeInstruction& in) const {
    if (in.op == TapeOp::kCall) {
      const Function& function = *p_.functions[in.extra];
      std::string text = c_name(function) + "(";
      for (std::size_t i = 0; i < function.arity; ++i) {
        text += (i > 0 ? ", " : "") + value(p_.call_arguments[in.a + i]);
      }
      return text + ")";
    }
    if (in.op == TapeOp::kTable) {
      const TapeLookup& lookup = p_.lookups[in.extra];
      const Table& table = *lookup.table;
      const std::size_t t = tables_.at(&table);
      // Two points beyond the ends tell the slope there.
      const double left = table.evaluate(table.x.front() - 1.0, 1);
      const double right = table.evaluate(table.x.back() + 1.0, 1);
      return fmt::format("saltus_lookup({0}_x{1}, {0}_y{1}, {2}, {3}, {4}, {5}, {6}, {7})", name_,
                         t, table.slope.empty() ? "0" : fmt::format("{}_s{}", name_, t),
                         table.x.size(), c_number(left), c_number(right), value(in.a),
                         lookup.order);
    }
    return c_expression(c_text(in.op), {value(in.a), in.arity > 1 ? value(in.b) : "",
                                        in.arity > 2 ? value(in.c) : ""});
  }

  void write_tables() {
    if (!p_.lookups.empty()) text_ += kTableHelper;
    for (const TapeLookup& lookup : p_.lookups) {
      const Table& table = *lookup.table;
      const std::size_t t = tables_.size();
      if (!tables_.emplace(&table, t).second) continue;
      const auto write = [&](const char* kind, const std::vector<double>& values) {
        text_ += fmt::format("static const double {}_{}{}[{}] = {};\n", name_, kind, t,
                             values.size(), c_array(values));
      };
      write("x", table.x);
      write("y", table.y);
      if (!table.slope.empty()) write("s", table.slope);
    }
  }

  void write_declarations() {
    std::set<std::string> declared;
    for (const auto& function : p_.functions) {
      if (!declared.insert(c_name(*function)).second) continue;
      std::string parameters;
      for (std::size_t i = 0; i < function->arity; ++i) parameters += i > 0 ? ", double" : "double";
      text_ += fmt::format("extern double {}({});\n", c_name(*function),
                           parameters.empty() ? "void" : parameters);
    }
  }

  const Tape::Program& p_;
  const std::string& name_;
  std::string text_;
  std::map<const Table*, std::size_t> tables_;
};

}  // namespace

std::string Tape::to_c(const std::string& name) const { return CWriter(*program_, name).write(); }

}  // namespace saltus
