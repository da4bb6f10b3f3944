#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modelica/flatten_testing.h"

namespace saltus {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kMechanics = R"(
  type Angle = Real(unit = "rad");
  connector Flange Angle phi; flow Real tau(unit = "N.m"); end Flange;
  partial model Two Flange a; Flange b; end Two;
  model Inertia
    extends Two;
    parameter Real J = 1;
    Real w(start = 0);
  equation
    a.phi = b.phi;
    w = der(a.phi);
    J*der(w) = a.tau + b.tau;
  end Inertia;
  model Spring
    extends Two;
    parameter Real c = 10;
  equation
    b.tau = c*(b.phi - a.phi);
    a.tau = -b.tau;
  end Spring;
)";

TEST(Flatten, ReadsVariablesParametersAndEquations) {
  const FlatModel m = flatten_text(R"(
    model M "a model"
      parameter Real k = 2 "gain";
      parameter Real k2 = 2*k;
      Real x(start = k, fixed = true, unit = "m", nominal = 10) "place";
    equation
      der(x) = -k2*x;
      annotation(experiment(StopTime = 3, Tolerance = 1e-8, Interval = 0.1));
    end M;)");
  EXPECT_EQ(m.system.name(), "M");
  ASSERT_NE(find_variable(m, "x"), nullptr);
  const Variable& x = *find_variable(m, "x");
  EXPECT_TRUE(x.fixed);
  EXPECT_EQ(x.unit, "m");
  EXPECT_EQ(x.nominal, 10.0);
  EXPECT_EQ(x.description, "place");
  EXPECT_EQ(to_string(x.start), "k");
  ASSERT_NE(find_parameter(m, "k"), nullptr);
  EXPECT_EQ(find_parameter(m, "k")->value, 2.0);
  EXPECT_EQ(derived_text(m, "k2"), "2*k");
  ASSERT_EQ(m.equations.size(), 1u);
  const auto& e = std::get<Equation>(m.equations[0].value);
  EXPECT_EQ(e.name, "der(x) = -k2 * x");
  EXPECT_EQ(e.where.line, 7);
  EXPECT_EQ(m.system.experiment.stop_time, 3.0);
  EXPECT_EQ(m.system.experiment.tolerance, 1e-8);
  EXPECT_EQ(m.system.experiment.interval, 0.1);
}

TEST(Flatten, LetsOuterModificationsWinOverInnerOnes) {
  const FlatModel m = flatten_text(R"(
    model A parameter Real p = 1; parameter Real q = 1; parameter Real r = 1; end A;
    model B extends A(p = 2, q = 2); end B;
    model C B b(p = 3); end C;
    model M C c(b.r = 4, b(q = 5)); end M;)");
  EXPECT_EQ(find_parameter(m, "c.b.p")->value, 3.0);
  EXPECT_EQ(find_parameter(m, "c.b.q")->value, 5.0);
  EXPECT_EQ(find_parameter(m, "c.b.r")->value, 4.0);
}

