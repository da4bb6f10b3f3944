#include "simulate/face.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace saltus {
namespace {

TEST(Face, SlidesOnlyWhereBothFlowsPointAtTheSurface) {
  const Face slides = choose_face(1, std::array{3.0, -1.0});
  ASSERT_TRUE(slides.slides());
  EXPECT_DOUBLE_EQ(slides.weights[0], 0.75);  // 0.75 (-1) + 0.25 (3) = 0
  EXPECT_EQ(choose_face(1, std::array{-3.0, -1.0}).places[0], Place::kNegative);
  EXPECT_EQ(choose_face(1, std::array{3.0, 1.0}).places[0], Place::kPositive);
  EXPECT_FALSE(choose_face(1, std::array{-3.0, 1.0}).slides());
}

// Rates of two relays: side b has the signs s1, s2; order of sides: --, +-, -+, ++.
std::array<double, 8> relay_rates(double push) {
  std::array<double, 8> rates{};
  for (std::size_t b = 0; b < 4; ++b) {
    const double s1 = (b & 1U) != 0 ? 1.0 : -1.0;
    const double s2 = (b & 2U) != 0 ? 1.0 : -1.0;
    rates[2 * b] = -2.0 * s1 + 0.5 * s2 + push;
    rates[2 * b + 1] = -0.5 * s1 - 2.0 * s2;
  }
  return rates;
}

TEST(Face, SlidesOnBothSurfacesWhereNoRegionLetsTheFlowIn) {
  // s1 = push / 2.125, s2 = -s1 / 4; a weight is (1 + s) / 2.
  const Face face = choose_face(2, relay_rates(1.0));
  ASSERT_TRUE(face.found);
  EXPECT_EQ(face.places[0], Place::kSliding);
  EXPECT_EQ(face.places[1], Place::kSliding);
  EXPECT_NEAR(face.weights[0], 0.5 * (1.0 + 1.0 / 2.125), 1e-14);
  EXPECT_NEAR(face.weights[1], 0.5 * (1.0 - 0.25 / 2.125), 1e-14);
}

TEST(Face, LeavesOneSurfaceAndSlidesOnTheOther) {
  const Face face = choose_face(2, relay_rates(3.0));
  ASSERT_TRUE(face.found);
  EXPECT_EQ(face.places[0], Place::kPositive);
  EXPECT_EQ(face.places[1], Place::kSliding);
  EXPECT_NEAR(face.weights[1], 0.375, 1e-14);  // s2 = -1/4
}

TEST(Face, LeavesIntoARegionThatLetsTheFlowIn) {
  const Face face = choose_face(2, std::array{1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
  EXPECT_EQ(face.places[0], Place::kPositive);
  EXPECT_EQ(face.places[1], Place::kPositive);
}

// Whatever the rates, weights on two surfaces make both mixed rates vanish.
TEST(Face, KeepsTheMixtureOnBothSurfaces) {
  std::mt19937 random(7);
  std::uniform_real_distribution<> strength(0.1, 1.0);
  for (int trial = 0; trial < 1000; ++trial) {
    std::array<double, 8> rates{};
    for (std::size_t b = 0; b < 4; ++b) {
      rates[2 * b] = ((b & 1U) != 0 ? -1.0 : 1.0) * strength(random);
      rates[2 * b + 1] = ((b & 2U) != 0 ? -1.0 : 1.0) * strength(random);
    }
    const Face face = choose_face(2, rates);
    ASSERT_TRUE(face.found) << trial;  // all four flows point at the corner
    ASSERT_EQ(face.places[0], Place::kSliding);
    ASSERT_EQ(face.places[1], Place::kSliding);
    const double u = face.weights[0];
    const double v = face.weights[1];
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_NEAR((1 - u) * (1 - v) * rates[i] + u * (1 - v) * rates[2 + i] +
                      (1 - u) * v * rates[4 + i] + u * v * rates[6 + i],
                  0.0, 1e-13);
  }
}

// Whatever the rates, weights on three and four surfaces make all mixed rates vanish.
TEST(Face, KeepsTheMixtureOnManySurfaces) {
  std::mt19937 random(11);
  std::uniform_real_distribution<> strength(0.5, 1.0);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t n = trial % 2 == 0 ? 3 : 4;
    const std::size_t sides = std::size_t{1} << n;
    std::vector<double> rates(sides * n);
    for (std::size_t b = 0; b < sides; ++b)
      for (std::size_t i = 0; i < n; ++i)
        rates[b * n + i] = ((b >> i & 1U) != 0 ? -1.0 : 1.0) * strength(random);
    const Face face = choose_face(n, rates);
    ASSERT_TRUE(face.found) << trial;  // all flows point at the corner
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(face.places[i], Place::kSliding);
      double mixed = 0.0;
      for (std::size_t b = 0; b < sides; ++b) {
        double weight = 1.0;
        for (std::size_t k = 0; k < n; ++k)
          weight *= (b >> k & 1U) != 0 ? face.weights[k] : 1.0 - face.weights[k];
        mixed += weight * rates[b * n + i];
      }
      EXPECT_NEAR(mixed, 0.0, 1e-13);
    }
  }
}

}  // namespace
}  // namespace saltus
