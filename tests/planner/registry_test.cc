#include <gtest/gtest.h>

#include <set>

#include "planner/schedules/schedule.h"

namespace penstock {
namespace {

TEST(Registry, NamesAndAliasesAreDistinct) {
  std::set<std::string_view> seen;
  for (const Schedule& schedule : schedules()) {
    EXPECT_TRUE(seen.insert(schedule.name).second) << schedule.name;
    for (const std::string_view alias : schedule.aliases)
      EXPECT_TRUE(seen.insert(alias).second) << alias;
    EXPECT_FALSE(schedule.about.empty() || schedule.source.empty() || schedule.admits.empty())
        << schedule.name;
  }
  EXPECT_EQ(schedules().size(), 2u);
}

TEST(Registry, FindsByNameAliasAndInAnyCase) {
  EXPECT_EQ(find_schedule("gpipe")->schedule->name, "gpipe");
  EXPECT_EQ(find_schedule("GPipe")->schedule->name, "gpipe");
  for (const char* name : {"1f1b", "1F1B", "one_f_one_b", "pipedream_flush", "dapple_a"})
    EXPECT_EQ(find_schedule(name)->schedule->name, "1f1b") << name;
}

TEST(Registry, AnUnknownScheduleIsAUsageErrorWithTheNearest) {
  const auto near = find_schedule("gpipes");
  ASSERT_FALSE(near.has_value());
  EXPECT_EQ(near.error().code, ErrorCode::Usage);
  EXPECT_EQ(near.error().hint, "did you mean 'gpipe'?");
  EXPECT_EQ(find_schedule("something_else_entirely").error().hint, "known: gpipe, 1f1b");
}

TEST(Registry, ParametersAScheduleLacksAreRefused) {
  EXPECT_EQ(find_schedule("1f1b:limit=2").error().message,
            "schedule 1f1b has no parameters, 'limit' is given");
  EXPECT_EQ(find_schedule("1f1b:limit").error().message,
            "'limit' in '1f1b:limit' is not key=value");
  EXPECT_EQ(find_schedule("1f1b:").error().code, ErrorCode::Usage);
  Shape shape;
  shape.parameters["limit"] = "2";
  EXPECT_EQ(emit(*find_schedule("1f1b")->schedule, shape).error().code, ErrorCode::Infeasible);
}

TEST(Registry, ImpossibleShapesAreRefusedBeforeMemoryIsTaken) {
  const Schedule& schedule = *find_schedule("1f1b")->schedule;
  Shape shape;
  shape.stages = 0;
  EXPECT_EQ(emit(schedule, shape).error().message, "0 stages: the number must lie in 1 to 65535");
  shape.stages = 65536;
  EXPECT_FALSE(emit(schedule, shape).has_value());
  shape.stages = 65535;
  shape.microbatches = 1 << 29;
  const auto order = emit(schedule, shape);
  ASSERT_FALSE(order.has_value());
  EXPECT_NE(order.error().message.find("operations"), std::string::npos);
}

}  // namespace
}  // namespace penstock
