#include <gtest/gtest.h>

#include "profiler/profiler.h"

namespace penstock {
namespace {

TEST(ProfileLinks, LargerMessagesTakeLonger) {
  Profile profile;
  ASSERT_TRUE(profile_links({}, profile));
  ASSERT_GE(profile.links.size(), 6u);
  for (const LinkTime& link : profile.links) {
    EXPECT_EQ(link.path, "thread");
    EXPECT_GT(link.time.min, Nanoseconds(0));
    EXPECT_LE(link.time.min, link.time.median);
  }
  EXPECT_GT(profile.links.back().time.median, profile.links.front().time.median);
}

TEST(ProfileLinks, TheFitIsPositiveAndBelowAMemoryBus) {
  Profile profile;
  ASSERT_TRUE(profile_links({}, profile));
  const LinkFit fit = fit_link(profile.links);
  EXPECT_GE(fit.latency, Nanoseconds(0));
  EXPECT_GT(fit.bandwidth.value, 1e8);
  EXPECT_LT(fit.bandwidth.value, 1e12);
}

}  // namespace
}  // namespace penstock
