#include <gtest/gtest.h>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> scale(const Case&, const Point& at) {
  std::vector<double> y;
  for (std::uint8_t byte : at.data[0]) y.push_back(byte / 127.5 - 1);
  return y;
}

TEST(Pixels, MatchesTheDoublePrecisionReference) {
  for (const Case& c : {pixels_case(1, {1, 1, 1}), pixels_case(3, {3, 5, 7})})
    expect_matches_reference(c, scale, 1e-6);
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
