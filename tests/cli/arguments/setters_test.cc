#include "cli/arguments/setters.h"

#include <gtest/gtest.h>

#include "core/transfer.h"

namespace penstock::cli {
namespace {

TEST(Setters, ACommaPartsSchedulesButNotTheirParameters) {
  std::vector<std::string> out;
  ASSERT_TRUE(
      schedules_into(out)("--schedule", "1f1b,zb_auto:limit=1.5,seed=3,chimera:pipelines=4,gpipe")
          .has_value());
  EXPECT_EQ(out, (std::vector<std::string>{"1f1b", "zb_auto:limit=1.5,seed=3",
                                           "chimera:pipelines=4", "gpipe"}));
  EXPECT_FALSE(schedules_into(out)("--schedule", "1f1b,").has_value());
}

TEST(Setters, SharesArePercentOrFractions) {
  std::optional<double> share;
  ASSERT_TRUE(share_into(share)("--fail-over", "5%").has_value());
  EXPECT_DOUBLE_EQ(*share, 0.05);
  ASSERT_TRUE(share_into(share)("--fail-over", "0.25").has_value());
  EXPECT_DOUBLE_EQ(*share, 0.25);
  for (const char* bad : {"", "%", "5%%", "-5%", "nan", "inf", "5 %", "5", "1.5"})
    EXPECT_FALSE(share_into(share)("--fail-over", bad).has_value()) << bad;
}

TEST(Setters, ABareNumberIsNoTimeAndNoSize) {
  Bytes bytes;
  Nanoseconds time;
  EXPECT_FALSE(bytes_into(bytes)("--memory-limit", "100").has_value());
  EXPECT_EQ(duration_into(time)("--budget", "3").error().hint, "write e.g. 3s; units are ns, us, ms, s");
  EXPECT_EQ(bytes_into(bytes)("--memory-limit", "2M").error().hint, "did you mean 2MB or 2MiB?");
  ASSERT_TRUE(bytes_into(bytes)("--memory-limit", "2MB").has_value());
  EXPECT_EQ(bytes, Bytes(2'000'000));
}

TEST(Setters, AChoiceNamesWhatThereIs) {
  Discipline discipline = Discipline::Eager;
  ASSERT_TRUE(choice_into(discipline)("--p2p", "rendezvous").has_value());
  EXPECT_EQ(discipline, Discipline::Rendezvous);
  EXPECT_EQ(choice_into(discipline)("--p2p", "lazy").error().message,
            "--p2p: \"lazy\" is none of eager, rendezvous");
}

}  // namespace
}  // namespace penstock::cli
