// Random state machines against an exact interpreter, and random locks of masses against the exact
// projection.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <sstream>

#include "model/build.h"
#include "modelica/load.h"
#include "oracle/random_machine.h"
#include "simulate/simulate.h"

namespace saltus::oracle {
namespace {

SimulateResult run(const std::string& text, double start, double stop, double tolerance = 1e-8) {
  return simulate(
      build(load_modelica_text(text, "M", {.use_modelica_path = false})),
      {.start_time = start, .stop_time = stop, .tolerance = tolerance, .max_seconds = 20.0});
}

// Paths of the states that an event enters: what differs between the names of the modes.
void expect_same(const RandomMachine& machine) {
  const MachineRun& expected = machine.expected;
  const SimulateResult result = run(machine.text, machine.start_time, machine.stop_time);
  if (expected.ends_in_a_circle) {
    EXPECT_NE(result.reason, StopReason::kStopTime) << "the machine runs in a circle";
    return;
  }
  ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
  for (const auto& [name, value] : expected.final)
    EXPECT_NEAR(result.final.at(name), value, 1e-6) << name;
  for (const std::string& name : expected.absent)
    EXPECT_TRUE(std::isnan(result.final.at(name))) << name;
  for (const auto& [name, value] : expected.entry_count)
    EXPECT_EQ(result.final.at(name), value) << name;
  std::size_t at = 0;
  for (const Event& event : result.events) {
    while (at < expected.times.size() && expected.times[at] < event.time - 1e-6) ++at;
    if (at == expected.times.size()) at = expected.times.size() - (expected.times.empty() ? 0 : 1);
    ASSERT_FALSE(expected.times.empty()) << "event at " << event.time;
    EXPECT_NEAR(event.time, expected.times[at], 1e-6);
  }
}

class Machines : public testing::TestWithParam<bool> {};

TEST_P(Machines, FollowTheirRules) {
  int judged = 0;
  int circles = 0;
  int hops = 0;
  for (std::uint64_t seed = 1; seed <= (GetParam() ? 37 : 60); ++seed) {
    const RandomMachine machine = random_machine(seed, GetParam());
    if (machine.expected.is_delicate) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + machine.text);
    expect_same(machine);
    ++judged;
    circles += machine.expected.ends_in_a_circle;
    hops += static_cast<int>(machine.expected.entered.size());
    if (HasFailure()) return;
  }
  // The generator is not so tame that nothing is asked.
  EXPECT_GE(judged, 15);
  EXPECT_GE(hops, 60);
  EXPECT_LT(circles, judged);
}

INSTANTIATE_TEST_SUITE_P(Random, Machines, testing::Bool(), [](const auto& nested) {
  return std::string(nested.param ? "Nested" : "Plain");
});

struct Locks {
  Eigen::VectorXd inertia, speed, torque, nominal;
  Eigen::MatrixXd constraints;  // one row a lock: a*w_i - b*w_j
};

Locks random_locks(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const auto n = static_cast<Eigen::Index>(2 + engine() % 5);
  Locks made;
  made.inertia = made.speed = made.torque = made.nominal = Eigen::VectorXd(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    made.inertia[i] = std::pow(10.0, -1.0 + 2.0 * unit(engine));
    made.speed[i] = -10.0 + 20.0 * unit(engine);
    made.torque[i] = -2.0 + 4.0 * unit(engine);
    made.nominal[i] = std::pow(10.0, -2.0 + 4.0 * unit(engine));
  }
  // A forest: every mass but the first may be locked to one before it.
  std::vector<Eigen::RowVectorXd> rows;
  for (Eigen::Index i = 1; i < n; ++i) {
    if (unit(engine) < 0.3 && !(i == n - 1 && rows.empty())) continue;
    Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(n);
    row[i] = 1.0;
    row[static_cast<Eigen::Index>(engine() % static_cast<std::uint64_t>(i))] =
        unit(engine) < 0.5 ? -1.0 : -0.5 - 2.0 * unit(engine);
    rows.push_back(row);
  }
  made.constraints.resize(static_cast<Eigen::Index>(rows.size()), n);
  for (std::size_t k = 0; k < rows.size(); ++k)
    made.constraints.row(static_cast<Eigen::Index>(k)) = rows[k];
  return made;
}

std::string write_locks(const Locks& locks) {
  std::ostringstream open, locked, out;
  for (std::ostringstream* s : {&open, &locked, &out}) s->precision(17);
  const Eigen::Index n = locks.inertia.size();
  const Eigen::Index m = locks.constraints.rows();
  open << "  model Open\n";
  locked << "  model Locked\n";
  for (Eigen::Index i = 0; i < n; ++i) {
    open << "    Real w" << i << "(start = " << locks.speed[i] << ", fixed = true);\n";
    locked << "    Real w" << i << "(nominal = " << locks.nominal[i] << ");\n";
  }
  for (Eigen::Index k = 0; k < m; ++k) locked << "    Real tau" << k << ";\n";
  open << "  equation\n";
  locked << "  equation\n";
  for (Eigen::Index i = 0; i < n; ++i) {
    open << "    " << locks.inertia[i] << "*der(w" << i << ") = " << locks.torque[i] << ";\n";
    locked << "    " << locks.inertia[i] << "*der(w" << i << ") = " << locks.torque[i];
    for (Eigen::Index k = 0; k < m; ++k)
      if (locks.constraints(k, i) != 0.0)
        locked << " + (" << -locks.constraints(k, i) << ")*tau" << k;
    locked << ";\n";
  }
  for (Eigen::Index k = 0; k < m; ++k) {
    locked << "    0 = 0";
    for (Eigen::Index i = 0; i < n; ++i)
      if (locks.constraints(k, i) != 0.0) locked << " + (" << locks.constraints(k, i) << ")*w" << i;
    locked << ";\n";
  }
  out << "model M\n"
      << open.str() << "  end Open;\n"
      << locked.str() << "  end Locked;\n  Open open;\n  Locked locked;\nequation\n"
      << "  initialState(open);\n  transition(open, locked, time > 0.5);\nend M;\n";
  return out.str();
}

// J (w+ - w-) = -C' p and C w+ = 0; afterwards J w' = T - C' tau with C w' = 0.
TEST(MachineLock, ConservesMomentumInTheFreeDirections) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Locks locks = random_locks(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + write_locks(locks));
    const SimulateResult result = run(write_locks(locks), 0.0, 1.0);
    ASSERT_EQ(result.reason, StopReason::kStopTime) << result.message;
    const Eigen::MatrixXd& c = locks.constraints;
    const Eigen::VectorXd inverse = locks.inertia.cwiseInverse();
    const Eigen::MatrixXd gram = c * inverse.asDiagonal() * c.transpose();
    const auto project = [&](const Eigen::VectorXd& w) -> Eigen::VectorXd {
      return w - inverse.asDiagonal() * (c.transpose() * gram.ldlt().solve(c * w));
    };
    const Eigen::VectorXd rate = inverse.cwiseProduct(locks.torque);
    const Eigen::VectorXd before = locks.speed + 0.5 * rate;
    const Eigen::VectorXd impulse = gram.ldlt().solve(c * before);
    const Eigen::VectorXd end = project(before) + 0.5 * project(rate);
    for (Eigen::Index i = 0; i < end.size(); ++i) {
      EXPECT_NEAR(result.final.at("locked.w" + std::to_string(i)), end[i], 1e-6);
      EXPECT_TRUE(std::isnan(result.final.at("open.w" + std::to_string(i))));
    }
    ASSERT_EQ(result.events.size(), 1u);
    for (Eigen::Index k = 0; k < impulse.size(); ++k)
      EXPECT_NEAR(result.events[0].impulses.at("locked.tau" + std::to_string(k)), impulse[k],
                  1e-6 * (1.0 + std::abs(impulse[k])));
    // Jumps are told against what the states held.
    for (Eigen::Index i = 0; i < end.size(); ++i) {
      const auto jump = result.events[0].jumps.find("locked.w" + std::to_string(i));
      if (std::abs(project(before)[i] - before[i]) < 1e-6) continue;
      ASSERT_NE(jump, result.events[0].jumps.end());
      EXPECT_NEAR(jump->second.first, before[i], 1e-6);
      EXPECT_NEAR(jump->second.second, project(before)[i], 1e-6);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace saltus::oracle
