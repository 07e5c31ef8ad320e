#include <gtest/gtest.h>

#include "exec/cpu/processor.h"
#include "profiler/profiler.h"

namespace penstock {
namespace {

TEST(ProfileContention, MeasuresEveryClassBesideEveryOtherAndNeverASpeedUp) {
  Profile profile;
  ASSERT_TRUE(profile_contention({}, profile));
  if (cpu::core_count() < 2) {
    EXPECT_TRUE(profile.contention.empty());
    return;
  }
  ASSERT_EQ(profile.contention.size(), kWorkClasses * kWorkClasses);
  for (const ContentionTime& row : profile.contention) {
    EXPECT_GE(row.alone.n, 20);
    EXPECT_EQ(row.alone.n, row.time.n);
    EXPECT_GT(row.alone.median, Nanoseconds(0));
    EXPECT_GT(row.moved, Bytes(0));
    const double ratio = seconds(row.time.median) / seconds(row.alone.median);
    EXPECT_DOUBLE_EQ(row.slowdown, ratio < 1.02 ? 1 : ratio);
  }
  EXPECT_TRUE(validate(profile.contention_of_host()));
  EXPECT_GT(profile.contention_of_host().memory_bandwidth, BytesPerSecond(0));
}

TEST(ProfileContention, StopsWhenAsked) {
  if (cpu::core_count() < 2) GTEST_SKIP() << "one core: nothing to measure";
  ProfileRequest request;
  std::stop_source stop;
  request.stop = stop.get_token();
  stop.request_stop();
  Profile profile;
  const auto stopped = profile_contention(request, profile);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Interrupted);
}

}  // namespace
}  // namespace penstock
