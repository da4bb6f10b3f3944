#include "simulate/just_after.h"

#include <gtest/gtest.h>

#include "simulate/mode_run.h"

namespace saltus {
namespace {

// A mode that stands at its start values.
struct Standing {
  explicit Standing(const HybridSystem& of) : system(of), state(start_state(system)) {
    mode = make_mode_run(system, ModeId(0), {}, 0.0, state, warnings);
    EXPECT_NE(mode, nullptr);
    EXPECT_TRUE(mode->make_consistent(0.0, state).ok());
    just_after.note_magnitudes(system, state);
    just_after.stand_at(*mode, 0.0, state);
  }
  std::optional<int> sign(const Expr& value, JustAfter::Question question = {}) {
    return just_after.sign(value, state.slots, question);
  }

  HybridSystem system;
  SystemState state;
  std::vector<std::string> warnings;
  std::unique_ptr<ModeRun> mode;
  JustAfter just_after;
};

TEST(JustAfter, AsksTheFirstDerivativeThatDoesNotVanish) {
  HybridSystem s("chain");
  const Expr x = s.variable("x");
  const Expr y = s.variable("y");
  const Expr z = s.variable("z");
  s.mode("on").equations = {der(x) == y, der(y) == z, der(z) == -1.0};
  Standing at(s);
  EXPECT_EQ(at.sign(z), -1);
  EXPECT_EQ(at.sign(x), -1);
  EXPECT_EQ(at.sign(-x), 1);
  EXPECT_EQ(at.sign(s.time() - x), 1);
}

TEST(JustAfter, KnowsWhatStaysAtZero) {
  HybridSystem s("pair");
  const Expr x = s.variable("x", {.start = 2.0});
  const Expr y = s.variable("y", {.start = 2.0});
  s.mode("on").equations = {der(x) == sin(x), der(y) == sin(y)};
  Standing at(s);
  EXPECT_EQ(at.sign(x - y), 0);
  // What came there a moment ago may be on either side by rounding.
  EXPECT_FALSE(at.sign(x - y, {.must_move = true}).has_value());
}

TEST(JustAfter, FollowsAlgebraicUnknowns) {
  HybridSystem s("lever");
  const Expr x = s.variable("x", {.start = 1.0});
  const Expr force = s.variable("force");
  s.mode("on").equations = {der(x) == 3.0 * s.time() - 2.0, force == x * x - 1.0};
  Standing at(s);
  const std::optional<double> rate = at.just_after.rate(force, at.state.slots);
  ASSERT_TRUE(rate.has_value());
  EXPECT_NEAR(*rate, -4.0, 1e-12);
  EXPECT_EQ(at.sign(force), -1);
}

TEST(JustAfter, HasNoAnswerWithoutAPoint) {
  HybridSystem s("point");
  const Expr x = s.variable("x");
  s.mode("on").equations = {der(x) == 1.0};
  Standing at(s);
  EXPECT_EQ(at.sign(x), 1);
  at.just_after.forget();
  EXPECT_FALSE(at.sign(x).has_value());
  EXPECT_FALSE(at.just_after.rate(x, at.state.slots).has_value());
}

}  // namespace
}  // namespace saltus
