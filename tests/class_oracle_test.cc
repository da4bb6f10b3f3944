// Random hierarchies of classes and random programs, each written as Modelica and evaluated by a
// small interpreter of its own: the two share no code but the tree they start from.
//
// SALTUS_ORACLE_CASES=1000 tries more cases than the quick ones, SALTUS_ORACLE_FIRST=N from seed N.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int upto(int most) { return std::uniform_int_distribution<int>(0, most)(engine_); }
  bool happens(int percent) { return upto(99) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(upto(static_cast<int>(all.size()) - 1))];
  }

 private:
  std::mt19937 engine_;
};

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// ---------------------------------------------------------------- hierarchies of classes

// number + factor*name
struct Linear {
  int number = 0;
  int factor = 0;
  std::string name;  // empty: none

  std::string text() const {
    std::string t = std::to_string(number);
    if (!name.empty()) t += " + (" + std::to_string(factor) + ")*" + name;
    return t;
  }
};

struct Class;

struct Modifier;
using Modifiers = std::vector<Modifier>;

struct Modifier {
  enum class Kind { kValue, kNested, kRedeclareClass, kRedeclareComponent };
  Kind kind = Kind::kValue;
  std::string name;
  std::vector<Linear> values;  // one, or one for each element of an array
  Modifiers nested;
  const Class* type = nullptr;
};

struct Element {
  enum class Kind { kParameter, kClass, kComponent };
  Kind kind = Kind::kParameter;
  std::string name;
  Linear value;                 // of a parameter
  const Class* type = nullptr;  // null: `type_name`
  std::string type_name;        // a class that is an element
  Modifiers modifiers;
  int size = 0;  // of an array; 0: scalar
  bool replaceable = false;
};

struct Class {
  std::string name;
  const Class* base = nullptr;
  Modifiers base_modifiers;
  std::vector<Element> redeclared;  // `redeclare model M = ...` among the elements
  std::vector<Element> elements;
  std::vector<Linear> sum;  // y is the sum of these; only in classes without base
};

std::string text_of(const Modifiers& modifiers, bool of_array = false) {
  if (modifiers.empty()) return "";
  std::string text;
  for (const Modifier& m : modifiers) {
    text += text.empty() ? "(" : ", ";
    if (m.kind == Modifier::Kind::kRedeclareClass)
      text += "redeclare model " + m.name + " = " + m.type->name + text_of(m.nested);
    if (m.kind == Modifier::Kind::kRedeclareComponent)
      text += "redeclare " + m.type->name + " " + m.name + text_of(m.nested);
    if (m.kind == Modifier::Kind::kNested) text += m.name + text_of(m.nested);
    if (m.kind != Modifier::Kind::kValue) continue;
    if (m.values.size() == 1) {
      text += (of_array ? "each " : "") + m.name + " = " + m.values[0].text();
    } else {
      text += m.name + " = {" + m.values[0].text();
      for (std::size_t k = 1; k < m.values.size(); ++k) text += ", " + m.values[k].text();
      text += "}";
    }
  }
  return text + ")";
}

std::string text_of(const Element& e) {
  const std::string type = e.type == nullptr ? e.type_name : e.type->name;
  if (e.kind == Element::Kind::kParameter)
    return "  parameter Real " + e.name + " = " + e.value.text() + ";\n";
  if (e.kind == Element::Kind::kClass)
    return std::string("  ") + (e.replaceable ? "replaceable " : "") + "model " + e.name + " = " +
           type + text_of(e.modifiers) + ";\n";
  return std::string("  ") + (e.replaceable ? "replaceable " : "") + type + " " + e.name +
         (e.size > 0 ? "[" + std::to_string(e.size) + "]" : "") + text_of(e.modifiers, e.size > 0) +
         ";\n";
}

