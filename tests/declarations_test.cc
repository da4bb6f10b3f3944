// The meaning of declarations, as the specification (Modelica 3.6) gives it: lookup, modification
// and redeclaration (chapters 5, 7 and 13), records, operator records, overdetermined connectors
// and discrete equations. Every model gives y a number that follows from the text alone.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

namespace saltus {
namespace {

struct Form {
  std::string name;
  double y;
  std::string text;  // the last class is the model
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

class Context : public testing::TestWithParam<Form> {};

TEST_P(Context, GivesTheNumberOfTheSpecification) {
  const Form& form = GetParam();
  const SimulateResult result =
      simulate(build(load_modelica_text(form.text, "", {.use_modelica_path = false}, "m.mo")),
               {.stop_time = 1.0});
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  EXPECT_NEAR(result.final.at("y"), form.y, 1e-9) << form.text;
}

// Its rounds depend on x, so it is run with numbers during the simulation: p has no place there.
TEST(Context, RefusesAFunctionRunWithNumbersThatReadsAParameter) {
  const std::string text =
      "function f input Real u; input Real k = 1; output Real v; algorithm v := k;\n"
      "  while v < u loop v := v*2; end while; end f;\n"
      "model X parameter Real p = 4; function g = f(k = p); Real x(start = 5, fixed = true);\n"
      "  Real y = g(x); equation der(x) = 1; end X;";
  EXPECT_THROW(load_modelica_text(text, "", {.use_modelica_path = false}, "m.mo"), Error);
}

const std::string kTwo =
    "model A parameter Real k = 1; Real x = k; end A;\n"
    "model B parameter Real k = 10; Real x = 2*k; end B;\n";
const std::string kHolder = kTwo + "model H replaceable model M = A; M m; Real y = m.x; end H;\n";
const std::string kFunctions =
    "function f input Real u; output Real v; algorithm v := u; end f;\n"
    "function g input Real u; output Real v; algorithm v := 10*u; end g;\n";
const std::string kPackages =
    "package P constant Real k = 1;\n"
    "  function f input Real u; output Real v; algorithm v := k*u; end f;\n"
    "  model M Real x = k; end M;\n  record R Real a = k; end R;\n  type T = Real(start = k);\n"
    "end P;\n"
    "package Q extends P(k = 7); end Q;\n";
const std::string kMedium =
    "partial package PartialMedium\n  constant Real c = 1;\n"
    "  replaceable record State Real p; end State;\n"
    "  replaceable partial function h input State s; output Real v; end h;\n"
    "  function twice input State s; output Real v; algorithm v := 2*h(s); end twice;\n"
    "  replaceable model Base State s; Real v = h(s) + c; end Base;\nend PartialMedium;\n"
    "package Water extends PartialMedium(c = 100);\n"
    "  redeclare record extends State Real T; end State;\n"
    "  redeclare replaceable function extends h algorithm v := s.p*s.T; end h;\n"
    "  redeclare model extends Base Real extra = c; end Base;\nend Water;\n";

const std::vector<Form> kModels = {
    {"model by modifier", 20, kHolder + "model X H h(redeclare model M = B); Real y = h.y; end X;"},
    {"model by modifier, with a value", 6,
     kHolder + "model X H h(redeclare model M = B(k = 3)); Real y = h.y; end X;"},
    {"model by modifier of extends", 20,
     kHolder + "model X extends H(redeclare model M = B); end X;"},
    {"model by element", 20, kHolder + "model X extends H; redeclare model M = B; end X;"},
    {"model by element, long", 42,
     kHolder + "model X extends H; redeclare model M parameter Real k = 1; Real x = 42; end M;\n"
               "end X;"},
    {"model by element after extends, inherited again", 20,
     kHolder + "model X extends H; redeclare model M = B; end X;\nmodel Y extends X; end Y;"},
    {"model by element, again by modifier", 5,
     kHolder + "model C parameter Real k = 5; Real x = k; end C;\n"
               "model X extends H; redeclare replaceable model M = B; end X;\n"
               "model Y extends X(redeclare model M = C); end Y;"},
    {"class extends", 7,
     kHolder + "model X extends H; redeclare model extends M(k = 3) Real z = 4; end M;\n"
               "  Real w = m.x + m.z; end X;\nmodel Y X x; Real y = x.w; end Y;"},
    {"two levels down", 20,
     kHolder + "model I H h; Real y = h.y; end I;\n"
               "model X I i(h(redeclare model M = B)); Real y = i.y; end X;"},
    {"by a class of the modifier's own scope", 8,
     kHolder + "model X model M2 parameter Real k = 0; Real x = 8; end M2;\n"
               "  H h(redeclare model M = M2); Real y = h.y; end X;"},
    {"by a replaceable class of the modifier's own scope", 20,
     kHolder + "model X replaceable model N = A; H h(redeclare model M = N); Real y = h.y; end X;\n"
               "model Y extends X(redeclare model N = B); end Y;"},
    {"modifiers of the replaced class stay", 14,
     kTwo + "model H replaceable model M = A(k = 7); M m; Real y = m.x; end H;\n"
            "model X extends H(redeclare model M = B); end X;"},
    {"modifiers of constrainedby", 12,
     kTwo + "model H replaceable model M = A(k = 7) constrainedby A(k = 6); M m; Real y = m.x;\n"
            "end H;\nmodel X H h(redeclare model M = B); Real y = h.y; end X;"},
    {"modifiers of constrainedby, by element", 12,
     kTwo + "model H replaceable model M = A constrainedby A(k = 6); M m; Real y = m.x; end H;\n"
            "model X extends H; redeclare model M = B; end X;"},
    {"own modifiers before those of constrainedby", 4,
     kTwo + "model H replaceable model M = A constrainedby A(k = 6); M m; Real y = m.x; end H;\n"
            "model X H h(redeclare model M = B(k = 2)); Real y = h.y; end X;"},
    {"modifiers of constrainedby hold without redeclaration only as written", 7,
     kTwo + "model H replaceable model M = A(k = 7) constrainedby A; M m; Real y = m.x; end H;\n"
            "model X extends H; end X;"},
    {"component by modifier", 20,
     kTwo + "model H replaceable A m; Real y = m.x; end H;\n"
            "model X H h(redeclare B m); Real y = h.y; end X;"},
    {"component by element", 20,
     kTwo + "model H replaceable A m; Real y = m.x; end H;\n"
            "model X extends H; redeclare B m; end X;"},
    {"component keeps its modifiers", 6,
     kTwo + "model H replaceable A m(k = 3); Real y = m.x; end H;\n"
            "model X H h(redeclare B m); Real y = h.y; end X;"},
    {"component by element keeps its modifiers", 6,
     kTwo + "model H replaceable A m(k = 3); Real y = m.x; end H;\n"
            "model X extends H; redeclare B m; end X;"},
    {"component takes those of constrainedby only", 20,
     kTwo + "model H replaceable A m(k = 3) constrainedby A; Real y = m.x; end H;\n"
            "model X H h(redeclare B m); Real y = h.y; end X;"},
    {"component modified after its redeclaration", 8,
     kTwo + "model H replaceable A m; Real y = m.x; end H;\n"
            "model X H h(redeclare B m); Real y = h.y; end X;\n"
            "model Y X x(h(m(k = 4))); Real y = x.y; end Y;"},
    {"in an array of components", 20,
     kHolder + "model X H h[2](redeclare each model M = B); Real y = h[2].y; end X;"},
    {"through inner and outer", 20,
     kHolder + "model O outer H h; Real y = h.y; end O;\n"
               "model X inner H h(redeclare model M = B); O o; Real y = o.y; end X;"},
    {"of a class inside a package", 20,
     "package L\n" + kHolder +
         "end L;\nmodel X L.H h(redeclare model M = L.B); Real y = h.y; end X;"},
    {"connector", 3,
     "connector C1 Real e; flow Real f; end C1;\nconnector C2 Real e; flow Real f; output Real w = "
     "3;\n"
     "end C2;\nmodel H replaceable connector C = C1; C c; Real z = c.e; equation c.e = 0; end H;\n"
     "model X extends H(redeclare connector C = C2); Real y = c.w; end X;"},
    {"extends of a redeclared class of a package", 20,
     kTwo + "package P replaceable model M = A; end P;\npackage Q = P(redeclare model M = B);\n"
            "model X Q.M m; Real y = m.x; end X;"},
    {"model from a package that extends", 20,
     kTwo + "package P replaceable model M = A; model H M m; Real y = m.x; end H; end P;\n"
            "package Q extends P(redeclare model M = B); end Q;\n"
            "model X Q.H h; Real y = h.y; end X;"},
    {"model from a package that redeclares by element", 20,
     kTwo + "package P replaceable model M = A; model H M m; Real y = m.x; end H; end P;\n"
            "package Q extends P; redeclare model M = B; end Q;\n"
            "model X extends Q.H; end X;"},
};

// Section 5.4: the class that declares `inner outer` means the component further out, its own
// components mean the one declared there.
const std::string kWorlds =
    "model W parameter Real g = 9.81; end W;\nmodel B outer W w; Real v = w.g; end B;\n"
    "model N inner outer W w(g = 2*w.g); Real own = w.g; B b; end N;\n"
    "model F inner outer W w(g = w.g + 1); N n; B b; end F;\n";
const std::vector<Form> kInnerOuter = {
    {"seen from its class", 5, kWorlds + "model X inner W w(g = 5); N n; Real y = n.own; end X;"},
    {"seen from its components", 10,
     kWorlds + "model X inner W w(g = 5); N n; Real y = n.b.v; end X;"},
    {"does not change what is around it", 5,
     kWorlds + "model X inner W w(g = 5); N n; B b; Real y = b.v; end X;"},
    {"nested, seen from the inner class", 6,
     kWorlds + "model X inner W w(g = 5); F f; Real y = f.n.own; end X;"},
    {"nested, seen from inside, in an array", 12,
     kWorlds + "model X inner W w(g = 5); F f[2]; Real y = f[2].n.b.v; end X;"},
    {"a variable", 70,
     "model L outer Real k; Real v = 10*k; end L;\n"
     "model M inner outer Real k = 2*k + 1; L l; end M;\n"
     "model X inner Real k = 3; M m; Real y = m.l.v; end X;"},
    {"a variable that an algorithm of its class reads", 6,
     "model L outer Real k; Real v = k; end L;\n"
     "model M inner outer Real k = 8; L l; Real z; algorithm z := 2*k; end M;\n"
     "model X inner Real k = 3; M m; Real y = m.z; end X;"},
};

const std::vector<Form> kClassModifiers = {
    {"of a class of a component", 2,
     "model A model B parameter Real k = 1; end B; B b; end A;\n"
     "model X A a(B(k = 2)); Real y = a.b.k; end X;"},
    {"of a class of a base", 2,
     "model A model B parameter Real k = 1; end B; B b; end A;\n"
     "model X extends A(B(k = 2)); Real y = b.k; end X;"},
    {"of a type: start", 2,
     "model A type T = Real; T x(fixed = true); equation der(x) = 0; end A;\n"
     "model X A a(T(start = 2)); Real y = a.x; end X;"},
    {"of a short class", 3,
     "model A parameter Real k = 1; end A;\nmodel B = A(k = 2);\nmodel C = B(k = 3);\n"
     "model X C c; Real y = c.k; end X;"},
    {"of a short class in extends", 3,
     "model A parameter Real k = 1; end A;\nmodel B = A(k = 3);\n"
     "model X extends B; Real y = k; end X;"},
    {"of a class below a redeclared one", 5,
     "model A model B parameter Real k = 1; end B; B b; end A;\n"
     "model H replaceable model M = A; M m; end H;\n"
     "model X H h(M(B(k = 5))); Real y = h.m.b.k; end X;"},
    {"written where it is evaluated", 4,
     "model A model B parameter Real k = 1; end B; B b; parameter Real p = 3; end A;\n"
     "model X parameter Real p = 4; A a(B(k = p)); Real y = a.b.k; end X;"},
    {"dimensions of a base type", 9,
     "type T33 = Real[3, 3];\ntype A extends T33; end A;\n"
     "model X A a = fill(1.0, 3, 3); Real y = sum(a); end X;"},
    {"type redeclared by modifier", 5,
     "model H replaceable type T = Real; T x(fixed = true); equation der(x) = 0; end H;\n"
     "model X H h(redeclare type T = Real(start = 5)); Real y = h.x; end X;"},
    {"type redeclared by element, with dimensions", 6,
     "model H replaceable type T = Real[2]; T x = fill(2.0, size(x, 1)); Real y = sum(x); end H;\n"
     "model X extends H; redeclare type T = Real[3]; end X;"},
    {"record redeclared", 12,
     "record R Real a = 1; end R;\nrecord S extends R(a = 5); Real b = 7; end S;\n"
     "model H replaceable record Q = R; parameter Q q; end H;\n"
     "model X H h(redeclare record Q = S); Real y = h.q.a + h.q.b; end X;"},
    {"record constructor in the context", 12,
     "record R Real a = 1; end R;\n"
     "model H replaceable record Q = R; Q q = Q(); Real y = q.a; end H;\n"
     "model X extends H(redeclare record Q = R(a = 12)); end X;"},
    {"protected record of a function", 11,
     "record R Real a = 1; Real b = 2*a; end R;\n"
     "function f input Real u; output Real v; protected R r(a = 5); algorithm\n"
     "  v := u + r.b; end f;\nmodel X Real y = f(1); end X;"},
    {"protected record of a function, part assigned", 8,
     "record R Real a = 1; Real b = 2; end R;\n"
     "function f input Real u; output Real v; protected R r(b = 5); algorithm\n"
     "  r.a := 3*u; v := r.a + r.b; end f;\nmodel X Real y = f(1); end X;"},
};

const std::vector<Form> kOfFunctions = {
    {"by modifier", 20,
     kFunctions + "model H replaceable function F = f; Real y = F(2); end H;\n"
                  "model X H h(redeclare function F = g); Real y = h.y; end X;"},
    {"by modifier of extends", 20,
     kFunctions + "model H replaceable function F = f; Real y = F(2); end H;\n"
                  "model X extends H(redeclare function F = g); end X;"},
    {"by element", 20,
     kFunctions + "model H replaceable function F = f; Real y = F(2); end H;\n"
                  "model X extends H; redeclare function F = g; end X;"},
    {"default of a short function", 5,
     "function f input Real u = 1; output Real v; algorithm v := u; end f;\n"
     "function g = f(u = 5);\nmodel X Real y = g(); end X;"},
    {"default of a short function of a short function", 30,
     "function f input Real u = 1; input Real w = 2; output Real v; algorithm v := u*w; end f;\n"
     "function g = f(u = 5);\nfunction h = g(w = 6);\nmodel X Real y = h(); end X;"},
    {"default changed by extends", 5,
     "function f input Real u = 1; output Real v; algorithm v := u; end f;\n"
     "function g extends f(u = 5); end g;\nmodel X Real y = g(); end X;"},
    {"redeclared with a default", 50,
     kFunctions + "model H replaceable function F = f(u = 1); Real y = F(); end H;\n"
                  "model X extends H(redeclare function F = g(u = 5)); end X;"},
    {"default keeps after redeclaration", 10,
     kFunctions + "model H replaceable function F = f(u = 1); Real y = F(); end H;\n"
                  "model X extends H(redeclare function F = g); end X;"},
    {"inside a function of a package", 40,
     kFunctions + "package P replaceable function F = f;\n"
                  "  function t input Real u; output Real v; algorithm v := 2*F(u); end t; end P;\n"
                  "package Q extends P(redeclare function F = g); end Q;\n"
                  "model X Real y = Q.t(2); end X;"},
    {"inside a function of a package, by element", 40,
     kFunctions + "package P replaceable function F = f;\n"
                  "  function t input Real u; output Real v; algorithm v := 2*F(u); end t; end P;\n"
                  "package Q extends P; redeclare function F = g; end Q;\n"
                  "model X Real y = Q.t(2); end X;"},
    {"function extends", 3,
     "partial package P replaceable partial function h input Real u; output Real v; end h;\n"
     "  function t input Real u; output Real v; algorithm v := h(u); end t; end P;\n"
     "package Q extends P; redeclare function extends h algorithm v := u + 1; end h; end Q;\n"
     "model X Real y = Q.t(2); end X;"},
    {"as an argument", 20,
     kFunctions + "partial function ff input Real u; output Real v; end ff;\n"
                  "function apply input ff q; input Real u; output Real v; algorithm v := q(u);\n"
                  "end apply;\nmodel H replaceable function F = f; Real y = apply(F, 2); end H;\n"
                  "model X extends H(redeclare function F = g); end X;"},
    {"with a while loop over what varies", 8,
     "package P constant Real k = 1;\n"
     "  function f input Real u; output Real v; algorithm v := k; while v < u loop v := v*2;\n"
     "  end while; end f; end P;\npackage Q extends P(k = 4); end Q;\n"
     "model X Real x(start = 5, fixed = true); Real y = Q.f(x); equation der(x) = 1; end X;"},
    {"with a derivative", 21,
     "package P constant Real k = 1;\n"
     "  function f input Real u; output Real v; algorithm v := k*u;\n"
     "    annotation(derivative = df); end f;\n"
     "  function df input Real u; input Real du; output Real dv; algorithm dv := k*du; end df;\n"
     "end P;\npackage Q extends P(k = 7); end Q;\n"
     "model X Real x = Q.f(3*time); Real y = der(x); end X;"},
};

const std::vector<Form> kOfPackages = {
    {"constant by extends, read from outside", 7, kPackages + "model X Real y = Q.k; end X;"},
    {"constant by extends, in an inherited function", 14,
     kPackages + "model X Real y = Q.f(2); end X;"},
    {"constant by extends, in an inherited model", 7,
     kPackages + "model X Q.M m; Real y = m.x; end X;"},
    {"constant by extends, in an inherited record", 7,
     kPackages + "model X Q.R r; Real y = r.a; end X;"},
    {"constant by extends, in an inherited record constructor", 7,
     kPackages + "model X Q.R r = Q.R(); Real y = r.a; end X;"},
    {"constant by extends, in an inherited type", 7,
     kPackages + "model X Q.T y(fixed = true); equation der(y) = 0; end X;"},
    {"the base keeps its own", 2, kPackages + "model X Real y = P.f(2); Real z = Q.f(1); end X;"},
    {"constant by short class", 10,
     kPackages + "package S = P(k = 5);\nmodel X Real y = S.f(2); end X;"},
    {"constant by short class inside the model", 10,
     kPackages + "model X package S = P(k = 5); Real y = S.f(2); end X;"},
    {"model extends a model of a modified package", 5,
     kPackages + "package S = P(k = 5);\nmodel X extends S.M; Real y = x; end X;"},
    {"package by modifier", 14,
     kPackages + "model H replaceable package L = P; Real y = L.f(2); end H;\n"
                 "model X H h(redeclare package L = Q); Real y = h.y; end X;"},
    {"package by modifier of extends", 7,
     kPackages + "model H replaceable package L = P; L.M m; Real y = m.x; end H;\n"
                 "model X extends H(redeclare package L = Q); end X;"},
    {"package by element", 14,
     kPackages + "model H replaceable package L = P; Real y = L.f(2); end H;\n"
                 "model X extends H; redeclare package L = Q; end X;"},
    {"package handed down", 14,
     kPackages + "model H replaceable package L = P; Real y = L.f(2); end H;\n"
                 "model I replaceable package L = P; H h(redeclare package L = L); Real y = h.y;\n"
                 "end I;\nmodel X I i(redeclare package L = Q); Real y = i.y; end X;"},
    {"package with a modifier of the model", 6,
     kPackages + "model H replaceable package L = P; Real y = L.f(2); end H;\n"
                 "model X H h(redeclare package L = P(k = 3)); Real y = h.y; end X;"},
    {"modifiers of constrainedby of a package", 18,
     kPackages +
         "model H replaceable package L = P constrainedby P(k = 9); Real y = L.f(2); end H;\n"
         "model X H h(redeclare package L = P); Real y = h.y; end X;"},
    {"two components, two packages", 21,
     kPackages + "model H replaceable package L = P; Real y = L.f(2); end H;\n"
                 "model X H a(redeclare package L = Q); H b(redeclare package L = P(k = 3.5));\n"
                 "  Real y = a.y + b.y; end X;"},
    {"size from a constant of a package", 3,
     "package P constant Integer n = 1; model M Real x[n] = ones(n); end M; end P;\n"
     "package Q extends P(n = 3); end Q;\nmodel X Q.M m; Real y = sum(m.x); end X;"},
    {"constant from a constant", 14,
     "package P constant Real k = 1; constant Real l = 2*k; end P;\n"
     "package Q extends P(k = 7); end Q;\nmodel X Real y = Q.l; end X;"},
    {"nested package", 14,
     "package P constant Real k = 1; package I constant Real l = 2*k; end I; end P;\n"
     "package Q extends P(k = 7); end Q;\nmodel X Real y = Q.I.l; end X;"},
    {"medium: record, function, model", 106,
     kMedium + "model X replaceable package Medium = Water constrainedby PartialMedium;\n"
               "  Medium.Base b(s(p = 2, T = 3)); Real y = b.v; end X;"},
    {"medium: redeclared", 112,
     kMedium + "model H replaceable package Medium = PartialMedium; Medium.State s;\n"
               "  Medium.Base b; Real z = Medium.twice(s); equation b.s = s; end H;\n"
               "model X extends H(redeclare package Medium = Water, s(p = 2, T = 3));\n"
               "  Real y = z + b.extra; end X;"},
    {"medium: two packages in one function", 17,
     kMedium + "package Oil extends Water(c = 5);\n"
               "  redeclare function extends h algorithm v := v + 0; end h; end Oil;\n"
               "model X Water.State s(p = 2, T = 3); Real y = Water.twice(s) + Oil.c; end X;"},
};

const std::vector<Form> kLookup = {
    {"a qualified import before an unqualified one", 1,
     "package P constant Real k = 1; end P;\npackage Q constant Real k = 2; end Q;\n"
     "model X import Q.*; import P.k; Real y = k; end X;"},
    {"an import is not inherited", 2,
     "package P constant Real k = 1; end P;\npackage O constant Real k = 2;\n"
     "  model A import P.k; Real x = k; end A;\n  model B extends A; Real y = k; end B; end O;\n"
     "model X O.B b; Real y = b.y; end X;"},
    {"text of a base is read where the base is", 1,
     "package P constant Real k = 1; model A Real x = k; end A; end P;\n"
     "package Q constant Real k = 2; model B extends P.A; end B; end Q;\n"
     "model X Q.B b; Real y = b.x; end X;"},
    {"an element of the derived class does not capture", 1,
     "package P constant Real k = 1; model A Real x = k; end A; end P;\n"
     "model X extends P.A; parameter Real k = 5; Real y = x; end X;"},
    {"a class of the derived class does not capture", 1,
     "package P model T parameter Real k = 1; end T; model A T t; end A; end P;\n"
     "model X extends P.A; model T parameter Real k = 5; end T; Real y = t.k; end X;"},
    {"an imported function before a builtin one", 10,
     "package P function exp input Real u; output Real v; algorithm v := 5*u; end exp; end P;\n"
     "model X import P.exp; Real y = exp(2); end X;"},
    {"a function inside a type", 6,
     "type B = Real[2];\ntype T extends B; function f input T u; output Real v; algorithm v := "
     "sum(u); end f;\n"
     "end T;\nmodel X T t = {2, 4}; Real y = T.f(t); end X;"},
    {"a function of a component", 4,
     "model A replaceable function f input Real u; output Real v; algorithm v := u; end f; end A;\n"
     "function g input Real u; output Real v; algorithm v := 2*u; end g;\n"
     "model X A a(redeclare function f = g); Real y = a.f(2); end X;"},
    {"a class extends through two packages", 111,
     "package P replaceable model M Real x = 1; end M; end P;\n"
     "package Q extends P; redeclare replaceable model extends M Real y = x + 10; end M; end Q;\n"
     "package R extends Q; redeclare model extends M Real z = y + 100; end M; end R;\n"
     "model X R.M m; Real y = m.z; end X;"},
};

const std::string kComplex =
    "operator record C Real re; Real im;\n"
    "  encapsulated operator 'constructor' function fromReal import C; input Real re;\n"
    "    input Real im = 0; output C c(re = re, im = im); algorithm end fromReal;\n"
    "  end 'constructor';\n"
    "  encapsulated operator function '+' import C; input C a; input C b; output C c; algorithm\n"
    "    c := C(a.re + b.re, a.im + b.im); end '+';\n"
    "  encapsulated operator '-' function negate import C; input C a; output C c; algorithm\n"
    "    c := C(-a.re, -a.im); end negate;\n"
    "    function subtract import C; input C a; input C b; output C c; algorithm\n"
    "    c := C(a.re - b.re, a.im - b.im); end subtract; end '-';\n"
    "  encapsulated operator function '*' import C; input C a; input C b; output C c; algorithm\n"
    "    c := C(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re); end '*';\nend C;\n";
// A ring of three parts: angle a and twice the angle d, which follows from it.
const std::string kRing =
    "record R Real a; Real d; function equalityConstraint input R r; input R s;\n"
    "  output Real residue[1]; algorithm residue := {r.a - s.a}; end equalityConstraint; end R;\n"
    "connector P R r; flow Real f; end P;\n"
    "model Turn P p, n; parameter Real by = 1; equation Connections.branch(p.r, n.r);\n"
    "  if Connections.rooted(p.r) then n.r.a = p.r.a + by; n.r.d = 2*n.r.a;\n"
    "  else p.r.a = n.r.a - by; p.r.d = 2*p.r.a; end if; p.f + n.f = 0; end Turn;\n"
    "model Free P p, n; Real by; equation Connections.branch(p.r, n.r);\n"
    "  if Connections.rooted(p.r) then n.r.a = p.r.a + by; n.r.d = 2*n.r.a;\n"
    "  else p.r.a = n.r.a - by; p.r.d = 2*p.r.a; end if; p.f + n.f = 0; n.f = 3; end Free;\n"
    "model Ground P p; equation Connections.root(p.r); p.r.a = 5; p.r.d = 10; end Ground;\n";

const std::vector<Form> kOfRecords = {
    {"a record given as a whole leaves its final fields", 12,
     "record R parameter Real a = 1; final parameter Real b = 2*a; end R;\n"
     "model H parameter R r; end H;\n"
     "model X parameter R s(a = 4); H h(r = s); Real y = h.r.a + h.r.b; end X;"},
    {"a record given as a whole leaves fields that a modifier fixed", 7,
     "record R parameter Integer m = 2; parameter Real a = 1; end R;\n"
     "model H parameter R r(final m = 3); end H;\n"
     "model X parameter R s(m = 3, a = 4); H h(r = s); Real y = h.r.m + h.r.a; end X;"},
    {"final fields are no arguments of the constructor", 9,
     "record R Real a; final constant Real c = 2; Real b; end R;\n"
     "model X R r = R(3, 4); Real y = r.a + r.b + r.c; end X;"},
    {"fields in any order", 15,
     "record R Real b = 2*a; Real a = 1; end R;\n"
     "function f output Real v; protected R r(a = 5); algorithm v := r.a + r.b; end f;\n"
     "model X Real y = f(); end X;"},
    {"operator record: arithmetic", -4,
     kComplex + "model X C a = C(1, 2), b = a*a + 3, c = b*C(0, 1); Real y = c.re; end X;"},
    {"operator record: arrays and minus", 6,
     kComplex + "model X C a = C(1, 2), v[2] = {a, -a}, w[2] = v + v; C s = w[1] - w[2];\n"
                "  C t = sum(v); Real y = s.re + t.im + 2; end X;"},
    {"operator record: a choice that changes", 1,
     kComplex + "model X C a = if time > 0.5 then C(1) else C(2); Real y = a.re; end X;"},
    {"overdetermined: a tree", 6,
     kRing + "model X Ground g; Turn t; Real y = t.n.r.d - t.n.r.a;\n"
             "equation connect(g.p, t.p); end X;"},
    {"overdetermined: a tree the other way round", 8,
     kRing + "model X Ground g; Turn t; Real y = t.p.r.d; equation connect(g.p, t.n); end X;"},
    {"overdetermined: a loop is closed once", -3,
     kRing + "model X Ground g; Turn t(by = 3); Free f; Real y = f.by;\n"
             "equation connect(g.p, t.p); connect(t.n, f.p); connect(f.n, g.p); end X;"},
    {"two subscripts that change", 23,
     "model X parameter Real a[2, 3] = [11, 12, 13; 21, 22, 23]; Integer i(start = 1), j(start = "
     "1);\n"
     "  Real y = a[i, j]; equation when time > 0.5 then i = 2; j = 3; end when; end X;"},
    {"an assignment with two subscripts that change", 104,
     "function f input Integer i; input Integer j; output Real v; protected Real a[2, 2];\n"
     "algorithm a := [1, 2; 3, 4]; a[i, j] := 100; v := a[1, 1] + a[1, 2] + a[2, 1] + a[2, 2]\n"
     "  - (if i == 2 then 2 else 0); end f;\n"
     "model X Integer i(start = 1), j(start = 1); Real y = f(i, j); equation\n"
     "  when time > 0.5 then i = 2; j = 2; end when; end X;"},
};

const std::vector<Form> kDiscrete = {
    {"when equations that depend on each other", 3.0 / 7.0,
     "model X discrete Real a(start = 0, fixed = true), b(start = 0, fixed = true); Real y = a + "
     "b;\n"
     "equation when time > 0.5 then a = 1 - 3*b; b = 2*a; end when; end X;"},
    {"a clause whose condition only contains initial()", 0,
     "model X discrete Real y(start = 0, fixed = true); equation\n"
     "  when initial() and true then y = 5; end when; end X;"},
    {"initial() in a list", 5,
     "model X discrete Real y(start = 0); equation\n"
     "  when {initial(), time > 2} then y = 5; end when; end X;"},
    {"a variable read before it is assigned", 4,
     "model X Real x(start = 3), y; algorithm y := x + 1; x := 5; end X;"},
    {"an element read before it is assigned", 4,
     "model X Real x[2](each start = 3), y; equation x[2] = 0; algorithm y := x[1] + 1;\n"
     "  x[1] := 5; end X;"},
    {"an initial equation for what follows from pre()", 1,
     "model X Boolean active, next; discrete Real y(start = 0, fixed = true);\n"
     "initial equation active = true; equation active = pre(next);\n"
     "  next = active and time < 0.5; when time > 0.25 then y = if active then 1 else 2; end "
     "when;\n"
     "end X;"},
};

std::string name_of(const testing::TestParamInfo<Form>& info) {
  std::string name;
  for (const char c : info.param.name) name += std::isalnum(c) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(OfModels, Context, testing::ValuesIn(kModels), name_of);
INSTANTIATE_TEST_SUITE_P(ClassModifiers, Context, testing::ValuesIn(kClassModifiers), name_of);
INSTANTIATE_TEST_SUITE_P(InnerOuter, Context, testing::ValuesIn(kInnerOuter), name_of);
INSTANTIATE_TEST_SUITE_P(OfFunctions, Context, testing::ValuesIn(kOfFunctions), name_of);
INSTANTIATE_TEST_SUITE_P(OfPackages, Context, testing::ValuesIn(kOfPackages), name_of);
INSTANTIATE_TEST_SUITE_P(OfRecords, Context, testing::ValuesIn(kOfRecords), name_of);
INSTANTIATE_TEST_SUITE_P(Discrete, Context, testing::ValuesIn(kDiscrete), name_of);
INSTANTIATE_TEST_SUITE_P(Lookup, Context, testing::ValuesIn(kLookup), name_of);

}  // namespace
}  // namespace saltus
