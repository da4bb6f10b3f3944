#include "output/selected_signals.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace saltus {
namespace {

TEST(SelectedSignals, PatternsKnowStarsAndQuestionMarks) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", "a.b"));
  EXPECT_TRUE(matches("a.*", "a.b"));
  EXPECT_FALSE(matches("a.*", "b.a.b"));
  EXPECT_TRUE(matches("*.w", "shaft.w"));
  EXPECT_FALSE(matches("*.w", "shaft.w1"));
  EXPECT_TRUE(matches("x[?]", "x[3]"));
  EXPECT_FALSE(matches("x[?]", "x[12]"));
  EXPECT_TRUE(matches("x[*]", "x[12]"));
  EXPECT_FALSE(matches("x[12]", "x1"));
  EXPECT_TRUE(matches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matches("a*b*c", "a-c-b"));
  EXPECT_TRUE(matches("der(*)", "der(phi)"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("a**", "a"));
}

class Points : public ResultSink {
 public:
  void begin(const Trajectory& layout) override { layout_ = layout; }
  void store(double time, ModeId /*mode*/, const double* columns) override {
    layout_.time.push_back(time);
    layout_.values.insert(layout_.values.end(), columns, columns + layout_.width());
  }
  Trajectory layout_;
};

TEST(SelectedSignals, KeepWhatTheSelectedOnesNeed) {
  Trajectory whole;
  whole.columns = 3;
  whole.signals = {
      {"a", "m", ""}, {"b", "", ""}, {"c", "", ""}, {"minus_c", "", ""}, {"two", "", ""}};
  whole.sources = {{0, 1.0}, {1, 1.0}, {2, 1.0}, {2, -1.0}, {Trajectory::Source::kNoColumn, 2.0}};
  whole.parameters = {{"p", "", ""}, {"q", "", ""}};
  whole.parameter_values = {5.0, 6.0};
  Points points;
  SelectedSignals selected({"*c", "a", "t?o", "q"}, points);
  selected.begin(whole);
  const double columns[] = {1.5, 2.5, 3.5};
  selected.store(0.25, ModeId(0), columns);
  const Trajectory& kept = points.layout_;
  ASSERT_EQ(kept.signals.size(), 4U);
  EXPECT_EQ(kept.width(), 2U);
  EXPECT_EQ(kept.value(0, kept.find("a")), 1.5);
  EXPECT_EQ(kept.value(0, kept.find("c")), 3.5);
  EXPECT_EQ(kept.value(0, kept.find("minus_c")), -3.5);
  EXPECT_EQ(kept.value(0, kept.find("two")), 2.0);
  EXPECT_THROW((void)kept.find("b"), Error);
  ASSERT_EQ(kept.parameters.size(), 1U);
  EXPECT_EQ(kept.parameter_values.front(), 6.0);
}

TEST(SelectedSignals, PatternsThatFitNothingAreRefused) {
  Trajectory whole;
  whole.signals = {{"a", "", ""}};
  Points points;
  SelectedSignals selected({"a", "b*"}, points);
  EXPECT_THROW(selected.begin(whole), Error);
  EXPECT_EQ(selected.unmatched(), "b*");
}

}  // namespace
}  // namespace saltus
