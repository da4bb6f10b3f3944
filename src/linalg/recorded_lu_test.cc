#include "linalg/recorded_lu.h"

#include <gtest/gtest.h>

#include <complex>
#include <random>

namespace saltus {
namespace {

// Entries in about a quarter of the places and on the diagonal.
Pattern random_pattern(int n, std::mt19937& random) {
  Pattern p{n, n, {0}, {}};
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i)
      if (i == j || random() % 4 == 0) p.row.push_back(i);
    p.start.push_back(static_cast<int>(p.row.size()));
  }
  return p;
}

void fill(double& value, std::mt19937& random) {
  value = std::uniform_real_distribution<>(-1, 1)(random);
}
void fill(std::complex<double>& value, std::mt19937& random) {
  double parts[2];
  for (double& part : parts) fill(part, random);
  value = {parts[0], parts[1]};
}

template <class Scalar>
void expect_equal_bits(int n) {
  std::mt19937 random(static_cast<unsigned>(n));
  const Pattern pattern = random_pattern(n, random);
  std::vector<Scalar> values(pattern.row.size());
  std::vector<Scalar> b(static_cast<std::size_t>(n));
  for (Scalar& v : values) fill(v, random);
  for (Scalar& v : b) fill(v, random);
  RecordedLu<Scalar> lu(pattern);
  ASSERT_TRUE(lu.factor(values.data()));
  ASSERT_FALSE(lu.is_compiled());
  std::vector<Scalar> by_loops = b;
  lu.solve(by_loops.data());
  for (int k = 0; k < 6; ++k) ASSERT_TRUE(lu.factor(values.data()));
  if (!lu.is_compiled()) GTEST_SKIP() << "no machine code here";
  EXPECT_EQ(lu.recordings(), 1);
  lu.solve(b.data());
  EXPECT_EQ(b, by_loops) << n;
}

TEST(RecordedLu, MachineCodeAgreesWithTheLoopsToTheLastBit) {
  for (const int n : {1, 2, 3, 8, 17, 20}) {
    expect_equal_bits<double>(n);
    expect_equal_bits<std::complex<double>>(n);
  }
}

// After a refused replay the instructions belong to the new pivots.
TEST(RecordedLu, NewPivotsAreCompiledAnew) {
  const Pattern pattern{2, 2, {0, 2, 4}, {0, 1, 0, 1}};
  RecordedLu<double> lu(pattern);
  const double first[] = {1.0, 0.5, 0.5, 1.0};
  for (int k = 0; k < 8; ++k) ASSERT_TRUE(lu.factor(first));
  const double second[] = {0.0, 2.0, 4.0, 0.0};  // zero pivots on the diagonal
  for (int k = 0; k < 8; ++k) {
    ASSERT_TRUE(lu.factor(second));
    double b[] = {4.0, 6.0};
    lu.solve(b);
    EXPECT_EQ(b[0], 3.0);
    EXPECT_EQ(b[1], 1.0);
  }
  EXPECT_EQ(lu.recordings(), 2);
  const double singular[] = {1.0, 2.0, 2.0, 4.0};
  EXPECT_FALSE(lu.factor(singular));
}

}  // namespace
}  // namespace saltus
