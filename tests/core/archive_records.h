#pragma once

// Records that between them have a field of every kind, for the tests of reading and writing.

#include <array>
#include <cstdio>
#include <random>

#include "core/archive.h"

namespace penstock {

enum class Color : std::uint8_t { Red, Green, Blue };
inline constexpr auto kColorNames = std::to_array<std::pair<Color, std::string_view>>(
    {{Color::Red, "red"}, {Color::Green, "green"}, {Color::Blue, "blue"}});
constexpr const auto& enum_names(Color) {
  return kColorNames;
}

// A form of its own: "3x4".
struct Shape {
  int rows = 0, columns = 0;
  bool operator==(const Shape&) const = default;
};

inline bool read_value(ReadContext& c, const Value& value, Shape& x) {
  if (!value.is_string() || std::sscanf(value.string().c_str(), "%dx%d", &x.rows, &x.columns) != 2)
    return c.wrong_type(value, "a shape like \"3x4\"");
  return true;
}

inline void write_value(JsonWriter& w, const Shape& x) {
  w.value(std::to_string(x.rows) + "x" + std::to_string(x.columns));
}

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

inline Everything random_record(std::mt19937_64& random) {
  const auto real = [&] { return static_cast<double>(random()) * 1e-7; };
  const auto part = [&] {
    Part out{.name = "p" + std::to_string(random() % 100),
             .heads = static_cast<std::int32_t>(random() % 100 + 1),
             .inputs = {}};
    for (std::uint64_t n = random() % 3; n > 0; --n)
      out.inputs.push_back(LayerId(static_cast<std::int64_t>(random() % 1000)));
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
  for (std::uint64_t n = random() % 4; n > 0; --n)
    x.matrix.push_back({1, static_cast<std::int64_t>(random())});
  for (std::uint64_t n = random() % 4; n > 0; --n) x.parts["k/~" + std::to_string(n)] = part();
  for (std::uint64_t n = random() % 4; n > 0; --n) x.list.push_back(part());
  return x;
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

}  // namespace penstock