std::string text_of(const Class& c) {
  std::string text = "model " + c.name + "\n";
  if (c.base != nullptr) text += "  extends " + c.base->name + text_of(c.base_modifiers) + ";\n";
  for (const Element& e : c.redeclared)
    text += "  redeclare replaceable model " + e.name + " = " + e.type->name +
            text_of(e.modifiers) + ";\n";
  for (const Element& e : c.elements) text += text_of(e);
  if (c.base == nullptr) {
    text += "  Real y;\nequation\n  y = 0";
    for (const Linear& term : c.sum) text += " + (" + term.text() + ")";
    text += ";\n";
  }
  return text + "end " + c.name + ";\n";
}

// --- the interpreter: an instance asks what modifies it, the strongest first

struct Object;
struct Given {
  const Modifiers* modifiers = nullptr;
  const Object* scope = nullptr;
  int index = -1;  // of an element of an array: which of several values is meant
};
using Environment = std::vector<Given>;

struct Object {
  const Class* type = nullptr;
  Environment outer;

  // The classes it is made of, the most derived first, with what modifies each.
  struct Part {
    const Class* type;
    Environment environment;
  };
  std::vector<Part> parts() const {
    std::vector<Part> all;
    Environment environment = outer;
    for (const Class* c = type; c != nullptr; c = c->base) {
      all.push_back({c, environment});
      if (c->base != nullptr) environment.push_back({&c->base_modifiers, this, -1});
    }
    return all;
  }

  std::pair<const Element*, Environment> find(const std::string& name) const {
    for (const Part& part : parts())
      for (const Element& e : part.type->elements)
        if (e.name == name) return {&e, part.environment};
    return {nullptr, {}};
  }

  double value(const Linear& e) const {
    if (e.name.empty()) return e.number;
    const auto dot = e.name.find('.');
    if (dot == std::string::npos) return e.number + e.factor * parameter(e.name);
    return e.number + e.factor * component(e.name.substr(0, dot)).y();
  }

  double parameter(const std::string& name) const {
    const auto [element, environment] = find(name);
    for (const Given& given : environment)
      for (const Modifier& m : *given.modifiers)
        if (m.name == name && m.kind == Modifier::Kind::kValue) {
          const bool many = m.values.size() > 1;
          return given.scope->value(m.values[many ? static_cast<std::size_t>(given.index) : 0]);
        }
    return value(element->value);
  }

  // The class that a name stands for, with what modifies it as a class: modifiers from outside,
  // then what each class on the way to the declaration says, the strongest first.
  std::pair<const Class*, Environment> class_of(const std::string& name) const {
    const Class* chosen = nullptr;
    Environment given;
    const auto take = [&](const Given& from) {
      for (const Modifier& m : *from.modifiers) {
        if (m.name != name) continue;
        if (m.kind == Modifier::Kind::kRedeclareClass && chosen == nullptr) chosen = m.type;
        given.push_back({&m.nested, from.scope, from.index});
      }
    };
    const auto declare = [&](const Element& e) {
      if (e.name != name) return false;
      if (chosen == nullptr) chosen = e.type;
      given.push_back({&e.modifiers, this, -1});
      return true;
    };
    for (const Given& g : outer) take(g);
    for (const Class* c = type; c != nullptr; c = c->base) {
      std::ranges::for_each(c->redeclared, declare);
      if (std::ranges::any_of(c->elements, declare)) break;
      take({&c->base_modifiers, this, -1});
    }
    return {chosen, given};
  }

  Object component(const std::string& subscripted) const {
    const auto bracket = subscripted.find('[');
    const std::string name = subscripted.substr(0, bracket);
    const int index =
        bracket == std::string::npos ? -1 : std::atoi(subscripted.c_str() + bracket + 1) - 1;
    const auto [element, environment] = find(name);
    Object made;
    for (const Given& g : environment)
      for (const Modifier& m : *g.modifiers) {
        if (m.name != name || m.kind == Modifier::Kind::kValue) continue;
        if (m.kind == Modifier::Kind::kRedeclareComponent && made.type == nullptr)
          made.type = m.type;
        made.outer.push_back({&m.nested, g.scope, g.index});
      }
    made.outer.push_back({&element->modifiers, this, index});
    if (element->type_name.empty()) {
      if (made.type == nullptr) made.type = element->type;
    } else {
      const auto [chosen, more] = class_of(element->type_name);
      made.type = chosen;
      made.outer.insert(made.outer.end(), more.begin(), more.end());
    }
    return made;
  }

