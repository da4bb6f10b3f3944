#include "output/terminal_plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "output/ball_test_data.h"

namespace saltus {
namespace {

SimulateResult line(std::vector<double> time, std::vector<double> values) {
  SimulateResult result;
  result.trajectory.signals = {{"x", "m", ""}};
  result.trajectory.values.assign(values.begin(), values.end());
  result.trajectory.mode.assign(time.size(), ModeId(0));
  result.trajectory.time = std::move(time);
  return result;
}

TEST(TerminalPlot, DrawsADiagonalThroughTheCorners) {
  const std::string text = terminal_plot(line({0.0, 1.0}, {0.0, 1.0}), "x", 2, 1);
  // Two characters are four by four dots: the diagonal from the lower left to the upper right.
  EXPECT_EQ(text, "x [m]\n1 ┤\u2860\u280a\n   01  time [s]\n");
}

TEST(TerminalPlot, MarksEventsAndEnds) {
  const std::string text = terminal_plot(ball_result(), "h");
  EXPECT_TRUE(text.starts_with("h [m]\n1 ┤")) << text;
  EXPECT_NE(text.find('^'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12 + 3);
}

TEST(TerminalPlot, LeavesGapsAndSaysWhereNothingChanges) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(terminal_plot(line({0.0, 1.0}, {2.0, 2.0}), "x"), "x [m]: 2 throughout\n");
  EXPECT_EQ(terminal_plot(line({0.0, 1.0}, {nan, nan}), "x"), "x [m]: no values\n");
  EXPECT_THROW(terminal_plot(line({0.0, 1.0}, {2.0, 2.0}), "y"), Error);
}

}  // namespace
}  // namespace saltus
