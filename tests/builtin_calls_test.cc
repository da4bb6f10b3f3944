#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/build.h"
#include "modelica/load.h"
#include "simulate/simulate.h"

// Every function of the language with any number of arguments of any kind: it is taken, or refused
// with its file and line. Neither a signal nor an exception of the C++ library.

namespace saltus {
namespace {

const std::vector<std::string> kFunctions = {"sin",
                                             "cos",
                                             "tan",
                                             "asin",
                                             "acos",
                                             "atan",
                                             "sinh",
                                             "cosh",
                                             "tanh",
                                             "exp",
                                             "log",
                                             "log10",
                                             "sqrt",
                                             "abs",
                                             "sign",
                                             "atan2",
                                             "noEvent",
                                             "pure",
                                             "smooth",
                                             "homotopy",
                                             "delay",
                                             "spatialDistribution",
                                             "inStream",
                                             "actualStream",
                                             "semiLinear",
                                             "der",
                                             "pre",
                                             "edge",
                                             "change",
                                             "initial",
                                             "terminal",
                                             "sample",
                                             "floor",
                                             "ceil",
                                             "integer",
                                             "Integer",
                                             "div",
                                             "mod",
                                             "rem",
                                             "activeState",
                                             "timeInState",
                                             "ticksInState",
                                             "cardinality",
                                             "rooted",
                                             "Connections.isRoot",
                                             "Connections.rooted",
                                             "Connections.root",
                                             "Connections.potentialRoot",
                                             "Connections.branch",
                                             "Connections.uniqueRoot",
                                             "Connections.nothing",
                                             "Clock",
                                             "subSample",
                                             "superSample",
                                             "shiftSample",
                                             "backSample",
                                             "interval",
                                             "firstTick",
                                             "hold",
                                             "previous",
                                             "noClock",
                                             "min",
                                             "max",
                                             "sum",
                                             "product",
                                             "array",
                                             "size",
                                             "ndims",
                                             "zeros",
                                             "ones",
                                             "fill",
                                             "identity",
                                             "diagonal",
                                             "linspace",
                                             "transpose",
                                             "scalar",
                                             "vector",
                                             "matrix",
                                             "promote",
                                             "cat",
                                             "outerProduct",
                                             "symmetric",
                                             "cross",
                                             "skew",
                                             "getInstanceName",
                                             "String",
                                             "assert",
                                             "terminate",
                                             "reinit",
                                             "transition",
                                             "initialState",
                                             "connect",
                                             "Real",
                                             "Boolean",
                                             "f",
                                             "R",
                                             "Kind",
                                             "nothing"};

// Where a call may stand; @ is the call.
const std::vector<std::string> kPlaces = {
    "equation y = @;",
    "equation @ = y;",
    "equation @; y = 1;",
    "equation y = 1; when time > 0.5 then @; end when;",
    "equation y = 1; when @ then reinit(x, 1); end when;",
    "equation if @ then y = 1; else y = 2; end if;",
    "algorithm y := @;",
    "algorithm y := 0; @;",
    "algorithm y := 0; when time > 0.5 then y := @; end when;",
    "algorithm y := 0; while @ loop y := 1; end while;",
    "algorithm y := 0; for i in @ loop y := y + 1; end for;",
    "algorithm y := 0; if time > 2 then y := 1; elseif @ then y := 2; end if;",
    "equation y = call(x);",
    "parameter Real q = @; equation y = q;",
    "parameter Integer q = @; Real w[q] = fill(1, q); equation y = 1;",
    "equation y = 1; assert(x < 9, @);",
    "initial equation y = @; equation der(y) = 1;"};

const std::vector<std::string> kArguments = {"x",
                                             "1",
                                             "-2",
                                             "0.5",
                                             "true",
                                             "\"a\"",
                                             "{1, 2, 3}",
                                             "v",
                                             "m",
                                             "r",
                                             "k",
                                             "b",
                                             "s",
                                             "c",
                                             "z",
                                             "fill(1, 0)",
                                             "Kind.one",
                                             "time",
                                             "f",
                                             "function f(u = 1)",
                                             "1/0",
                                             "{r, r}",
                                             "{\"a\", \"b\"}",
                                             "Clock(0.1)",
                                             "missing",
                                             "i for i in 1:3",
                                             "u = 1",
                                             "nothing = 2",
                                             "x, n = 3",
                                             ":",
                                             "end",
                                             "{}",
                                             "(1, 2)",
                                             "x[9]",
                                             "c.e",
                                             "1:0"};

std::string model_with(const std::string& place, const std::string& call) {
  std::string text = place;
  text.replace(text.find('@') == std::string::npos ? text.size() : text.find('@'),
               text.find('@') == std::string::npos ? 0 : 1, call);
  const bool in_function = place.find("call(") != std::string::npos;
  return R"(model M
  type Kind = enumeration(one, two);
  record R
    Real a = 1;
    Integer n = 2;
  end R;
  connector C
    Real e;
    flow Real g;
    stream Real h;
  end C;
  function f
    input Real u = 0;
    output Real w;
  algorithm
    w := 2*u;
  end f;
  function call
    input Real u;
    output Real w;
  protected
    Real x = u;
    Real v[3] = {u, 2, 3};
    Real m[2, 2] = {{1, 2}, {3, u}};
    R r;
    Integer k = 2;
    Boolean b = true;
    String s = "a";
  algorithm
    w := )" +
         (in_function ? call : "u") +
         R"(;
  end call;
  Real x(start = 1, fixed = true);
  Real y;
  Real v[3] = {x, 2, 3};
  Real m[2, 2] = {{1, 2}, {3, x}};
  R r;
  discrete Integer k(start = 2, fixed = true);
  Boolean b = x > 2;
  String s = if x > 2 then "high" else "low";
  C c;
  parameter Real z = 0;
  )" + text +
         R"(
equation
  der(x) = 1;
  c.e = 1;
  c.h = 1;
  when time > 0.3 then
    k = pre(k) + 1;
  end when;
end M;
)";
}

