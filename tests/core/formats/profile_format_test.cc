#include "core/formats/profile_format.h"

#include <gtest/gtest.h>

#include "tests/core/formats/format_checks.h"
#include "tests/core/samples.h"

namespace penstock {
namespace {

using test::BadFile;
using test::edited;

const auto kRead = [](const std::string& text, const char* file) {
  return read_profile(text, file);
};

TEST(ProfileFormat, GivesBackWhatWasWritten) {
  std::vector<Profile> profiles = {test::sample_profile()};
  for (std::uint64_t seed = 0; seed < 100; ++seed) profiles.push_back(test::random_profile(seed));
  for (const Profile& profile : profiles) {
    const std::string json = write_profile(profile);
    const auto read = read_profile(json, "p.json");
    ASSERT_TRUE(read) << read.error().text() << "\n" << json;
    EXPECT_EQ(*read, profile) << json;
    EXPECT_EQ(write_profile(*read), json);
  }
}

TEST(ProfileFormat, ReadsTheExamplesOfItsDocument) {
  const auto examples = test::examples("profile", "json");
  EXPECT_FALSE(examples.empty());
  for (const std::string& text : examples) {
    const auto profile = read_profile(text, "example.json");
    EXPECT_TRUE(profile) << profile.error().text();
  }
}

const BadFile kBad[] = {
    {"AnotherVersion", "profile/1", "profile/0", "/schema", "another version"},
    {"NoSchema", "\"schema\": \"penstock.profile/1\",", "", "", "missing key \"schema\""},
    {"UnknownKey", "\"load_average\"", "\"load_avrage\"", "",
     "is \"load_avrage\" a misspelling of it?"},
    {"UnknownOp", "\"op\": \"STEP\"", "\"op\": \"STOP\"", "/times/2/op", "did you mean \"STEP\"?"},
    {"NegativeTime", "\"message_bytes\": 64, \"n\": 31, \"min_ns\": 990",
     "\"message_bytes\": 64, \"n\": 31, \"min_ns\": -1", "/links/0/min_ns",
     "expected from 0 to 2305843009213693"},
    {"OverflowingTime", "\"message_bytes\": 64, \"n\": 31, \"min_ns\": 990",
     "\"message_bytes\": 64, \"n\": 31, \"min_ns\": 12345678901234567890",
     "", "12345678901234567890"},
    {"FractionOfANanosecond", "\"message_bytes\": 64, \"n\": 31, \"min_ns\": 990",
     "\"message_bytes\": 64, \"n\": 31, \"min_ns\": 0.5",
     "/links/0/min_ns", "whole"},
    {"SameCostTwice", "\"microbatch\": 2", "\"microbatch\": 1", "/times/1", "same keys"},
    {"NegativeSize", "\"saved_bytes\": 128", "\"saved_bytes\": -128", "/memory/0/saved_bytes",
     "at least 0"},
    {"WrongType", "\"warnings\": [", "\"warnings\": [3, ", "/warnings/0", "expected a string"},
    {"QuantilesOutOfOrder", "\"message_bytes\": 64, \"n\": 31, \"min_ns\": 990, \"p10_ns\": 1000",
     "\"message_bytes\": 64, \"n\": 31, \"min_ns\": 990, \"p10_ns\": 1200", "/links/0/median_ns",
     "ascend"},
};

class BadProfile : public testing::TestWithParam<BadFile> {};

TEST_P(BadProfile, IsRefusedWithPlaceAndHint) {
  const std::string json = write_profile(test::sample_profile());
  test::expect_refused(read_profile(edited(json, GetParam().from, GetParam().to), "bad.json"),
                       GetParam().pointer, GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(Every, BadProfile, testing::ValuesIn(kBad),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(ProfileFormat, SurvivesTruncationAndDamage) {
  const std::string json = write_profile(test::sample_profile());
  test::expect_truncations_refused(json, kRead);
  test::expect_damage_survived(json, kRead);
}

}  // namespace
}  // namespace penstock
