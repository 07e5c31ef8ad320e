#include "core/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace penstock {
namespace {

TEST(Value, KnowsItsKind) {
  EXPECT_TRUE(Value().is_null());
  EXPECT_TRUE(Value(true).is_boolean());
  EXPECT_TRUE(Value(5).is_integer());
  EXPECT_TRUE(Value(5u).is_integer());
  EXPECT_TRUE(Value(0.5f).is_real());
  EXPECT_TRUE(Value("text").is_string());
  EXPECT_TRUE(Value(std::string_view("text")).is_string());
  EXPECT_TRUE(Value::empty_array().is_array());
  EXPECT_TRUE(Value::empty_object().is_object());
  EXPECT_EQ(Value(5).real(), 5.0);
  EXPECT_LE(sizeof(Value), 48u);
}

TEST(Value, SetReplacesOrAddsAndFindFinds) {
  Value object = Value::empty_object();
  object.set("b", 1);
  object.set("a", "x");
  object.set("b", 2);
  ASSERT_EQ(object.object().size(), 2u);
  EXPECT_EQ(object.object()[0].first, "b");
  EXPECT_EQ(object.find("b")->integer(), 2);
  EXPECT_EQ(object.find("c"), nullptr);
}

TEST(Value, EqualityLooksAtContentsAndNotAtPlaces) {
  Value a = Value::list(std::vector<int>{1, 2}), b = Value::list(std::vector<int>{1, 2});
  b.set_place(3, 4);
  EXPECT_EQ(a, b);
  b.append(3);
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(Value(1) == Value(1.0));
}

TEST(Value, WrongUseAborts) {
  EXPECT_DEATH(Value("abc").integer(), "a string .*abc");
  EXPECT_DEATH(Value(1).find("key"), "an integer 1");
  EXPECT_DEATH(Value(std::numeric_limits<std::uint64_t>::max()), "2\\^63-1");
}

TEST(DescribeValue, SaysKindAndContents) {
  EXPECT_EQ(describe_value(Value()), "null");
  EXPECT_EQ(describe_value(Value(false)), "false");
  EXPECT_EQ(describe_value(Value(5)), "an integer 5");
  EXPECT_EQ(describe_value(Value(4.0)), "a real 4.0");
  EXPECT_EQ(describe_value(Value("a\"b")), "a string \"a\\\"b\"");
  EXPECT_EQ(describe_value(Value::list(std::vector<int>{1, 2})), "an array of 2");
  EXPECT_EQ(describe_value(Value::empty_object()), "an object of 0");
}

TEST(DescribeValue, CutsLongTextBetweenCharacters) {
  std::string text(39, 'a');
  text += "\xC3\xA9zzz";  // the two bytes of é straddle the limit of 40
  EXPECT_EQ(describe_value(Value(text)), "a string \"" + std::string(39, 'a') + "\"...");
}

std::string real_text(double x) {
  std::string out;
  append_real(out, x);
  return out;
}

TEST(AppendReal, IsShortAndRecognisablyReal) {
  EXPECT_EQ(real_text(1), "1.0");
  EXPECT_EQ(real_text(-0.0), "-0.0");
  EXPECT_EQ(real_text(0.1), "0.1");
  EXPECT_EQ(real_text(100000), "100000.0");
  EXPECT_EQ(real_text(1e22), "1e+22");
  EXPECT_EQ(real_text(1.5e-7), "1.5e-07");
  EXPECT_EQ(real_text(1.0 / 3), "0.3333333333333333");
}

TEST(AppendReal, ReadsBackAsTheSameBits) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t bits = random();
    double x = 0;
    std::memcpy(&x, &bits, sizeof(x));
    if (!std::isfinite(x)) continue;
    const std::string text = real_text(x);
    const double back = std::strtod(text.c_str(), nullptr);
    ASSERT_EQ(std::memcmp(&x, &back, sizeof(x)), 0) << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;
  }
}

TEST(AppendReal, RefusesWhatIsNotFinite) {
  EXPECT_DEATH(real_text(std::nan("")), "finite");
  EXPECT_DEATH(real_text(HUGE_VAL), "finite");
}

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

TEST(AppendQuoted, EscapesWhatMustBe) {
  EXPECT_EQ(quoted("a\"b\\c\n\t\r\b\f"), "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\"");
  EXPECT_EQ(quoted(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\\u007f\"");
  EXPECT_EQ(quoted("é 漢 🙂 /"), "\"é 漢 🙂 /\"");
}

TEST(AppendQuoted, ReplacesBytesThatAreNotUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(quoted("a\xFFz"), "\"a" + bad + "z\"");
  EXPECT_EQ(quoted("\xC3"), "\"" + bad + "\"");                                // cut short
  EXPECT_EQ(quoted("\xC0\xAF"), "\"" + bad + bad + "\"");                      // overlong
  EXPECT_EQ(quoted("\xED\xA0\x80"), "\"" + bad + bad + bad + "\"");            // surrogate
  EXPECT_EQ(quoted("\xF4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");  // beyond Unicode
}

}  // namespace
}  // namespace penstock
