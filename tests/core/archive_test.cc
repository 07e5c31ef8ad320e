#include "core/archive.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "core/file.h"
#include "core/toml.h"

namespace penstock {
namespace {

enum class Color : std::uint8_t { Red, Green, Blue };
constexpr auto kColorNames = std::to_array<std::pair<Color, std::string_view>>({{Color::Red, "red"}, {Color::Green, "green"}, {Color::Blue, "blue"}});
constexpr const auto& enum_names(Color) { return kColorNames; }

// A form of its own: "3x4".
struct Shape {
  int rows = 0, columns = 0;
  bool operator==(const Shape&) const = default;
};

bool read_value(ReadContext& c, const Value& value, Shape& x) {
  if (!value.is_string() || std::sscanf(value.string().c_str(), "%dx%d", &x.rows, &x.columns) != 2)
    return c.wrong_type(value, "a shape like \"3x4\"");
  return true;
}

void write_value(JsonWriter& w, const Shape& x) { w.value(std::to_string(x.rows) + "x" + std::to_string(x.columns)); }

struct Part {
  std::string name;
  std::int32_t heads = 1;
  std::vector<LayerId> inputs;
  bool operator==(const Part&) const = default;
};

template <class A>
void describe(A& a, Part& x) {
  a.required("name", x.name);
  a.required("heads", x.heads, at_least(1));
  a.optional("inputs", x.inputs);
  if (a.ok() && x.name == "bad") a.fail("name", "no part is called bad", "call it good");
}

struct Everything {
  bool flag = false;
  std::int8_t small = 0;
  std::uint16_t medium = 0;
  std::int64_t large = 0;
  std::uint64_t seed = 0;
  float single = 0;
  double real = 0;
  std::string text;
  Color color = Color::Red;
  std::optional<double> maybe;
  LayerId id;
  Nanoseconds time;
  Bytes memory;
  BytesPerSecond bandwidth;
  FlopsPerSecond speed;
  Flops work;
  Shape shape;
  std::vector<bool> bits;
  std::vector<std::vector<std::int64_t>> matrix;
  std::map<std::string, Part> parts;
  std::vector<Part> list;
  bool operator==(const Everything&) const = default;
};

template <class A>
void describe(A& a, Everything& x) {
  a.required("flag", x.flag);
  a.required("small", x.small);
  a.required("medium", x.medium);
  a.required("large", x.large);
  a.required("seed", x.seed);
  a.required("single", x.single);
  a.required("real", x.real);
  a.required("text", x.text);
  a.required("color", x.color);
  a.optional("maybe", x.maybe);
  a.optional("id", x.id);
  a.required("time_ns", x.time);
  a.required("memory", x.memory);
  a.required("bandwidth", x.bandwidth);
  a.required("speed", x.speed);
  a.required("work", x.work);
  a.required("shape", x.shape);
  a.optional("bits", x.bits);
  a.optional("matrix", x.matrix);
  a.optional("parts", x.parts);
  a.optional("list", x.list);
}

Everything random_record(std::mt19937_64& random) {
  const auto real = [&] { return static_cast<double>(random()) * 1e-7; };
  const auto part = [&] {
    Part out{.name = "p" + std::to_string(random() % 100), .heads = static_cast<std::int32_t>(random() % 100 + 1), .inputs = {}};
    for (std::uint64_t n = random() % 3; n > 0; --n) out.inputs.push_back(LayerId(static_cast<std::int64_t>(random() % 1000)));
    return out;
  };
  Everything x;
  x.flag = random() % 2;
  x.small = static_cast<std::int8_t>(random());
  x.medium = static_cast<std::uint16_t>(random());
  x.large = static_cast<std::int64_t>(random());
  x.seed = random();
  x.single = static_cast<float>(real());
  x.real = -real();
  x.text = "é\"\n";
  x.color = static_cast<Color>(random() % 3);
  if (random() % 2) x.maybe = real();
  if (random() % 2) x.id = LayerId(static_cast<std::int64_t>(random() % 1000));
  x.time = Nanoseconds(static_cast<std::int64_t>(random() >> 2));
  x.memory = Bytes(static_cast<std::int64_t>(random() >> 2));
  x.bandwidth = BytesPerSecond(real());
  x.speed = FlopsPerSecond(real());
  x.work = Flops(real());
  x.shape = {static_cast<int>(random() % 9), 7};
  for (std::uint64_t n = random() % 4; n > 0; --n) x.bits.push_back(random() % 2);
  for (std::uint64_t n = random() % 4; n > 0; --n) x.matrix.push_back({1, static_cast<std::int64_t>(random())});
  for (std::uint64_t n = random() % 4; n > 0; --n) x.parts["k/~" + std::to_string(n)] = part();
  for (std::uint64_t n = random() % 4; n > 0; --n) x.list.push_back(part());
  return x;
}

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
  const auto part = read_record<Part>(*parse_json(R"({"inputs": [3], "heads": 2, "name": "a"})", "f"), "f");
  ASSERT_TRUE(part) << part.error().text();
  EXPECT_EQ(*part, (Part{.name = "a", .heads = 2, .inputs = {LayerId(3)}}));
  EXPECT_TRUE(read_record<Part>(*parse_json(R"({"heads": 2, "name": "a"})", "f"), "f"));
}

struct Box {
  std::vector<Part> parts;
  std::map<std::string, Color> colors;
  Nanoseconds latency{7};
  Bytes memory;
  BytesPerSecond bandwidth;
  FlopsPerSecond speed;
  double share = 1;
  std::vector<double> weights;
  std::uint8_t byte = 0;
  float single = 0;
  LayerId layer;
  Shape shape;
  std::uint64_t seed = 0;
  bool on = false;
};

template <class A>
void describe(A& a, Box& x) {
  a.optional("parts", x.parts);
  a.optional("colors", x.colors);
  a.optional("latency", x.latency, at_least(0));
  a.optional("memory", x.memory);
  a.optional("bandwidth", x.bandwidth, positive());
  a.optional("speed", x.speed);
  a.optional("share", x.share, between(0, 1));
  a.optional("weights", x.weights, Bounds{.high = 2});
  a.optional("byte", x.byte);
  a.optional("single", x.single);
  a.optional("layer", x.layer);
  a.optional("shape", x.shape);
  a.optional("seed", x.seed);
  a.optional("on", x.on);
}

// The error of a box read from JSON: "place: message (hint: ...)".
std::string error_of(std::string_view json) {
  const auto document = parse_json(json, "f.json");
  if (!document) return "not JSON: " + document.error().text();
  const auto box = read_record<Box>(*document, "f.json");
  return box ? "no error" : box.error().text();
}

TEST(Archive, QuantitiesAreNumbersInBaseUnitsOrTextWithUnits) {
  const auto box = read_record<Box>(
      *parse_toml("latency = \"5us\"\nmemory = \"16GiB\"\nbandwidth = \"25 GB/s\"\nspeed = \"312TFLOP/s\"\n", "f.toml"), "f.toml");
  ASSERT_TRUE(box) << box.error().text();
  EXPECT_EQ(box->latency.value, 5000);
  EXPECT_EQ(box->memory.value, 16LL << 30);
  EXPECT_EQ(box->bandwidth.value, 25e9);
  EXPECT_EQ(box->speed.value, 312e12);
  const auto bare = read_record<Box>(*parse_json(R"({"latency": 12, "memory": 1e9, "bandwidth": 5})", "f"), "f");
  ASSERT_TRUE(bare) << bare.error().text();
  EXPECT_EQ(bare->latency.value, 12);
  EXPECT_EQ(bare->memory.value, 1'000'000'000);
  EXPECT_EQ(bare->bandwidth.value, 5.0);
  EXPECT_EQ(read_record<Box>(Value::empty_object(), "f")->latency.value, 7);
}

TEST(Archive, WrongTypesSayWhatWasFoundAndExpected) {
  EXPECT_EQ(error_of(R"([])"), "f.json:1:1: expected an object, found an array of 0");
  EXPECT_EQ(error_of(R"({"parts": {}})"), "f.json:1:11#/parts: expected an array, found an object of 0");
  EXPECT_EQ(error_of("{\"parts\": [{\"name\": \"a\", \"heads\": 1},\n {\"name\": \"b\", \"heads\": \"abc\"}]}"),
            "f.json:2:25#/parts/1/heads: expected an integer, found a string \"abc\"");
  EXPECT_EQ(error_of(R"({"parts": [{"name": 5}]})"), "f.json:1:21#/parts/0/name: expected a string, found an integer 5");
  EXPECT_EQ(error_of(R"({"parts": [{"name": "a", "heads": 4.0}]})"),
            "f.json:1:35#/parts/0/heads: expected an integer, found a real 4.0");
  EXPECT_EQ(error_of(R"({"on": 1})"), "f.json:1:8#/on: expected true or false, found an integer 1");
  EXPECT_EQ(error_of(R"({"share": null})"), "f.json:1:11#/share: expected a number, found null");
  EXPECT_EQ(error_of(R"({"colors": {"a/b~": 3}})"), "f.json:1:21#/colors/a~1b~0: expected a name, found an integer 3");
  EXPECT_EQ(error_of(R"({"shape": "3"})"), "f.json:1:11#/shape: expected a shape like \"3x4\", found a string \"3\"");
  EXPECT_EQ(error_of(R"({"layer": -1})"), "f.json:1:11#/layer: expected an integer from 0 to 2147483647, found -1");
  EXPECT_EQ(error_of(R"({"layer": "x"})"),
            "f.json:1:11#/layer: expected an index (an integer from 0) or null, found a string \"x\"");
  EXPECT_EQ(error_of(R"({"seed": -1})"),
            "f.json:1:10#/seed: expected an integer from 0 to 18446744073709551615, found an integer -1");
}

TEST(Archive, NumbersOutOfRangeSayTheRange) {
  EXPECT_EQ(error_of(R"({"byte": 256})"), "f.json:1:10#/byte: expected an integer from 0 to 255, found 256");
  EXPECT_EQ(error_of(R"({"single": 1e39})").substr(0, 20), "f.json:1:12#/single:");
  EXPECT_EQ(error_of(R"({"parts": [{"name": "a", "heads": 0}]})"),
            "f.json:1:35#/parts/0/heads: heads is 0, expected at least 1");
  EXPECT_EQ(error_of(R"({"share": 1.5})"), "f.json:1:11#/share: share is 1.5, expected from 0 to 1");
  EXPECT_EQ(error_of(R"({"bandwidth": 0})"), "f.json:1:15#/bandwidth: bandwidth is 0, expected above 0");
  EXPECT_EQ(error_of(R"({"latency": -5})"), "f.json:1:13#/latency: latency is -5, expected at least 0");
  EXPECT_EQ(error_of(R"({"weights": [1, 3]})"), "f.json:1:17#/weights/1: weights[1] is 3, expected at most 2");
}

TEST(Archive, UnitsThatDoNotFitAreRefused) {
  EXPECT_EQ(error_of(R"({"memory": "16GiBs"})"),
            "f.json:1:12#/memory: \"16GiBs\" is not a number of bytes: unknown unit \"GiBs\" (hint: did you mean GiB? one of B, kB, "
            "MB, GB, TB, KiB, MiB, GiB, TiB)");
  EXPECT_EQ(error_of(R"({"latency": "5"})"), "f.json:1:13#/latency: \"5\" lacks its unit (hint: write it like \"5us\")");
  EXPECT_EQ(error_of(R"({"latency": 1.5})"),
            "f.json:1:13#/latency: expected a time: whole nanoseconds, or a string like \"5us\", found a real 1.5");
}

TEST(Archive, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_EQ(error_of(R"({"colors": {"x": "gren"}})"),
            "f.json:1:18#/colors/x: unknown name \"gren\" (hint: did you mean \"green\"? one of red, green, blue)");
  EXPECT_EQ(error_of(R"({"colors": {"x": "ultraviolet"}})"),
            "f.json:1:18#/colors/x: unknown name \"ultraviolet\" (hint: one of red, green, blue)");
  EXPECT_EQ(parse_enum<Color>("blu", "color").error().text(), "unknown color \"blu\" (hint: did you mean \"blue\"? one of red, green, blue)");
  EXPECT_EQ(*parse_enum<Color>("blue", "color"), Color::Blue);
  EXPECT_EQ(enum_text(Color::Green), "green");
  EXPECT_DEATH(enum_text(static_cast<Color>(9)), "without a name");
}

TEST(Archive, UnknownKeysAreErrors) {
  EXPECT_EQ(error_of(R"({"share": 1, "bandwith": 3})"), "f.json:1:26#/bandwith: unknown key \"bandwith\" (hint: did you mean \"bandwidth\"?)");
  EXPECT_EQ(error_of(R"({"parts": [{"name": "a", "heads": 1, "temperature": 3}]})"),
            "f.json:1:53#/parts/0/temperature: unknown key \"temperature\" (hint: known keys: name, heads, inputs)");
  EXPECT_EQ(error_of(R"({"schema": "x"})").substr(0, 44), "f.json:1:12#/schema: unknown key \"schema\" (h");
}

TEST(Archive, MissingKeysAreNamedWithALikelyMisspelling) {
  EXPECT_EQ(error_of(R"({"parts": [{"heads": 1}]})"), "f.json:1:12#/parts/0: missing key \"name\"");
  EXPECT_EQ(error_of(R"({"parts": [{"nmae": "a", "heads": 1}]})"),
            "f.json:1:12#/parts/0: missing key \"name\" (hint: is \"nmae\" a misspelling of it?)");
  // A known key is no misspelling, though it be near and described later.
  EXPECT_EQ(error_of(R"({"parts": [{"head": 1, "name": "a"}]})"),
            "f.json:1:12#/parts/0: missing key \"heads\" (hint: is \"head\" a misspelling of it?)");
}

TEST(Archive, ChecksAcrossFieldsHaveThePlaceOfTheirField) {
  EXPECT_EQ(error_of(R"({"parts": [{"name": "bad", "heads": 1}]})"),
            "f.json:1:21#/parts/0/name: no part is called bad (hint: call it good)");
}

TEST(Archive, TheFirstErrorWins) {
  EXPECT_EQ(error_of(R"({"share": 2, "byte": "x", "unknown": 1})"), "f.json:1:11#/share: share is 2, expected from 0 to 1");
}

TEST(Archive, PlacesInTomlAreThoseOfTheFile) {
  const auto box = read_record<Box>(*parse_toml("share = 0.5\n\n[[parts]]\nname = \"a\"\nheads = \"x\"\n", "c.toml"), "c.toml");
  ASSERT_FALSE(box);
  EXPECT_EQ(box.error().text(), "c.toml:5:9#/parts/0/heads: expected an integer, found a string \"x\"");
  EXPECT_EQ(box.error().code, ErrorCode::BadInput);
}

TEST(Archive, SchemasAreChecked) {
  const auto error = [](std::string_view json, bool needed = true) {
    const auto part = from_document<Part>(*parse_json(json, "p.json"), "p.json", "penstock.part/2", needed);
    return part ? "no error" : part.error().text();
  };
  EXPECT_EQ(error(R"({"schema": "penstock.part/2", "name": "a", "heads": 1})"), "no error");
  EXPECT_EQ(error(R"({"name": "a", "heads": 1})"),
            "p.json:1:1: missing key \"schema\", expected \"penstock.part/2\" (hint: is this the right kind of file?)");
  EXPECT_EQ(error(R"({"name": "a", "heads": 1})", false), "no error");
  EXPECT_EQ(error(R"({"schema": "penstock.part/1"})"),
            "p.json:1:12#/schema: expected schema \"penstock.part/2\", found \"penstock.part/1\" (hint: it was written by another "
            "version of penstock)");
  EXPECT_EQ(error(R"({"schema": "penstock.plan/2"})"),
            "p.json:1:12#/schema: expected schema \"penstock.part/2\", found \"penstock.plan/2\" (hint: is this the right kind of file?)");
  EXPECT_EQ(error(R"({"schema": 3})"), "p.json:1:12#/schema: expected \"penstock.part/2\", found an integer 3");
  EXPECT_EQ(error(R"([])"), "p.json:1:1: expected an object, found an array of 0");
  // Only the root has a schema.
  EXPECT_NE(error(R"({"schema": "penstock.part/2", "name": "a", "heads": 1, "schem": 1})"), "no error");
}

TEST(Archive, WritesOneRowALine) {
  Box box;
  box.parts = {{.name = "a", .heads = 1, .inputs = {}}, {.name = "b", .heads = 2, .inputs = {LayerId(0)}}};
  const std::string text = to_json(box, "penstock.box/1");
  EXPECT_EQ(text.substr(0, text.find("  \"colors\"")), R"({
  "schema": "penstock.box/1",
  "parts": [
    {"name": "a", "heads": 1, "inputs": []},
    {"name": "b", "heads": 2, "inputs": [0]}
  ],
)");
}

// Every way to spoil one member of a good document is caught or harmless, and says where.
TEST(Archive, ASpoiltDocumentIsAnErrorWithAPointer) {
  std::mt19937_64 random(9);
  const auto document = parse_json(to_json(random_record(random), "s/1"), "f.json");
  const std::vector<Value> spoilers = {Value(), Value(true), Value(-1), Value(1e300), Value("?"), Value::empty_array(), Value::empty_object()};
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
