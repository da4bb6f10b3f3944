#include "output/panels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "output/ball_test_data.h"

namespace saltus {
namespace {

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

}  // namespace
}  // namespace saltus
