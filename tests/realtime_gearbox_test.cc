#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "model/build.h"
#include "modelica/load.h"
#include "realtime/realtime_run.h"

// Otter's gearbox with a fixed step: every lock pattern, rounds propagated in time, inputs that
// make no sense.

namespace saltus {
namespace {

HybridSystem gearbox(const char* name) {
  LoadOptions options{.libraries = {SALTUS_LIBRARY_FOLDER}};
  options.use_modelica_path = false;
  return build(load_modelica(name, options));
}

// Speeds of turbine, sun, carrier and ring are coordinates; a row each for the slip of C1 to C6.
// Teeth as in Saltus.FourSpeed.Gearbox: written down from the Willis equations.
constexpr double z = 1.8, r_small = 2.8, r_large = 3.0;
using Row = Eigen::RowVector4d;
const Row kTurbine(1, 0, 0, 0), kSun(0, 1, 0, 0), kCarrier(0, 0, 1, 0), kRing(0, 0, 0, 1);
const Row kMiddle = ((1 + z) * kTurbine - kSun) / z;
const Row kSmall = (1 - r_small) * kCarrier + r_small * kRing;
const Row kLarge = (1 + r_large) * kCarrier - r_large * kRing;

Eigen::Matrix4d mass() {
  constexpr double kRoad = 0.3 / 3.5;  // metres of the car over radians of the ring
  Eigen::Matrix4d m = Eigen::Matrix4d::Zero();
  const auto add = [&](double inertia, const Row& speed) {
    m += inertia * speed.transpose() * speed;
  };
  add(0.05, kTurbine);
  add(0.005, kSun);
  add(0.02, kMiddle);
  add(0.006, kSmall);
  add(0.006, kLarge);
  add(0.02, kCarrier);
  add(0.05 + 1500 * kRoad * kRoad, kRing);
  return m;
}

// Each set of elements that is closed while all stands still, first gear engaged and the engine
// pulling. All 64 are consistent: what is closed locks, also where the locks are more than the four
// speeds need, and the accelerations are those of the constrained equations of motion, by null
// spaces.
TEST(RealtimeGearbox, AllLockPatternsAreConsistent) {
  const HybridSystem system = gearbox("Saltus.FourSpeed.HardwareInTheLoop");
  const std::string file =
      (std::filesystem::path(testing::TempDir()) / "saltus_patterns.csv").string();
  for (unsigned pattern = 0; pattern < 64; ++pattern) {
    std::ofstream table(file);
    table << "time,throttle,u[1],u[2],u[3],u[4],u[5],u[6]\n0,0.3,1,0,0,0,0,0\n0.1,0.3";
    for (unsigned k = 0; k < 6; ++k) table << ',' << (pattern >> k & 1U);
    table << '\n';
    table.close();
    RealtimeRunOptions options;
    options.engine = {.step = 1e-3, .stop_time = 0.6};
    options.input_file = file;
    const RealtimeResult result = run_realtime(system, options);
    ASSERT_TRUE(result.run.completed()) << pattern << ": " << result.run.message;
    EXPECT_EQ(result.unprepared, 0U) << pattern;
    const auto value = [&](const std::string& name) { return result.run.final.at(name); };
    const Row slips[] = {
        kSmall - kMiddle, kLarge - kMiddle, kTurbine - kSun, kSun, kCarrier, kLarge};
    Eigen::MatrixXd locks(0, 4);
    for (unsigned k = 0; k < 6; ++k) {
      const std::string name = "gearbox.C" + std::to_string(k + 1);
      const bool is_locked = value(name + ".locked") != 0.0;
      if ((pattern >> k & 1U) != 0) {
        EXPECT_TRUE(is_locked) << pattern << ' ' << name;
        EXPECT_NEAR(value(name + ".w_rel"), 0.0, 1e-9) << pattern << ' ' << name;
      }
      if (!is_locked) continue;
      locks.conservativeResize(locks.rows() + 1, 4);
      locks.bottomRows(1) = slips[k];
    }
    Eigen::MatrixXd free = Eigen::Matrix4d::Identity();
    if (locks.rows() > 0) {
      Eigen::FullPivLU<Eigen::MatrixXd> lu(locks);
      lu.setThreshold(1e-10);
      free = lu.dimensionOfKernel() > 0 ? Eigen::MatrixXd(lu.kernel()) : Eigen::MatrixXd(4, 0);
    }
    Eigen::Vector4d force(-value("converter.turbine.tau"), 0, 0,
                          -value("car.resistance") * 0.3 / 3.5);
    Eigen::Vector4d a = Eigen::Vector4d::Zero();
    if (free.cols() > 0)
      a = free * (free.transpose() * mass() * free).ldlt().solve(free.transpose() * force);
    EXPECT_NEAR(value("gearbox.turbine.a"), a[0], 1e-6 * (1 + std::abs(a[0]))) << pattern;
    EXPECT_NEAR(value("gearbox.sun.a"), a[1], 1e-6 * (1 + std::abs(a[1]))) << pattern;
    EXPECT_NEAR(value("gearbox.carrier.a"), a[2], 1e-6 * (1 + std::abs(a[2]))) << pattern;
    EXPECT_NEAR(value("gearbox.ring.a"), a[3], 1e-6 * (1 + std::abs(a[3]))) << pattern;
  }
}

// OT Figure 9. Conditions are tested at samples only; rounds that are propagated in time lag behind
// full event iteration by a few samples at each event, and the runs stay together.
TEST(RealtimeGearbox, PropagatedRoundsLagByAFewSamplesAnEvent) {
  const HybridSystem system = gearbox("Saltus.FourSpeed.FullLoad");
  RealtimeRunOptions options;
  options.engine = {.step = 1e-3, .stop_time = 20.0, .adjustment = StepAdjustment::kNone};
  const RealtimeResult full = run_realtime(system, options);
  options.engine.rounds = InstantRounds::kPropagated;
  const RealtimeResult propagated = run_realtime(system, options);
  ASSERT_TRUE(full.run.completed());
  ASSERT_TRUE(propagated.run.completed()) << propagated.run.message;
  const Trajectory& a = full.run.trajectory;
  const Trajectory& b = propagated.run.trajectory;
  ASSERT_EQ(a.size(), b.size());
  std::size_t apart = 0, row = 0, longest = 0;
  double last = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double difference = 0.0;
    for (const char* name : {"car.v", "gearbox.turbine.w", "gearbox.sun.w"})
      difference =
          std::max(difference, std::abs(a.value(k, a.find(name)) - b.value(k, b.find(name))));
    row = difference > 1e-3 ? row + 1 : 0;
    apart += difference > 1e-3 ? 1 : 0;
    longest = std::max(longest, row);
    last = difference;
  }
  RecordProperty("samples_apart", static_cast<int>(apart));
  EXPECT_GT(apart, 0U);
  EXPECT_LE(apart, 12U);  // of 20,000, at 17 events
  EXPECT_LE(longest, 4U);
  EXPECT_LT(last, 1e-3);
}

// What a control unit may send. NaN and infinite values are refused and the last ones held, so the
// run is to the last bit that of inputs that never changed.
TEST(RealtimeGearbox, InputsThatAreNotFiniteLeaveNoTrace) {
  const HybridSystem system = gearbox("Saltus.FourSpeed.HardwareInTheLoop");
  RealtimeEngine engine(
      system,
      {.step = 1e-3, .stop_time = 0.5, .outputs = {"car.v", "gearbox.turbine.w", "engine.w"}});
  const std::vector<double> good = {1, 1, 0, 0, 0, 0, 0};
  std::vector<double> undisturbed(3), row(3);
  engine.restart();
  for (int k = 0; k < 500; ++k) engine.step(good.data());
  engine.read_outputs(undisturbed.data());
  for (std::size_t place = 0; place < good.size(); ++place)
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
      std::vector<double> inputs = good;
      inputs[place] = value;
      engine.restart();
      for (int k = 0; k < 500; ++k) {
        const bool is_garbage = k >= 100 && k < 200;
        const unsigned status = engine.step(is_garbage ? inputs.data() : good.data());
        EXPECT_EQ((status & kInputRefused) != 0, is_garbage);
      }
      engine.read_outputs(row.data());
      EXPECT_EQ(row, undisturbed) << place << ' ' << value;
    }
}

