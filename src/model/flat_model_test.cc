#include "model/flat_model.h"

#include <gtest/gtest.h>

namespace saltus {
namespace {

TEST(FlatModel, RelationsWithTheSameDifferenceShareASlot) {
  FlatModel model("m");
  const Expr x = model.system.variable("x");
  const Expr y = model.system.variable("y");
  const Expr above = model.relation(x - y, Strict::kYes);
  EXPECT_TRUE(model.relation(x - y, Strict::kYes).same_as(above));
  EXPECT_TRUE(model.relation(y - x, Strict::kNo).same_as(!above));
  EXPECT_EQ(model.relations.size(), 1u);
  EXPECT_FALSE(model.relation(x - y, Strict::kNo).same_as(above));  // differs where x = y
}

TEST(FlatModel, DiscreteVariablesRememberTheirPreValue) {
  FlatModel model("m");
  const Expr locked = model.discrete("locked", {.start = 1.0});
  EXPECT_TRUE(model.pre(locked).same_as(model.discretes[0].pre));
  EXPECT_THROW(model.system.variable("locked"), Error);
  EXPECT_THROW(model.pre(model.system.variable("x")), Error);
}

TEST(FlatModel, ConstantRelationsNeedNoSlot) {
  FlatModel model("m");
  EXPECT_TRUE(model.relation(0.0, Strict::kNo).is_number());
  EXPECT_EQ(model.relation(0.0, Strict::kYes).number(), 0.0);
  EXPECT_TRUE(model.relations.empty());
}

}  // namespace
}  // namespace saltus
