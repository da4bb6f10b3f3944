#include "output/plot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "output/ball_test_data.h"

namespace saltus {
namespace {

Trajectory one_signal(const std::vector<double>& time, const std::vector<double>& values) {
  Trajectory trajectory;
  trajectory.signals = {{"x", "", ""}};
  trajectory.mode_names = {"only"};
  trajectory.time = time;
  trajectory.values.assign(values.begin(), values.end());
  trajectory.mode.assign(time.size(), ModeId(0));
  return trajectory;
}

TEST(Place, KeepsAFewPointsAsTheyAreAndBreaksAtEvents) {
  const Trajectory trajectory = one_signal({0.0, 1.0, 1.0, 2.0}, {0.0, 1.0, 0.25, 0.5});
  const auto points =
      place(trajectory, 0, linear_axis(0.0, 2.0), linear_axis(0.0, 1.0), 100.0, 10.0);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_TRUE(points[0].starts);
  EXPECT_FALSE(points[1].starts);
  EXPECT_TRUE(points[2].starts);
  EXPECT_FALSE(points[3].starts);
  EXPECT_DOUBLE_EQ(points[1].x, 50.0);
  EXPECT_DOUBLE_EQ(points[1].y, 0.0);  // the top
  EXPECT_DOUBLE_EQ(points[2].y, 7.5);
}

TEST(Place, KeepsTheBreakAtAnEventAmongDensePoints) {
  // 1000 points a unit of width on either side of a jump at 0.5.
  std::vector<double> time, values;
  for (int i = 0; i <= 1000; ++i) {
    time.push_back(0.5 * i / 1000.0);
    values.push_back(0.25);
  }
  for (int i = 0; i <= 1000; ++i) {
    time.push_back(0.5 + 0.5 * i / 1000.0);
    values.push_back(0.75);
  }
  const auto points =
      place(one_signal(time, values), 0, linear_axis(0.0, 1.0), linear_axis(0.0, 1.0), 2.0, 100.0);
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_EQ(points[i].starts, points[i].y != points[i - 1].y) << i;
  }
  EXPECT_EQ(std::count_if(points.begin(), points.end(), [](auto& point) { return point.starts; }),
            2);
}

TEST(Place, LeavesOutWhatALogarithmicAxisCannotShow) {
  const Trajectory trajectory = one_signal({0.0, 1.0, 10.0}, {1.0, 0.5, 0.5});
  Axis time;
  time.logarithmic = true;
  time.low = 1.0;
  time.high = 10.0;
  const auto points = place(trajectory, 0, time, linear_axis(0.0, 1.0), 100.0, 10.0);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_DOUBLE_EQ(points[0].y, 5.0);
}

TEST(Place, LeavesAGapWhereValuesAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Trajectory trajectory = one_signal({0.0, 1.0, 2.0}, {0.0, nan, 1.0});
  const auto points =
      place(trajectory, 0, linear_axis(0.0, 2.0), linear_axis(0.0, 1.0), 100.0, 10.0);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_TRUE(points[1].starts);
}

TEST(Place, ReducesAMillionPointsWithoutLosingASpike) {
  const std::size_t n = 1'000'000;
  std::vector<double> time(n), values(n);
  for (std::size_t i = 0; i < n; ++i) {
    time[i] = static_cast<double>(i) / static_cast<double>(n - 1);
    values[i] = std::sin(400.0 * time[i]);
  }
  values[123'456] = 12.0;
  const auto points = place(one_signal(time, values), 0, linear_axis(0.0, 1.0),
                            linear_axis(-16.0, 16.0), 500.0, 200.0);
  EXPECT_LE(points.size(), 4u * 501u);
  const auto highest = std::min_element(points.begin(), points.end(),
                                        [](const auto& a, const auto& b) { return a.y < b.y; });
  EXPECT_DOUBLE_EQ(highest->y, 25.0);  // (16 - 12) / 32 of 200
  EXPECT_NEAR(highest->x, 500.0 * 123'456.0 / 999'999.0, 1e-9);
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end(),
                             [](const auto& a, const auto& b) { return a.x < b.x; }));
}

