#include "expr/tape.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <new>

#include "base/error.h"
#include "expr/differentiate.h"
#include "expr/expr_testing.h"

using saltus::testing::allocations;
std::atomic<long> saltus::testing::allocations = 0;

// Counts every allocation of this test program. Not inlined, or the compiler sees malloc meet
// delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// std::stable_sort asks this way; sanitizers have their own, which does not match our delete.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace saltus {
namespace {

// Integer powers are products in the tape and std::pow in the recursion; the rest is the same
// arithmetic, but conditioning magnifies the difference.
constexpr double kSameArithmetic = 1e-12;
constexpr double kCompiledCode = 1e-15;

class TapeTest : public ::testing::Test {
 protected:
  TapeTest() {
    const auto cubic = make_table("cubic", {0, 0.5, 2}, {0, 1, 3}, Interpolation::kMonotoneCubic);
    const auto linear = make_table("linear", {0.6, 1.0, 1.2}, {1, 3, 2}, Interpolation::kLinear,
                                   Extrapolation::kHold);
    const auto hypotenuse = std::make_shared<Function>(
        Function{"hypotenuse", 2, [](const double* a) { return std::hypot(a[0], a[1]); },
                 [](std::size_t i, const std::vector<Expr>& a) {
                   return a[i] / sqrt(a[0] * a[0] + a[1] * a[1]);
                 },
                 "hypot"});
    const auto positive_part = std::make_shared<Function>(
        Function{"fdim", 2, [](const double* a) { return std::fdim(a[0], a[1]); }, nullptr, ""});
    testing::RandomExpressions random({x, y, z, p, graph.time()}, 99, true);
    for (int i = 0; i < 150; ++i) outputs.push_back(random.next(5));
    const std::vector<Expr> more = {lookup(cubic, x),
                                    lookup(cubic, 3 * y),
                                    lookup(cubic, x, 1),
                                    lookup(cubic, x, 2),
                                    lookup(cubic, x, 3),
                                    lookup(linear, y),
                                    lookup(linear, y, 1),
                                    call(hypotenuse, {x, y * z}),
                                    call(positive_part, {z, call(hypotenuse, {x, 1.0})}),
                                    partial(call(hypotenuse, {x, y * z}), z),
                                    pow(x, 3),
                                    pow(x, -3),
                                    pow(x, 17),
                                    pow(x, 40),
                                    pow(x, y),
                                    log10(x) + asin(0.5 * x) - acos(0.5 * y) + tan(z) + sinh(x) -
                                        cosh(y) + mod(x, 0.3) - rem(y, 0.4) + sign(x - y) + sqrt(z),
                                    (x + y) - z,
                                    z - (x + y),
                                    (x + y) * z,
                                    (x + y) / z,
                                    (x - y) + z,
                                    (x - y) - z,
                                    z - (x - y),
                                    (x - y) * z,
                                    (x - y) / z,
                                    x * y + z * p,
                                    x * y - z * p,
                                    x * y - z,
                                    z - x * y,
                                    x * y - (z - p),
                                    (x - y) * z + p,
                                    p + z * (y - x),
                                    x * y * z + p,
                                    p - x * y * z,
                                    x * y * z - 3.5,
                                    x * z * p - sin(y),
                                    (x * y) / z,
                                    3.0,
                                    x,
                                    1.0 / graph.constant(0.0),
                                    -1.0 / graph.constant(0.0)};
    outputs.insert(outputs.end(), more.begin(), more.end());
  }

  double values_at(const Expr& e) const {
    return testing::evaluate(e, {{graph.time().node(), time[0]},
                                 {x.node(), xyz[0]},
                                 {y.node(), xyz[1]},
                                 {z.node(), xyz[2]},
                                 {p.node(), parameters[0]}});
  }

  mutable Graph graph;
  Expr x = graph.new_variable("x");
  Expr y = graph.new_variable("y");
  Expr z = graph.new_variable("z");
  Expr p = graph.new_parameter("p");
  std::vector<Expr> outputs;
  std::vector<std::vector<Expr>> inputs = {{graph.time()}, {x, y, z}, {der(x)}, {p}};
  double time[1] = {0.9};
  double xyz[3] = {0.7, 1.1, 1.3};
  double parameters[1] = {0.6};
  const double* values[4] = {time, xyz, nullptr, parameters};
};

// Bit for bit, NaN included.
void expect_same_bits(const std::vector<Expr>& outputs,
                      const std::vector<std::vector<Expr>>& inputs, const double* const* values) {
  const Tape machine(outputs, inputs);
  const Tape interpreted(outputs, inputs, TapeCode::kInterpreted);
  Tape::Workspace first = machine.make_workspace();
  Tape::Workspace second = interpreted.make_workspace();
  std::vector<double> by_machine(outputs.size(), -1.0);
  std::vector<double> by_interpreter(outputs.size(), -2.0);
  machine.evaluate(values, first, by_machine.data());
  interpreted.evaluate(values, second, by_interpreter.data());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (std::isnan(by_machine[i]) && std::isnan(by_interpreter[i])) continue;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(by_machine[i]),
              std::bit_cast<std::uint64_t>(by_interpreter[i]))
        << to_string(outputs[i]) << ": " << by_machine[i] << " and " << by_interpreter[i];
  }
}

