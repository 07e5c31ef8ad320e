#include "cli/schedule_input.h"

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

Order sample() {
  const auto shape = parse_schedule_input("1f1b:stages=2,microbatches=3");
  return *emit(*shape->schedule, shape->shape);
}

Result<OrderCosts> costs(const std::vector<std::string>& arguments) {
  Flags flags;
  TimeFlags times;
  times.declare(flags);
  const bool help = false;
  PENSTOCK_TRY_VOID(parse_arguments(flags, arguments, help));
  return times.costs(sample());
}

TEST(ScheduleInput, NameAndShapeAreReadTogether) {
  const auto shape = parse_schedule_input("1f1b:microbatches=8,stages=4");
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->schedule->name, "1f1b");
  EXPECT_EQ(shape->shape.stages, 4);
  EXPECT_EQ(shape->shape.microbatches, 8);
  EXPECT_TRUE(is_schedule("pipedream_flush:stages=4"));
  EXPECT_FALSE(is_schedule("plan.json"));
}

TEST(ScheduleInput, WhatIsWrongIsUsage) {
  for (const char* bad : {"1f1b", "1f1b:stages=4", "1f1b:stages=4,microbatches=-1",
                          "1f1b:stages=4,microbatches=8,stages=2", "1f1b:4,microbatches=8",
                          "1f1b:stages=4,microbatches=8,limit=2", "1f1c:stages=1,microbatches=1"}) {
    const auto shape = parse_schedule_input(bad);
    ASSERT_FALSE(shape.has_value()) << bad;
    EXPECT_EQ(shape.error().code, ErrorCode::Usage) << bad;
  }
  EXPECT_EQ(parse_schedule_input("1f1b:stage=4,microbatches=8").error().hint,
            "did you mean stages?");
}

TEST(TimeFlags, BareNumbersKeepTheirFractions) {
  const auto c = costs({"--forward", "0.000000001", "--backward-input", "2.5"});
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->forward[0], Nanoseconds(1));
  EXPECT_EQ(c->backward_input[1], Nanoseconds(2'500'000'000));
  EXPECT_EQ(c->backward_weight[0], Nanoseconds(1'000'000'000));
  EXPECT_EQ(c->activation[0], Nanoseconds(0));
}

TEST(TimeFlags, UnitsAndBareNumbersDoNotMix) {
  EXPECT_EQ(costs({"--forward", "1ms", "--backward-input", "1"}).error().message,
            "--forward has a unit and --backward-input has none");
  EXPECT_EQ(costs({"--forward", "1ms", "--backward-input", "1ms"}).error().message,
            "--forward has a unit, and --backward-weight is left out");
  EXPECT_TRUE(
      costs({"--forward", "1ms", "--backward-input", "1ms", "--backward-weight", "0"}).has_value());
}

TEST(TimeFlags, WhatCannotBeAddedUpIsRefused) {
  EXPECT_EQ(costs({"--forward", "2e9"}).error().code, ErrorCode::Usage);
  for (const char* bad : {"-1", "nan", "1e300", "x", "1 h"}) {
    const auto c = costs({"--transfer", bad});
    ASSERT_FALSE(c.has_value()) << bad;
    EXPECT_EQ(c.error().code, ErrorCode::Usage);
    EXPECT_EQ(c.error().message.rfind("--transfer: ", 0), 0u) << bad;
  }
}

}  // namespace
}  // namespace penstock::cli
