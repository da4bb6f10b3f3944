#include "model/dae.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <thread>

#include "expr/graph.h"

namespace saltus {
namespace {

// Twelve equations with parameters and held values, at four points.
class DaeLanes : public ::testing::Test {
 protected:
  static constexpr std::size_t kUnknowns = 12;

  DaeLanes() {
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = 0.1 * static_cast<double>(i);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(static_cast<double>(3 * i));
      dx[i] = std::cos(static_cast<double>(5 * i));
    }
  }

  static Dae make(Graph& graph) {
    DaeDefinition d;
    d.time = graph.time();
    d.parameters = {graph.new_parameter("p"), graph.new_parameter("q")};
    d.held = {graph.new_variable("h")};
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      d.unknowns.push_back(graph.new_variable("x"));
      d.derivatives.push_back(der(d.unknowns.back()));
      d.unknown_names.emplace_back("x");
      d.equation_names.emplace_back("e");
      d.nominal.push_back(1.0);
    }
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      const Expr& next = d.unknowns[(i + 1) % kUnknowns];
      d.residuals.push_back(d.derivatives[i] - d.parameters[i % 2] * sin(d.unknowns[i]) +
                            next * d.time / (2.0 + d.held[0]));
    }
    return Dae(std::move(d));
  }

  static DaeData numbers_of(const Dae& of) {
    DaeData data = of.make_data();
    data.parameters = {0.7, -1.3};
    data.held = {0.4};
    return data;
  }

  void expect_lanes_as_one_by_one(const Dae& tested, DaeData& data) const {
    const std::size_t count = tested.equation_count();
    std::vector<double> lanes(kLanes * count);
    tested.residual_lanes(data, t.data(), x.data(), dx.data(), lanes.data());
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::vector<double> x_here;
      std::vector<double> dx_here;
      for (std::size_t i = lane; i < x.size(); i += kLanes) {
        x_here.push_back(x[i]);
        dx_here.push_back(dx[i]);
      }
      std::vector<double> out(count);
      tested.residual(data, t[lane], x_here.data(), dx_here.data(), out.data());
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(lanes[kLanes * i + lane], out[i]);
    }
  }

  Graph graph;
  Dae dae = make(graph);
  std::array<double, kLanes> t{};
  std::array<double, kLanes * kUnknowns> x{};
  std::array<double, kLanes * kUnknowns> dx{};
};

TEST_F(DaeLanes, HaveTheResidualsOfEachPoint) {
  DaeData data = numbers_of(dae);
  EXPECT_TRUE(data.lane_registers.empty());  // who does not ask does not pay
  dae.prepare_lanes(data);
  expect_lanes_as_one_by_one(dae, data);
}

TEST_F(DaeLanes, HaveTheSelectedEquationsAlone) {
  const Dae selected = dae.with_equations({1, 4, 5, 11});
  DaeData data = numbers_of(selected);
  selected.prepare_lanes(data);
  expect_lanes_as_one_by_one(selected, data);
  expect_lanes_as_one_by_one(dae, data);  // which shares formulas and data
}

TEST_F(DaeLanes, MayBeAskedForByManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      DaeData data = numbers_of(dae);
      dae.prepare_lanes(data);
      expect_lanes_as_one_by_one(dae, data);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace saltus
