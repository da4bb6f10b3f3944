// The meaning of the words of the language, form by form: each model gives y, at t = 1, a number
// that follows from its text by hand. Functions of the standard library that Saltus has natively
// are declared here as the library declares them; the hashes are those its documentation gives.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

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

void expect_numbers(const std::vector<Form>& forms) {
  for (const Form& form : forms) {
    SCOPED_TRACE(form.name + form.text);
    try {
      const SimulateResult result =
          simulate(build(load_modelica_text(form.text, "", {.use_modelica_path = false}, "m.mo")),
                   {.stop_time = 1.0});
      EXPECT_EQ(result.reason, StopReason::kStopTime) << result.message;
      EXPECT_NEAR(result.final.at("y"), form.y, 1e-6);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

const std::vector<Form> kForms = {
    {"inner outer with its own value", 12, R"(
model S outer Real a; Real x = a; end S; model L inner outer Real a = 2; S s; Real x = a;
end L; model X inner Real a = 10; L l; Real y = l.s.x + l.x; end X;)"},
    {"initial equation for a derivative that is in no equation", -1.5 * std::cos(1.0), R"(
model X Real phi, w, x(start=1), v; Real y = x; initial equation der(w) = 3; phi = 0.5;
equation w = der(phi); der(x) = v; der(v) = -x; w = 2*v; end X;)"},
    {"relation about a derivative that is in no equation", 1 - M_PI / 4, R"(
model X Real x(start=1,fixed=true), v(start=0,fixed=true), w = 2*v, y(start=0,fixed=true);
equation der(x) = 2*v; der(v) = -2*x; der(y) = if der(w) > 0 then 1 else 0; end X;)"},
    {"start at rest of what is known through a sum", 0, R"(
model X Real a(start=1), b(start=2), c = a + b; Real y = c - 3; initial equation der(c) = 0; der(a) = 0;
equation der(a) = 1 - a; der(b) = 2*a - b; end X;)"},
    {"mod inside noEvent", 0.3, R"(
model X Real x(start=0,fixed=true), y = noEvent(mod(x, 1)); equation der(x) = 7.3; end X;)"},
    {"floor of a sum inside noEvent", 0.55, R"(
model X Real x(start=0,fixed=true), z(start=1,fixed=true), y = x + z - noEvent(floor(x + z));
equation der(x) = 7.3; der(z) = -0.75; end X;)"},
    {"a step inside noEvent", 17.3, R"(
model X Real x(start=0,fixed=true), y = x + noEvent(if x > 2.2 then 10 else -10);
equation der(x) = 7.3; end X;)"},
    {"name of an instance begins with the model, not its package", 5, R"(
package P function length input String s; output Integer n; external "C" n = ModelicaStrings_length(s); end length;
  model M Integer n = length(getInstanceName()); end M; model X M own; end X; end P;
model Y extends P.X; Real y = own.n; end Y;)"},
    {"div negative", -2, R"(
model X Real u = -3.5 - time; Real y = div(u, 2); end X;)"},
    {"mod negative", 1.5, R"(
model X Real u = -3.5 - time; Real y = mod(u, 3); end X;)"},
    {"rem negative", -1.5, R"(
model X Real u = -3.5 - time; Real y = rem(u, 3); end X;)"},
    {"integer negative", -3, R"(
model X Real u = -2.5*time; Integer i = integer(u); Real y = i; end X;)"},
    {"floor of a negative number", -2, R"(
model X Real u = -1.5*time; Real y = floor(u); end X;)"},
    {"ceil of a negative number", -1, R"(
model X Real u = -1.5*time; Real y = ceil(u); end X;)"},
    {"integral of mod", 0.5, R"(
model X Real x(start=0,fixed=true); Real y = x; equation der(x) = mod(4*time, 1); end X;)"},
    {"integral of div", 1.5, R"(
model X Real x(start=0,fixed=true); Real y = x; equation der(x) = div(4*time, 1); end X;)"},
    {"integer mod of Integers", 2, R"(
model X Integer i(start=0,fixed=true); Integer k = mod(i-4, 3); Real y = k;
equation when sample(0.3,0.3) then i = pre(i)+1; end when; end X;)"},
    {"div of integers truncates", -1, R"(
model X parameter Integer a=-3; parameter Integer b=2; Real y = div(a,b); end X;)"},
    {"function alias default", 8, R"(
function f input Real x; input Real k = 1; output Real v; algorithm v := x*k; end f;
function g = f(k = 4); model X Real y = g(2*time); end X;)"},
    {"function alias of alias", 24, R"(
function f input Real x; input Real k = 1; input Real m = 1; output Real v;
algorithm v := x*k*m; end f; function g = f(k = 4); function h = g(m = 3);
model X Real y = h(2*time); end X;)"},
    {"named args in alias", 10, R"(
function f input Real x; input Real k = 1; output Real v; algorithm v := x*k; end f;
function g = f(k = 4); model X Real y = g(2*time, k = 5); end X;)"},
    {"when vector fires once", 2, R"(
model X discrete Real a(start=0,fixed=true); Real y = a;
equation when {time > 0.3, time > 0.3, time > 0.6} then a = pre(a)+1; end when; end X;)"},
    {"elsewhen priority", 1, R"(
model X discrete Real a(start=0,fixed=true); Real y = a;
equation when time > 0.3 then a = 1; elsewhen time > 0.3 then a = 5; end when; end X;)"},
    {"terminal", 5, R"(
model X discrete Real a(start=0,fixed=true); Real y=a; equation when terminal() then a = 5;
end when; end X;)"},
    {"algorithm reads start before assignment", 7, R"(
model X discrete Real a(start=7,fixed=true); Real y; algorithm when time > 2 then a := 3;
end when; y := a; end X;)"},
    {"algorithm sequence", 11, R"(
model X Real y; Real a; algorithm a := 5; y := a; a := 6; y := y + a; end X;)"},
    {"algorithm local start value", 2, R"(
model X Real y(start=2); Real z; algorithm z := y; y := 2; end X;)"},
    {"when in algorithm uses later assignments", 3, R"(
model X Integer n(start=0,fixed=true); Real y; algorithm when time>0.5 then n := pre(n)+1;
n := n+2; end when; y := n; end X;)"},
    {"pre in algorithm", 4, R"(
model X Integer n(start=4,fixed=true), m(start=0,fixed=true); Real y=m;
algorithm when time>0.5 then n := 9; m := pre(n); end when; end X;)"},
    {"reduction over records", 9, R"(
record R Real a; Real b; end R; model X parameter R r[3] = {R(1,2),R(3,4),R(5,6)};
Real y = sum(r[i].a for i in 1:3); end X;)"},
    {"array of records modifiers", 14, R"(
record R Real a = 1; Real b = 2; end R; model X R r[3](a = {2,4,8}); Real y = sum(r.a);
end X;)"},
    {"each in nested arrays", 12, R"(
model A parameter Real k[2] = {1,2}; end A; model X A a[3](each k = {1,3});
Real y = sum(a.k); end X;)"},
    {"nested without each", 21, R"(
model A parameter Real k[2] = {1,2}; end A; model X A a[3](k = [1,2;3,4;5,6]);
Real y = sum(a.k); end X;)"},
    {"record slice of array", 10, R"(
record R Real a; Real b; end R; model X R r[4]; Real y = sum(r.b);
equation r.a = {4,3,2,1}; for i in 1:4 loop r[i].b = r[5-i].a; end for; end X;)"},
    {"sum of empty", 0, R"(
model X parameter Integer n=0; Real y = sum(i for i in 1:n); end X;)"},
    {"product of empty", 1, R"(
model X parameter Integer n=0; Real y = product(i for i in 1:n); end X;)"},
    {"iterators nested order", 21, R"(
model X Real a[2,3] = {10*i+j for j in 1:3, i in 1:2}; Real y = a[2,1]; end X;)"},
    {"iterator constructor depending", 11, R"(
model X Real y = sum(sum(j for j in 1:i) for i in 1:3) + 1; end X;)"},
    {"matrix constructor cat", 6, R"(
model X Real m[2,3] = [1,2,3;4,5,6]; Real y = m[end,end]; end X;)"},
    {"cat 2 with vectors as columns", 4, R"(
model X Real a[2]={1,2}; Real b[2]={3,4}; Real m[2,2]=[a,b]; Real y = m[2,2]; end X;)"},
    {"end in nested subscripts", 5, R"(
model X Integer k[3]={1,2,3}; Real v[5]={1,2,3,4,5}; Real y = v[k[end]+2]; end X;)"},
    {"semiLinear positive", 6, R"(
model X Real y = semiLinear(time*2, 3, 5); end X;)"},
    {"semiLinear negative", -10, R"(
model X Real y = semiLinear(-time*2, 3, 5); end X;)"},
    {"smooth", 2, R"(
model X Real y = smooth(1, if time > 0.5 then 2 else 3); end X;)"},
    {"delay", 0.6, R"(
model X Real y = delay(time, 0.4); end X;)"},
    {"delay before start", 3, R"(
model X Real y = delay(3+time, 2, 2); end X;)"},
    {"assert warning does not stop", 1, R"(
model X Real y = time; equation assert(time < 0.5, "w", AssertionLevel.warning); end X;)"},
    {"der of function", 2, R"(
function f input Real x; output Real v; algorithm v := x^2; end f; model X Real x = time;
Real y = der(f(x)); end X;)"},
    {"der of product", 3, R"(
model X Real y = der(time^3); end X;)"},
    {"der of record field expr", 5, R"(
record R Real a; end R; model X R r; Real y = der(r.a*r.a)/2;
equation r.a = 5 + 0*time + (time-1); end X;)"},
    {"der of array", 14, R"(
model X Real x[3] = {time, 2*time^2, 3*time^3}; Real y = sum(der(x)); end X;)"},
    {"enumeration compare", 1, R"(
type E = enumeration(a,b,c); model X E e = if time > 0.5 then E.c else E.a;
Real y = if e > E.b then 1 else 0; end X;)"},
    {"enumeration to Integer", 3, R"(
type E = enumeration(a,b,c); model X E e = if time > 0.5 then E.c else E.a;
Real y = Integer(e); end X;)"},
    {"Integer to enumeration", 2, R"(
type E = enumeration(a,b,c); model X E e = E(2); Real y = Integer(e); end X;)"},
    {"enumeration range sum", 6, R"(
type E = enumeration(a,b,c); model X Real y = sum(Integer(e) for e in E); end X;)"},
    {"enumeration sub range", 5, R"(
type E = enumeration(a,b,c); model X Real y = sum(Integer(e) for e in E.b:E.c); end X;)"},
    {"array by enumeration", 7, R"(
type E = enumeration(a,b,c); model X Real v[E] = {5,6,7}; Real y = v[E.c]; end X;)"},
    {"array by Boolean", 5, R"(
model X Real v[Boolean] = {5,6}; Real y = v[false]; end X;)"},
    {"String concat compare", 1, R"(
model X parameter String s = "a" + "b"; Real y = if s == "ab" then 1 else 0; end X;)"},
    {"String of number", 1, R"(
model X parameter String s = String(3.5); Real y = if s == "3.5" then 1 else 0; end X;)"},
    {"String of Boolean and enum", 1, R"(
type E = enumeration(a,b); model X parameter String s = String(true) + String(E.b);
Real y = if s == "trueb" then 1 else 0; end X;)"},
    {"String less", 1, R"(
model X parameter String s = "abc"; Real y = if s < "abd" then 1 else 0; end X;)"},
    {"conditional component dropped connect", 1, R"(
connector C Real v; flow Real i; end C; model R C c; parameter Real r=1;
equation c.v = r*c.i; end R; model S C c; equation c.i = -1; end S;
model X parameter Boolean u = false; R a; R b if u; S s; Real y = a.c.v;
equation connect(s.c,a.c); connect(s.c,b.c); end X;)"},
    {"final in record constructor", 7, R"(
record R parameter Real a = 1; final parameter Real b = 2*a + 1; end R;
model X parameter R r = R(a = 3); Real y = r.b; end X;)"},
    {"record default depends", 6, R"(
record R Real a = 1; Real b = 2*a; end R; model X R r(a = 3); Real y = r.b; end X;)"},
    {"record constructor default depends", 6, R"(
record R Real a = 1; Real b = 2*a; end R; model X R r = R(3); Real y = r.b; end X;)"},
    {"record function default depends", 6, R"(
record R Real a = 1; Real b = 2*a; end R; function f input Real k; output Real v;
protected R r(a = k); algorithm v := r.b; end f; model X Real y = f(3*time); end X;)"},
    {"function output default", 4, R"(
function f input Real k; output Real v = k+1; end f; model X Real y = f(3*time); end X;)"},
    {"function protected default", 8, R"(
function f input Real k; output Real v; protected Real w = 2*k; algorithm v := w + 2;
end f; model X Real y = f(3*time); end X;)"},
    {"nested functions", 18, R"(
function f input Real k; output Real v; protected function g input Real u; output Real w;
algorithm w := u*u; end g; algorithm v := 2*g(k); end f; model X Real y = f(3*time); end X;)"},
    {"function local array size", 6, R"(
function f input Integer n; output Real v; protected Real a[n];
algorithm for i in 1:n loop a[i] := i; end for; v := sum(a); end f; model X Real y = f(3);
end X;)"},
    {"function with vector input size", 4, R"(
function f input Real a[:]; output Real v; algorithm v := size(a,1) + a[end]; end f;
model X Real y = f({1,2*time}); end X;)"},
    {"vectorized call", 12, R"(
function f input Real a; output Real v; algorithm v := 2*a; end f;
model X Real y = sum(f({1,2,3*time})); end X;)"},
    {"multiple results", 5, R"(
function f input Real a; output Real u; output Real v; algorithm u := a; v := 2*a; end f;
model X Real p; Real q; Real y = p + q; equation (p,q) = f(time*5/3); end X;)"},
    {"skipped result", 2, R"(
function f input Real a; output Real u; output Real v; algorithm u := a; v := 2*a; end f;
model X Real y; equation (,y) = f(time); end X;)"},
    {"operator record plus", 4, R"(
operator record C Real a; Real b; operator 'constructor' function r input Real x;
output C c; algorithm c := C(x, 0); end r; end 'constructor';
operator function '+' input C u; input C v; output C w; algorithm w := C(u.a+v.a, u.b+v.b);
end '+'; end C; model X C c = C(1,2) + C(3); Real y = c.a; end X;)"},
    {"function as argument", 9, R"(
partial function P input Real x; output Real v; end P; function q extends P;
algorithm v := x^2; end q; function a input P f; input Real x; output Real v;
algorithm v := f(x); end a; model X Real y = a(q, 3*time); end X;)"},
    {"partial application", 18, R"(
partial function P input Real x; output Real v; end P; function q extends P;
input Real k = 1; algorithm v := k*x^2; end q; function a input P f; input Real x;
output Real v; algorithm v := f(x); end a; model X Real y = a(function q(k=2), 3*time);
end X;)"},
    {"protected extends", 3, R"(
model A Real x = 3; end A; model X protected extends A; public Real y = x; end X;)"},
    {"import constant renamed", 6, R"(
package P constant Real k = 6; end P; model X import z = P.k; Real y = z; end X;)"},
    {"import multiple", 11, R"(
package P constant Real k = 6; constant Real l=5; end P; model X import P.{k,l};
Real y = k + l; end X;)"},
    {"own name before import", 1, R"(
package P constant Real k = 6; end P; model X import P.*; constant Real k = 1; Real y = k;
end X;)"},
    {"unqualified import before the enclosing package", 6, R"(
package Q constant Real k = 1; package P constant Real k = 6; end P; model X import Q.P.*;
Real y = k; end X; end Q; model Y extends Q.X; end Y;)"},
    {"constants of enclosing through extends", 1, R"(
package P constant Real k = 1; model M Real y = k; end M; end P;
package Q constant Real k = 5; model N extends P.M; end N; end Q; model X extends Q.N;
end X;)"},
    {"if expression arrays", 5, R"(
model X Real v[2] = if time > 0.5 then {2,3} else {0,0}; Real y = sum(v); end X;)"},
    {"if equation param", 2, R"(
model X parameter Boolean b = true; Real y; equation if b then y = 2; else y = 3; end if;
end X;)"},
    {"for equation ranges step", 9, R"(
model X Real a[5]; Real y = sum(a); equation for i in 1:2:5 loop a[i] = i; end for;
for i in 2:2:4 loop a[i] = 0; end for; end X;)"},
    {"initial equation parameter", 3, R"(
model X parameter Real p(fixed=false); Real y = p; initial equation p = 3; end X;)"},
    {"parameter depends on unfixed", 6, R"(
model X parameter Real p(fixed=false); parameter Real q = 2*p; Real y = q;
initial equation p = 3; end X;)"},
    {"pre of an enumeration", 2, R"(
type E = enumeration(a,b,c); model X E e(start=E.a,fixed=true); Real y = Integer(pre(e));
equation when sample(0.5,0.5) then e = E.b; end when; end X;)"},
    {"reinit", 3, R"(
model X Real x(start=0,fixed=true); Real y = x; equation der(x) = 1;
when time > 0.5 then reinit(x, 2.5); end when; end X;)"},
    {"abs sign events", 0.5, R"(
model X Real x(start=0,fixed=true); Real y = x; equation der(x) = abs(2*time - 1)*1; end X;)"},
    {"homotopy", 4, R"(
model X Real y = homotopy(4*time, 3); end X;)"},
    {"cross skew", 3, R"(
model X Real a[3]={1,0,0}; Real b[3] = {0,3*time,0}; Real c[3] = cross(a,b); Real y = c[3];
end X;)"},
    {"outerProduct symmetric", 6, R"(
model X Real m[2,2] = outerProduct({1,2},{3,time}); Real y = m[2,1]; end X;)"},
    {"linspace", 2, R"(
model X Real v[3] = linspace(1, 3, 3); Real y = v[2]; end X;)"},
    {"power elementwise", 13, R"(
model X Real v[2] = {2,3} .^ 2; Real y = sum(v); end X;)"},
    {"matrix power", 8, R"(
model X Real m[2,2] = [1,1;0,1]^8; Real y = m[1,2]; end X;)"},
    {"matrix vector", 11, R"(
model X Real v[2] = [1,2;3,4]*{1,2}; Real y = v[2]; end X;)"},
    {"vector matrix", 10, R"(
model X Real v[2] = {1,2}*[1,2;3,4]; Real y = v[2]; end X;)"},
    {"min max arrays", 7, R"(
model X Real y = max({1,7*time,3}) ; end X;)"},
    {"scalar vector matrix conv", 3, R"(
model X Real y = scalar({{3*time}}); end X;)"},
    {"ndims size", 5, R"(
model X Real a[2,3]; Real y = ndims(a) + size(a,2); equation a = fill(1.0,2,3); end X;)"},
    {"size of a transpose", 2, R"(
model X Real y = size(transpose([1,2;3,4;5,6]),1); end X;)"},
    {"class modifier in component", 2, R"(
model A model B parameter Real k=1; end B; B b; end A; model X A a(B(k=2)); Real y = a.b.k;
end X;)"},
    {"class modifier in extends", 2, R"(
model A model B parameter Real k=1; end B; B b; end A; model X extends A(B(k=2));
Real y = b.k; end X;)"},
    {"type start modifier", 2, R"(
model A type T = Real; T t(fixed=true); equation der(t)=0; end A; model X A a(T(start=2));
Real y = a.t; end X;)"},
    {"constrainedby modifiers", 3, R"(
model P parameter Real k=1; end P; model Q parameter Real k=5; parameter Real z=0; end Q;
model A replaceable P p constrainedby P(k=3); end A; model X A a(redeclare Q p);
Real y = a.p.k; end X;)"},
    {"constrainedby class modifiers", 3, R"(
model P parameter Real k=1; end P; model Q parameter Real k=5; end Q;
model A replaceable model M = P constrainedby P(k=3); M m; end A;
model X A a(redeclare model M = Q); Real y = a.m.k; end X;)"},
    {"array type extends", 12, R"(
type V = Real[3]; type W extends V; end W; model X W w = {3,4,5}; Real y = sum(w); end X;)"},
    {"protected record modified in function", 9, R"(
record R Real a=1; Real b=2; end R; function f input Real u; output Real v;
protected R r(a=u, b=4); algorithm v := r.a + r.b; end f; model X Real y = f(5*time);
end X;)"},
    {"package constant by redeclared package", 21, R"(
package P constant Real k=1; function f input Real u; output Real v; algorithm v:=k*u;
end f; end P; package Q extends P(k=7); end Q; model M replaceable package A = P;
Real x = A.f(3*time); end M; model X M m(redeclare package A = Q); Real y = m.x; end X;)"},
    {"package constant array size", 3, R"(
package P constant Integer n=1; record R Real a[n]; end R; end P; package Q extends P(n=3);
end Q; model X Q.R r(a={1,1,1}); Real y = sum(r.a); end X;)"},
    {"extends through redeclared package", 14, R"(
package P constant Real k=1; model M Real x = 2*k; end M; end P; package Q extends P(k=7);
end Q; model X extends Q.M; Real y = x; end X;)"},
    {"redeclare in nested modifier", 20, R"(
model A Real x=1; end A; model B Real x=20; end B; model H replaceable A a; end H;
model G H h; end G; model X G g(h(redeclare B a)); Real y = g.h.a.x; end X;)"},
    {"redeclare array component", 60, R"(
model A Real x=1; end A; model B Real x=20; end B; model H replaceable A a[3]; end H;
model X H h(redeclare B a[3]); Real y = sum(h.a.x); end X;)"},
    {"each redeclared modifier", 9, R"(
model A parameter Real k=1; end A; model X A a[3](each k=3); Real y = sum(a.k); end X;)"},
    {"final parameter kept", 5, R"(
model A final parameter Real k=5; end A; model X A a; Real y = a.k; end X;)"},
    {"outer through two levels", 11, R"(
model S outer Real w; Real z = w + 1; end S; model T S s; end T; model X inner Real w = 10;
T t; Real y = t.s.z; end X;)"},
    {"outer found nearest", 6, R"(
model S outer Real w; Real z = w + 1; end S; model T inner Real w = 5; S s; end T;
model X inner Real w = 10; T t; Real y = t.s.z; end X;)"},
    {"inner outer seen from outside", 10, R"(
model S outer Real a; Real x = a; end S; model L inner outer Real a = 2; S s; end L;
model X inner Real a = 10; L l; Real y = l.a; end X;)"},
    {"inner outer equation names both", 7, R"(
model S outer Real a; Real x = a; end S; model L inner outer Real a = 2 + a; S s; end L;
model X inner Real a = 5; L l; Real y = l.s.x; end X;)"},
    {"outer in a package", 10, R"(
model A package P outer constant Integer n; end P; Integer t = P.n; end A;
model B inner constant Integer n = 10; A a; end B; model X B b; Real y = b.a.t; end X;)"},
    {"outer function", 3, R"(
partial function A input Real u; output Real v; end A; function C extends A;
algorithm v := u + 2; end C; model D outer function f = A; Real z = f(1); end D;
model E inner function f = C; D d; end E; model X E e; Real y = e.d.z; end X;)"},
    {"outer function nearest", 11, R"(
partial function A input Real u; output Real v; end A; function C extends A;
algorithm v := u + 2; end C; function G extends A; algorithm v := u + 10; end G;
model D outer function f = A; Real z = f(1); end D; model E inner function f = G; D d;
end E; model X inner function f = C; E e; Real y = e.d.z; end X;)"},
    {"semiLinear of arrays", -23, R"(
model X Real v[2] = semiLinear(-time, {1,2}, {3,20}); Real y = sum(v); end X;)"},
    {"overloaded and", 1, R"(
operator record B Boolean a; encapsulated operator function 'and' import B; input B u;
input B v; output Boolean w; algorithm w := u.a and v.a; end 'and';
encapsulated operator function 'not' import B; input B u; output B w;
algorithm w.a := not u.a; end 'not'; end B; model X B p(a = time > 0.5); B q(a = false);
Real y = if p and not q then 1 else 0; end X;)"},
    {"conversion by constructor with defaults", 14, R"(
operator record C Real a; Real b; encapsulated operator 'constructor' function f import C;
input Real a; input Real b = 10; output C c; algorithm c.a := a; c.b := b; end f;
end 'constructor'; encapsulated operator function '+' import C; input C u; input C v;
output C w; algorithm w.a := u.a + v.a; w.b := u.b + v.b; end '+'; end C;
model X C c = C(1, 1) + 2*time; Real y = c.a + c.b; end X;)"},
    {"function value bound again", 12, R"(
partial function F2 input Real x; input Real z; output Real v; end F2;
partial function F1 input Real x; output Real v; end F1; function g extends F2;
algorithm v := x*z; end g; function a input F1 f; output Real v; algorithm v := f(3);
end a; function b input F2 f; input Real k; output Real v;
algorithm v := a(function f(z = k)); end b; model X Real y = b(g, 4*time); end X;)"},
    {"implicit Boolean iterator in algorithm", 5, R"(
model X Real v[Boolean]; Real y; algorithm for i loop v[i] := if i then 3 else 2; end for;
y := v[false] + v[true]; end X;)"},
    {"implicit enumeration iterator in algorithm", 6, R"(
type E = enumeration(a,b,c); model X Real v[E]; Real y;
algorithm for e loop v[e] := Integer(e); end for; y := sum(v); end X;)"},
    {"size from start", 2, R"(
model X Real x[:](start = {1,2}, each fixed = true); Real y = size(x,1);
equation der(x) = zeros(size(x,1)); end X;)"},
    {"flow prefix of replaced component", -2, R"(
connector C Real e; replaceable flow Real f; end C; model A C c(redeclare Real f);
equation c.f = 2 + 0*c.e; end A; model B C c; equation c.e = 1; end B; model X A a; B b;
Real y = b.c.f; equation connect(a.c, b.c); end X;)"},
    {"sizes may be redeclared", 6, R"(
model A Real x[:,:] = ones(size(x,1), size(x,2)); end A;
model X A a(redeclare Real x[2,3]); Real y = sum(a.x); end X;)"},
    {"record value to function run with numbers", 8, R"(
record R Real a; end R; function f input R r; output Real v; algorithm v := 1;
while v < r.a loop v := 2*v; end while; end f; model X R r(a = 5 + time); Real y = f(r);
end X;)"},
    {"function value in a function run with numbers", 8, R"(
partial function P input Real x; output Real v; end P; function d extends P; input Real k;
algorithm v := k*x; end d; function f input P p; input Real u; output Real v;
algorithm v := 1; while v < u loop v := p(v); end while; end f;
model X Real y = f(function d(k = 2 + 0*time), 5 + time); end X;)"},
    {"when initial() and true is not when initial()", 0, R"(
model X discrete Real a(start=0,fixed=true); Real y = a;
equation when initial() and true then a = pre(a)+1; end when; end X;)"},
    {"logical operations of arrays", 1, R"(
model X Boolean a[2] = {time > 0.5, true}; Boolean b[2] = {true, time > 0.2};
Boolean c[2] = a and not b; Boolean d[2] = a or b;
Real y = if d[1] and d[2] and not c[1] then 1 else 0; end X;)"},
    {"edge counts rises, one just after the start", 4, R"(
model X Boolean b = sin(20*time) > 0; Integer n(start=0,fixed=true); Real y = n;
equation when edge(b) then n = pre(n) + 1; end when; end X;)"},
    {"change counts rises and falls", 7, R"(
model X Boolean b = sin(20*time) > 0; Integer n(start=0,fixed=true); Real y = n;
equation when change(b) then n = pre(n) + 1; end when; end X;)"},
    {"array as overdetermined type", 4, R"(
type V = Real[2]; type T extends V; function equalityConstraint input T a; input T b;
output Real r[0]; algorithm r := fill(0.0, 0); end equalityConstraint; end T;
connector C T t; Real v; flow Real i; end C; model A C c; equation Connections.root(c.t);
c.t = {1,3}; c.v = 0; end A; model B C c; equation c.i = 0; end B; model X A a; B b;
Real y = sum(b.c.t); equation connect(a.c, b.c); end X;)"},
    {"div by a varying divisor", 3, R"(
model X Real u(start = 2) = 2 + time; Real y = div(9.5, u); end X;)"},
    {"mod by a varying divisor", 0.5, R"(
model X Real u(start = 2) = 2 + time; Real y = mod(9.5, u); end X;)"},
    {"mod by a negative divisor", -0.5, R"(
model X Real u(start = -1) = -1 - time; Real y = mod(3.5, u); end X;)"},
    {"rem by a negative divisor", 1.5, R"(
model X Real u(start = -1) = -1 - time; Real y = rem(3.5, u); end X;)"},
};

const std::vector<Form> kMoreForms = {
    {"text of an enumeration that varies", 6, R"(
type E = enumeration(one, two, three); model X E e = if time > 0.5 then E.two else E.one;
Real y = (if String(e) == "two" then 1 else 0) + (if "one" == String(e) then 10 else 0) + (if String(e) <> "three" then 5 else 0) + (if String(e) == "four" then 100 else 0);
end X;)"},
    {"text of a Boolean that varies", 3, R"(
model X Boolean b = time > 0.5;
Real y = (if String(b) == "true" then 1 else 0) + (if String(b) <> "false" then 2 else 0) + (if String(b) == "false" then 4 else 0);
end X;)"},
    {"clocked counter", 10, R"(
model X Integer n(start=0); Real y; equation when Clock(1,10) then n = previous(n) + 1;
end when; y = hold(n) - 1; end X;)"},
    {"clock subsample", 5, R"(
model X Integer n(start=0); Integer m(start=0); Real y; Clock c = Clock(1,10);
equation when c then n = previous(n)+1; end when;
when subSample(c,2) then m = previous(m)+1; end when; y = hold(m) - 1; end X;)"},
    {"superSample", 20, R"(
model X Integer m(start=0); Real y; Clock c = Clock(1,10);
equation when superSample(c,2) then m = previous(m)+1; end when; y = hold(m) - 1; end X;)"},
    {"sample hold of continuous", 0.9, R"(
model X Real u; Real y; equation u = sample(time - 0.0001*0, Clock(3,10)); y = hold(u);
end X;)"},
    {"interval", 0.25, R"(
model X Real u(start=0); Real y; equation when Clock(0.25) then u = interval(); end when;
y = hold(u); end X;)"},
    {"firstTick", 1, R"(
model X Integer n(start=0); Real y;
equation when Clock(0.25) then n = if firstTick() then 1 else previous(n); end when;
y = hold(n); end X;)"},
    {"shiftSample", 0.75, R"(
model X Real u; Real v; Real y; equation u = sample(time, Clock(0.5));
v = shiftSample(u, 1, 2); y = hold(v)*0 + hold(v) + 0.25; end X;)"},
    {"backSample previous start", 3, R"(
model X Real u; Real y(start = 0); Real z(start=3);
equation when Clock(2) then u = previous(z); z = 5; end when; y = hold(u); end X;)"},
    {"expandable bus value", 7, R"(
connector O = output Real; connector I = input Real; expandable connector B end B;
model S O o = 7; B b; equation connect(o, b.v); end S; model R I i; B b;
equation connect(b.v, i); end R; model X S s; R r; Real y = r.i;
equation connect(s.b, r.b); end X;)"},
    {"stream mix", 3, R"(
connector P Real p; flow Real m; stream Real h; end P; model S P c; parameter Real h;
parameter Real m; equation c.m = -m; c.h = h; end S; model K P c; Real hi = inStream(c.h);
equation c.p = 1; c.h = 0; end K; model X S a(h=2, m=1); S b(h=4, m=1); K k; Real y = k.hi;
equation connect(a.c, k.c); connect(b.c, k.c); end X;)"},
    {"actualStream", 4, R"(
connector P Real p; flow Real m; stream Real h; end P; model S P c; equation c.m = -1;
c.h = 4; end S; model K P c; Real z = actualStream(c.h); equation c.p = 1; c.h = 9; end K;
model X S a; K k; Real y = k.z; equation connect(a.c, k.c); end X;)"},
    {"cardinality", 2, R"(
connector P Real p; flow Real m; end P; model S P c; Real n = cardinality(c);
equation c.p = 1; end S; model T P c; equation c.m = 0; end T; model X S s; T t; T u;
Real y = s.n; equation connect(s.c,t.c); connect(s.c,u.c); end X;)"},
    {"connect array of connectors", 6, R"(
connector O = output Real; connector I = input Real; model S O o[3] = {1,2,3}; end S;
model R I i[3]; Real z = sum(i); end R; model X S s; R r; Real y = r.z;
equation connect(s.o, r.i); end X;)"},
    {"connect slice", 5, R"(
connector O = output Real; connector I = input Real; model S O o[3] = {1,2,3}; end S;
model R I i[2]; Real z = sum(i); end R; model X S s; R r; Real y = r.z;
equation connect(s.o[2:3], r.i); end X;)"},
    {"flow sum outside sign", -2, R"(
connector P Real v; flow Real i; end P; model S P p; equation p.i = 1; end S; model H P p;
S a; S b; equation connect(a.p, p); connect(b.p, p); end H; model G P p; equation p.v = 0;
end G; model X H h; G g; Real y = g.p.i; equation connect(h.p, g.p); end X;)"},
    {"unconnected flow is zero", 0, R"(
connector P Real v; flow Real i; end P; model S P p; equation p.v = 3; end S; model X S s;
Real y = s.p.i; end X;)"},
    {"record equation", 7, R"(
record R Real a; Real b; end R; model X R r; R q; Real y = r.a + r.b; equation q.a = 3;
q.b = 4*time; r = q; end X;)"},
    {"record array equation", 10, R"(
record R Real a[2]; Real b; end R; model X R r[2]; Real y = sum(r.a) + sum(r.b);
equation r = {R({1,2},3), R({0,0},4)}; end X;)"},
    {"record in if expression", 5, R"(
record R Real a; Real b; end R; model X R r = if time > 0.5 then R(5,0) else R(1,1);
Real y = r.a; end X;)"},
    {"record function result field", 6, R"(
record R Real a; Real b; end R; function f input Real u; output R r; algorithm r.a := u;
r.b := 2*u; end f; model X R r = f(3*time); Real y = r.b; end X;)"},
    {"record with nested modifier", 9, R"(
record Q Real c = 1; end Q; record R Q q; Real b = 2; end R; model X R r(q(c = 7));
Real y = r.q.c + r.b; end X;)"},
    {"record binding overridden field", 8, R"(
record R Real a = 1; Real b = 2; end R; model X parameter R p = R(3, 4); R r = p;
Real y = r.a + r.b + 1; end X;)"},
    {"extends record adds field", 6, R"(
record R Real a = 1; end R; record S extends R(a = 2); Real b = 4; end S; model X S s;
Real y = s.a + s.b; end X;)"},
    {"algorithm for with enum", 6, R"(
type E = enumeration(a,b,c); model X Real y; algorithm y := 0;
for e in E loop y := y + Integer(e); end for; end X;)"},
    {"nested for in algorithm", 18, R"(
model X Real y; algorithm y := 0; for i in 1:3, j in 1:2 loop y := y + i*j; end for; end X;)"},
    {"break", 3, R"(
function f input Integer n; output Integer v; algorithm v := 0;
for i in 1:n loop if i > 3 then break; end if; v := i; end for; end f;
model X Real y = f(10); end X;)"},
    {"recursive function", 120, R"(
function f input Integer n; output Integer v;
algorithm v := if n <= 1 then 1 else n*f(n-1); end f; model X Real y = f(5); end X;)"},
    {"function with array result", 14, R"(
function f input Real v[:]; output Real w[size(v,1)];
algorithm for i in 1:size(v,1) loop w[i] := v[i]^2; end for; end f;
model X Real y = sum(f({1,2,3*time})); end X;)"},
    {"function default from other input", 9, R"(
function f input Real a; input Real b = 2*a; output Real v; algorithm v := a + b; end f;
model X Real y = f(3*time); end X;)"},
    {"function with matrix", 5, R"(
function f input Real m[:,:]; output Real v; algorithm v := m[1,1]*m[2,2] - m[1,2]*m[2,1];
end f; model X Real y = f([2,1;1,3*time]); end X;)"},
    {"Integer arithmetic", 2, R"(
model X parameter Integer a = 7; Integer b = div(a, 3); Real y = b; end X;)"},
    {"Integer division is real", 3.5, R"(
model X parameter Integer a = 7; Real y = a/2; end X;)"},
    {"power associativity", 8, R"(
model X Real y = 2^3; end X;)"},
    {"unary minus precedence", -4, R"(
model X Real y = -2^2; end X;)"},
    {"not precedence", 1, R"(
model X parameter Boolean a = false; Real y = if not a and true then 1 else 0; end X;)"},
    {"and or precedence", 1, R"(
model X parameter Boolean t = true; Real y = if t or t and not t then 1 else 0; end X;)"},
    {"elementwise comparisons of if arrays", 3, R"(
model X Real v[3] = {if i > 1 then 1 else 0 for i in 1:3}; Real y = sum(v) + 1; end X;)"},
    {"sign of zero param", 0, R"(
model X parameter Real a = 0; Real y = sign(a); end X;)"},
    {"min of iterator", 1, R"(
model X Real y = min(abs(i - 3) + 1 for i in 1:5); end X;)"},
    {"max with two args varying", 3, R"(
model X Real y = max(3*time, 2); end X;)"},
    {"sum with filter expr", 6, R"(
model X parameter Real v[4] = {1,2,3,4};
Real y = sum(if mod(i,2)==0 then v[i] else 0 for i in 1:4); end X;)"},
    {"initial algorithm", 4, R"(
model X parameter Real p(fixed=false); Real y = p; initial algorithm p := 4; end X;)"},
    {"start fixed via initial equation der", 2, R"(
model X Real x; Real y = x; initial equation der(x) = 0; equation der(x) = 2 - x; end X;)"},
    {"when with reinit twice order", 5, R"(
model X Real x(start=0,fixed=true); Real y = x; equation der(x) = 0;
when time > 0.3 then reinit(x, pre(x) + 2); end when;
when time > 0.6 then reinit(x, pre(x) + 3); end when; end X;)"},
    {"sample count", 5, R"(
model X Integer n(start=0,fixed=true); Real y = n;
equation when sample(0.1, 0.2) then n = pre(n) + 1; end when; end X;)"},
    {"pre at sample", 4, R"(
model X Integer n(start=0,fixed=true), m(start=0,fixed=true); Real y = m;
equation when sample(0.1, 0.2) then n = pre(n) + 1; m = pre(n); end when; end X;)"},
    {"chained whens same instant", 2, R"(
model X Boolean a(start=false,fixed=true), b(start=false,fixed=true);
Real y = (if a then 1 else 0) + (if b then 1 else 0);
equation when time > 0.5 then a = true; end when; when a then b = true; end when; end X;)"},
    {"event iteration counter", 3, R"(
model X Integer n(start=0,fixed=true); Real y = n;
equation when {time > 0.5, pre(n) == 1, pre(n) == 2} then n = pre(n) + 1; end when; end X;)"},
    {"delay of step", 0, R"(
model X Real y = delay(if time > 0.7 then 1 else 0, 0.5); end X;)"},
    {"der of if", 3, R"(
model X Real x(start=0,fixed=true); Real y = x;
equation der(x) = if time < 0.5 then 2 else 4; end X;)"},
    {"parameter array from function", 30, R"(
function f input Integer n; output Real v[n]; algorithm for i in 1:n loop v[i] := i^2;
end for; end f; model X parameter Real v[4] = f(4); Real y = sum(v); end X;)"},
    {"parameter size from size of other", 4, R"(
model X parameter Real a[:] = {1,2}; parameter Real b[size(a,1)] = 2*a; Real y = b[2];
end X;)"},
    {"zero size arrays", 0, R"(
model X parameter Integer n = 0; Real v[n]; Real y = sum(v); end X;)"},
    {"String of parameters in index", 3, R"(
model X parameter Integer k = 3; parameter Real v[3] = {1,2,3}; Real y = v[k]; end X;)"},
    {"varying index", 20, R"(
model X parameter Real v[3] = {10,20,30}; Integer k = if time > 0.5 then 2 else 1;
Real y = v[k]; end X;)"},
    {"varying matrix index", 6, R"(
model X parameter Real v[2,3] = [1,2,3;4,5,6]; Integer k = if time > 0.5 then 2 else 1;
Real y = v[k, k+1]; end X;)"},
    {"assign to varying index", 7, R"(
model X Real v[3]; Real y; Integer k = if time > 0.5 then 2 else 1;
algorithm v := zeros(3); v[k] := 7; y := v[2]; end X;)"},
    {"function defined as a partial derivative", 8, R"(
function f input Real x; input Real z; output Real v; algorithm v := x^2*z; end f;
function g = der(f, x); model X Real y = g(2, 2*time); end X;)"},
    {"second partial derivative", 6, R"(
function f input Real x; input Real z; output Real v; algorithm v := x^2*z^3; end f;
function g = der(f, x, z); model X Real y = g(1, time); end X;)"},
    {"partial derivative of numbers", -1.0, R"(
function f input Real p; input Real t; output Real v; algorithm v := p - t; end f;
function g = der(f, t); model X Real y = g(23.4, 4.2); end X;)"},
    {"partial derivative in a function", 26, R"(
function f input Real p; input Real t; output Real v; algorithm v := p*t^2; end f;
function g = der(f, t); function h input Real p; input Real t; output Real v;
algorithm v := f(p, t) + t*g(p, t) - 1; end h; model X Real y = h(1, 3*time); end X;)"},
    {"function that refuses the start value", 8, R"(
function f input Real x; output Real v; algorithm assert(x > 2, "too small"); v := 1;
while v < x loop v := 2*v; end while; end f; model X Real u(start = 0) = 5 + time;
Real y = f(u); end X;)"},
    {"branch that fails is not taken", 8, R"(
function e input String s; algorithm assert(false, s); end e; function f input Real x;
output Real v; algorithm if x < 2 then e("too small: " + String(x)); end if; v := 1;
while v < x loop v := 2*v; end while; end f; model X Real u(start = 5) = 5 + time;
Real y = f(u); end X;)"},
    {"record that is filled in part", 3, R"(
record R Real a; Real b; end R; function f input Real u; output R r; algorithm r.a := u;
end f; function g input Real u; output Real v; protected R r; algorithm r := f(u);
v := r.a; end g; model X Real y = g(3*time); end X;)"},
};

const std::vector<Form> kNatives = {
    {"hash of a text as the library documents it", 1827717433, R"(
function h input String s; output Integer v;
external "C" v = ModelicaStrings_hashString(s); end h;
model X parameter Integer v = h("this is a test"); Real y = v; end X;)"},
    {"second documented hash", -1025762750, R"(
function h input String s; output Integer v;
external "C" v = ModelicaStrings_hashString(s); end h;
model X parameter Integer v = h("Controller.noise1"); Real y = v; end X;)"},
    {"linear system with numbers", 2.2, R"(
function s input Real A[:,:]; input Real b[:]; output Real x[size(b,1)];
output Integer info;
external "FORTRAN 77" dgesv(size(A,1), 1, A, size(A,1), info, x, size(A,1), info); end s;
model X parameter Real x[2] = s([2,1;1,3], {3,5}); Real y = sum(x); end X;)"},
    {"linear system that varies, differentiated", -0.55, R"(
function s input Real A[:,:]; input Real b[:]; output Real x[size(b,1)];
output Integer info;
external "FORTRAN 77" dgesv(size(A,1), 1, A, size(A,1), info, x, size(A,1), info); end s;
model X Real a(start = 0.5, fixed = true); Real x[2]; Real y = der(x[1]) + der(x[2]);
equation der(a) = 0.5; x = s([2,1;1,3]*a, {3,5})*0.5; end X;)"},
    {"linear system with several right sides", 6, R"(
function s input Real A[:,:]; input Real B[:,:]; output Real X[size(A,1),size(B,2)] = B;
output Integer info; external "FORTRAN 77" dgesv(X, info); end s;
model X Real m[2,2] = s([0,2;1,0], [2*time,4;6,8]); Real y = m[1,1]; end X;)"},
    {"least squares", 2, R"(
function s input Real A[:,:]; input Real b[:]; input Real rcond = 0;
output Real x[max(size(A,1),size(A,2))]; output Integer info; output Integer rank;
external "FORTRAN 77" dgelsy(x, info, rank); end s;
model X parameter Real x[3] = s([1,0;1,1;1,2], {1,3,5}); Real y = x[2]; end X;)"},
    {"least squares: the rank", 1, R"(
function s input Real A[:,:]; input Real b[:]; input Real rcond = 0;
output Real x[max(size(A,1),size(A,2))]; output Integer info; output Integer rank;
external "FORTRAN 77" dgelsy(x, info, rank); end s; function r input Real A[:,:];
output Integer k; protected Real x[size(A,1)]; Integer i;
algorithm (x,i,k) := s(A, ones(size(A,1))); end r;
model X parameter Integer k = r([1,2;2,4]); Real y = k; end X;)"},
    {"factors and solution", 2.2, R"(
function f input Real A[:,:]; output Real LU[size(A,1),size(A,2)];
output Integer p[min(size(A))]; output Integer info;
external "FORTRAN 77" dgetrf(LU, p, info); end f; function g input Real LU[:,:];
input Integer p[:]; input Real b[:]; output Real x[size(b,1)]; output Integer info;
external "FORTRAN 77" dgetrs(x, info); end g; function s input Real A[:,:];
input Real b[:]; output Real v; protected Real LU[size(A,1),size(A,2)];
Integer p[size(A,1)]; Integer i; Real x[size(b,1)]; algorithm (LU,p,i) := f(A);
(x,i) := g(LU,p,b); v := sum(x); end s; model X parameter Real v = s([1,3;2,1], {5,3});
Real y = v; end X;)"},
    {"eigenvalues", 5, R"(
function e_eigenValues input Real A[:,:]; output Real re[size(A,1)];
output Real im[size(A,1)]; output Integer info; external "FORTRAN 77" dgeev(re, im, info);
end e_eigenValues; model X parameter Real re[2] = e_eigenValues([3,1;1,2]);
Real y = sum(re); end X;)"},
    {"singular values", 5, R"(
function s_sigma input Real A[:,:]; output Real v[min(size(A))]; output Integer info;
external "FORTRAN 77" dgesvd(v, info); end s_sigma;
model X parameter Real v[2] = s_sigma([0,5;-3,0]); Real y = v[1]; end X;)"},
    {"Fourier transform of a wave", 0.8, R"(
function f input Real u[:]; output Integer info; output Real a[div(size(u,1),2)+1];
output Real p[div(size(u,1),2)+1]; external "C" info = ModelicaFFT_kiss_fftr(u, a, p);
end f; function g input Real u[:]; output Real v; protected Integer i;
Real a[div(size(u,1),2)+1]; Real p[div(size(u,1),2)+1]; algorithm (i,a,p) := f(u);
v := a[2]; end g; model X Real y = g({time*cos(2*3.141592653589793*k/8) for k in 0:7});
end X;)"},
    {"number in a text", 134, R"(
function s input String t; input Integer from = 1; input Boolean unsigned = false;
output Integer next; output Real number;
external "C" ModelicaStrings_scanReal(t, from, unsigned, next, number); end s;
function r input String t; output Real v; protected Integer n; Real x;
algorithm (n,x) := s(t); v := n + x; end r; model X parameter Real v = r("  12.5e1 abc");
Real y = v; end X;)"},
};

// What compliance suites ask for beyond the forms above.
const std::vector<Form> kLessCommon = {
    {"prefix of a type makes an input", 9, R"(
type In = input Real; type Out = output Real[2]; function f In u; Out v;
algorithm v := {u, 2*u}; end f; model X Real w[2] = f(3*time); Real y = sum(w); end X;)"},
    {"prefix of a type in an inherited input", 7, R"(
type In = input Real; function g In u; output Real v; algorithm v := u; end g;
function f extends g; In k = 4; algorithm v := u + k; end f;
model X Real y = f(3*time); end X;)"},
    {"derivative of a derivative counts on", -0.8414709848, R"(
function f input Real x; output Real z; algorithm z := sin(x);
annotation(derivative = f1, Inline = false); end f;
function f1 input Real x; input Real d; output Real z; algorithm z := cos(x)*d;
annotation(derivative(order = 2) = f2, Inline = false); end f1;
function f2 input Real x; input Real d; input Real d2; output Real z;
algorithm z := cos(x)*d2 - sin(x)*d^2; end f2;
model X Real a = f(time); Real b = der(a); Real y = der(b); end X;)"},
    {"derivative of a derivative of the first order", -0.8414709848, R"(
package P function f input Real x; output Real z; algorithm z := sin(x);
annotation(derivative = f1, Inline = false); end f;
function f1 input Real x; input Real d; output Real z; algorithm z := cos(x)*d;
annotation(derivative(order = 1) = f2, Inline = false); end f1;
function f2 input Real x; input Real d; input Real d2; output Real z;
algorithm z := cos(x)*d2 - sin(x)*d^2; end f2; end P;
model X Real a = P.f(time); Real b = der(a); Real y = der(b); end X;)"},
    {"parameter from a discrete Real that is fixed", 5, R"(
model X discrete Real z(start = 5, fixed = true); parameter Real p(fixed = false);
Real y = p; equation when time > 0.5 then z = 8; end when; initial equation z = p; end X;)"},
    {"parameter from a when that acts at the start", 2, R"(
model X discrete Real z(start = 0, fixed = true); parameter Real p(fixed = false);
Real y = p; equation when {initial(), time > 0.5} then z = 2; end when;
initial equation p = z; end X;)"},
    {"loop between two equations of a when", 2, R"(
model X discrete Real a(start = 0), b(start = 0); Real y = a + b; Real x(start = 1, fixed = true);
equation der(x) = 1; when sample(0, 0.25) then a = 0.5*b + x; b = 2 - a; end when; end X;)"},
    {"text that a when gives", 2, R"(
model X discrete String s(start = "none"); Real y = if s == "none" then 0 elseif s == "one"
then 1 elseif s == "two" then 2 else 3; equation when time > 0.3 then s = "one";
elsewhen time > 0.6 then s = if pre(s) == "one" then "two" else "wrong"; end when; end X;)"},
    {"texts that are equal", 1, R"(
model X String s, t; Real y; equation s = if time < 0.5 then "a" else "b"; t = s;
y = if t <> "a" and s == t then 1 else 2; end X;)"},
    {"texts in an algorithm", 1, R"(
model X String s[2]; Integer n; Real y = n; algorithm s[1] := "x"; s[2] := if time > 0.5 then
"x" else "y"; n := 0; if s[1] == s[2] then n := 1; end if; end X;)"},
    {"text of a record", 1, R"(
record R String name = "r"; Real v = 1; end R; model X
R r(name = if time > 0.5 then "late" else "early", v = time);
Real y = if r.name == "late" then r.v else 0; end X;)"},
    {"text of a function", 1, R"(
function f input Boolean b; output String s; algorithm if b then s := "yes"; else s := "no";
end if; end f; model X String s = f(time > 0.5); Real y = if s == "yes" then 1 else 0; end X;)"},
    {"text through a connection", 1, R"(
connector O = output String; connector I = input String; model A O o = if time > 0.5 then "on"
else "off"; end A; model B I i; Real y = if i == "on" then 1 else 0; end B;
model X A a; B b; Real y = b.y; equation connect(a.o, b.i); end X;)"},
    {"text of an Integer", 1, R"(
model X Integer i = integer(10*time); Boolean b = String(i) == "7";
Boolean c = "  7" == String(i, minimumLength = 3, leftJustified = false); Integer n(start = 0); Real y = n;
equation when b and c then n = pre(n) + 1; end when; end X;)"},
    {"text by operator of a record", 1, R"(
operator record C Integer k; encapsulated operator function 'String' import C; input C c;
output String s; algorithm s := String(c.k); end 'String'; end C;
model X C c = C(1); Boolean b = String(c) == "1"; Real y = if b then 1 else 0; end X;)"},
    {"modifier of a class for an array", 8, R"(
model L parameter Real p = 1; end L; model X model M = L(p = 4); M s[2];
Real y = s[1].p + s[2].p; end X;)"},
    {"modifier of a redeclared class for an array", 24, R"(
model L parameter Real p = 1; end L; model D replaceable model M = L; M s[2];
Real v = s[1].p + s[2].p; end D; model X D d[2](redeclare model M = L(p = 6));
Real y = sum(d.v); end X;)"},
    {"expandable connector with an array of unknown size", 6, R"(
connector O = output Real; connector I = input Real; expandable connector E Real x[:]; end E;
model A O o[3] = {1, 2, 3*time}; end A; model B I i[3]; Real v = sum(i); end B;
model X E e; A a; B b; Real y = b.v; equation connect(a.o, e.x); connect(e.x, b.i); end X;)"},
    {"while in the algorithm of a model", 8, R"(
model X Integer n, k; Real y = n + k; algorithm k := 4; while n < k loop n := n + 1; end while;
end X;)"},
    {"while that is left", 7, R"(
model X Integer n = if time > 0.5 then 9 else 3; Integer k, s; Real y = k + s; algorithm k := 0;
s := 0; while k < n loop k := k + 1; if k == 4 then break; end if; s := s + 1; end while; end X;)"},
    {"package constant through a short package", 18, R"(
package P constant Integer k = 1; function f output Real z; algorithm z := k; end f;
model Q Real z; equation z = f() + k; end Q; end P;
model X package L = P(k = 9); L.Q q; Real y = q.z; end X;)"},
    {"constant of a redeclared package in a size", 3, R"(
package P constant Integer k = 1; end P; model G replaceable package L = P;
parameter Real s[L.k] = fill(1, L.k); end G;
model X G g(redeclare package L = P(k = 3)); Real y = sum(g.s); end X;)"},
    {"square matrix whose second size is its first", 5, R"(
model X parameter Real A[:, size(A, 1)] = [1, 2; 3, 4]; Real y = size(A, 2) + A[2, 1]; end X;)"},
    {"square matrix given from outside", 9, R"(
model S parameter Real A[:, size(A, 1)] = [1, 2; 3, 4]; Real n = size(A, 1) + size(A, 2) + A[1, 1];
end S; model X S s(A = [7]); Real y = s.n; end X;)"},
    {"product element by element of records that have a scalar product too", 14, R"(
operator record C Real re; Real im;
  encapsulated operator 'constructor' import C; function made input Real re; input Real im = 0;
    output C r(re = re, im = im); algorithm end made; end 'constructor';
  encapsulated operator '*' import C;
    function times input C a; input C b; output C c;
      algorithm c := C(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re); end times;
    function scalarProduct input C a[:]; input C b[size(a, 1)]; output C c;
      algorithm c := C(1e3); end scalarProduct; end '*';
end C;
model X C a[2] = {C(1, 2), C(2)}; C b[2] = {C(3), C(4)}; C c[2] = a .* b; C d = a*b;
  Real y = c[1].im + c[2].re + (if d.re > 999 then 0 else 1); end X;)"},
};

TEST(LanguageForms, HaveTheValueOfTheSpecification) { expect_numbers(kForms); }

TEST(LanguageForms, OfClocksConnectorsAndFunctionsToo) { expect_numbers(kMoreForms); }

TEST(LanguageForms, LessCommonOnesToo) { expect_numbers(kLessCommon); }

TEST(LanguageForms, ExternalFunctionsOfTheLibraryAreNative) { expect_numbers(kNatives); }

}  // namespace
}  // namespace saltus
