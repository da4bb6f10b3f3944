#include "output/report_data.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "output/ball_test_data.h"

namespace saltus {
namespace {

// The way back, as the script of the page goes it.
std::vector<unsigned char> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<unsigned char>(bits >> count));
    }
  }
  return bytes;
}

std::vector<std::vector<double>> columns_of(const ReportData& data, std::size_t points,
                                            std::size_t columns) {
  const std::vector<unsigned char> packed = from_base64(data.points);
  std::vector<unsigned char> bytes(8 * points * columns);
  uLongf size = bytes.size();
  EXPECT_EQ(uncompress(bytes.data(), &size, packed.data(), packed.size()), Z_OK);
  EXPECT_EQ(size, bytes.size());
  std::vector<std::vector<double>> result(columns, std::vector<double>(points));
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t k = 0; k < points; ++k) {
      std::uint64_t bits = 0;
      for (std::size_t b = 0; b < 8; ++b)
        bits |= std::uint64_t{bytes[(8 * c + b) * points + k]} << (8 * b);
      std::memcpy(&result[c][k], &bits, sizeof bits);
    }
  }
  return result;
}

TEST(ReportData, HoldsEveryNumberExactly) {
  SimulateResult result = ball_result();
  Trajectory& trajectory = result.trajectory;
  trajectory.values[4] = std::numeric_limits<double>::quiet_NaN();
  const ReportData data = report_data(result);
  const auto columns = columns_of(data, trajectory.size(), trajectory.width() + 2);
  EXPECT_EQ(columns[0], trajectory.time);
  EXPECT_EQ(columns[1].front(), 0.0);
  EXPECT_EQ(columns[1].back(), 1.0);
  for (std::size_t k = 0; k < trajectory.size(); ++k) {
    for (std::size_t c = 0; c < trajectory.width(); ++c) {
      const double stored = trajectory.values[k * trajectory.width() + c];
      if (std::isnan(stored))
        EXPECT_TRUE(std::isnan(columns[c + 2][k]));
      else
        EXPECT_EQ(columns[c + 2][k], stored);
    }
  }
}

TEST(ReportData, DescribesSignalsModesAndEvents) {
  const nlohmann::json head = nlohmann::json::parse(report_data(ball_result()).head);
  EXPECT_EQ(head["signals"][1], nlohmann::json({"v", "m/s", "velocity", 1, 1.0}));
  EXPECT_EQ(head["modes"], nlohmann::json({"flying", "resting"}));
  EXPECT_EQ(head["events"].size(), 13u);
  EXPECT_EQ(head["points"].get<std::size_t>(), ball_result().trajectory.size());
}

TEST(ReportData, CannotEndTheScriptItStandsIn) {
  SimulateResult result = ball_result();
  result.trajectory.signals[0].name = "</script><b>\xff";
  EXPECT_EQ(report_data(result).head.find('<'), std::string::npos);
}

TEST(ModeLabels, NameNumberedModesByTheConditionsInWhichTheyDiffer) {
  SimulateResult result = ball_result();
  result.trajectory.mode_names = {"m1", "m2", "named"};
  result.modes = {{.name = "m1", .conditions = {"a", "not b"}, .statistics = {}},
                  {.name = "m2", .conditions = {"a", "b"}, .statistics = {}},
                  {.name = "named", .conditions = {"a", "b"}, .statistics = {}}};
  EXPECT_EQ(mode_labels(result), (std::vector<std::string>{"m1: not b", "m2: b", "named"}));
}

}  // namespace
}  // namespace saltus