TEST_F(TapeTest, MachineCodeAgreesWithTheInterpreterToTheLastBit) {
  const double nan = std::nan("");
  for (const Expr& a : {x, y}) {
    const Expr b = a.same_as(x) ? y : x;
    for (const Expr& e : {min(a, b), max(a, b), abs(a), sign(a), a < b, a <= b, equal(a, b), !a,
                          a && b, a || b, select(a, b, z), select(a < b, a, z), -a, floor(a)})
      outputs.push_back(e);
  }
  for (const double first : {0.7, -0.7, 0.0, -0.0, 1.1, nan, 1e308}) {
    for (const double second : {1.1, 0.0, -0.0, 0.7, nan, -1e308}) {
      xyz[0] = first;
      xyz[1] = second;
      expect_same_bits(outputs, inputs, values);
    }
  }
}

TEST(TapeMachineCode, KeepsManyLiveValuesAndGroups) {
  Graph graph;
  std::vector<std::vector<Expr>> inputs(7);
  std::vector<std::vector<double>> numbers(7);
  std::vector<const double*> values;
  std::vector<Expr> leaves;
  for (std::size_t g = 0; g < inputs.size(); ++g) {
    for (int i = 0; i < 40; ++i) {
      inputs[g].push_back(graph.new_variable("v"));
      numbers[g].push_back(0.3 + std::sin(static_cast<double>(40 * g) + i));
      leaves.push_back(inputs[g].back());
    }
    values.push_back(numbers[g].data());
  }
  // All products are needed until the end, with calls in between.
  std::vector<Expr> products;
  for (std::size_t i = 1; i < leaves.size(); ++i)
    products.push_back(i % 9 == 0 ? exp(leaves[i]) : leaves[i] * leaves[i - 1]);
  std::vector<Expr> outputs;
  for (std::size_t i = 0; i < products.size(); ++i)
    outputs.push_back(products[i] * products[products.size() - 1 - i] - products[i / 2]);
  expect_same_bits(outputs, inputs, values.data());
}

TEST_F(TapeTest, AgreesWithRecursiveEvaluation) {
  const Tape tape(outputs, inputs);
  Tape::Workspace workspace = tape.make_workspace();
  std::vector<double> out(tape.output_count());
  for (const double shift : {0.0, 0.15, -0.1}) {
    for (double& v : xyz) v += shift;
    tape.evaluate(values, workspace, out.data());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const double expected = values_at(outputs[i]);
      if (std::isinf(expected)) {
        EXPECT_EQ(out[i], expected);
      } else {
        EXPECT_NEAR(out[i], expected, kSameArithmetic * (1 + std::abs(expected)))
            << to_string(outputs[i]);
      }
    }
  }
}

TEST_F(TapeTest, EvaluatesSharedExpressionsOnce) {
  const Expr shared = sin(x * y);
  const std::vector<Expr> two = {shared + z, exp(shared)};
  EXPECT_EQ(Tape(two, inputs).instruction_count(), 4u);
}

TEST_F(TapeTest, EvaluationDoesNotAllocate) {
  const Tape tape(outputs, inputs);
  Tape::Workspace workspace = tape.make_workspace();
  std::vector<double> out(tape.output_count());
  const long before = allocations;
  tape.evaluate(values, workspace, out.data());
  EXPECT_EQ(allocations, before);
}

TEST_F(TapeTest, AMissingInputIsNamed) {
  const std::vector<Expr> e = {x * der(y)};
  try {
    const Tape tape(e, inputs);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("der(y)"), std::string::npos);
  }
}

TEST_F(TapeTest, OutlivesItsGraph) {
  Tape tape;
  {
    Graph local;
    const Expr u = local.new_variable("u");
    const std::vector<Expr> e = {lookup(make_table("t", {0, 1}, {1, 3}), u) * u};
    tape = Tape(e, {{u}});
  }
  Tape::Workspace workspace = tape.make_workspace();
  const double u = 0.5;
  const double* in[] = {&u};
  double out = 0.0;
  tape.evaluate(in, workspace, &out);
  EXPECT_DOUBLE_EQ(out, 1.0);
}

TEST_F(TapeTest, RunsALongChain) {
  Expr e = x;
  for (int i = 0; i < 100000; ++i) e = 0.5 * (e + y);
  const std::vector<Expr> one = {e};
  const Tape tape(one, inputs);
  Tape::Workspace workspace = tape.make_workspace();
  double out = 0.0;
  tape.evaluate(values, workspace, &out);
  EXPECT_NEAR(out, xyz[1], 1e-15);  // the mean with y, taken again and again
}

TEST_F(TapeTest, CompiledCGivesTheSameValues) {
  const Tape tape(outputs, inputs);
  std::string directory = (std::filesystem::temp_directory_path() / "saltus-XXXXXX").string();
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  std::ofstream(directory + "/tape.c") << tape.to_c("values");
  const std::string command =
      "cc -std=c99 -Wall -Wextra -Werror -pedantic -O1 -ffp-contract=off "
      "-shared -fPIC -o '" +
      directory + "/tape.so' '" + directory + "/tape.c' -lm";
  ASSERT_EQ(std::system(command.c_str()), 0);
  void* library = dlopen((directory + "/tape.so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto function =
      reinterpret_cast<void (*)(const double* const*, double*)>(dlsym(library, "values"));
  ASSERT_NE(function, nullptr);
  std::vector<double> by_tape(outputs.size());
  std::vector<double> by_c(outputs.size());
  Tape::Workspace workspace = tape.make_workspace();
  for (const double shift : {0.0, 0.15, -0.1}) {
    for (double& v : xyz) v += shift;
    tape.evaluate(values, workspace, by_tape.data());
    function(values, by_c.data());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (std::isinf(by_tape[i])) {
        EXPECT_EQ(by_c[i], by_tape[i]);
      } else {
        EXPECT_NEAR(by_c[i], by_tape[i], kCompiledCode * std::abs(by_tape[i]))
            << to_string(outputs[i]);
      }
    }
  }
  dlclose(library);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace saltus
