#include "models/text_form.h"

#include <gtest/gtest.h>

#include <limits>

namespace penstock {
namespace {

TEST(TextForm, ANameAloneHasNoSettings) {
  const auto form = parse_text_form("gpt");
  ASSERT_TRUE(form) << form.error().text();
  EXPECT_EQ(form->name, "gpt");
  EXPECT_TRUE(form->argument.empty());
  EXPECT_TRUE(form->settings.empty());
}

TEST(TextForm, SettingsKeepTheirOrderAndTheirText) {
  const auto form = parse_text_form("flat:16,latency=5us,bandwidth=1.25GB/s");
  ASSERT_TRUE(form) << form.error().text();
  EXPECT_EQ(form->argument, "16");
  ASSERT_EQ(form->settings.size(), 2u);
  EXPECT_EQ(form->settings[0].key, "latency");
  ASSERT_NE(form->find("bandwidth"), nullptr);
  EXPECT_EQ(*form->find("bandwidth"), "1.25GB/s");
  EXPECT_EQ(form->find("memory"), nullptr);
}

TEST(TextForm, AValueMayHoldAnEqualsSign) {
  const auto form = parse_text_form("a:b=c=d");
  ASSERT_TRUE(form);
  EXPECT_EQ(*form->find("b"), "c=d");
}

TEST(TextForm, RefusesWhatIsHalfWritten) {
  for (const char* text : {"", ":", ":a=1", "gpt:", "gpt:,", "gpt:a=1,", "gpt:a=1,,b=2",
                           "gpt:a=", "gpt:=1", "gpt:a=1,b", "gpt:a=1,a=2"}) {
    const auto form = parse_text_form(text);
    ASSERT_FALSE(form) << text;
    EXPECT_EQ(form.error().code, ErrorCode::Usage) << text;
  }
}

TEST(TextForm, AnUnknownKeyNamesTheNearestAndAll) {
  const auto form = parse_text_form("gpt:layer=2");
  const auto result = expect_keys(*form, {"layers", "hidden"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Usage);
  EXPECT_NE(result.error().message.find("\"layer\""), std::string::npos);
  EXPECT_NE(result.error().hint.find("did you mean layers?"), std::string::npos);
  EXPECT_NE(result.error().hint.find("hidden"), std::string::npos);
}

TEST(TextForm, CountsAreWholeDecimalNumbersInRange) {
  EXPECT_EQ(*parse_count("12", "n", 1, 100), 12);
  EXPECT_EQ(*parse_count("9223372036854775807", "n", 1, std::numeric_limits<std::int64_t>::max()),
            std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "x", "1.5", "1e3", "2k", " 2", "2 ", "0x10", "0", "101", "-1",
                           "9223372036854775808", "99999999999999999999999"}) {
    const auto count = parse_count(text, "n", 1, 100);
    ASSERT_FALSE(count) << text;
    EXPECT_EQ(count.error().code, ErrorCode::Usage) << text;
  }
}

TEST(TextForm, ATooLargeCountIsOutOfRangeNotUnreadable) {
  const auto count = parse_count("9223372036854775808", "layers", 1, 100);
  EXPECT_EQ(count.error().message, "layers: 9223372036854775808 is out of range");
  EXPECT_EQ(count.error().hint, "it goes from 1 to 100");
}

TEST(LacksUnit, IsANumberAloneThatIsNotZero) {
  for (const char* bare : {"5", "1e3", "0.5"}) EXPECT_TRUE(lacks_unit(bare)) << bare;
  for (const char* other : {"5s", "0", "0.0", "", "nan", "inf", "-5", "5 ms"}) EXPECT_FALSE(lacks_unit(other)) << other;
}

}  // namespace
}  // namespace penstock