TEST(Flatten, AppliesOverridesOutermost) {
  const std::string text =
      "model A parameter Integer n = 2; Real x[n](each start = 1); equation x = fill(time, n); "
      "end A; model M A a(n = 3); Real y(start = 1); equation der(y) = 1; end M;";
  const FlatModel m = flatten_text(text, {.overrides = {{"a.n", "2 + 2"}, {"y", "7"}}});
  EXPECT_NE(find_variable(m, "a.x[4]"), nullptr);
  EXPECT_EQ(find_variable(m, "a.x[5]"), nullptr);
  EXPECT_EQ(to_string(find_variable(m, "y")->start), "7");
  EXPECT_EQ(m.equations.size(), 5u);
  try {
    flatten_text(text, {.overrides = {{"a.m", "1"}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--set a.m: 'a' has no 'm'"));
  }
}

TEST(Flatten, InputsAreEquationsForFreeVariables) {
  const std::string text =
      "model M Real x(start = 1), y; Real force; equation der(x) = y; der(y) = force; end M;";
  EXPECT_THAT(message_of(text), HasSubstr("force"));
  const FlatModel m = flatten_text(text, {.inputs = {{"force", "-2*x - sin(time)"}}});
  EXPECT_THAT(texts_of(m.equations), Contains("force = -2*x - sin(time)"));
  try {
    flatten_text(text, {.inputs = {{"fore", "1"}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--input fore"));
    EXPECT_THAT(error.what(), HasSubstr("force"));
  }
}

TEST(Flatten, ConnectsFlowsAndPotentials) {
  const FlatModel m = flatten_text(std::string(kMechanics) + R"(
    model M
      Inertia i1(J = 2); Spring s; Inertia i2;
    equation
      connect(i1.b, s.a);
      connect(s.b, i2.a);
    end M;)");
  EXPECT_EQ(m.system.variables().size(), m.equations.size());
  const std::vector<std::string> texts = texts_of(m.equations);
  EXPECT_THAT(texts, Contains("s.a.phi = i1.b.phi"));
  EXPECT_THAT(texts, Contains("i1.b.tau + s.a.tau = 0"));
  EXPECT_THAT(texts, Contains("i1.a.tau = 0"));
  EXPECT_THAT(texts, Contains("i2.b.tau = 0"));
  EXPECT_EQ(find_variable(m, "s.a.phi")->unit, "rad");
}

TEST(Flatten, CountsFlowsOfOutsideConnectorsNegative) {
  const FlatModel m = flatten_text(std::string(kMechanics) + R"(
    model Sub Flange f; Inertia i; equation connect(f, i.a); end Sub;
    model M Sub s; end M;)");
  EXPECT_THAT(texts_of(m.equations), Contains("s.i.a.tau - s.f.tau = 0"));
  EXPECT_THAT(texts_of(m.equations), Contains("s.f.tau = 0"));
  EXPECT_EQ(m.system.variables().size(), m.equations.size());
}

TEST(Flatten, ExpandsArraysOfComponents) {
  const FlatModel m = flatten_text(std::string(kMechanics) + R"(
    model M
      parameter Integer n = 3;
      Inertia i[n](J = {1, 2, 3}, each w(start = 5));
      Spring s[n - 1](c = {10*k for k in 1:n - 1});
    equation
      connect(i[1:n - 1].b, s.a);
      for k in 1:n - 1 loop connect(s[k].b, i[k + 1].a); end for;
    end M;)");
  EXPECT_EQ(find_parameter(m, "i[2].J")->value, 2.0);
  EXPECT_EQ(find_parameter(m, "s[2].c")->value, 20.0);
  EXPECT_EQ(to_string(find_variable(m, "i[3].w")->start), "5");
  EXPECT_EQ(m.system.variables().size(), m.equations.size());
  EXPECT_THAT(texts_of(m.equations), Contains("s[2].b.tau + i[3].a.tau = 0"));
}

TEST(Flatten, DropsConditionalComponentsAndTheirConnections) {
  const std::string text = std::string(kMechanics) + R"(
    model M
      parameter Boolean on = false;
      Inertia i; Spring s if on;
    equation
      connect(i.b, s.a);
    end M;)";
  EXPECT_EQ(find_variable(flatten_text(text), "s.a.phi"), nullptr);
  const FlatModel with = flatten_text(text, {.overrides = {{"on", "true"}}});
  EXPECT_NE(find_variable(with, "s.a.phi"), nullptr);
  EXPECT_EQ(with.system.variables().size(), with.equations.size());
}

TEST(Flatten, RedeclaresComponentsAndClasses) {
  const FlatModel m = flatten_text(R"(
    partial model Law Real x; Real y; end Law;
    model Linear extends Law; parameter Real k = 1; equation y = k*x; end Linear;
    model Square extends Law; parameter Real k = 1; equation y = k*x^2; end Square;
    model Part
      replaceable Linear law constrainedby Law;
      replaceable model Second = Linear;
      Second second;
    equation
      law.x = time; second.x = time;
    end Part;
    model M
      Part p(redeclare Square law(k = 3), redeclare model Second = Square(k = 4));
    end M;)");
  EXPECT_EQ(find_parameter(m, "p.law.k")->value, 3.0);
  EXPECT_EQ(find_parameter(m, "p.second.k")->value, 4.0);
  EXPECT_THAT(texts_of(m.equations), Contains("p.law.y = p.law.k*p.law.x^2"));
  EXPECT_THAT(texts_of(m.equations), Contains("p.second.y = p.second.k*p.second.x^2"));
}

TEST(Flatten, FindsInnerComponents) {
  const FlatModel m = flatten_text(R"(
    model World parameter Real g = 9.81; end World;
    model Body outer World world; Real v; equation der(v) = -world.g; end Body;
    model M inner World world(g = 1.62); Body body; end M;)");
  EXPECT_THAT(texts_of(m.equations), ElementsAre("der(body.v) = -world.g"));
  EXPECT_EQ(find_parameter(m, "world.g")->value, 1.62);
}

TEST(Flatten, TakesPackagesImportsAndConstants) {
  const FlatModel m = flatten_text(R"(
    package P
      constant Real g = 9.81;
      package Q function twice input Real u; output Real y; algorithm y := 2*u; end twice; end Q;
      type Kind = enumeration(slow, fast);
    end P;
    model M
      import P.Q.*; import K = P.Kind;
      parameter K kind = K.fast;
      Real x = twice(P.g); Real y = if kind == K.fast then 1 else 0;
    end M;)");
  EXPECT_THAT(texts_of(m.equations), ElementsAre("x = 19.62", "y = 1"));
}

TEST(Flatten, MakesWhenClausesDiscrete) {
  const FlatModel m = flatten_text(R"(
    model M
      Real h(start = 1), v;
      Integer n(start = 0, fixed = true);
      Boolean low;
      Real last;
    equation
      der(h) = v; der(v) = -9.81;
      low = h < 0;
      when low and v < 0 then
        reinit(v, -0.5*pre(v)); n = pre(n) + 1; last = time;
      end when;
    end M;)");
  EXPECT_EQ(m.equations.size(), 2u);
  EXPECT_EQ(m.relations.size(), 2u);
  ASSERT_EQ(m.reinits.size(), 1u);
  EXPECT_EQ(to_string(m.reinits[0].value), "-0.5*v");
  EXPECT_EQ(find_variable(m, "last"), nullptr);
  bool found = false;
  for (const DiscreteVariable& d : m.discretes) {
    EXPECT_EQ(d.fixed, d.name == "n");
    found = found || (d.name == "last" && d.type == DiscreteType::kReal);
  }
  EXPECT_TRUE(found);
}

TEST(Flatten, DecidesParameterConditionsAndKeepsOthers) {
  const FlatModel m = flatten_text(R"(
    model M
      parameter Boolean simple = true;
      Real x, y;
    equation
      if simple then x = 1; else x = sin(y); end if;
      if time < 0.5 then der(y) = 10; else y = -5; end if;
    end M;)");
  ASSERT_EQ(m.equations.size(), 2u);
  EXPECT_THAT(texts_of(m.equations), ElementsAre("x = 1"));
  const auto& choice = std::get<IfEquation>(m.equations[1].value);
  EXPECT_EQ(choice.conditions.size(), 1u);
  EXPECT_THAT(texts_of(choice.branches[0]), ElementsAre("der(y) = 10"));
  EXPECT_THAT(texts_of(choice.branches[1]), ElementsAre("y = -5"));
}

TEST(Flatten, DirectsDiscreteEqualitiesByMatching) {
  // b = a can only give b, because a has its own equation, whichever way it is written.
  const FlatModel m =
      flatten_text("model M Boolean a, b, c; equation b = c; a = b; c = time > 1; end M;");
  for (const char* text : {"b := c", "a := b", "c := time > 1"})
    EXPECT_THAT(discrete_texts(m), Contains(text));
}

TEST(Flatten, RunsAlgorithmsSymbolically) {
  const FlatModel m = flatten_text(R"(
    model M
      Real x = time; Real y; Integer n(start = 0);
    algorithm
      y := x;
      for i in 1:3 loop y := y*x + i; end for;
      if x > 2 then y := -y; end if;
      when x > 1 then n := pre(n) + 1; end when;
    end M;)");
  EXPECT_THAT(texts_of(m.equations), Contains(HasSubstr("y = if x > 2 then -(")));
  EXPECT_THAT(discrete_texts(m), Contains(HasSubstr("n := if ")));
}

TEST(Flatten, RefusesWithPlaceAndName) {
  EXPECT_THAT(message_of("model M Real speed; equation\n  der(sped) = 1; end M;"),
              HasSubstr("model.mo:2:7: error: there is no 'sped' in 'M' (did you mean 'speed'?)"));
  EXPECT_THAT(message_of("model M\n  Reel x; end M;"),
              HasSubstr("model.mo:2:3: error: there is no 'Reel' in 'M' (did you mean 'Real'?)"));
  EXPECT_THAT(message_of("model M Real x[2], y[3]; equation\n  x = y; end M;"),
              HasSubstr("differ in shape: [2] and [3]"));
  EXPECT_THAT(message_of("model M Boolean b; Real x; equation b = true;\n x = b; end M;"),
              HasSubstr("model.mo:2:"));
  EXPECT_THAT(message_of("model M Real x; equation\n x = inStream(time); end M;"),
              HasSubstr("model.mo:2:15: error: 'time' cannot be used like this"));
  EXPECT_THAT(message_of("model M parameter Real p;\n Real x = p; end M;"),
              HasSubstr("parameter 'p' has no value"));
  EXPECT_THAT(message_of("model M parameter Real p = q; parameter Real q = p; Real x = p; end M;"),
              HasSubstr("depends on itself"));
  EXPECT_THAT(message_of("model A A a; end A;"), HasSubstr("contains itself without end"));
  EXPECT_THAT(message_of("model A extends A; end A;"), HasSubstr("extends itself"));
}

TEST(Flatten, EachMayStandAnywhereOnTheWayToAValue) {
  const FlatModel model = flatten_text(
      "model C Real v(start = 1), w[2](start = {1, 1}); equation der(v) = 0; der(w) = {0, 0}; end "
      "C;"
      "model D C c[2]; end D;"
      "model M C a[2](v(each start = 3), w(start = {{1, 2}, {3, 4}}));"
      "  D d[2](c(v(each start = 5), each w(start = {6, 7}))); C b[2](v.start = {8, 9}); end M;");
  EXPECT_EQ(find_variable(model, "a[2].v")->start.number(), 3.0);
  EXPECT_EQ(find_variable(model, "a[2].w[1]")->start.number(), 3.0);
  EXPECT_EQ(find_variable(model, "d[1].c[2].v")->start.number(), 5.0);
  EXPECT_EQ(find_variable(model, "d[2].c[1].w[2]")->start.number(), 7.0);
  EXPECT_EQ(find_variable(model, "b[2].v")->start.number(), 9.0);
}

TEST(Flatten, OperatorsRefuseArgumentsOfAnotherKind) {
  const auto refusal = [](const std::string& call) {
    return message_of("model M Real x; equation\n  x = " + call + "; end M;");
  };
  const auto at = [](const char* message) { return HasSubstr(std::string("error: ") + message); };
  EXPECT_THAT(refusal("integer(\"2\")"), at("integer() needs numbers, not String"));
  EXPECT_THAT(refusal("mod(\"a\", 2)"), at("mod() needs numbers, not String"));
  EXPECT_THAT(refusal("semiLinear({}, 1, 2)"), at("semiLinear() needs a scalar, not [0]"));
  EXPECT_THAT(refusal("sum(symmetric({1, 2}))"), at("symmetric() of [2]"));
  EXPECT_THAT(refusal("sum(symmetric([1; 2; 3]))"), at("symmetric() of [3, 1]"));
  EXPECT_THAT(refusal("sum(skew({\"a\", \"b\", \"c\"}))"), at("skew() needs numbers"));
  EXPECT_THAT(refusal("scalar({1, 2})"), at("scalar() of [2]"));
  EXPECT_THAT(refusal("sum(zeros(2.5))"), at("zeros(): the size of an array is an Integer"));
  EXPECT_THAT(refusal("sum(fill(1, 1000000, 1000000))"), at("an array of 1e+12 elements"));
  EXPECT_THAT(refusal("sum(linspace(0, 1, 1))"), at("linspace() needs at least 2 points"));
  EXPECT_THAT(refusal("sum({1, 2}^2)"), at("'^' of [2]: square matrices"));
  EXPECT_THAT(refusal("sum([1, 2; 3, 4]^1000000000)"), at("'^' of [2, 2]: square matrices"));
  EXPECT_THAT(refusal("if edge(1) then 1 else 2"), at("edge() needs a Boolean, not Integer"));
  EXPECT_THAT(refusal("1/0"), at("a side of the equation x = 1 / 0 is not a finite number"));
  EXPECT_THAT(refusal("sin"), at("'sin' cannot be used like this"));
}

}  // namespace
}  // namespace saltus
