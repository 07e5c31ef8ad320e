#include "core/version.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock {
namespace {

TEST(Version, IsThreeNumbers) {
  EXPECT_EQ(std::count(version().begin(), version().end(), '.'), 2);
  for (const char c : version()) EXPECT_TRUE(c == '.' || (c >= '0' && c <= '9')) << version();
}

TEST(Version, NamesTheCompiler) { EXPECT_FALSE(compiler().empty()); }

}  // namespace
}  // namespace penstock
