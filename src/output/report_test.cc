#include "output/report.h"

#include <gtest/gtest.h>

#include <string>

#include "output/ball_test_data.h"

namespace saltus {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Report, ShowsHowTheRunEnded) {
  SimulateResult result = ball_result();
  EXPECT_TRUE(contains(report_html(result), "Completed at time"));
  result.reason = StopReason::kNewtonFailed;
  result.message = "Newton failed in mode flying at der(v) = -g";
  const std::string html = report_html(result);
  EXPECT_TRUE(contains(html, "Stopped early at time"));
  EXPECT_TRUE(contains(html, "newton-failed"));
  EXPECT_TRUE(contains(html, result.message));
}

TEST(Report, NeedsNothingFromOutside) {
  const std::string html = report_html(ball_result());
  for (const char* outside : {"<script src", "<img", "<link", "@import", "url("})
    EXPECT_FALSE(contains(html, outside)) << outside;
  // The browser holds the page to it.
  EXPECT_TRUE(contains(html, "Content-Security-Policy\" content=\"default-src 'none';"));
}

TEST(Report, SaysHowToMakeItAgain) {
  EXPECT_TRUE(contains(report_html(ball_result(), "saltus simulate ball --set 'e=<1'"),
                       "saltus simulate ball --set 'e=&lt;1'"));
}

TEST(Report, ListsEventsModesAndWarnings) {
  SimulateResult result = ball_result();
  result.warnings = {"x < y was adjusted"};
  const std::string html = report_html(result);
  EXPECT_TRUE(contains(html, "flying → resting"));
  EXPECT_TRUE(contains(html, "h &lt; 0"));
  EXPECT_TRUE(contains(html, "v: −4.42945 → 3.54356"));  // sqrt(2 g), 0.8 sqrt(2 g)
  EXPECT_TRUE(contains(html, "x &lt; y was adjusted"));
  EXPECT_FALSE(contains(html, "x < y"));
}

TEST(Report, NamesCannotBreakThePage) {
  SimulateResult result = ball_result();
  result.model = "</title><script>";
  result.trajectory.signals[0].name = "\"><b>";
  result.trajectory.mode_names[0] = "<i>mode</i>";
  const std::string html = report_html(result);
  EXPECT_FALSE(contains(html, "</title><script>"));
  EXPECT_FALSE(contains(html, "\"><b>\""));
  EXPECT_FALSE(contains(html, "<i>mode"));
}

TEST(Report, ShortensALongEventTable) {
  SimulateResult result = ball_result();
  result.events.assign(10'000, result.events.front());
  const std::string html = report_html(result);
  EXPECT_TRUE(contains(html, "9600 events not shown"));
  EXPECT_TRUE(contains(html, "<td class=\"n\">10000</td>"));
}

TEST(Report, CopesWithAnEmptyResult) {
  const std::string html = report_html(SimulateResult{});
  EXPECT_TRUE(contains(html, "nothing to draw"));
  EXPECT_TRUE(contains(html, "No events"));
}

}  // namespace
}  // namespace saltus