  double y() const {
    const Class* c = type;
    while (c->base != nullptr) c = c->base;
    double sum = 0.0;
    for (const Linear& term : c->sum) sum += value(term);
    return sum;
  }
};

// --- the generator

class Hierarchy {
 public:
  explicit Hierarchy(unsigned seed) : dice_(seed) {
    for (int k = 0; k < 3; ++k) leaf("L" + std::to_string(k));
    for (int k = 0; k < 2; ++k) composite("C" + std::to_string(k));
    for (int k = 0; k < 2; ++k) derived("D" + std::to_string(k), composites_);
    top();
  }

  std::string text() const {
    std::string all;
    for (const auto& c : classes_) all += text_of(*c);
    return all;
  }
  const Class& root() const { return *classes_.back(); }

 private:
  Class& make(const std::string& name) {
    classes_.push_back(std::make_unique<Class>());
    classes_.back()->name = name;
    return *classes_.back();
  }
  Linear number() { return {dice_.upto(9) - 4, 0, ""}; }
  Linear of(const std::vector<std::string>& names) {
    if (names.empty() || dice_.happens(50)) return number();
    return {dice_.upto(9) - 4, dice_.upto(4) - 2, dice_.one_of(names)};
  }

  void leaf(const std::string& name) {
    Class& c = make(name);
    Element p;
    p.name = "p";
    p.value = number();
    Element q;
    q.name = "q";
    q.value = of({"p"});
    c.elements = {p, q};
    c.sum = {{1, dice_.upto(3) + 1, "p"}, {dice_.upto(5), dice_.upto(3) + 1, "q"}};
    leaves_.push_back(&c);
  }

  // p and q of a leaf, by names of the class that is written.
  Modifiers of_leaf(const std::vector<std::string>& names, int size = 0) {
    Modifiers all;
    for (const char* name : {"p", "q"}) {
      if (dice_.happens(45)) continue;
      Modifier m;
      m.name = name;
      const int count = size > 0 && dice_.happens(50) ? size : 1;
      for (int k = 0; k < count; ++k) m.values.push_back(of(names));
      all.push_back(std::move(m));
    }
    return all;
  }

  void composite(const std::string& name) {
    Class& c = make(name);
    Element r;
    r.name = "r";
    r.value = number();
    Element m;
    m.kind = Element::Kind::kClass;
    m.name = "M";
    m.type = dice_.one_of(leaves_);
    m.modifiers = of_leaf({"r"});
    m.replaceable = true;
    Element a;
    a.kind = Element::Kind::kComponent;
    a.name = "a";
    a.type_name = "M";
    a.modifiers = of_leaf({"r"});
    Element b = a;
    b.name = "b";
    b.type_name = "";
    b.type = dice_.one_of(leaves_);
    b.modifiers = of_leaf({"r"});
    b.replaceable = true;
    Element s = b;
    s.name = "s";
    s.replaceable = false;
    s.size = 2;
    s.type = nullptr;
    s.type_name = "";
    if (dice_.happens(50)) {
      s.type_name = "M";
    } else {
      s.type = dice_.one_of(leaves_);
    }
    s.modifiers = of_leaf({"r"}, 2);
    c.elements = {r, m, a, b, s};
    c.sum = {{0, 1, "r"}, {0, 1, "a.y"}, {0, 2, "b.y"}, {0, 3, "s[1].y"}, {0, -5, "s[2].y"}};
    composites_.push_back(&c);
  }