// Whether it is taken. Fails where an error has no place or is none of Saltus.
bool run(const std::string& place, const std::string& call) {
  SCOPED_TRACE(place + "   " + call);
  try {
    FlatModel flat = load_modelica_text(model_with(place, call), "", {.use_modelica_path = false});
    SimulateOptions options;
    options.stop_time = 1.0;
    options.max_steps = 50;
    options.max_events = 20;
    options.max_seconds = 5.0;
    const SimulateResult result = simulate(build(std::move(flat)), options);
    EXPECT_FALSE(result.message.empty());
    return result.reason == StopReason::kStopTime;
  } catch (const Error& error) {
    EXPECT_FALSE(error.message().empty());
    EXPECT_GT(error.where().line, 0) << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  return false;
}

// All functions in all places with so many arguments of one kind.
// Several take seconds together, so they stand in every third place, another one for each kind.
void run_all(std::size_t count) {
  std::size_t made = 0;
  for (const std::string& function : kFunctions)
    for (const std::string& argument : kArguments) {
      std::string call = function + "(";
      for (std::size_t k = 0; k < count; ++k) call += (k > 0 ? ", " : "") + argument;
      call += ")";
      const std::size_t stride = count > 0 ? 3 : 1;
      for (std::size_t k = made++ % stride; k < kPlaces.size(); k += stride) run(kPlaces[k], call);
      if (count == 0) break;
    }
}

TEST(BuiltinCalls, RightOnesAreTaken) {
  for (const std::string call :
       {"sin(x)", "atan2(x, 2)", "max(x, 2)", "sum(v)", "size(m, 1)", "homotopy(x, 1)",
        "homotopy(actual = x, simplified = 1)", "sum(v[i] for i in 1:2)", "noEvent(x)", "f(x)",
        "delay(x, 0.1)", "smooth(0, x)", "semiLinear(x, 1, 2)", "cardinality(c)", "mod(x, 2)"})
    EXPECT_TRUE(run(kPlaces[0], call)) << call;
}

TEST(BuiltinCalls, WithoutArguments) { run_all(0); }
TEST(BuiltinCalls, WithOneArgument) { run_all(1); }
TEST(BuiltinCalls, WithTwoArguments) { run_all(2); }
TEST(BuiltinCalls, WithThreeArguments) { run_all(3); }

TEST(BuiltinCalls, WithNineArguments) {
  for (const std::string& function : kFunctions)
    for (const char* const argument : {"x", "\"a\"", "u = 1", "v", "r"}) {
      std::string call = function + "(" + argument;
      for (int k = 1; k < 9; ++k) call += std::string(", ") + argument;
      for (const std::string& place : kPlaces) run(place, call + ")");
    }
}

// Two arguments of different kinds.
TEST(BuiltinCalls, WithArgumentsThatDiffer) {
  for (const std::string& function : kFunctions)
    for (std::size_t k = 0; k < kArguments.size(); ++k)
      for (const std::size_t other : {5U, 7U, 9U})
        for (const std::size_t place : {0U, 6U})
          run(kPlaces[place], function + "(" + kArguments[k] + ", " + kArguments[other] + ", " +
                                  kArguments[k] + ")");
}

}  // namespace
}  // namespace saltus
