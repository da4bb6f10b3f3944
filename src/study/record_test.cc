#include "study/record.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "study/expression.h"

namespace saltus {
namespace {

double value_of(const std::string& text) {
  return parse_expression(text,
                          [](const std::string& name) -> Expr {
                            if (name == "two") return 2.0;
                            throw Error("no name " + name);
                          })
      .number();
}

TEST(Expression, HasTheUsualPrecedences) {
  EXPECT_EQ(value_of("1 + 2*3^2"), 19.0);
  EXPECT_EQ(value_of("-2^2"), -4.0);
  EXPECT_EQ(value_of("2^-1"), 0.5);
  EXPECT_EQ(value_of("8/2/2"), 2.0);
  EXPECT_EQ(value_of("7 - 3 - 2"), 2.0);
  EXPECT_EQ(value_of("two*(1 + two)"), 6.0);
  EXPECT_EQ(value_of("if 1 < two and not two <= 1 then 5 else 6"), 5.0);
  EXPECT_EQ(value_of("max(1, two) + abs(-3)"), 5.0);
  EXPECT_EQ(value_of("1.5e1"), 15.0);
}

TEST(Expression, RefusesWhatIsNone) {
  for (const char* text : {"", "1 +", "(1", "1)", "foo(1)", "sin()", "sin(1, 2)", "three", "1 2",
                           "max(1, 2, 3)", "if 1 then 2", "a[1", "1 = 2"})
    EXPECT_THROW((void)value_of(text), Error) << text;
}

// Three points of x = t^2 at t = 0, 1, 3 and a parameter.
std::vector<double> record(const std::vector<std::string>& texts) {
  std::vector<RunRecord> records;
  for (const std::string& text : texts) records.push_back(parse_record(text));
  RecordSink sink(records);
  Trajectory layout;
  layout.signals = {{"x", "", ""}, {"der(x)", "", ""}};
  layout.parameters = {{"p", "", ""}};
  layout.parameter_values = {10.0};
  sink.begin(layout);
  for (const double t : {0.0, 1.0, 3.0}) {
    const double row[] = {t * t, 2.0 * t};
    sink.store(t, ModeId(t < 2.0 ? 0 : 1), row);
  }
  EXPECT_EQ(sink.modes().size(), 2U);
  return sink.values();
}

TEST(Record, LooksAtTheEndUnlessToldOtherwise) {
  EXPECT_EQ(record({"x + p", "der(x)", "time", "initial(x)", "final(x)"}),
            (std::vector<double>{19.0, 6.0, 3.0, 0.0, 9.0}));
  EXPECT_EQ(record({"max(x) - min(x)", "max(x, 100)", "max(-x)"}),
            (std::vector<double>{9.0, 100.0, 0.0}));
  // Trapezoids: (0 + 1)/2 + 2 (1 + 9)/2
  EXPECT_EQ(record({"integral(x)", "3*mean(x)"}), (std::vector<double>{10.5, 10.5}));
}

TEST(Record, NamesWhatItDoesNotKnow) {
  EXPECT_THROW((void)record({"y"}), Error);
  EXPECT_THROW((void)record({"max("}), Error);
  EXPECT_THROW((void)parse_record("  "), Error);
  EXPECT_EQ(parse_record("peak = max(x)").name, "peak");
  EXPECT_EQ(parse_record("peak = max(x)").text, "max(x)");
  EXPECT_EQ(parse_record("x <= 3").name, "x <= 3");
}

}  // namespace
}  // namespace saltus