  // What modifies a composite, in a class that has these names.
  Modifiers of_composite(const std::vector<std::string>& names) {
    Modifiers all;
    const auto add = [&](Modifier::Kind kind, const char* name) -> Modifier& {
      all.push_back({});
      all.back().kind = kind;
      all.back().name = name;
      return all.back();
    };
    if (dice_.happens(50)) add(Modifier::Kind::kValue, "r").values = {of(names)};
    if (dice_.happens(40)) {
      Modifier& m = add(Modifier::Kind::kRedeclareClass, "M");
      m.type = dice_.one_of(leaves_);
      m.nested = of_leaf(names);
    } else if (dice_.happens(40)) {
      add(Modifier::Kind::kNested, "M").nested = of_leaf(names);
    }
    if (dice_.happens(40)) add(Modifier::Kind::kNested, "a").nested = of_leaf(names);
    if (dice_.happens(40)) {
      Modifier& m = add(Modifier::Kind::kRedeclareComponent, "b");
      m.type = dice_.one_of(leaves_);
      m.nested = of_leaf(names);
    } else if (dice_.happens(40)) {
      add(Modifier::Kind::kNested, "b").nested = of_leaf(names);
    }
    return all;
  }

  void derived(const std::string& name, const std::vector<const Class*>& from) {
    Class& c = make(name);
    c.base = dice_.one_of(from);
    Element t;
    t.name = "t" + name;
    t.value = number();
    c.elements = {t};
    c.base_modifiers = of_composite({t.name});
    const bool redeclares =
        std::ranges::any_of(c.base_modifiers, [](const Modifier& m) { return m.name == "M"; });
    if (!redeclares && dice_.happens(50)) {
      Element m;
      m.kind = Element::Kind::kClass;
      m.name = "M";
      m.type = dice_.one_of(leaves_);
      m.modifiers = of_leaf({t.name, "r"});
      c.redeclared = {m};
    }
    // Modified further only where that says nothing about M and b: what a redeclaration keeps of
    // modifiers between it and the declaration is a matter of reading.
    const bool open = std::ranges::none_of(
        c.base_modifiers, [](const Modifier& m) { return m.name == "M" || m.name == "b"; });
    if (open) open_.push_back(&c);
    others_.push_back(&c);
  }

  void top() {
    Class& c = make("Top");
    Element u;
    u.name = "u";
    u.value = number();
    c.elements = {u};
    std::vector<const Class*> modifiable = composites_;
    modifiable.insert(modifiable.end(), open_.begin(), open_.end());
    for (int k = 0; k < 3; ++k) {
      Element e;
      e.kind = Element::Kind::kComponent;
      e.name = "c" + std::to_string(k);
      if (k < 2) {
        e.type = dice_.one_of(modifiable);
        e.modifiers = of_composite({"u"});
      } else {
        e.type = dice_.one_of(others_);
      }
      c.sum.push_back({0, k + 1, e.name + ".y"});
      c.elements.push_back(std::move(e));
    }
  }

  Dice dice_;
  std::vector<std::unique_ptr<Class>> classes_;
  std::vector<const Class*> leaves_, composites_, open_, others_;
};

// Every variable y below an object.
void gather(const Object& object, const std::string& path, std::map<std::string, double>& out) {
  out[path + "y"] = object.y();
  for (const Object::Part& part : object.parts())
    for (const Element& e : part.type->elements) {
      if (e.kind != Element::Kind::kComponent) continue;
      for (int k = 0; k < std::max(e.size, 1); ++k) {
        const std::string name = e.size > 0 ? e.name + "[" + std::to_string(k + 1) + "]" : e.name;
        gather(object.component(name), path + name + ".", out);
      }
    }
}

