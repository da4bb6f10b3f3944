#include "integrate/recovered.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "expr/graph.h"
#include "integrate/integrate_testing.h"

namespace saltus {
namespace {

// Two masses m = 2 on one rigid link of length L, the first on a spring k = 50: all else follows
// from x1, v1 and the time.
struct LinkedMasses {
  Graph graph;
  DaeDefinition definition;
  std::unique_ptr<const EliminatedForm> form;
  DaeData data;  // of the whole form: held values

  LinkedMasses() {
    const Expr L = graph.new_slot("L");
    std::vector<Expr> u;
    for (const char* name : {"x1", "x2", "v1", "v2", "a1", "a2", "f"})
      u.push_back(graph.new_variable(name));
    for (const Expr& x : u) {
      definition.unknowns.push_back(x);
      definition.derivatives.push_back(der(x));
      definition.unknown_names.push_back(to_string(x));
      definition.nominal.push_back(1.0);
    }
    definition.controlled = {true, true, true, true, false, false, false};
    definition.time = graph.time();
    definition.held = {L};
    for (const Expr& e :
         {2.0 * u[4] + 50.0 * u[0] - u[6], 2.0 * u[5] + u[6] - sin(graph.time()), u[1] - u[0] - L,
          u[3] - u[2], u[5] - u[4], der(u[0]) - u[2], der(u[2]) - u[4]}) {
      definition.residuals.push_back(e);
      definition.equation_names.push_back(to_string(e));
    }
    std::vector<std::size_t> rows(definition.residuals.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    form = eliminate(definition, rows, 5, {});
    data.held = {kLength};
  }

  static constexpr double kLength = 0.3;
  static std::array<double, 7> point(double t, double x, double v) {
    const double a = (std::sin(t) - 50.0 * x) / 4.0;
    return {x, x + kLength, v, v, a, a, 2.0 * a + 50.0 * x};
  }
};

void expect_point(std::span<const double> x, const std::array<double, 7>& exact) {
  for (std::size_t j = 0; j < 7; ++j) EXPECT_NEAR(x[j], exact[j], 1e-13) << j;
}

class Recovered : public testing::TestWithParam<std::vector<std::uint32_t>> {
 protected:
  Recovered() : options_(with_tolerance(1e-6, 7)) {
    options_.watched = GetParam();
    masses_ = std::make_unique<RecoveredRadau>(*model_.form, model_.data, options_);
    const std::array<double, 7> start = LinkedMasses::point(0.5, 0.1, -0.4);
    const std::array<double, 7> slopes = {-0.4, -0.4, start[4], start[4], 0.0, 0.0, 0.0};
    masses_->restart(0.5, start, slopes, 0.0);
    for (int k = 0; k < 3; ++k) EXPECT_TRUE(masses_->step(2.0).ok());
  }

  LinkedMasses model_;
  IntegratorOptions options_;
  std::unique_ptr<RecoveredRadau> masses_;
};

TEST_P(Recovered, ShowsAllUnknownsAtTheEndOfAStep) {
  const std::span<const double> x = masses_->x();
  const std::array<double, 7> exact = LinkedMasses::point(masses_->time(), x[0], x[2]);
  expect_point(x, exact);
  EXPECT_EQ(masses_->dx()[0], x[2]);
  EXPECT_NEAR(masses_->dx()[2], exact[4], 1e-13);
}

TEST_P(Recovered, InterpolatesWhatFollowsFromTheStates) {
  const double t0 = masses_->previous_time();
  const double h = masses_->time() - t0;
  const std::array times = {t0, t0 + 0.3 * h, t0 + 0.8 * h, masses_->time()};
  std::array<double, 8> lanes{}, slopes{};
  ASSERT_TRUE(masses_->interpolate_states(times, lanes.data(), slopes.data()));
  for (std::size_t k = 0; k < 4; ++k) {
    const std::array<double, 7> exact = LinkedMasses::point(times[k], lanes[k], lanes[4 + k]);
    EXPECT_NEAR(slopes[k], exact[2], 1e-13) << k;
    EXPECT_NEAR(slopes[4 + k], exact[4], 1e-13) << k;
    std::array<double, 7> x{}, dx{};
    ASSERT_TRUE(masses_->interpolate_consistently(times[k], x.data(), dx.data()));
    EXPECT_NEAR(x[0], lanes[k], 1e-15) << k;
    expect_point(x, exact);
  }
}

TEST_P(Recovered, CompletesStatesWithWhatIsHeldNow) {
  std::array<double, 7> x = {0.2, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0};
  std::array<double, 7> dx{};
  ASSERT_TRUE(masses_->complete(0.9, x.data(), dx.data()));
  expect_point(x, LinkedMasses::point(0.9, 0.2, 0.1));
  EXPECT_NEAR(dx[2], x[4], 1e-13);
  // What the step was taken with is still what it shows.
  model_.data.held = {2.0};
  ASSERT_TRUE(masses_->complete(0.9, x.data(), dx.data()));
  EXPECT_NEAR(x[1], 2.2, 1e-13);
  EXPECT_NEAR(masses_->x()[1] - masses_->x()[0], LinkedMasses::kLength, 1e-13);
}

TEST_P(Recovered, InterpolatesAtFourTimesAsAtEach) {
  const std::array<std::uint32_t, 3> unknowns = {0, 1, 6};
  const double t0 = masses_->previous_time();
  const double h = masses_->time() - t0;
  const std::array times = {t0, t0 + 0.1 * h, t0 + 0.7 * h, masses_->time()};
  std::array<double, 28> lanes{};
  ASSERT_TRUE(masses_->interpolate_lanes(times, unknowns, lanes.data()));
  for (std::size_t k = 0; k < 4; ++k) {
    std::array<double, 7> x{}, dx{};
    masses_->interpolate(times[k], unknowns, x.data(), dx.data());
    for (const std::uint32_t j : unknowns) EXPECT_EQ(lanes[4 * j + k], x[j]) << j;
    // At the nodes the eliminated ones are exact, between them the extension is of order three.
    EXPECT_NEAR(x[1], x[0] + LinkedMasses::kLength, 1e-13);
  }
}

// Guards read nothing, a multiplier, or all that is eliminated.
INSTANTIATE_TEST_SUITE_P(Watched, Recovered,
                         testing::Values(std::vector<std::uint32_t>{},
                                         std::vector<std::uint32_t>{6},
                                         std::vector<std::uint32_t>{1, 3, 4, 5, 6}));

}  // namespace
}  // namespace saltus
