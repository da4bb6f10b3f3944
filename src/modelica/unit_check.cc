// Units of what is compared, added and set equal (chapter 19). Only what is certainly wrong is
// told: numbers in the text stand for any unit where they are added or set equal, and simple
// ones for none where they multiply; what has no unit, and functions of the user, stand for any.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/error.h"
#include "modelica/flattener.h"
#include "modelica/unit.h"

namespace saltus {
namespace {

struct Quantity {
  enum Kind { kAny, kNumber, kUnit };
  Kind kind = kAny;
  Unit unit{};
  bool is_exact = true;  // no number in the text converts it
  bool has_time = false;
};

constexpr Quantity kAnything{};
constexpr Quantity kPlainNumber{.kind = Quantity::kNumber};

bool differ(const Quantity& a, const Quantity& b) {
  if (a.kind != Quantity::kUnit || b.kind != Quantity::kUnit) return false;
  if (!a.unit.same_dimension(b.unit)) return true;
  if (!a.is_exact || !b.is_exact) return false;
  return a.unit.offset != b.unit.offset ||
         std::abs(a.unit.scale - b.unit.scale) > 1e-9 * std::abs(a.unit.scale);
}

// 2.0, 0.5 and 1e-3 count or convert; 9.81 and 1.704992 may well have been measured in some unit.
bool is_simple(double value) {
  if (value == 0.0 || 2.0 * value == std::round(2.0 * value)) return true;
  const double power = std::log10(std::abs(value));
  return std::abs(power - std::round(power)) < 1e-12;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

class Flattener::UnitCheck {
 public:
  explicit UnitCheck(Flattener& flattener) : f_(flattener) {}

  void check(Instance& instance) {
    f_.expand(instance);
    for (const auto& c : instance.children)
      quietly([&] {
        if (f_.is_active(*c) && c->target == nullptr && c->is_leaf()) check_leaf(*c);
      });
    for (const ClassInfo::Base& base : instance.type.info->bases) {
      scope_ = {&instance, base.definition, nullptr};
      check(base.definition->equations);
      check(base.definition->initial_equations);
      for (const auto& section : base.definition->algorithms) check(section);
      for (const auto& section : base.definition->initial_algorithms) check(section);
    }
  }

 private:
  // What cannot be looked up here was told by the translation, or is never used.
  template <class Part>
  void quietly(const Part& part) {
    try {
      part();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  void warn(const Place& place, const std::string& what) {
    const SourceLocation where = place.location();
    if (!told_.emplace(where.file, where.line, where.column).second) return;
    if (told_.size() > kMostWarnings) return;
    f_.flat_.warnings.push_back(
        told_.size() == kMostWarnings
            ? fmt::format("{}:{}:{}: warning: units do not agree here and possibly elsewhere",
                          where.file, where.line, where.column)
            : fmt::format("{}:{}:{}: warning: {}", where.file, where.line, where.column, what));
  }

  static std::string shown(const Expression& expression, const Quantity& q) {
    constexpr std::size_t kLongest = 60;
    std::string text = to_text(expression);
    if (text.size() > kLongest) text = text.substr(0, kLongest - 3) + "...";
    const std::string scale = q.is_exact && std::abs(q.unit.scale - 1.0) > 1e-9
                                  ? fmt::format("{:.6g} ", q.unit.scale)
                                  : "";
    return fmt::format("'{}' is in {}{}{}", text, scale, q.unit.text(),
                       q.unit.offset ? " from another zero" : "");
  }

  // One unit for both; says so if they differ.
  Quantity unite(const Expression& left, const Quantity& a, const Expression& right,
                 const Quantity& b, const Place& place, const char* how) {
    if (differ(a, b))
      warn(place, fmt::format("units do not agree: {}, {}, and they are {}", shown(left, a),
                              shown(right, b), how));
    Quantity result = a.kind == Quantity::kUnit ? a : b;
    if (a.kind != b.kind) result.is_exact = false;
    if (a.kind == Quantity::kAny || b.kind == Quantity::kAny)
      result = a.kind == Quantity::kUnit || b.kind == Quantity::kUnit ? result : kAnything;
    result.has_time = a.has_time || b.has_time;
    return result;
  }

  // Each branch of an `if` by itself.
  void set_equal(const Expression& left, const Expression& right, const Place& place) {
    if (const auto* i = right.as<IfExpression>()) {
      for (const auto& [condition, value] : i->branches) {
        unit_of(*condition);
        set_equal(left, *value, place);
      }
      if (i->otherwise != nullptr) set_equal(left, *i->otherwise, place);
      return;
    }
    unite(left, unit_of(left), right, unit_of(right), place, "set equal");
  }

  void check_leaf(Instance& leaf) {
    if (*leaf.type.info->basic != BasicType::kReal) return;
    const Quantity own = unit_of(leaf);
    const auto compare = [&](const Layer& layer, const std::string& what) {
      if (layer.value == nullptr || !layer.access.empty() || layer.scope.instance == nullptr)
        return;
      scope_ = layer.scope;
      const Quantity given = unit_of(*layer.value);
      if (differ(own, given))
        warn(layer.value->place,
             fmt::format("units do not agree: {} is in {}, but {}", what,
                         own.unit.offset ? "degC" : own.unit.text(), shown(*layer.value, given)));
    };
    if (const Layer* layer = f_.binding_layer(leaf)) compare(*layer, "'" + leaf.path + "'");
    for (const char* name : {"start", "min", "max", "nominal"})
      for (const Layer& layer : leaf.layers) {
        if (layer.value != nullptr) continue;
        Layers found;
        append_child_layers(layer, name, found);
        for (const Layer& f : found) compare(f, fmt::format("'{}' of '{}'", name, leaf.path));
      }
  }

  void check(const std::vector<EquationClause>& equations) {
    for (const EquationClause& e : equations) quietly([&] { check(e); });
  }

  void check(const EquationClause& equation) {
    if (const auto* e = equation.as<SimpleEquation>()) {
      if (e->left->as<TupleExpression>() != nullptr) return;
      set_equal(*e->left, *e->right, e->left->place);
    } else if (const auto* i = equation.as<ConditionalEquation>()) {
      check_branches(i->branches);
    } else if (const auto* w = equation.as<WhenEquation>()) {
      check_branches(w->branches);
    } else if (const auto* f = equation.as<ForEquation>()) {
      with_iterators(f->iterators, [&] { check(f->body); });
    } else if (const auto* c = equation.as<CallEquation>()) {
      check_call(*c->call);
    }
  }

  void check(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) quietly([&] { check(s); });
  }

  void check(const Statement& statement) {
    if (const auto* a = statement.as<AssignStatement>()) {
      const ExpressionPtr target = make_expression(a->target, statement.place);
      set_equal(*target, *a->value, statement.place);
    } else if (const auto* i = statement.as<IfStatement>()) {
      check_branches(i->branches);
    } else if (const auto* w = statement.as<WhenStatement>()) {
      check_branches(w->branches);
    } else if (const auto* f = statement.as<ForStatement>()) {
      with_iterators(f->iterators, [&] { check(f->body); });
    } else if (const auto* l = statement.as<WhileStatement>()) {
      unit_of(*l->condition);
      check(l->body);
    } else if (const auto* c = statement.as<CallStatement>()) {
      check_call(*c->call);
    }
  }

  template <class Branches>
  void check_branches(const Branches& branches) {
    for (const auto& branch : branches) {
      if (branch.condition != nullptr) quietly([&] { unit_of(*branch.condition); });
      check(branch.body);
    }
  }

  template <class Body>
  void with_iterators(const std::vector<Iterator>& iterators, const Body& body) {
    for (const Iterator& i : iterators) iterators_.push_back(i.name);
    body();
    iterators_.resize(iterators_.size() - iterators.size());
  }

  void check_call(const Expression& expression) {
    const auto* call = expression.as<CallExpression>();
    if (call == nullptr) return;
    const std::string name = call->function.text();
    if (name == "reinit" && call->arguments.size() == 2)
      unite(*call->arguments[0], unit_of(*call->arguments[0]), *call->arguments[1],
            unit_of(*call->arguments[1]), expression.place, "set equal");
    if (name == "assert" && !call->arguments.empty()) unit_of(*call->arguments[0]);
  }

  Quantity unit_of(Instance& leaf) {
    const auto [known, is_new] = units_.try_emplace(&leaf);
    if (!is_new) return known->second;
    if (*leaf.type.info->basic == BasicType::kInteger) return known->second = kPlainNumber;
    if (*leaf.type.info->basic != BasicType::kReal) return {};
    const std::optional<Value> text = f_.attribute(leaf, "unit");
    if (!text || text->strings.empty() || text->strings.front().empty()) return {};
    for (const std::string& other : text->strings)
      if (other != text->strings.front()) return {};
    const std::optional<Unit> unit = parse_unit(text->strings.front());
    if (unit) units_[&leaf] = {.kind = Quantity::kUnit, .unit = *unit};
    return units_[&leaf];
  }

  Quantity unit_of(const ComponentReference& r) {
    const std::string& first = r.parts.front().name;
    if (r.parts.size() == 1 && std::ranges::count(iterators_, first) > 0) return kPlainNumber;
    if (r.parts.size() == 1 && first == "time")
      return {.kind = Quantity::kUnit, .unit = *parse_unit("s"), .has_time = true};
    InstanceTree::Found found = r.absolute ? f_.tree_.lookup_top(first) : f_.lookup(first, scope_);
    for (std::size_t k = 1; found && k < r.parts.size(); ++k) {
      if (found.cls != nullptr) {
        found = f_.tree_.member_of(*found.cls, r.parts[k].name);
        continue;
      }
      if (found.instance == nullptr) return {};
      Instance* at = usable(*found.instance);
      if (at == nullptr || at->is_leaf()) return {};
      if (!f_.dimensions(*at).empty()) {  // the elements of an array are alike
        f_.make_elements(*at);
        if (at->elements.empty()) return {};
        at = at->elements.front().get();
      }
      found = {nullptr, f_.find_child(*at, r.parts[k].name), nullptr};
    }
    if (found.instance == nullptr) return {};
    Instance* leaf = usable(*found.instance);
    return leaf != nullptr && leaf->is_leaf() ? unit_of(*leaf) : kAnything;
  }

  Instance* usable(Instance& given) {
    if (!f_.is_active(given)) return nullptr;
    f_.resolve(given);
    return given.target != nullptr ? given.target : &given;
  }

  Quantity unit_of(const Expression& expression) {
    const Place& place = expression.place;
    if (expression.as<IntegerLiteral>() != nullptr) return kPlainNumber;
    if (const auto* real = expression.as<RealLiteral>())
      return is_simple(real->value) ? kPlainNumber : kAnything;
    if (const auto* r = expression.as<ComponentReference>()) return unit_of(*r);
    if (const auto* u = expression.as<UnaryExpression>()) return unit_of(*u->operand);
    if (const auto* b = expression.as<BinaryExpression>()) return unit_of(*b, place);
    if (const auto* c = expression.as<CallExpression>()) return unit_of(*c, place);
    if (const auto* i = expression.as<IfExpression>()) {
      // 0 = if locked then a else tau: branches may be different things.
      std::vector<ExpressionPtr> values;
      for (const auto& [condition, value] : i->branches) {
        unit_of(*condition);
        values.push_back(value);
      }
      if (i->otherwise != nullptr) values.push_back(i->otherwise);
      return unit_of_all(values);
    }
    if (const auto* a = expression.as<ArrayConstructor>()) return unit_of_all(a->elements);
    if (const auto* a = expression.as<ArrayComprehension>()) {
      Quantity result;
      with_iterators(a->iterators, [&] { result = unit_of(*a->body); });
      return result;
    }
    return {};
  }

  // Elements of a vector may differ.
  Quantity unit_of_all(const std::vector<ExpressionPtr>& elements) {
    if (elements.empty()) return {};
    const Quantity first = unit_of(*elements.front());
    bool alike = true;
    for (const ExpressionPtr& e : elements) {
      const Quantity next = unit_of(*e);
      alike = alike && next.kind == first.kind && !differ(first, next);
    }
    return alike ? first : kAnything;
  }

  Quantity unit_of(const BinaryExpression& b, const Place& place) {
    const Quantity left = unit_of(*b.left);
    const Quantity right = unit_of(*b.right);
    const bool has_time = left.has_time || right.has_time;
    switch (b.op) {
      case BinaryOperator::kAdd:
      case BinaryOperator::kSubtract:
      case BinaryOperator::kElementAdd:
      case BinaryOperator::kElementSubtract: {
        const bool is_difference =
            b.op == BinaryOperator::kSubtract || b.op == BinaryOperator::kElementSubtract;
        // A difference counts from no zero; a temperature and a difference make a temperature.
        if (left.unit.offset != right.unit.offset && left.unit.same_dimension(right.unit))
          return kAnything;
        Quantity sum =
            unite(*b.left, left, *b.right, right, place, is_difference ? "subtracted" : "added");
        if (left.unit.offset && right.unit.offset) sum.unit.offset = !is_difference;
        return sum;
      }
      case BinaryOperator::kLess:
      case BinaryOperator::kLessEqual:
      case BinaryOperator::kGreater:
      case BinaryOperator::kGreaterEqual:
      case BinaryOperator::kEqual:
      case BinaryOperator::kNotEqual:
        unite(*b.left, left, *b.right, right, place, "compared");
        return {};
      case BinaryOperator::kMultiply:
      case BinaryOperator::kElementMultiply:
      case BinaryOperator::kDivide:
      case BinaryOperator::kElementDivide: {
        if (left.kind == Quantity::kAny || right.kind == Quantity::kAny)
          return {.has_time = has_time};
        const bool is_product =
            b.op == BinaryOperator::kMultiply || b.op == BinaryOperator::kElementMultiply;
        Quantity result{.unit = is_product ? left.unit * right.unit : left.unit / right.unit,
                        .is_exact = left.kind == Quantity::kUnit && left.is_exact &&
                                    right.kind == Quantity::kUnit && right.is_exact,
                        .has_time = has_time};
        result.kind = left.kind == Quantity::kUnit ? left.kind : right.kind;
        return result;
      }
      case BinaryOperator::kPower:
      case BinaryOperator::kElementPower: {
        if (left.kind != Quantity::kUnit) return left;
        if (left.unit.is_number()) return kPlainNumber;
        const std::optional<double> exponent = number_in(*b.right);
        if (!exponent) return {.has_time = has_time};
        return {.kind = Quantity::kUnit,
                .unit = left.unit.power(*exponent),
                .is_exact = left.is_exact,
                .has_time = has_time};
      }
      case BinaryOperator::kAnd:
      case BinaryOperator::kOr:
        return {};
    }
    return {};
  }

  static std::optional<double> number_in(const Expression& e) {
    if (const auto* real = e.as<RealLiteral>()) return real->value;
    if (const auto* integer = e.as<IntegerLiteral>()) return static_cast<double>(integer->value);
    if (const auto* unary = e.as<UnaryExpression>(); unary && unary->op == UnaryOperator::kMinus)
      if (const std::optional<double> inner = number_in(*unary->operand)) return -*inner;
    if (const auto* b = e.as<BinaryExpression>(); b && b->op == BinaryOperator::kDivide) {
      const std::optional<double> above = number_in(*b->left);
      const std::optional<double> below = number_in(*b->right);
      if (above && below && *below != 0.0) return *above / *below;
    }
    return std::nullopt;
  }

  Quantity unit_of(const CallExpression& call, const Place& place) {
    const std::vector<ExpressionPtr>& arguments = call.arguments;
    for (const NamedArgument& n : call.named) unit_of(*n.value);
    Quantity first;
    with_iterators(call.iterators,
                   [&] { first = arguments.empty() ? kAnything : unit_of(*arguments.front()); });
    const std::string name = builtin_name(call);
    if (name.empty() || arguments.empty()) {
      for (std::size_t k = 1; k < arguments.size(); ++k) unit_of(*arguments[k]);
      return {};
    }
    if (is_one_of(name, {"abs", "noEvent", "pre", "delay", "homotopy", "sum", "scalar", "vector",
                         "matrix", "transpose", "fill", "inStream", "actualStream", "symmetric"}))
      return first;
    if (name == "der") {
      if (first.kind != Quantity::kUnit) return first.kind == Quantity::kAny ? first : kAnything;
      return {.kind = Quantity::kUnit,
              .unit = first.unit / *parse_unit("s"),
              .is_exact = first.is_exact};
    }
    if (name == "sqrt") {
      if (first.kind == Quantity::kUnit) first.unit = first.unit.power(0.5);
      return first;
    }
    if (name == "smooth" && arguments.size() == 2) return unit_of(*arguments[1]);
    if (is_one_of(name, {"min", "max"})) {
      if (arguments.size() < 2) return first;
      return unite(*arguments[0], first, *arguments[1], unit_of(*arguments[1]), place,
                   "arguments of one call");
    }
    if (name == "atan2" && arguments.size() == 2) {
      unite(*arguments[0], first, *arguments[1], unit_of(*arguments[1]), place,
            "arguments of one call");
      return kPlainNumber;
    }
    if (name == "cross" && arguments.size() == 2) {
      const Quantity second = unit_of(*arguments[1]);
      if (first.kind != Quantity::kUnit || second.kind != Quantity::kUnit) return {};
      return {.kind = Quantity::kUnit,
              .unit = first.unit * second.unit,
              .is_exact = first.is_exact && second.is_exact};
    }
    if (is_one_of(name, {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp",
                         "log", "log10"})) {
      if (first.kind == Quantity::kUnit && !first.unit.is_number() && !first.has_time)
        warn(arguments.front()->place,
             fmt::format("{}() takes a number, but {}", name, shown(*arguments.front(), first)));
      return kPlainNumber;
    }
    if (is_one_of(name, {"sign", "size", "zeros", "ones", "integer", "cardinality", "identity"}))
      return kPlainNumber;
    for (std::size_t k = 1; k < arguments.size(); ++k) unit_of(*arguments[k]);
    return {};
  }

  // Of a function of the language, or of Modelica.Math, which has the same names; empty: another.
  std::string builtin_name(const CallExpression& call) {
    const auto& parts = call.function.parts;
    if (parts.size() > 1) return parts[parts.size() - 2].name == "Math" ? parts.back().name : "";
    return f_.lookup(parts.front().name, scope_) ? "" : parts.front().name;
  }

  static constexpr std::size_t kMostWarnings = 20;
  Flattener& f_;
  Scope scope_;
  std::vector<std::string> iterators_;
  std::unordered_map<const Instance*, Quantity> units_;
  std::set<std::tuple<std::string, int, int>> told_;
};

void Flattener::check_units() {
  UnitCheck check(*this);
  for_each_class_instance(*root_, [&](Instance& i) { check.check(i); });
}

}  // namespace saltus
