#include "core/contention.h"

#include <gtest/gtest.h>

#include <limits>

namespace penstock {
namespace {

TEST(Contention, OfOnesSlowsNothing) {
  Contention contention;
  EXPECT_FALSE(contention.slows());
  EXPECT_TRUE(validate(contention));
  contention.slowdown[1][2] = 1.5;
  EXPECT_TRUE(contention.slows());
  EXPECT_EQ(contention.of(WorkClass::Memory, WorkClass::Copy), 1.5);
  EXPECT_EQ(contention.of(WorkClass::Copy, WorkClass::Memory), 1);
  EXPECT_TRUE(validate(contention));
}

TEST(Contention, ThatSpeedsUpOrIsNoNumberIsRefusedWithItsPlace) {
  for (const double bad : {0.5, -1.0, 1001.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    Contention contention;
    contention.slowdown[2][1] = bad;
    const auto valid = validate(contention);
    ASSERT_FALSE(valid) << bad;
    EXPECT_EQ(valid.error().where.pointer, "/slowdown/2/1");
  }
  EXPECT_FALSE(validate(Contention{.cores = -1}));
  EXPECT_FALSE(validate(Contention{.private_cache = Bytes(-1)}));
  EXPECT_FALSE(validate(Contention{.memory_bandwidth = BytesPerSecond(-1)}));
}

}  // namespace
}  // namespace penstock
