#include "expr/lane_tape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "base/avx_assembler.h"
#include "expr/expr_testing.h"

namespace saltus {
namespace {

using Lanes = std::array<double, kLanes>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array kSpecial = {0.7,   -0.7, 0.0,    -0.0,      1.3,        2.0,   -3.5,
                                 1e308, kNan, 5e-324, kInfinity, -kInfinity, -1e308};
constexpr double kUntouched = 4711.0;
constexpr std::size_t kMargin = 16;  // numbers behind an array that nobody may write

// Payload and sign of NaN depend on the order of operands and do not count.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool is_untouched(const std::vector<double>& numbers) {
  return std::all_of(numbers.end() - kMargin, numbers.end(),
                     [](double number) { return number == kUntouched; });
}

// Formulas and four points, by group and input.
struct Problem {
  std::vector<Expr> outputs;
  std::vector<std::vector<Expr>> inputs;
  std::vector<std::vector<Lanes>> points;

  Expr add_input(Graph& graph, std::size_t group, const Lanes& lanes) {
    if (group >= inputs.size()) {
      inputs.resize(group + 1);
      points.resize(group + 1);
    }
    inputs[group].push_back(graph.new_variable("v"));
    points[group].push_back(lanes);
    return inputs[group].back();
  }

  // As Tape::evaluate has them.
  std::vector<Lanes> expected(const std::vector<bool>& uniform) const {
    const Tape tape(outputs, inputs);
    Tape::Workspace workspace = tape.make_workspace();
    std::vector<Lanes> results(outputs.size());
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::vector<std::vector<double>> numbers(inputs.size());
      std::vector<const double*> values;
      for (std::size_t g = 0; g < inputs.size(); ++g) {
        for (const Lanes& lanes : points[g]) numbers[g].push_back(lanes[uniform[g] ? 0 : lane]);
        values.push_back(numbers[g].data());
      }
      std::vector<double> out(outputs.size());
      tape.evaluate(values.data(), workspace, out.data());
      for (std::size_t i = 0; i < out.size(); ++i) results[i][lane] = out[i];
    }
    return results;
  }

  void expect_same(const LaneTape& tape, const std::vector<bool>& uniform) const {
    std::vector<std::vector<double>> numbers(inputs.size());
    std::vector<const double*> values;
    for (std::size_t g = 0; g < inputs.size(); ++g) {
      for (const Lanes& lanes : points[g])
        numbers[g].insert(numbers[g].end(), lanes.begin(), lanes.begin() + (uniform[g] ? 1 : 4));
      values.push_back(numbers[g].data());
    }
    LaneTape::Workspace workspace = tape.make_workspace();
    workspace.insert(workspace.end(), kMargin, kUntouched);
    std::vector<double> out(kLanes * outputs.size() + kMargin, kUntouched);
    const std::vector<Lanes> exact = expected(uniform);
    ASSERT_EQ(tape.output_count(), outputs.size());
    for (int repetition = 0; repetition < 2; ++repetition) {
      tape.evaluate(values.data(), workspace, out.data());
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          ASSERT_TRUE(same(out[kLanes * i + lane], exact[i][lane]))
              << to_string(outputs[i]) << " in lane " << lane << ": " << out[kLanes * i + lane]
              << " and " << exact[i][lane];
      }
    }
    EXPECT_TRUE(is_untouched(workspace));
    EXPECT_TRUE(is_untouched(out));
  }

  // By machine code, and one lane after the other by machine code and by the interpreter.
  void expect_same_in_every_way(const std::vector<bool>& uniform) const {
    const Tape tape(outputs, inputs);
    const Tape interpreted(outputs, inputs, TapeCode::kInterpreted);
    expect_same(LaneTape(tape, uniform), uniform);
    expect_same(LaneTape(tape, uniform, TapeCode::kInterpreted), uniform);
    expect_same(LaneTape(interpreted, uniform, TapeCode::kInterpreted), uniform);
  }
};

std::vector<bool> bits_of(unsigned number, std::size_t count) {
  std::vector<bool> bits;
  for (std::size_t i = 0; i < count; ++i) bits.push_back((number >> i & 1) != 0);
  return bits;
}

