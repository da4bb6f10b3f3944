#include "study/design.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"

namespace saltus {
namespace {

TEST(Factor, ReadsRangesListsAndIntervals) {
  EXPECT_EQ(parse_factor("J=0.1:0.1:2").values.size(), 20U);
  EXPECT_EQ(parse_factor("J=0.1:0.1:2").values.back(), 2.0);
  EXPECT_EQ(parse_factor("J=2:-0.5:1").values, (std::vector<double>{2.0, 1.5, 1.0}));
  EXPECT_EQ(parse_factor("J=0:0.4:1").values, (std::vector<double>{0.0, 0.4, 0.8}));
  const Factor k = parse_factor("k=log:1:1e4:5");
  ASSERT_EQ(k.values.size(), 5U);
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(k.values[i], std::pow(10.0, i), 1e-12 * std::pow(10.0, i));
  EXPECT_EQ(k.values.back(), 1e4);
  EXPECT_EQ(parse_factor("e=3,1,2").values, (std::vector<double>{3.0, 1.0, 2.0}));
  EXPECT_TRUE(parse_factor("m=1:3").values.empty());
}

TEST(Factor, RefusesWhatIsNoRange) {
  for (const char* text : {"J", "=1", "J=", "J=1:0:2", "J=2:0.1:1", "J=1:2:3:4", "J=nan", "J=inf",
                           "J=1,", "J=a:b:c", "J=log:0:1:3", "J=log:2:1:3", "J=lin:1:2:0",
                           "J=lin:1:2:1.5", "J=0:1e-9:1", "J=lin:0:1:1e9", "J=1:1"})
    EXPECT_THROW((void)parse_factor(text), Error) << text;
  for (const char* text : {"k=5", "k=5,0", "k=5,-1", "k=5,nan", "k=5,1,2", "k"})
    EXPECT_THROW((void)parse_normal(text), Error) << text;
}

TEST(Design, GridHasEveryCombinationAndTheLastFactorVariesFastest) {
  const Design d = make_design({parse_factor("a=1,2"), parse_factor("b=3,4,5")}, Plan::kGrid, 0, 1);
  ASSERT_EQ(d.runs(), 6U);
  EXPECT_EQ(d.values, (std::vector<double>{1, 3, 1, 4, 1, 5, 2, 3, 2, 4, 2, 5}));
}

TEST(Design, RefusesABillionRunsWithoutMakingThem) {
  const Factor many = parse_factor("a=lin:0:1:1000");
  Factor b = many, c = many;
  b.name = "b";
  c.name = "c";
  EXPECT_THROW((void)make_design({many, b, c}, Plan::kGrid, 0, 1), Error);
  EXPECT_THROW((void)make_design({many, many}, Plan::kGrid, 0, 1), Error);  // one name twice
  EXPECT_THROW((void)make_design({many}, Plan::kLatin, 1'000'000'000, 1), Error);
  EXPECT_THROW((void)make_design({}, Plan::kGrid, 0, 1), Error);
  EXPECT_THROW((void)make_design({parse_factor("a=1:2")}, Plan::kGrid, 0, 1), Error);
  EXPECT_THROW(
      (void)make_design({parse_factor("a=1,2"), parse_factor("b=1,2,3")}, Plan::kZip, 0, 1), Error);
}

TEST(Design, LatinHypercubeHasOneSampleInEveryPart) {
  constexpr std::size_t n = 50;
  const Design d =
      make_design({parse_factor("a=0:50"), parse_factor("b=100:150")}, Plan::kLatin, n, 7);
  for (std::size_t j = 0; j < 2; ++j) {
    std::set<int> parts;
    for (std::size_t k = 0; k < n; ++k)
      parts.insert(static_cast<int>(std::floor(d.run(k)[j] - (j == 0 ? 0.0 : 100.0))));
    EXPECT_EQ(parts.size(), n);
    EXPECT_EQ(*parts.begin(), 0);
  }
  EXPECT_EQ(
      d.values,
      make_design({parse_factor("a=0:50"), parse_factor("b=100:150")}, Plan::kLatin, n, 7).values);
}

// Property A of a digital sequence: among the first 2^k points every interval of length 2^-k has
// one, in each dimension; and the first two dimensions are a (0, k, 2)-net.
TEST(Sobol, FillsEveryDyadicInterval) {
  for (std::size_t dimension = 0; dimension < kSobolDimensions; ++dimension) {
    std::set<int> cells;
    for (std::size_t k = 0; k < 256; ++k)
      cells.insert(static_cast<int>(sobol_point(k, dimension) * 256.0));
    EXPECT_EQ(cells.size(), 256U) << "dimension " << dimension;
  }
  for (int a = 0; a <= 6; ++a) {
    std::set<std::pair<int, int>> cells;
    for (std::size_t k = 0; k < 64; ++k)
      cells.insert({static_cast<int>(sobol_point(k, 0) * (1 << a)),
                    static_cast<int>(sobol_point(k, 1) * (1 << (6 - a)))});
    EXPECT_EQ(cells.size(), 64U);
  }
}

// Two dimensions with the same numbers, or one that repeats another's bits, would show here: the
// integral of a product of independent factors.
TEST(Sobol, DimensionsAreIndependent) {
  constexpr std::size_t n = 1 << 12;
  for (std::size_t i = 0; i < kSobolDimensions; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < n; ++k)
        sum += (sobol_point(k, i) - 0.5) * (sobol_point(k, j) - 0.5);
      EXPECT_LT(std::abs(sum / n), 2e-3) << i << " and " << j;
    }
}

// Values of the distribution function from tables of the error function.
TEST(Normal, QuantilesInvertTheDistribution) {
  EXPECT_NEAR(normal_quantile(0.5), 0.0, 1e-15);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-9);
  for (double x = -6.0; x <= 6.0; x += 0.37)
    EXPECT_NEAR(normal_quantile(0.5 * std::erfc(-x / std::sqrt(2.0))), x, 1e-7);
}

}  // namespace
}  // namespace saltus
