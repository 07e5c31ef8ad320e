#include "planner/strategies.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Strategies, EachIsFoundByItsNameAndSaysWhereItComesFrom) {
  ASSERT_FALSE(strategies().empty());
  for (const Strategy& strategy : strategies()) {
    const auto found = find_strategy(strategy.name);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ((*found)->name, strategy.name);
    EXPECT_FALSE(strategy.about.empty());
    EXPECT_FALSE(strategy.source.empty());
  }
}

TEST(Strategies, ASlipIsAnsweredWithTheNearest) {
  const auto found = find_strategy("atuo");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::Usage);
  EXPECT_EQ(found.error().hint, "did you mean auto?");
}

}  // namespace
}  // namespace penstock
