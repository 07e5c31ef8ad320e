#include "core/formats/timeline_format.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::test {
namespace {

Result<Timeline> read(std::string_view text) {
  return read_timeline(text, "t.json");
}

Timeline sample(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto upto = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random()) % (n + 1); };
  Timeline t;
  t.origin = static_cast<Origin>(upto(2));
  t.name = "1f1b, \"two\" stages";
  t.plan_digest = "12ab";
  t.ranks = 2;
  t.warmup_steps = 1;
  t.labels = {"gemm", "memcpy"};
  t.tracks = {{RankId(0), "compute"}, {RankId(0), "send 0>1"}, {RankId(1), "compute"}};
  for (std::uint32_t track = 0; track < 3; ++track) {
    Nanoseconds now(-5);
    for (std::uint32_t i = upto(12); i-- > 0;) {
      Span span;
      span.track = track;
      span.step = static_cast<std::int32_t>(upto(3));
      span.start = now + Nanoseconds(upto(10));
      span.end = now = span.start + Nanoseconds(upto(1000000000));
      if (upto(3) != 0)
        span.key = {.op = Op::Send,
                    .stage = static_cast<std::uint16_t>(upto(9)),
                    .microbatch = static_cast<std::int32_t>(upto(99))};
      if (upto(3) == 0) span.label = static_cast<std::int32_t>(upto(1));
      t.spans.push_back(span);
    }
  }
  t.counters = {{RankId(1), "memory", "B"}};
  t.points = {{0, Nanoseconds(3), -7}, {0, Nanoseconds(9), 1 << 30}};
  if (t.spans.size() > 1) t.flows = {{0, 1}};
  t.peak_memory = {Bytes(10), Bytes(20)};
  t.live_peak = {Bytes(9), Bytes(19)};
  t.losses = {2.5, 0.1, 1e-300};
  t.weights_digest = "00ff";
  return t;
}

TEST(TimelineFormat, ReadsBackWhatItWrites) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Timeline timeline = sample(seed);
    const std::string text = write_timeline(timeline);
    const Result<Timeline> again = read(text);
    ASSERT_TRUE(again.has_value()) << again.error().text();
    EXPECT_EQ(*again, timeline);
    EXPECT_EQ(write_timeline(*again), text);
  }
  EXPECT_EQ(*read(write_timeline(Timeline{})), Timeline{});
}

TEST(TimelineFormat, WritesOneRowALineForASpan) {
  Timeline t;
  t.ranks = 1;
  t.tracks = {{RankId(0), "compute"}};
  t.labels = {"gemm"};
  for (int i = 0; i < 9; ++i) {
    Span span;
    span.start = Nanoseconds(100 * i);
    span.end = Nanoseconds(100 * i + 80);
    span.key = {.op = Op::F, .stage = 0, .microbatch = i};
    t.spans.push_back(span);
  }
  t.spans[8].key = {};
  t.spans[8].label = 0;
  const std::string text = write_timeline(t);
  EXPECT_NE(text.find("\n    [0, 0, 300, 380, \"F 0.3\"],\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n    [0, 0, 800, 880, 0]\n"), std::string::npos) << text;
}

TEST(TimelineFormat, EveryTruncationIsRefused) {
  const std::string text = write_timeline(sample(4));
  for (std::size_t n = 0; n + 2 < text.size(); ++n) {
    const Result<Timeline> cut = read(std::string_view(text).substr(0, n));
    ASSERT_FALSE(cut.has_value()) << n;
    ASSERT_EQ(cut.error().code, ErrorCode::BadInput);
  }
}

TEST(TimelineFormat, DamageIsRefusedWithItsPlace) {
  Timeline sound;
  sound.ranks = 2;
  sound.tracks = {{RankId(0), "compute"}, {RankId(1), "compute"}};
  sound.labels = {"gemm"};
  sound.spans.resize(3);
  sound.spans[0].end = Nanoseconds(5);
  sound.spans[1].start = Nanoseconds(5);
  sound.spans[1].end = Nanoseconds(9);
  sound.spans[2].track = 1;
  sound.counters = {{RankId(0), "memory", "B"}};
  sound.points = {{0, Nanoseconds(0), 0}};
  sound.flows = {{0, 2}};
  ASSERT_TRUE(read(write_timeline(sound)).has_value());
  const auto refusal = [&](auto&& damage) {
    Timeline timeline = sound;
    damage(timeline);
    const Result<Timeline> again = read(write_timeline(timeline));
    return again ? std::string("accepted") : again.error().text();
  };
  const auto expect = [](const std::string& text, std::string_view words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect(refusal([](Timeline& t) { t.tracks[1].rank = RankId(2); }),
         "row 1 of tracks is of a rank");
  expect(refusal([](Timeline& t) { t.counters[0].rank = RankId(2); }),
         "row 0 of counters is of a rank");
  expect(refusal([](Timeline& t) { t.spans[2].track = 2; }),
         "row 2 of spans is of a track that is not there");
  expect(refusal([](Timeline& t) { t.spans[2].label = 1; }),
         "row 2 of spans has a label that is not there");
  expect(refusal([](Timeline& t) { t.spans[2].end = Nanoseconds(-1); }),
         "row 2 of spans ends before it starts");
  expect(refusal([](Timeline& t) { t.spans[1].start = Nanoseconds(4); }),
         "row 1 of spans overlaps the row before it");
  expect(refusal([](Timeline& t) { t.points[0].counter = 1; }), "row 0 of points is of a counter");
  expect(refusal([](Timeline& t) { t.flows[0].to = 3; }), "row 0 of flows joins spans");
  expect(refusal([](Timeline& t) { t.peak_memory = {Bytes(1)}; }), "1 entries for 2 ranks");
  expect(refusal([](Timeline& t) { t.tracks[1] = {RankId(0), "compute"}; }),
         "row 1 of tracks is a second compute lane");
  expect(refusal([](Timeline& t) { t.spans[2].end = kForever + Nanoseconds(1); }),
         "row 2 of spans is further than 73 years");
  expect(refusal([](Timeline& t) { t.points[0].time = -kForever - Nanoseconds(1); }),
         "row 0 of points is further than 73 years");
  // Whoever asks for the use of each rank would allocate for them.
  expect(refusal([](Timeline& t) { t.ranks = 2'000'000'000; }), "ranks is 2000000000");
  std::string text = write_timeline(sound);
  text.replace(text.find("\"F 0\""), 5, "\"F 0 r1\"");
  expect(read(text.c_str()).error().text(), "'F 0 r1' is more than a key");
}

}  // namespace
}  // namespace penstock::test
