#include "core/archive.h"

#include <gtest/gtest.h>

#include <random>

#include "core/toml.h"
#include "tests/core/archive_records.h"

namespace penstock {
namespace {

// The error of a box read from JSON: "place: message (hint: ...)".
std::string error_of(std::string_view json) {
  const auto document = parse_json(json, "f.json");
  if (!document) return "not JSON: " + document.error().text();
  const auto box = read_record<Box>(*document, "f.json");
  return box ? "no error" : box.error().text();
}

TEST(ArchiveErrors, WrongTypesSayWhatWasFoundAndExpected) {
  EXPECT_EQ(error_of(R"([])"), "f.json:1:1: expected an object, found an array of 0");
  EXPECT_EQ(error_of(R"({"parts": {}})"),
            "f.json:1:11#/parts: expected an array, found an object of 0");
  EXPECT_EQ(error_of("{\"parts\": [{\"name\": \"a\", \"heads\": 1},\n {\"name\": \"b\", \"heads\": "
                     "\"abc\"}]}"),
            "f.json:2:25#/parts/1/heads: expected an integer, found a string \"abc\"");
  EXPECT_EQ(error_of(R"({"parts": [{"name": 5}]})"),
            "f.json:1:21#/parts/0/name: expected a string, found an integer 5");
  EXPECT_EQ(error_of(R"({"parts": [{"name": "a", "heads": 4.0}]})"),
            "f.json:1:35#/parts/0/heads: expected an integer, found a real 4.0");
  EXPECT_EQ(error_of(R"({"on": 1})"), "f.json:1:8#/on: expected true or false, found an integer 1");
  EXPECT_EQ(error_of(R"({"share": null})"), "f.json:1:11#/share: expected a number, found null");
  EXPECT_EQ(error_of(R"({"colors": {"a/b~": 3}})"),
            "f.json:1:21#/colors/a~1b~0: expected a name, found an integer 3");
  EXPECT_EQ(error_of(R"({"shape": "3"})"),
            "f.json:1:11#/shape: expected a shape like \"3x4\", found a string \"3\"");
  EXPECT_EQ(error_of(R"({"layer": -1})"),
            "f.json:1:11#/layer: expected an integer from 0 to 2147483647, found -1");
  EXPECT_EQ(
      error_of(R"({"layer": "x"})"),
      "f.json:1:11#/layer: expected an index (an integer from 0) or null, found a string \"x\"");
  EXPECT_EQ(
      error_of(R"({"seed": -1})"),
      "f.json:1:10#/seed: expected an integer from 0 to 18446744073709551615, found an integer -1");
}

TEST(ArchiveErrors, NumbersOutOfRangeSayTheRange) {
  EXPECT_EQ(error_of(R"({"byte": 256})"),
            "f.json:1:10#/byte: expected an integer from 0 to 255, found 256");
  EXPECT_EQ(error_of(R"({"single": 1e39})").substr(0, 20), "f.json:1:12#/single:");
  EXPECT_EQ(error_of(R"({"parts": [{"name": "a", "heads": 0}]})"),
            "f.json:1:35#/parts/0/heads: heads is 0, expected at least 1");
  EXPECT_EQ(error_of(R"({"share": 1.5})"),
            "f.json:1:11#/share: share is 1.5, expected from 0 to 1");
  EXPECT_EQ(error_of(R"({"bandwidth": 0})"),
            "f.json:1:15#/bandwidth: bandwidth is 0, expected above 0");
  EXPECT_EQ(error_of(R"({"latency": -5})"),
            "f.json:1:13#/latency: latency is -5, expected at least 0");
  EXPECT_EQ(error_of(R"({"weights": [1, 3]})"),
            "f.json:1:17#/weights/1: weights[1] is 3, expected at most 2");
}

TEST(ArchiveErrors, UnitsThatDoNotFitAreRefused) {
  EXPECT_EQ(error_of(R"({"memory": "16GiBs"})"),
            "f.json:1:12#/memory: \"16GiBs\" is not a number of bytes: unknown unit \"GiBs\" "
            "(hint: did you mean GiB? one of B, kB, "
            "MB, GB, TB, KiB, MiB, GiB, TiB)");
  EXPECT_EQ(error_of(R"({"latency": "5"})"),
            "f.json:1:13#/latency: \"5\" lacks its unit (hint: write it like \"5us\")");
  EXPECT_EQ(error_of(R"({"latency": 1.5})"),
            "f.json:1:13#/latency: expected a time: whole nanoseconds, or a string like \"5us\", "
            "found a real 1.5");
}

TEST(ArchiveErrors, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_EQ(error_of(R"({"colors": {"x": "gren"}})"),
            "f.json:1:18#/colors/x: unknown name \"gren\" (hint: did you mean \"green\"? one of "
            "red, green, blue)");
  EXPECT_EQ(error_of(R"({"colors": {"x": "ultraviolet"}})"),
            "f.json:1:18#/colors/x: unknown name \"ultraviolet\" (hint: one of red, green, blue)");
  EXPECT_EQ(parse_enum<Color>("blu", "color").error().text(),
            "unknown color \"blu\" (hint: did you mean \"blue\"? one of red, green, blue)");
  EXPECT_EQ(*parse_enum<Color>("blue", "color"), Color::Blue);
  EXPECT_EQ(enum_text(Color::Green), "green");
  EXPECT_DEATH(enum_text(static_cast<Color>(9)), "without a name");
}

TEST(ArchiveErrors, UnknownKeysAreErrors) {
  EXPECT_EQ(error_of(R"({"share": 1, "bandwith": 3})"),
            "f.json:1:26#/bandwith: unknown key \"bandwith\" (hint: did you mean \"bandwidth\"?)");
  EXPECT_EQ(error_of(R"({"parts": [{"name": "a", "heads": 1, "temperature": 3}]})"),
            "f.json:1:53#/parts/0/temperature: unknown key \"temperature\" (hint: known keys: "
            "name, heads, inputs)");
  EXPECT_EQ(error_of(R"({"schema": "x"})").substr(0, 44),
            "f.json:1:12#/schema: unknown key \"schema\" (h");
}

TEST(ArchiveErrors, MissingKeysAreNamedWithALikelyMisspelling) {
  EXPECT_EQ(error_of(R"({"parts": [{"heads": 1}]})"), "f.json:1:12#/parts/0: missing key \"name\"");
  EXPECT_EQ(error_of(R"({"parts": [{"nmae": "a", "heads": 1}]})"),
            "f.json:1:12#/parts/0: missing key \"name\" (hint: is \"nmae\" a misspelling of it?)");
  // A known key is no misspelling, though it be near and described later.
  EXPECT_EQ(error_of(R"({"parts": [{"head": 1, "name": "a"}]})"),
            "f.json:1:12#/parts/0: missing key \"heads\" (hint: is \"head\" a misspelling of it?)");
}

TEST(ArchiveErrors, ChecksAcrossFieldsHaveThePlaceOfTheirField) {
  EXPECT_EQ(error_of(R"({"parts": [{"name": "bad", "heads": 1}]})"),
            "f.json:1:21#/parts/0/name: no part is called bad (hint: call it good)");
}

TEST(ArchiveErrors, TheFirstErrorWins) {
  EXPECT_EQ(error_of(R"({"share": 2, "byte": "x", "unknown": 1})"),
            "f.json:1:11#/share: share is 2, expected from 0 to 1");
}

TEST(ArchiveErrors, PlacesInTomlAreThoseOfTheFile) {
  const auto box = read_record<Box>(
      *parse_toml("share = 0.5\n\n[[parts]]\nname = \"a\"\nheads = \"x\"\n", "c.toml"), "c.toml");
  ASSERT_FALSE(box);
  EXPECT_EQ(box.error().text(),
            "c.toml:5:9#/parts/0/heads: expected an integer, found a string \"x\"");
  EXPECT_EQ(box.error().code, ErrorCode::BadInput);
}

TEST(ArchiveErrors, SchemasAreChecked) {
  const auto error = [](std::string_view json, bool needed = true) {
    const auto part =
        from_document<Part>(*parse_json(json, "p.json"), "p.json", "penstock.part/2", needed);
    return part ? "no error" : part.error().text();
  };
  EXPECT_EQ(error(R"({"schema": "penstock.part/2", "name": "a", "heads": 1})"), "no error");
  EXPECT_EQ(error(R"({"name": "a", "heads": 1})"),
            "p.json:1:1: missing key \"schema\", expected \"penstock.part/2\" (hint: is this the "
            "right kind of file?)");
  EXPECT_EQ(error(R"({"name": "a", "heads": 1})", false), "no error");
  EXPECT_EQ(error(R"({"schema": "penstock.part/1"})"),
            "p.json:1:12#/schema: expected schema \"penstock.part/2\", found \"penstock.part/1\" "
            "(hint: it was written by another "
            "version of penstock)");
  EXPECT_EQ(error(R"({"schema": "penstock.plan/2"})"),
            "p.json:1:12#/schema: expected schema \"penstock.part/2\", found \"penstock.plan/2\" "
            "(hint: is this the right kind of file?)");
  EXPECT_EQ(error(R"({"schema": 3})"),
            "p.json:1:12#/schema: expected \"penstock.part/2\", found an integer 3");
  EXPECT_EQ(error(R"([])"), "p.json:1:1: expected an object, found an array of 0");
  // Only the root has a schema.
  EXPECT_NE(error(R"({"schema": "penstock.part/2", "name": "a", "heads": 1, "schem": 1})"),
            "no error");
}

// Every way to spoil one member of a good document is caught or harmless, and says where.
TEST(ArchiveErrors, ASpoiltDocumentIsAnErrorWithAPointer) {
  std::mt19937_64 random(9);
  const auto document = parse_json(to_json(random_record(random), "s/1"), "f.json");
  const std::vector<Value> spoilers = {Value(),
                                       Value(true),
                                       Value(-1),
                                       Value(1e300),
                                       Value("?"),
                                       Value::empty_array(),
                                       Value::empty_object()};
  for (std::size_t i = 1; i < document->object().size(); ++i) {
    int refused = 0;
    for (const Value& spoiler : spoilers) {
      Value spoilt = *document;
      spoilt.object()[i].second = spoiler;
      const auto result = from_document<Everything>(spoilt, "f.json", "s/1");
      if (result) continue;
      ++refused;
      ASSERT_EQ(result.error().where.pointer, "/" + document->object()[i].first);
    }
    ASSERT_GE(refused, 3) << document->object()[i].first;
  }
}

}  // namespace
}  // namespace penstock
