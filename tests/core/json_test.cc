#include "core/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace penstock {
namespace {

std::string error_of(std::string_view text) {
  const auto result = parse_json(text, "f.json");
  return result ? "no error" : result.error().where.text() + ": " + result.error().message;
}

// A random document: every kind, deep and shallow, odd text, both signs, extreme numbers.
Value random_value(std::mt19937_64& random, int depth) {
  const auto text = [&] {
    static const std::vector<std::string> kPieces = {"a",  "Z",    "\"",   "\\", "\n", "\t", "é",
                                                     "漢", "🙂", "\x7f", "/",  "{",  ","};
    std::string out;
    for (std::uint64_t n = random() % 8; n > 0; --n) out += kPieces[random() % kPieces.size()];
    return out;
  };
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0:
      return Value();
    case 1:
      return Value(random() % 2 == 0);
    case 2:
      return Value(static_cast<std::int64_t>(random()));
    case 3:
      return Value(static_cast<std::int64_t>(random() % 10));
    case 4:
      return Value(
          std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 1800) - 1000));
    case 5:
      return Value(text());
    case 6: {
      Value out = Value::empty_array();
      for (std::uint64_t n = random() % 6; n > 0; --n) out.append(random_value(random, depth - 1));
      return out;
    }
    default: {
      Value out = Value::empty_object();
      for (std::uint64_t n = random() % 6; n > 0; --n)
        out.set(text(), random_value(random, depth - 1));
      return out;
    }
  }
}

TEST(Json, AnyDocumentSurvivesTheRoundTripAtAnyIndentation) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    const Value value = random_value(random, 6);
    for (const int indent : {0, 1, 2}) {
      const std::string text = to_json(value, indent);
      const auto back = parse_json(text, "f.json");
      ASSERT_TRUE(back) << back.error().text() << "\n" << text;
      ASSERT_EQ(*back, value) << text;
      ASSERT_EQ(to_json(*back, indent), text);
    }
  }
}

TEST(Json, EveryNodeKnowsItsPlace) {
  const auto value = parse_json(
      "{\n  \"é\": [1, -2.5,\n\t\"x\\ny\"],\"b\" : {\"c\":true}, \"d\": null}\n", "f.json");
  ASSERT_TRUE(value);
  const auto place = [](const Value& v) { return std::pair(v.line(), v.column()); };
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_EQ(place(*value), Place(1, 1));
  const Value& array = *value->find("é");
  EXPECT_EQ(place(array), Place(2, 8));  // columns count characters: é is one
  EXPECT_EQ(place(array.array()[0]), Place(2, 9));
  EXPECT_EQ(place(array.array()[1]), Place(2, 12));
  EXPECT_EQ(place(array.array()[2]), Place(3, 2));
  EXPECT_EQ(place(*value->find("b")), Place(3, 16));
  EXPECT_EQ(place(*value->find("b")->find("c")), Place(3, 21));
  EXPECT_EQ(place(*value->find("d")), Place(3, 33));
}

TEST(Json, PlacesCountFromAfterAByteOrderMark) {
  const auto value = parse_json("\xEF\xBB\xBF[7]", "f.json");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->array()[0].column(), 2u);
}

TEST(Json, RefusalsSayWhereAndWhat) {
  EXPECT_EQ(error_of("{\"a\": 1,\n \"a\": 2}"), "f.json:2:2: key \"a\" stands twice in one object");
  EXPECT_EQ(error_of("[1,\n 9223372036854775808]"),
            "f.json:2:2: integer 9223372036854775808 does not fit in 64 bits");
  EXPECT_EQ(error_of("[-9223372036854775809]"),
            "f.json:1:2: integer -9223372036854775809 does not fit in 64 bits");
  EXPECT_EQ(error_of("[123456789012345678901234567890]").substr(0, 46),
            "f.json:1:2: integer 12345678901234567890123456");
  EXPECT_EQ(error_of("[1e999]"), "f.json:1:2: number 1e999 does not fit in a double");
  EXPECT_EQ(error_of(""), "f.json: not JSON: there is nothing in it");
  EXPECT_EQ(error_of(" \n"), "f.json: not JSON: there is nothing in it");
}

TEST(Json, SyntaxErrorsSayWhere) {
  const auto place = [](std::string_view text) {
    return error_of(text).substr(0, error_of(text).find(": "));
  };
  EXPECT_EQ(place("[1,\n 2,, 3]"), "f.json:2:4");
  EXPECT_EQ(place("{\"a\" 1}"), "f.json:1:6");
  EXPECT_EQ(place("[NaN]"), "f.json:1:2");
  EXPECT_EQ(place("[1] x"), "f.json:1:5");
  EXPECT_EQ(place("[1] [2]"), "f.json:1:5");
  EXPECT_EQ(place("[1,\n"), "f.json:2:1");
  EXPECT_EQ(place("[1, // c\n2]"), "f.json:1:5");
  EXPECT_EQ(place("['a']"), "f.json:1:2");
  EXPECT_NE(error_of("[\"\xFF\"]").find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of("[1,]").find("not JSON: unexpected ']'"), std::string::npos)
      << error_of("[1,]");
}

TEST(Json, DuplicateKeysAreFoundInWideObjectsToo) {
  std::string text = "{";
  for (int i = 0; i < 200; ++i) text += "\"k" + std::to_string(i) + "\": 1, ";
  EXPECT_NE(error_of(text + "\"k150\": 2}").find("key \"k150\" stands twice"), std::string::npos);
  EXPECT_NE(error_of(text + "\"k3\": 2}").find("key \"k3\" stands twice"), std::string::npos);
  EXPECT_TRUE(parse_json(text + "\"k200\": 2}", "f.json"));
}

TEST(Json, NestingStopsAtTheLimit) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(parse_json(nested(kDeepestNesting), "f.json"));
  EXPECT_EQ(error_of(nested(kDeepestNesting + 1)), "f.json:1:513: nested more than 512 deep");
  EXPECT_EQ(error_of(nested(100'000)), "f.json:1:513: nested more than 512 deep");
}

TEST(Json, ADocumentCutAnywhereIsAnErrorWithAPlace) {
  const std::string text =
      "{\"schema\": \"penstock.plan/1\", \"r\": [1, -2.5e-3, true, false, null], \"t\": "
      "\"\\u00e9\\n漢🙂\", \"o\": {\"x\": {}, \"y\": []}}";
  ASSERT_TRUE(parse_json(text, "f.json"));
  for (std::size_t n = 0; n < text.size(); ++n) {
    const auto result = parse_json(std::string_view(text).substr(0, n), "f.json");
    ASSERT_FALSE(result) << n;
    EXPECT_EQ(result.error().code, ErrorCode::BadInput);
    EXPECT_FALSE(result.error().message.empty());
    EXPECT_EQ(result.error().where.line, n > 0 ? 1 : 0) << n;
    EXPECT_LE(result.error().where.column, static_cast<int>(n) + 1);
  }
}

TEST(Json, ADocumentWithAnyByteChangedNeverBreaksTheReader) {
  const std::string text =
      "{\"a\": [1, -2.5e-3, true, null], \"t\": \"\\u00e9\\n漢\", \"o\": {\"x\": {}}}";
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[i] = static_cast<char>(byte);
      if (const auto result = parse_json(changed, "f.json"); !result) {
        ASSERT_FALSE(result.error().message.empty()) << i << " " << byte;
        ASSERT_GE(result.error().where.line, 1);
      } else {
        ASSERT_TRUE(parse_json(to_json(*result), "f.json"));
      }
    }
  }
}

}  // namespace
}  // namespace penstock
