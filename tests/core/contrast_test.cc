#include "core/contrast.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using Texts = std::pair<std::string, std::string>;

TEST(Contrast, WhatDiffersReadsDifferently) {
  EXPECT_EQ(contrast(Bytes(139264), Bytes(143360)), Texts("136 KiB", "140 KiB"));
  EXPECT_EQ(contrast(Bytes(139264), Bytes(139265)), Texts("139264 B", "139265 B"));
  EXPECT_EQ(contrast(Nanoseconds(1'500'000'000), Nanoseconds(1'500'000'001)), Texts("1500000000 ns", "1500000001 ns"));
}

TEST(Contrast, WhatIsEqualStaysShort) { EXPECT_EQ(contrast(Bytes(139264), Bytes(139264)), Texts("136 KiB", "136 KiB")); }

}  // namespace
}  // namespace penstock
