#include <gtest/gtest.h>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> scale(const Case&, const Point& at) {
  std::vector<double> y;
  for (std::uint8_t byte : at.data[0]) y.push_back(byte / 127.5 - 1);
  return y;
}

}  // namespace

KindCheck pixels_check() {
  return {scale,
          1e-6,
          {pixels_case(1, {1, 1, 1}), pixels_case(3, {3, 5, 7}), pixels_case(1, {3, 1, 7}),
           pixels_case(2, {1, 11, 3})}};
}

namespace {

TEST(Pixels, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(pixels_check());
}

TEST(Pixels, SpanMinusOneToOne) {
  Harness harness(pixels_case(1, {1, 1, 2}));
  harness.data[0].octets()[0] = 0;
  harness.data[0].octets()[1] = 255;
  harness.forward();
  EXPECT_EQ(harness.output.floats()[0], -1.0f);
  EXPECT_EQ(harness.output.floats()[1], 1.0f);
}

}  // namespace
}  // namespace penstock::cpu::testing
