#include "core/archive.h"

#include <gtest/gtest.h>

#include <random>

#include "core/toml.h"
#include "tests/core/archive_records.h"

namespace penstock {
namespace {

TEST(Archive, AnyRecordSurvivesTheRoundTripThroughJson) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    const Everything x = random_record(random);
    const std::string text = to_json(x, "penstock.everything/1");
    const auto document = parse_json(text, "f.json");
    ASSERT_TRUE(document) << document.error().text();
    const auto back = from_document<Everything>(*document, "f.json", "penstock.everything/1");
    ASSERT_TRUE(back) << back.error().text() << "\n" << text;
    ASSERT_EQ(*back, x) << text;
  }
}

TEST(Archive, ARecordWithoutNullsSurvivesTheRoundTripThroughToml) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 100; ++i) {
    Everything x = random_record(random);
    x.id = LayerId(3);
    const auto document = parse_json(to_json(x, "s/1"), "f.json");
    const auto toml = parse_toml(to_toml(*document), "f.toml");
    ASSERT_TRUE(toml) << toml.error().text();
    const auto back = from_document<Everything>(*toml, "f.toml", "s/1", false);
    ASSERT_TRUE(back) << back.error().text();
    ASSERT_EQ(*back, x);
  }
}

TEST(Archive, KeysMayComeInAnyOrderAndOptionalOnesMayBeAbsent) {
  const auto part =
      read_record<Part>(*parse_json(R"({"inputs": [3], "heads": 2, "name": "a"})", "f"), "f");
  ASSERT_TRUE(part) << part.error().text();
  EXPECT_EQ(*part, (Part{.name = "a", .heads = 2, .inputs = {LayerId(3)}}));
  EXPECT_TRUE(read_record<Part>(*parse_json(R"({"heads": 2, "name": "a"})", "f"), "f"));
}

TEST(Archive, QuantitiesAreNumbersInBaseUnitsOrTextWithUnits) {
  const auto box = read_record<Box>(*parse_toml("latency = \"5us\"\nmemory = \"16GiB\"\nbandwidth "
                                                "= \"25 GB/s\"\nspeed = \"312TFLOP/s\"\n",
                                                "f.toml"),
                                    "f.toml");
  ASSERT_TRUE(box) << box.error().text();
  EXPECT_EQ(box->latency.value, 5000);
  EXPECT_EQ(box->memory.value, 16LL << 30);
  EXPECT_EQ(box->bandwidth.value, 25e9);
  EXPECT_EQ(box->speed.value, 312e12);
  const auto bare =
      read_record<Box>(*parse_json(R"({"latency": 12, "memory": 1e9, "bandwidth": 5})", "f"), "f");
  ASSERT_TRUE(bare) << bare.error().text();
  EXPECT_EQ(bare->latency.value, 12);
  EXPECT_EQ(bare->memory.value, 1'000'000'000);
  EXPECT_EQ(bare->bandwidth.value, 5.0);
  EXPECT_EQ(read_record<Box>(Value::empty_object(), "f")->latency.value, 7);
}

TEST(Archive, WritesOneRowALine) {
  Box box;
  box.parts = {{.name = "a", .heads = 1, .inputs = {}},
               {.name = "b", .heads = 2, .inputs = {LayerId(0)}}};
  const std::string text = to_json(box, "penstock.box/1");
  EXPECT_EQ(text.substr(0, text.find("  \"colors\"")), R"({
  "schema": "penstock.box/1",
  "parts": [
    {"name": "a", "heads": 1, "inputs": []},
    {"name": "b", "heads": 2, "inputs": [0]}
  ],
)");
}

}  // namespace
}  // namespace penstock