TEST(ClassOracle, ModifiersReachWhatTheyMean) {
  const int first = setting("SALTUS_ORACLE_FIRST", 1);
  for (int seed = first; seed < first + setting("SALTUS_ORACLE_CASES", 150); ++seed) {
    const Hierarchy hierarchy(static_cast<unsigned>(seed));
    const std::string text = hierarchy.text();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    Object root;
    root.type = &hierarchy.root();
    std::map<std::string, double> expected;
    gather(root, "", expected);
    try {
      const SimulateResult result =
          simulate(build(load_modelica_text(text, "Top", {.use_modelica_path = false}, "m.mo")),
                   {.stop_time = 0.01});
      for (const auto& [name, value] : expected)
        EXPECT_NEAR(result.final.at(name), value, 1e-9 * std::max(1.0, std::abs(value))) << name;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
}

// ---------------------------------------------------------------- programs

// A program works on Reals x[1..3], on Integers i[1..2] and on a vector v of 4.
struct Term {
  std::string text;
  std::function<double(struct Memory&)> value;
};
struct Memory {
  double x[3] = {};
  long i[2] = {};
  double v[4] = {};
  std::map<std::string, long> loops;
  int steps = 0;
};
struct Step {
  std::string text;
  enum class Flow { kNext, kBreak, kReturn };
  std::function<Flow(Memory&)> run;
};

class Program {
 public:
  explicit Program(unsigned seed) : dice_(seed), body_(block(3, 0, false)) {}

  std::string text() const {
    return "function f\n  input Real u;\n  input Integer n;\n  output Real r;\n  output Integer "
           "m;\n"
           "protected\n  Real x1 = u;\n  Real x2 = 2 - u;\n  Real x3 = 0.5;\n  Integer i1 = n;\n"
           "  Integer i2 = 3;\n  Real v[4] = {1, u, 3, -2};\nalgorithm\n  r := 0;\n  m := 0;\n" +
           body_.text + "  r := x1 + 2*x2 - x3 + v[1] - v[2] + 3*v[3] - v[4];\n" +
           "  m := 3*i1 - i2;\nend f;\n";
  }
  std::pair<double, long> run(double u, long n) const {
    Memory memory;
    memory.x[0] = u;
    memory.x[1] = 2 - u;
    memory.x[2] = 0.5;
    memory.i[0] = n;
    memory.i[1] = 3;
    const double start[] = {1, u, 3, -2};
    std::copy(std::begin(start), std::end(start), memory.v);
    body_.run(memory);
    return {memory.x[0] + 2 * memory.x[1] - memory.x[2] + memory.v[0] - memory.v[1] +
                3 * memory.v[2] - memory.v[3],
            3 * memory.i[0] - memory.i[1]};
  }

 private:
  Term integer(int depth) {
    switch (dice_.upto(depth > 0 ? 6 : 2)) {
      case 0: {
        const long k = dice_.upto(6) - 3;
        return {k < 0 ? "(" + std::to_string(k) + ")" : std::to_string(k),
                [k](Memory&) { return static_cast<double>(k); }};
      }
      case 1:
      case 2: {
        if (!loops_.empty() && dice_.happens(50)) {
          const std::string name = dice_.one_of(loops_);
          return {name, [name](Memory& m) { return static_cast<double>(m.loops[name]); }};
        }
        const int k = dice_.upto(1);
        return {"i" + std::to_string(k + 1),
                [k](Memory& m) { return static_cast<double>(m.i[k]); }};
      }
      case 3:
      case 4: {
        const Term a = integer(depth - 1);
        const Term b = integer(depth - 1);
        const bool plus = dice_.happens(50);
        return {"(" + a.text + (plus ? " + " : " - ") + b.text + ")", [=](Memory& m) {
                  const double p = a.value(m);
                  const double q = b.value(m);
                  return plus ? p + q : p - q;
                }};
      }
      default: {
        const Term a = integer(depth - 1);
        const int by = dice_.upto(2) + 2;
        const int which = dice_.upto(2);
        const char* names[] = {"div", "mod", "rem"};
        return {std::string(names[which]) + "(" + a.text + ", " + std::to_string(by) + ")",
                [=](Memory& m) {
                  const double p = a.value(m);
                  if (which == 0) return std::trunc(p / by);
                  if (which == 1) return p - std::floor(p / by) * by;
                  return p - std::trunc(p / by) * by;
                }};
      }
    }
  }
  Term real(int depth) {
    switch (dice_.upto(depth > 0 ? 7 : 2)) {
      case 0: {
        const double k = dice_.upto(8) * 0.5 - 2;
        return {"(" + std::to_string(k) + ")", [k](Memory&) { return k; }};
      }
      case 1:
      case 2: {
        const int k = dice_.upto(2);
        return {"x" + std::to_string(k + 1), [k](Memory& m) { return m.x[k]; }};
      }
      case 3: {
        const Term at = integer(1);
        return {"v[1 + mod(" + at.text + ", 4)]", [at](Memory& m) {
                  const double k = at.value(m);
                  return m.v[static_cast<int>(k - std::floor(k / 4) * 4)];
                }};
      }
      case 4: {
        const Term a = real(depth - 1);
        return {"sin(" + a.text + ")", [a](Memory& m) { return std::sin(a.value(m)); }};
      }
      case 5: {
        const Term a = real(depth - 1);
        const Term b = real(depth - 1);
        const Term c = condition();
        return {"(if " + c.text + " then " + a.text + " else " + b.text + ")",
                [=](Memory& m) { return c.value(m) != 0.0 ? a.value(m) : b.value(m); }};
      }
      default: {
        const Term a = real(depth - 1);
        const Term b = dice_.happens(50) ? real(depth - 1) : integer(1);
        const int op = dice_.upto(2);
        const char* names[] = {" + ", " - ", "*"};
        return {"(" + a.text + names[op] + b.text + ")", [=](Memory& m) {
                  const double p = a.value(m);
                  const double q = b.value(m);
                  return op == 0 ? p + q : op == 1 ? p - q : p * q;
                }};
      }
    }
  }
  Term condition() {
    const bool whole = dice_.happens(50);
    const Term a = whole ? integer(1) : real(1);
    const Term b = whole ? integer(1) : real(1);
    const bool less = dice_.happens(50);
    Term simple = {a.text + (less ? " < " : " >= ") + b.text, [=](Memory& m) {
                     const bool is = a.value(m) < b.value(m);
                     return is == less ? 1.0 : 0.0;
                   }};
    if (dice_.happens(70)) return simple;
    const Term c = integer(1);
    const bool both = dice_.happens(50);
    return {"(" + simple.text + (both ? " and " : " or ") + "not " + c.text + " == 1)",
            [=](Memory& m) {
              const bool p = simple.value(m) != 0.0;
              const bool q = c.value(m) != 1.0;
              return (both ? p && q : p || q) ? 1.0 : 0.0;
            }};
  }

  Step block(int count, int depth, bool in_loop) {
    Step all;
    std::vector<Step> steps;
    for (int k = 0; k < count; ++k) {
      steps.push_back(step(depth, in_loop));
      all.text += steps.back().text;
    }
    all.run = [steps](Memory& m) {
      for (const Step& s : steps)
        if (const Step::Flow flow = s.run(m); flow != Step::Flow::kNext) return flow;
      return Step::Flow::kNext;
    };
    return all;
  }

  Step step(int depth, bool in_loop) {
    const std::string indent(static_cast<std::size_t>(2 + 2 * depth), ' ');
    switch (dice_.upto(depth < 3 ? 8 : 4)) {
      case 0:
      case 1: {
        const int k = dice_.upto(2);
        const Term e = real(2);
        return {indent + "x" + std::to_string(k + 1) + " := " + e.text + ";\n", [=](Memory& m) {
                  m.x[k] = e.value(m);
                  return Step::Flow::kNext;
                }};
      }
      case 2: {
        const int k = dice_.upto(1);
        const Term e = integer(2);
        return {indent + "i" + std::to_string(k + 1) + " := " + e.text + ";\n", [=](Memory& m) {
                  m.i[k] = std::lround(e.value(m));
                  return Step::Flow::kNext;
                }};
      }
      case 3:
      case 4: {
        const Term at = integer(1);
        const Term e = real(2);
        return {indent + "v[1 + mod(" + at.text + ", 4)] := " + e.text + ";\n", [=](Memory& m) {
                  const double k = at.value(m);
                  m.v[static_cast<int>(k - std::floor(k / 4) * 4)] = e.value(m);
                  return Step::Flow::kNext;
                }};
      }
      case 5:
      case 6: {
        const Term c = condition();
        const Step yes = block(1 + dice_.upto(1), depth + 1, in_loop);
        const bool leaves = in_loop && dice_.happens(25);
        const Step no =
            leaves ? Step{indent + "  break;\n", [](Memory&) { return Step::Flow::kBreak; }}
                   : block(1, depth + 1, in_loop);
        return {indent + "if " + c.text + " then\n" + yes.text + indent + "else\n" + no.text +
                    indent + "end if;\n",
                [=](Memory& m) { return c.value(m) != 0.0 ? yes.run(m) : no.run(m); }};
      }
      default: {
        const std::string name = "k" + std::to_string(depth);
        const int last = 1 + dice_.upto(2);
        loops_.push_back(name);
        const Step body = block(1 + dice_.upto(1), depth + 1, true);
        loops_.pop_back();
        return {indent + "for " + name + " in 1:" + std::to_string(last) + " loop\n" + body.text +
                    indent + "end for;\n",
                [=](Memory& m) {
                  for (long k = 1; k <= last; ++k) {
                    m.loops[name] = k;
                    const Step::Flow flow = body.run(m);
                    if (flow == Step::Flow::kBreak) break;
                    if (flow == Step::Flow::kReturn) return flow;
                  }
                  return Step::Flow::kNext;
                }};
      }
    }
  }

  Dice dice_;
  std::vector<std::string> loops_;
  Step body_;
};

// With numbers, with a Real and an Integer that vary at an event.
TEST(ProgramOracle, FunctionsComputeWhatTheySay) {
  const int first = setting("SALTUS_ORACLE_FIRST", 1);
  for (int seed = first; seed < first + setting("SALTUS_ORACLE_CASES", 100); ++seed) {
    const Program program(static_cast<unsigned>(seed));
    const std::string text =
        program.text() +
        "model M\n  parameter Real a = 0.3;\n  discrete Real b(start = 0.3);\n"
        "  Real r1, r2, r3;\n  discrete Integer n(start = 2, fixed = true);\n"
        "  discrete Integer m1(start = 0), m3(start = 0);\n"
        "  discrete Real w(start = 0);\nequation\n"
        "  r1 = f(a, 2);\n  r2 = f(b, 2);\n  r3 = f(b, n);\n"
        "  when time > 0.5 then\n    n = -1;\n    b = 1.3;\n    (w, m1) = f(0.7, 4);\n"
        "    m3 = 1;\n  end when;\nend M;\n";
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const auto near = [](double value, double wanted) {
      return std::abs(value - wanted) <= 1e-9 * std::max(1.0, std::abs(wanted));
    };
    try {
      const SimulateResult result =
          simulate(build(load_modelica_text(text, "M", {.use_modelica_path = false}, "m.mo")),
                   {.stop_time = 1.0});
      EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
      EXPECT_PRED2(near, result.final.at("r1"), program.run(0.3, 2).first);
      EXPECT_PRED2(near, result.final.at("r2"), program.run(1.3, 2).first);
      EXPECT_PRED2(near, result.final.at("r3"), program.run(1.3, -1).first);
      EXPECT_PRED2(near, result.final.at("w"), program.run(0.7, 4).first);
      EXPECT_EQ(std::lround(result.final.at("m1")), program.run(0.7, 4).second);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace saltus