TEST(Place, StaysSmallWhenEveryPointIsAnEvent) {
  std::vector<double> time, values;
  for (int i = 0; i < 200'000; ++i) {
    time.push_back(static_cast<double>(i / 2));  // pairs of equal time
    values.push_back(i % 2);
  }
  const auto points = place(one_signal(time, values), 0, linear_axis(0.0, 1e5),
                            linear_axis(0.0, 1.0), 500.0, 200.0);
  EXPECT_LE(points.size(), 4u * 501u);
}

TEST(ChoosePanels, GroupsByUnitAndSize) {
  Trajectory trajectory;
  trajectory.signals = {
      {"der(a)", "m", ""}, {"a", "m", ""}, {"b", "m", ""}, {"tiny", "m", ""}, {"p", "Pa", ""}};
  trajectory.time = {0.0, 1.0};
  trajectory.values = {1, 1, 2, 1e-4, 1e5, 1, 2, 3, 2e-4, 2e5};
  const auto panels = choose_panels(trajectory, 12);
  ASSERT_EQ(panels.size(), 3u);
  EXPECT_EQ(panels[0].signals, (std::vector<std::size_t>{1, 2, 0}));  // derivatives last
  EXPECT_EQ(panels[1].signals, (std::vector<std::size_t>{3}));
  EXPECT_EQ(panels[2].unit, "Pa");
}

TEST(ChoosePanels, KeepsTheModelsOwnSignalsApartAndFirst) {
  Trajectory trajectory;
  trajectory.signals = {{"a.x", "m", ""}, {"x", "m", ""}, {"b.x", "m", ""}, {"y", "m", ""}};
  trajectory.time = {0.0, 1.0};
  trajectory.values = {1, 1, 1, 1, 2, 2, 2, 2};
  const auto panels = choose_panels(trajectory, 12);
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[0].signals, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(panels[1].signals, (std::vector<std::size_t>{0, 2}));
}

TEST(ChoosePanels, SharesWithoutUnitsOnlyWhenSpaceIsShort) {
  Trajectory trajectory;
  trajectory.time = {0.0};
  for (int i = 0; i < 4; ++i) trajectory.signals.push_back({fmt::format("x{}", i), "", ""});
  trajectory.values = {1, 1, 1, 1};
  EXPECT_EQ(choose_panels(trajectory, 12).size(), 4u);
  EXPECT_EQ(choose_panels(trajectory, 2).size(), 2u);
  EXPECT_EQ(choose_panels(trajectory, 2)[1].signals.size(), 2u);
}

TEST(ChoosePanels, NeverExceedsTheLimit) {
  Trajectory trajectory;
  trajectory.time = {0.0};
  for (int i = 0; i < 500; ++i) {
    trajectory.signals.push_back({fmt::format("x{}", i), "", ""});
    trajectory.values.push_back(1.0);
  }
  const auto panels = choose_panels(trajectory, 12);
  EXPECT_EQ(panels.size(), 12u);
  for (const Panel& panel : panels) EXPECT_LE(panel.signals.size(), kSeriesColors);
}

TEST(Plot, ShowsModesEventsAndBothSidesOfAJump) {
  const SimulateResult result = ball_result();
  const std::string svg = plot_svg(result.trajectory, {"m/s", {1}}, result.events);
  EXPECT_NE(svg.find(">flying</text>"), std::string::npos);
  EXPECT_NE(svg.find(">resting</text>"), std::string::npos);
  EXPECT_NE(svg.find("class=\"event\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"left s1\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"right s1\""), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(EscapeHtml, LeavesNoMarkup) {
  EXPECT_EQ(escape_html("a<b & \"c\" > d"), "a&lt;b &amp; &quot;c&quot; &gt; d");
}

}  // namespace
}  // namespace saltus
