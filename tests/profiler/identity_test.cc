#include <gtest/gtest.h>

#include "profiler/profiler.h"

namespace penstock {
namespace {

TEST(IdentifyMachine, IsTheSameTwiceAndLeavesNothingOut) {
  const Fingerprint a = identify_machine(), b = identify_machine();
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a.cpu.empty());
  EXPECT_FALSE(a.instruction_set.empty());
  EXPECT_GT(a.cores, 0);
  EXPECT_GT(a.memory, Bytes(0));
  EXPECT_NE(a.software.find("oneDNN"), std::string::npos);
}

}  // namespace
}  // namespace penstock
