#include "study/expression.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <map>

#include "base/error.h"
#include "base/stack.h"
#include "base/suggest.h"

namespace saltus {
namespace {

using Unary = Expr (*)(const Expr&);
using Binary = Expr (*)(const Expr&, const Expr&);

const std::map<std::string, Unary>& unary_functions() {
  static const std::map<std::string, Unary> functions = {
      {"sqrt", [](const Expr& a) { return sqrt(a); }},
      {"exp", [](const Expr& a) { return exp(a); }},
      {"log", [](const Expr& a) { return log(a); }},
      {"log10", [](const Expr& a) { return log10(a); }},
      {"sin", [](const Expr& a) { return sin(a); }},
      {"cos", [](const Expr& a) { return cos(a); }},
      {"tan", [](const Expr& a) { return tan(a); }},
      {"asin", [](const Expr& a) { return asin(a); }},
      {"acos", [](const Expr& a) { return acos(a); }},
      {"atan", [](const Expr& a) { return atan(a); }},
      {"sinh", [](const Expr& a) { return sinh(a); }},
      {"cosh", [](const Expr& a) { return cosh(a); }},
      {"tanh", [](const Expr& a) { return tanh(a); }},
      {"abs", [](const Expr& a) { return abs(a); }},
      {"sign", [](const Expr& a) { return sign(a); }},
      {"floor", [](const Expr& a) { return floor(a); }},
      {"ceil", [](const Expr& a) { return ceil(a); }},
  };
  return functions;
}

const std::map<std::string, Binary>& binary_functions() {
  static const std::map<std::string, Binary> functions = {
      {"atan2", [](const Expr& a, const Expr& b) { return atan2(a, b); }},
      {"min", [](const Expr& a, const Expr& b) { return min(a, b); }},
      {"max", [](const Expr& a, const Expr& b) { return max(a, b); }},
      {"pow", [](const Expr& a, const Expr& b) { return pow(a, b); }},
  };
  return functions;
}

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const NameResolver& names, const CallResolver& calls)
      : text_(text), names_(names), calls_(calls) {}

  Expr whole() {
    const Expr value = expression();
    end();
    return value;
  }

  Equality equation() {
    const Expr left = sum();
    if (!take("==") && !take("=")) fail("'=' is expected");
    const Expr right = expression();
    end();
    return {left, right};
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(fmt::format("{} at character {} of '{}'", problem, at_ + 1, text_));
  }

