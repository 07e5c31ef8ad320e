#include "core/toml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/json.h"

namespace penstock {
namespace {

std::string error_of(std::string_view text) {
  const auto result = parse_toml(text, "f.toml");
  return result ? "no error" : result.error().where.text() + ": " + result.error().message;
}

TEST(Toml, ReadsEveryKindInFileOrderWithPlaces) {
  const auto value = parse_toml(R"(name = "two hosts"
zeta = 1.0
alpha = -3

[link]
latency = "5us"
on = true

[[hosts]]
name = "a"
gpus = [0, 1]
[[hosts]]
name = "b"
)",
                                "f.toml");
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ(
      to_json(*value, 0),
      R"({"name": "two hosts", "zeta": 1.0, "alpha": -3, "link": {"latency": "5us", "on": true}, )"
      R"("hosts": [{"name": "a", "gpus": [0, 1]}, {"name": "b"}]})");
  EXPECT_EQ(value->find("zeta")->line(), 2u);
  EXPECT_EQ(value->find("zeta")->column(), 8u);
  EXPECT_EQ(value->find("link")->find("latency")->line(), 6u);
  EXPECT_EQ(value->find("hosts")->array()[0].find("gpus")->array()[1].line(), 11u);
  EXPECT_EQ(value->find("hosts")->array()[0].find("gpus")->array()[1].column(), 12u);
}

TEST(Toml, RefusalsSayWhereAndWhat) {
  EXPECT_EQ(error_of("a = 1\nb = 1979-05-27"), "f.toml:2:5: dates and times have no use here");
  EXPECT_EQ(error_of("a = 07:32:00"), "f.toml:1:5: dates and times have no use here");
  EXPECT_EQ(error_of("a = [1,\n nan]"), "f.toml:2:2: the number is not finite");
  EXPECT_EQ(error_of("a = -inf"), "f.toml:1:5: the number is not finite");
}

TEST(Toml, SyntaxErrorsSayWhere) {
  const auto line = [](std::string_view text) { return error_of(text).substr(0, 8); };
  EXPECT_EQ(line("a = 1\nb 2\n"), "f.toml:2");
  EXPECT_EQ(line("a = 1\n\na = 2\n"), "f.toml:3");
  EXPECT_EQ(line("a = \"x"), "f.toml:1");
  EXPECT_EQ(line("a = 9223372036854775808"), "f.toml:1");
  EXPECT_NE(error_of("a = 1\nb 2\n").find("not TOML: "), std::string::npos);
}

TEST(Toml, ADocumentCutAnywhereNeverBreaksTheReader) {
  const std::string text = "name = \"é\"\n[a.b]\nx = [1, 2.5, { y = true }]\n[[c]]\nz = '''q'''\n";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const auto result = parse_toml(std::string_view(text).substr(0, n), "f.toml");
    EXPECT_TRUE(result || result.error().where.line >= 1) << n;
  }
}

TEST(Toml, DeepNestingIsRefused) {
  EXPECT_FALSE(parse_toml("a = " + std::string(2000, '[') + std::string(2000, ']'), "f.toml"));
  std::string dotted = "a";
  for (int i = 0; i < 600; ++i) dotted += ".a";
  EXPECT_NE(error_of("[" + dotted + "]").find("nested more than 512 deep"), std::string::npos);
}

TEST(Toml, AnEndlessKeyIsRefusedHoweverItIsQuoted) {
  for (const std::string part : {"a.", "1.", "\",\".", "','.", "\"\\\"\" . "}) {
    std::string key = "x = 1\n[";
    for (int i = 0; i < 300'000; ++i) key += part;
    EXPECT_EQ(error_of(key + "a]\n"), "f.toml:2: nested more than 512 deep") << part;
  }
}

TEST(Toml, ManyDotsThatAreNoKeyAreFine) {
  std::string list = "x = [";
  for (int i = 0; i < 10'000; ++i) list += "0.5,";
  EXPECT_TRUE(parse_toml(list + "]\ny = \"" + std::string(10'000, '.') + "\"\n", "f.toml"));
}

TEST(ToToml, WritesTablesAfterPlainMembers) {
  const auto value = parse_json(
      R"({"hosts": [{"name": "a", "nic": {"rate": "1GB/s"}}, {"name": "b"}], "empty": {}, "name": "x y", "odd key": 1,
          "list": [1.0, [2], {"k": true}], "none": null, "rows": []})",
      "f.json");
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ(to_toml(*value), R"(name = "x y"
"odd key" = 1
list = [1.0, [2], { k = true }]
rows = []

[[hosts]]
name = "a"

[hosts.nic]
rate = "1GB/s"

[[hosts]]
name = "b"

[empty]
)");
}

void sort_members(Value& value) {
  if (value.is_array())
    for (Value& element : value.array()) sort_members(element);
  if (!value.is_object()) return;
  for (auto& member : value.object()) sort_members(member.second);
  std::sort(value.object().begin(), value.object().end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

Value random_value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 0 ? 6 : 4)) {
    case 0:
      return Value(random() % 2 == 0);
    case 1:
      return Value(static_cast<std::int64_t>(random()));
    case 2:
      return Value(static_cast<double>(random()) * 1e-9);
    case 3:
      return Value(random() % 2 == 0 ? "a\"\\\n\t\x7f é" : "");
    case 4: {
      Value out = Value::empty_array();
      for (std::uint64_t n = random() % 4; n > 0; --n) out.append(random_value(random, depth - 1));
      return out;
    }
    default: {
      static const std::vector<std::string> kKeys = {"a", "b-1", "with space", "dot.ted",
                                                     "é", "",    "quo\"te"};
      Value out = Value::empty_object();
      for (std::uint64_t n = random() % 4; n > 0; --n)
        out.set(kKeys[random() % kKeys.size()], random_value(random, depth - 1));
      return out;
    }
  }
}

TEST(ToToml, AnyDocumentSurvivesTheRoundTrip) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 2000; ++i) {
    Value value = Value::empty_object();
    for (int n = 0; n < 4; ++n) value.set("k" + std::to_string(n), random_value(random, 4));
    const std::string text = to_toml(value);
    auto back = parse_toml(text, "f.toml");
    ASSERT_TRUE(back) << back.error().text() << "\n" << text;
    sort_members(*back);
    sort_members(value);
    ASSERT_EQ(*back, value) << text;
  }
}

}  // namespace
}  // namespace penstock
