#include "model/delay_line.h"

#include <gtest/gtest.h>

#include <cmath>

namespace saltus {
namespace {

template <class F>
void store(DelayLine& line, double from, double to, F&& f) {
  std::array<double, DelayLine::kPoints> values{};
  const auto times = DelayLine::points(from, to);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = f(times[k]);
  line.append(from, to, values, 1e-9);
}

double quartic(double t) { return 1 + t * (2 + t * (-3 + t * (0.5 + t))); }
double quartic_slope(double t) { return 2 + t * (-6 + t * (1.5 + 4 * t)); }

TEST(DelayLine, RepeatsPolynomialsOfDegreeFourAndTheirSlopes) {
  DelayLine line;
  line.begin(0.0, 10.0);
  store(line, 0.0, 0.7, quartic);
  store(line, 0.7, 1.5, quartic);
  line.arrive(10.0);  // the start
  for (const double t : {0.0, 0.3, 0.7, 1.1, 1.5}) {
    EXPECT_NEAR(line.value(t, -7.0), quartic(t), 1e-13);
    EXPECT_NEAR(line.value(t, -7.0, 1), quartic_slope(t), 1e-12);
  }
  EXPECT_EQ(line.value(0.3, -7.0, 5), 0.0);
}

TEST(DelayLine, IsConstantUntilItsStartArrives) {
  DelayLine line;
  line.begin(2.0, 1.0);
  store(line, 2.0, 3.0, [](double t) { return t; });
  EXPECT_EQ(line.next_arrival(), 3.0);
  EXPECT_EQ(line.value(1.5, 9.0), 9.0);
  EXPECT_EQ(line.value(2.0, 9.0), 9.0);  // the left limit
  EXPECT_EQ(line.arrive(3.0), 1);
  EXPECT_NEAR(line.value(2.0, 9.0), 2.0, 1e-15);
  EXPECT_EQ(line.next_arrival(), std::numeric_limits<double>::infinity());
}

TEST(DelayLine, ReadsEachSideOfAJump) {
  DelayLine line;
  line.begin(0.0, 1.0);
  store(line, 0.0, 0.5, [](double) { return 1.0; });
  line.add_break(0.5, 1);
  store(line, 0.5, 1.0, [](double) { return 3.0; });
  line.arrive(1.0);
  EXPECT_EQ(line.next_arrival(), 1.5);
  EXPECT_EQ(line.value(0.5, 0.0), 1.0);
  EXPECT_EQ(line.value(0.6, 0.0), 1.0);  // not across it
  EXPECT_EQ(line.arrive(1.5), 0);        // a jump
  EXPECT_EQ(line.value(0.5, 0.0), 3.0);
  EXPECT_EQ(line.value(0.4, 0.0), 3.0);
}

TEST(DelayLine, ForgetsBreaksThatAreSmoothEnough) {
  const auto arrives = [](int order_of_cause, double kink) {
    DelayLine line;
    line.begin(0.0, 1.0);
    store(line, 0.0, 0.5, [](double t) { return t; });
    line.add_break(0.5, order_of_cause);
    store(line, 0.5, 1.0, [&](double t) { return t + kink * (t - 0.5); });
    line.arrive(1.0);
    return line.next_arrival() < 10.0;
  };
  EXPECT_TRUE(arrives(1, 0.0));
  EXPECT_TRUE(arrives(3, 0.0));
  EXPECT_FALSE(arrives(4, 0.0));
  EXPECT_TRUE(arrives(4, 0.1));  // a kink is none of what came
}

TEST(DelayLine, ServesOneAtATime) {
  DelayLine line;
  EXPECT_TRUE(line.claim());
  EXPECT_FALSE(line.claim());
  line.release();
  EXPECT_TRUE(line.claim());
}

}  // namespace
}  // namespace saltus
