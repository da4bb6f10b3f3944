#include "analysis/sparse_null.h"

#include <gtest/gtest.h>

#include <random>

namespace saltus {
namespace {

// Bidiagonal in units from 1e-8 to 1e8: regular. With its last row a combination of two others:
// not, and these are named.
TEST(SparseNull, VectorsNameTheRowsThatDependOnEachOther) {
  constexpr int kSize = 300;
  std::mt19937 random(5);
  std::uniform_real_distribution<> exponent(-8.0, 8.0);
  std::vector<double> units;
  for (int i = 0; i < kSize; ++i) units.push_back(std::pow(10.0, exponent(random)));
  std::vector<MatrixPlace> places;
  std::vector<double> values;
  const auto put = [&](int row, int column, double value) {
    places.push_back({row, column});
    values.push_back(value * units[static_cast<std::size_t>(column)]);
  };
  for (int i = 0; i + 1 < kSize; ++i) {
    put(i, i, 2.0);
    put(i, i + 1, 1.0);
  }
  const std::vector<MatrixPlace> common_places = places;
  const std::vector<double> common_values = values;
  put(kSize - 1, kSize - 1, 1.0);
  EXPECT_TRUE(is_regular(assemble(kSize, kSize, places, values)));
  EXPECT_TRUE(null_vectors(assemble(kSize, kSize, places, values)).empty());

  places = common_places;
  values = common_values;
  for (const auto& [row, factor] : {std::pair{7, 3.0}, std::pair{100, -0.5}}) {
    put(kSize - 1, row, 2.0 * factor);
    put(kSize - 1, row + 1, factor);
  }
  const SparseMatrix a = assemble(kSize, kSize, places, values);
  EXPECT_FALSE(is_regular(a));
  const std::vector<Combination> found = null_vectors(a.transpose());
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].size(), 3u);
  EXPECT_EQ(found[0][0].first, 7u);
  EXPECT_EQ(found[0][1].first, 100u);
  EXPECT_EQ(found[0][2].first, static_cast<std::size_t>(kSize - 1));
  EXPECT_NEAR(found[0][0].second / found[0][2].second, -3.0, 1e-10);
  EXPECT_NEAR(found[0][1].second / found[0][2].second, 0.5, 1e-10);
}

}  // namespace
}  // namespace saltus
