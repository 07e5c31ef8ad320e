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

TEST(ProfileLinks, AskedForTrafficTimesBothWaysBesideOneWay) {
  Profile profile;
  ProfileRequest request;
  request.link_traffic = true;
  ASSERT_TRUE(profile_links(request, profile));
  const auto alone = profile.links_alone("thread");
  EXPECT_GE(alone.size(), 6u);
  EXPECT_LT(alone.size(), profile.links.size());
  std::size_t both = 0;
  for (const LinkTime& link : profile.links) both += link.traffic == Traffic::BothWays && link.pairs == 1;
  EXPECT_EQ(both, alone.size());
}

}  // namespace
}  // namespace penstock
