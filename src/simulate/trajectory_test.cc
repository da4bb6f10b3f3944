#include "simulate/trajectory.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace saltus {
namespace {

Trajectory two_signals() {
  Trajectory trajectory;
  trajectory.signals = {{"height", "m", ""}, {"der(height)", "m/s", ""}};
  trajectory.time = {0.0, 1.0, 1.0};
  trajectory.mode = {ModeId(0), ModeId(0), ModeId(0)};
  trajectory.values = {1.0, 10.0, 2.0, 20.0, 3.0, 30.0};
  return trajectory;
}

TEST(Trajectory, GivesOneColumnByName) {
  const Trajectory trajectory = two_signals();
  EXPECT_EQ(trajectory.find("der(height)"), 1u);
  EXPECT_EQ(trajectory.column("height"), (std::vector<double>{1.0, 2.0, 3.0}));
  EXPECT_EQ(trajectory.column("der(height)"), (std::vector<double>{10.0, 20.0, 30.0}));
}

TEST(Trajectory, SignalsMayShareAColumnOrBeConstant) {
  Trajectory trajectory = two_signals();
  trajectory.signals.push_back({"depth", "m", ""});
  trajectory.signals.push_back({"mass", "kg", ""});
  trajectory.columns = 2;
  trajectory.sources = {{0, 1.0}, {1, 1.0}, {0, -1.0}, {Trajectory::Source::kNoColumn, 7.0}};
  EXPECT_EQ(trajectory.column("der(height)"), (std::vector<double>{10.0, 20.0, 30.0}));
  EXPECT_EQ(trajectory.column("depth"), (std::vector<double>{-1.0, -2.0, -3.0}));
  EXPECT_EQ(trajectory.column("mass"), (std::vector<double>{7.0, 7.0, 7.0}));
}

TEST(Trajectory, SuggestsTheNearestName) {
  try {
    two_signals().column("heigth");
    FAIL() << "an unknown name was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the result has no signal 'heigth' (did you mean 'height'?)");
  }
}

}  // namespace
}  // namespace saltus