std::shared_ptr<const Table> a_table() {
  return make_table("cubic", {0, 0.5, 2}, {0, 1, 3}, Interpolation::kMonotoneCubic);
}
std::shared_ptr<const Function> a_function() {
  return std::make_shared<Function>(Function{
      "blend", 3, [](const double* a) { return std::fma(a[0], a[1], -a[2]); }, nullptr, ""});
}

std::vector<Expr> every_operation(const Expr& a, const Expr& b, const Expr& c) {
  return {-a,
          sqrt(a),
          exp(a),
          log(a),
          log10(a),
          sin(a),
          cos(a),
          tan(a),
          asin(a),
          acos(a),
          atan(a),
          sinh(a),
          cosh(a),
          tanh(a),
          abs(a),
          sign(a),
          floor(a),
          ceil(a),
          trunc(a),
          !a,
          a + b,
          a - b,
          a * b,
          a / b,
          pow(a, b),
          atan2(a, b),
          min(a, b),
          max(a, b),
          a < b,
          a <= b,
          equal(a, b),
          a && b,
          a || b,
          select(a, b, c),
          lookup(a_table(), a),
          call(a_function(), {a, b, c})};
}

TEST(LaneTape, DoesEveryOperationAsATapeDoes) {
  Graph graph;
  Problem problem;
  const Expr a = problem.add_input(graph, 0, {});
  const Expr b = problem.add_input(graph, 1, {});
  const Expr c = problem.add_input(graph, 2, {2.5, -0.0, kNan, 1.5});
  problem.outputs = every_operation(a, b, c);
  std::set<Op> present;
  for (const Expr& e : problem.outputs) present.insert(e.node()->op);
  for (int op = static_cast<int>(Op::kNegate); op <= static_cast<int>(Op::kCall); ++op)
    EXPECT_TRUE(present.contains(static_cast<Op>(op))) << op;
  // Operands that are results, and such that are needed again.
  for (const Expr& e : every_operation(b - a, c + b, a * 1.5)) problem.outputs.push_back(e);

  constexpr std::size_t kPairs = kSpecial.size() * kSpecial.size();
  for (unsigned uniform = 0; uniform < 8; ++uniform) {
    for (std::size_t first = 0; first < kPairs; first += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t pair = (first + lane) % kPairs;
        problem.points[0][0][lane] = kSpecial[pair / kSpecial.size()];
        problem.points[1][0][lane] = kSpecial[pair % kSpecial.size()];
      }
      problem.expect_same_in_every_way(bits_of(uniform, 3));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(LaneTape, EvaluatesRandomExpressionsAsATapeDoes) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> moderate(-1.5, 1.5);
  std::uniform_int_distribution<std::size_t> special(0, 2 * kSpecial.size() - 1);
  for (unsigned seed = 0; seed < 40; ++seed) {
    Graph graph;
    Problem problem;
    std::vector<Expr> leaves;
    for (std::size_t i = 0; i < 12; ++i) {
      Lanes lanes;
      for (double& number : lanes) {
        const std::size_t choice = special(random);
        number = choice < kSpecial.size() && seed % 2 == 0 ? kSpecial[choice] : moderate(random);
      }
      leaves.push_back(problem.add_input(graph, i % 6, lanes));
    }
    testing::RandomExpressions expressions(leaves, seed, true);
    for (int i = 0; i < 40; ++i) problem.outputs.push_back(expressions.next(5));
    problem.expect_same_in_every_way(bits_of(seed * 11, 6));
    if (HasFatalFailure()) return;
  }
}

TEST(LaneTape, KeepsManyLiveValuesAroundCallsAndManyGroups) {
  Graph graph;
  Problem problem;
  std::vector<Expr> leaves;
  for (std::size_t g = 0; g < 7; ++g) {
    for (std::size_t i = 0; i < 40; ++i) {
      Lanes lanes;
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = 0.3 + std::sin(static_cast<double>(100 * g + 7 * i + lane));
      leaves.push_back(problem.add_input(graph, g, lanes));
    }
  }
  // All are needed until the end.
  std::vector<Expr> parts;
  const auto table = a_table();
  const auto function = a_function();
  for (std::size_t i = 2; i < leaves.size(); ++i) {
    const Expr product = leaves[i] * leaves[i - 1];
    parts.push_back(i % 9 == 0    ? exp(leaves[i])
                    : i % 11 == 0 ? lookup(table, product)
                    : i % 13 == 0 ? call(function, {product, leaves[i - 2], 0.25})
                    : i % 17 == 0 ? atan2(product, leaves[i - 2])
                                  : product);
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    problem.outputs.push_back(parts[i] * parts[parts.size() - 1 - i] - parts[i / 2]);
  for (const unsigned uniform : {0U, 127U, 85U, 42U, 1U, 64U})
    problem.expect_same_in_every_way(bits_of(uniform, 7));
}

TEST(LaneTape, CallsOnceWhatIsTheSameInAllLanes) {
  Graph graph;
  Problem problem;
  const Expr a = problem.add_input(graph, 0, {1, 2, 3, 4});
  const Expr b = problem.add_input(graph, 1, {5, 6, 7, 8});
  int calls = 0;
  const auto counted = std::make_shared<Function>(Function{"counted", 1,
                                                           [&calls](const double* u) {
                                                             ++calls;
                                                             return *u;
                                                           },
                                                           nullptr, ""});
  problem.outputs = {call(counted, {b * 2.0}), call(counted, {a})};
  const LaneTape tape(Tape(problem.outputs, problem.inputs), {false, true});
  LaneTape::Workspace workspace = tape.make_workspace();
  const double* values[] = {problem.points[0][0].data(), problem.points[1][0].data()};
  Lanes out[2];
  tape.evaluate(values, workspace, out[0].data());
  EXPECT_EQ(out[0], (Lanes{10, 10, 10, 10}));
  EXPECT_EQ(out[1], (Lanes{1, 2, 3, 4}));
  EXPECT_EQ(calls, AvxAssembler::is_available() ? 5 : 8);
}

TEST(LaneTape, OutputsMayBeInputsConstantsOrTheSameTwice) {
  Graph graph;
  Problem problem;
  const Expr a = problem.add_input(graph, 0, {1, 2, 3, 4});
  const Expr b = problem.add_input(graph, 1, {5, 6, 7, 8});
  problem.outputs = {a, b, 3.5, a + b, a + b, a, graph.constant(-0.0)};
  for (unsigned uniform = 0; uniform < 4; ++uniform)
    problem.expect_same_in_every_way(bits_of(uniform, 2));
}

TEST(LaneTape, MayBeEmptyAndHaveGroupsWithoutUse) {
  const LaneTape empty;
  EXPECT_EQ(empty.output_count(), 0U);
  LaneTape::Workspace nothing = empty.make_workspace();
  empty.evaluate(nullptr, nothing, nullptr);

  Graph graph;
  Problem problem;
  const Expr a = problem.add_input(graph, 1, {1, 2, 3, 4});
  problem.add_input(graph, 2, {5, 6, 7, 8});
  problem.expect_same_in_every_way({false, false, true});
  problem.outputs = {a * a};
  const LaneTape tape(Tape(problem.outputs, problem.inputs), {true, false, false});
  LaneTape::Workspace workspace = tape.make_workspace();
  const double* values[] = {nullptr, problem.points[1][0].data(), nullptr};
  Lanes out{};
  tape.evaluate(values, workspace, out.data());
  EXPECT_EQ(out, (Lanes{1, 4, 9, 16}));
}

TEST(LaneTape, EvaluationDoesNotAllocateAndOutlivesTheTape) {
  Graph graph;
  Problem problem;
  const Expr a = problem.add_input(graph, 0, {1, 2, 3, 4});
  const Expr b = problem.add_input(graph, 1, {1.5, 0, 0, 0});
  problem.outputs = every_operation(a, b, a);
  for (const TapeCode code : {TapeCode::kMachine, TapeCode::kInterpreted}) {
    const LaneTape tape(Tape(problem.outputs, problem.inputs), {false, true}, code);
    LaneTape::Workspace workspace = tape.make_workspace();
    std::vector<double> out(kLanes * tape.output_count());
    const double* values[] = {problem.points[0][0].data(), problem.points[1][0].data()};
    const long before = testing::allocations;
    tape.evaluate(values, workspace, out.data());
    EXPECT_EQ(testing::allocations, before);
    EXPECT_EQ(out[kLanes * 20 + 2], 4.5);  // a + b
  }
}

}  // namespace
}  // namespace saltus
