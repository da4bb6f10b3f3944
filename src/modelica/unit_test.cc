#include "modelica/unit.h"

#include <gtest/gtest.h>

namespace saltus {
namespace {

// Definitions of the SI.
TEST(Unit, ReadsDerivedUnitsAsPowersOfBaseUnits) {
  EXPECT_EQ(parse_unit("N")->text(), "kg.m/s2");
  EXPECT_EQ(parse_unit("V")->text(), "kg.m2/(s3.A)");
  EXPECT_EQ(parse_unit("1/s")->text(), "1/s");
  EXPECT_EQ(parse_unit("rad")->text(), "1");
  EXPECT_TRUE(parse_unit("N.m")->same_dimension(*parse_unit("J")));
  EXPECT_TRUE(parse_unit("W/(m2.K)")->same_dimension(*parse_unit("kg.s-3.K-1")));
  EXPECT_TRUE(parse_unit("Wb/A")->same_dimension(*parse_unit("H")));
  EXPECT_TRUE(parse_unit("F.V")->same_dimension(*parse_unit("C")));
}

TEST(Unit, KnowsPrefixes) {
  EXPECT_DOUBLE_EQ(parse_unit("km")->scale, 1e3);
  EXPECT_DOUBLE_EQ(parse_unit("kg")->scale, 1.0);
  EXPECT_DOUBLE_EQ(parse_unit("mm2")->scale, 1e-6);
  EXPECT_DOUBLE_EQ(parse_unit("km/h")->scale, 1e3 / 3600.0);
  EXPECT_DOUBLE_EQ(parse_unit("min")->scale, 60.0);  // not a thousandth of an inch
  EXPECT_DOUBLE_EQ(parse_unit("daN")->scale, 10.0);
}

TEST(Unit, RefusesWhatIsNoUnit) {
  for (const char* text : {"", "m/", "foo", "m//s", "m.", ".m", "m2x", "kkg", "kdegC", "m s", "/s"})
    EXPECT_FALSE(parse_unit(text).has_value()) << text;
}

}  // namespace
}  // namespace saltus