  void end() {
    skip();
    if (at_ < text_.size()) fail(fmt::format("'{}' is not expected", text_.substr(at_, 1)));
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  static bool starts_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  }
  static bool in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  }

  // A word of the language, not the beginning of a longer name.
  bool take_word(std::string_view word) {
    skip();
    const std::size_t after = at_ + word.size();
    if (text_.substr(at_, word.size()) != word) return false;
    if (after < text_.size() && (in_name(text_[after]) || text_[after] == '.')) return false;
    at_ = after;
    return true;
  }

  Expr expression() {
    if (stack_is_low()) fail("the expression is nested too deeply");
    if (take_word("if")) {
      const Expr condition = expression();
      if (!take_word("then")) fail("'then' is expected");
      const Expr yes = expression();
      if (!take_word("else")) fail("'else' is expected");
      return select(condition, yes, expression());
    }
    Expr value = conjunction();
    while (take_word("or")) value = value || conjunction();
    return value;
  }

  Expr conjunction() {
    Expr value = negation();
    while (take_word("and")) value = value && negation();
    return value;
  }

  Expr negation() {
    if (take_word("not")) return !negation();
    return comparison();
  }

  Expr comparison() {
    const Expr left = sum();
    if (take("<=")) return left <= sum();
    if (take(">=")) return left >= sum();
    if (take("<")) return left < sum();
    if (take(">")) return left > sum();
    return left;
  }

  Expr sum() {
    Expr value = product();
    for (;;) {
      if (take("+")) {
        value = value + product();
      } else if (take("-")) {
        value = value - product();
      } else {
        return value;
      }
    }
  }

  Expr product() {
    Expr value = signed_factor();
    for (;;) {
      if (take("*")) {
        value = value * signed_factor();
      } else if (take("/")) {
        value = value / signed_factor();
      } else {
        return value;
      }
    }
  }

  Expr signed_factor() {
    if (stack_is_low()) fail("the expression is nested too deeply");
    if (take("-")) return -signed_factor();
    if (take("+")) return signed_factor();
    const Expr base = primary();
    return take("^") ? pow(base, signed_factor()) : base;
  }

  Expr primary() {
    skip();
    if (at_ >= text_.size()) fail("something is missing");
    if (take("(")) {
      const Expr value = expression();
      if (!take(")")) fail("')' is missing");
      return value;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.')
      return number();
    if (!starts_name(text_[at_]) && text_[at_] != '\'')
      fail(fmt::format("'{}' is not expected", text_.substr(at_, 1)));
    return name_or_call();
  }

  Expr number() {
    double value = 0.0;
    const char* first = text_.data() + at_;
    const auto [end, problem] = std::from_chars(first, text_.data() + text_.size(), value);
    if (problem != std::errc()) fail("this is no number that fits");
    at_ += static_cast<std::size_t>(end - first);
    return value;
  }

  // Dots, subscripts and quoted parts belong to the name: clutch[2].'my tau'.
  std::string name() {
    const std::size_t begin = at_;
    for (;;) {
      if (at_ < text_.size() && text_[at_] == '\'') {
        const std::size_t close = text_.find('\'', at_ + 1);
        if (close == std::string_view::npos) fail("the quote is not closed");
        at_ = close + 1;
      } else {
        while (at_ < text_.size() && in_name(text_[at_])) ++at_;
      }
      if (at_ < text_.size() && text_[at_] == '[') {
        const std::size_t close = text_.find(']', at_);
        if (close == std::string_view::npos) fail("']' is missing");
        at_ = close + 1;
      }
      if (at_ + 1 >= text_.size() || text_[at_] != '.') break;
      if (!starts_name(text_[at_ + 1]) && text_[at_ + 1] != '\'') break;
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Expr name_or_call() {
    const std::string called = name();
    if (!take("(")) return called == "pi" ? resolve_pi() : names_(called);
    if (called == "der") {  // a result column of its own: der(h)
      skip();
      const std::string variable = name();
      if (!take(")")) fail("der() takes the name of a variable; ')' is missing");
      return names_("der(" + variable + ")");
    }
    std::vector<Expr> arguments;
    if (!take(")")) {
      do arguments.push_back(expression());
      while (take(","));
      if (!take(")")) fail("')' is missing");
    }
    return call(called, arguments);
  }

  Expr resolve_pi() const { return 3.141592653589793; }

  Expr call(const std::string& function, const std::vector<Expr>& arguments) const {
    Expr value;
    if (calls_ && calls_(function, arguments, value)) return value;
    const auto one = unary_functions().find(function);
    if (one != unary_functions().end() && arguments.size() == 1) return one->second(arguments[0]);
    const auto two = binary_functions().find(function);
    if (two != binary_functions().end() && arguments.size() == 2)
      return two->second(arguments[0], arguments[1]);
    if (one != unary_functions().end() || two != binary_functions().end())
      fail(fmt::format("{} takes {}", function,
                       one != unary_functions().end() ? "one argument" : "two arguments"));
    std::vector<std::string> known;
    for (const auto& [name, f] : unary_functions()) known.push_back(name);
    for (const auto& [name, f] : binary_functions()) known.push_back(name);
    fail(fmt::format("there is no function '{}'{}", function, did_you_mean(function, known)));
  }

  std::string_view text_;
  const NameResolver& names_;
  const CallResolver& calls_;
  std::size_t at_ = 0;
};

}  // namespace

Expr parse_expression(std::string_view text, const NameResolver& resolve_name,
                      const CallResolver& resolve_call) {
  return ExpressionParser(text, resolve_name, resolve_call).whole();
}

Equality parse_equation(std::string_view text, const NameResolver& resolve_name,
                        const CallResolver& resolve_call) {
  return ExpressionParser(text, resolve_name, resolve_call).equation();
}

}  // namespace saltus