// Pressures of 1e9 are obeyed: what they close stands still. All numbers stay finite, and when the
// pressure is good again the car drives on without any trouble in the status.
TEST(RealtimeGearbox, RecoversFromPressuresThatMakeNoSense) {
  const HybridSystem system = gearbox("Saltus.FourSpeed.HardwareInTheLoop");
  RealtimeEngine engine(system, {.step = 1e-3,
                                 .stop_time = 0.5,
                                 .outputs = {"car.v", "gearbox.turbine.w", "engine.w"},
                                 .neighbours = 64});
  const std::vector<double> good = {1, 1, 0, 0, 0, 0, 0};
  for (std::size_t place = 1; place <= good.size(); ++place) {
    std::vector<double> inputs = good;
    if (place < good.size()) inputs[place] = 1e9;
    if (place == good.size())
      for (std::size_t k = 1; k < inputs.size(); ++k) inputs[k] = 1e9;
    engine.restart();
    for (int k = 0; k < 100; ++k) engine.step(good.data());
    double row[3];
    for (int k = 0; k < 50; ++k) {
      engine.step(inputs.data());
      engine.read_outputs(row);
      for (const double value : row) ASSERT_TRUE(std::isfinite(value)) << place;
    }
    unsigned status = 0;
    for (int k = 0; k < 2000; ++k) {
      const unsigned now = engine.step(good.data());
      if (k >= 500) status |= now;
    }
    engine.read_outputs(row);
    const double v = row[0];
    EXPECT_EQ(status & ~static_cast<unsigned>(kEventTaken), 0U) << place;
    for (int k = 0; k < 1000; ++k) engine.step(good.data());
    engine.read_outputs(row);
    EXPECT_GT(row[0], v + 0.5) << place;
    EXPECT_LT(row[0], 50.0) << place;
  }
}

}  // namespace
}  // namespace saltus
