#include "output/csv.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "output/ball_test_data.h"

namespace saltus {
namespace {

std::vector<std::string> lines_of(const Trajectory& trajectory) {
  const TemporaryFolder folder;
  write_csv(trajectory, folder / "a.csv");
  std::istringstream text(read_text(folder / "a.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(Csv, HeaderQuotesNamesAsRfc4180) {
  Trajectory trajectory;
  trajectory.signals = {{"h", "", ""}, {"px[1,2]", "", ""}, {"say \"x\"", "", ""}};
  EXPECT_EQ(lines_of(trajectory).at(0), "time,h,\"px[1,2]\",\"say \"\"x\"\"\"");
}

TEST(Csv, EveryNumberReadsBackExactly) {
  const Trajectory trajectory = ball_result().trajectory;
  const std::vector<std::string> lines = lines_of(trajectory);
  ASSERT_EQ(lines.size(), trajectory.size() + 1);
  for (std::size_t point = 0; point < trajectory.size(); ++point) {
    std::istringstream row(lines[point + 1]);
    std::string cell;
    ASSERT_TRUE(std::getline(row, cell, ','));
    EXPECT_EQ(std::strtod(cell.c_str(), nullptr), trajectory.time[point]);
    for (std::size_t signal = 0; signal < trajectory.signals.size(); ++signal) {
      ASSERT_TRUE(std::getline(row, cell, ','));
      EXPECT_EQ(std::strtod(cell.c_str(), nullptr), trajectory.value(point, signal));
    }
    EXPECT_FALSE(std::getline(row, cell, ','));
  }
}

TEST(Csv, KeepsBothSidesOfAnEvent) {
  Trajectory trajectory;
  trajectory.signals = {{"v", "m/s", ""}};
  trajectory.time = {0.1, 0.1};
  trajectory.mode = {ModeId(0), ModeId(1)};
  trajectory.values = {-2.5, 2.0};
  EXPECT_EQ(lines_of(trajectory), (std::vector<std::string>{"time,v", "0.1,-2.5", "0.1,2"}));
}

TEST(Csv, WritesWhatIsNotFiniteByName) {
  Trajectory trajectory;
  trajectory.signals = {{"a", "", ""}, {"b", "", ""}};
  trajectory.time = {0.0};
  trajectory.values = {std::numeric_limits<double>::quiet_NaN(),
                       -std::numeric_limits<double>::infinity()};
  EXPECT_EQ(lines_of(trajectory).at(1), "0,nan,-inf");
}

TEST(Csv, HoldsALongRunWhole) {
  // Longer than the writer's buffer, so rows must survive several flushes.
  const Trajectory trajectory = ball_result(2000).trajectory;
  const std::vector<std::string> lines = lines_of(trajectory);
  EXPECT_EQ(lines.size(), trajectory.size() + 1);
  EXPECT_EQ(std::strtod(lines.back().c_str(), nullptr), trajectory.time.back());
}

}  // namespace
}  // namespace saltus
