#include "core/result.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock {
namespace {

TEST(Where, TextGivesLineAndColumnThenThePointer) {
  EXPECT_EQ((Where{.file = "cluster.toml", .line = 3, .column = 9}.text()), "cluster.toml:3:9");
  EXPECT_EQ((Where{.file = "plan.json", .pointer = "/stages/2"}.text()), "plan.json#/stages/2");
  EXPECT_EQ((Where{.file = "plan.json", .line = 3}.text()), "plan.json:3");
  EXPECT_EQ(Where{}.text(), "");
}

TEST(Error, TextIsOneLineWithPlaceMessageAndHint) {
  const Error error{.code = ErrorCode::Usage,
                    .message = "no such verb",
                    .where = {.file = "x"},
                    .hint = "try plan"};
  EXPECT_EQ(error.text(), "x: no such verb (hint: try plan)");
  EXPECT_EQ(Error{.message = "broken"}.text(), "broken");
}

TEST(EditDistance, CountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("heads", "heads"), 0u);
}

TEST(Nearest, FindsASlipOfTheKeyboardAndNothingFarther) {
  const std::vector<std::string_view> names = {"heads", "hidden", "layers"};
  EXPECT_EQ(nearest("haeds", names), "heads");
  EXPECT_EQ(nearest("layer", names), "layers");
  EXPECT_EQ(nearest("bandwidth", names), "");
}

Result<int> half(int x) {
  if (x % 2 != 0) return fail(ErrorCode::BadInput, "odd");
  return x / 2;
}

Result<int> quarter(int x) {
  PENSTOCK_TRY(const int once, half(x));
  PENSTOCK_TRY(const int twice, half(once));
  return twice;
}

Result<void> must_halve(int x) {
  PENSTOCK_TRY_VOID(half(x));
  return {};
}

TEST(Try, PassesTheValueOnAndTheErrorUp) {
  EXPECT_EQ(quarter(8).value(), 2);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(must_halve(2));
  EXPECT_FALSE(must_halve(3));
}

TEST(Check, AbortsWithExpressionAndMessage) {
  EXPECT_DEATH(PENSTOCK_CHECK(1 + 1 == 3, "arithmetic"),
               "internal error at .*result_test.cc.*1 \\+ 1 == 3 \\(arithmetic\\)");
}

}  // namespace
}  // namespace penstock
