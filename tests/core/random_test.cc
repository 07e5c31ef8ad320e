#include "core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace penstock {
namespace {

TEST(Random, IsAFunctionOfItsKey) {
  EXPECT_EQ(uniform(42), uniform(42));
  EXPECT_EQ(normal(42), normal(42));
  EXPECT_NE(combine(1, 2), combine(2, 1));
}

TEST(Random, NeighbouringKeysGiveDifferentNumbers) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t key = 0; key < 10'000; ++key) seen.insert(mix(key));
  EXPECT_EQ(seen.size(), 10'000u);
}

TEST(Random, UniformHasItsMomentsAndStaysBelowOne) {
  constexpr int n = 100'000;
  double sum = 0, squares = 0;
  for (std::uint64_t key = 0; key < n; ++key) {
    const double x = uniform(key);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0.5, 4 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / n));
}

TEST(Random, NormalHasItsMomentsAndIsFinite) {
  constexpr int n = 100'000;
  double sum = 0, squares = 0;
  for (std::uint64_t key = 0; key < n; ++key) {
    const double x = normal(key);
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 4 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 4 * std::sqrt(2.0 / n));
}

TEST(Hash, IsFnv1a) {
  EXPECT_EQ(hash(""), 0xcbf29ce484222325u);   // its offset basis
  EXPECT_EQ(hash("a"), 0xaf63dc4c8601ec8cu);  // from the algorithm's published test vectors
  EXPECT_EQ(hash("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace penstock
