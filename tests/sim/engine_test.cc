#include "sim/engine.h"

#include "core/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/timed_program.h"

namespace penstock::test {
namespace {

constexpr Nanoseconds operator""_ns(unsigned long long n) {
  return Nanoseconds(static_cast<std::int64_t>(n));
}

Program program_of(const Order& order, std::int64_t f, std::int64_t b, std::int64_t w,
                   std::int64_t transfer) {
  return timed_program(order, OrderCosts::uniform(order, Nanoseconds(f), Nanoseconds(b),
                                                  Nanoseconds(w), Nanoseconds(transfer)));
}

EngineResult run(const Program& program, const EngineOptions& options = {}) {
  Result<EngineResult> result = simulate(program, options);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  return result ? *std::move(result) : EngineResult{};
}

Nanoseconds end_of(const Timeline& timeline) {
  Nanoseconds end;
  for (const Span& span : timeline.spans) end = std::max(end, span.end);
  return end;
}

std::vector<const Span*> spans_of(const Timeline& timeline, std::uint32_t track) {
  std::vector<const Span*> spans;
  for (const Span& span : timeline.spans) {
    if (span.track == track) spans.push_back(&span);
  }
  return spans;
}

// One message from rank 0, which computes for 10 first, to rank 1, which computes for `receiver`
// first.
Program one_message(std::int64_t receiver, std::int64_t transfer) {
  Program program;
  for (const std::int64_t length : {std::int64_t{10}, receiver, transfer, std::int64_t{100}})
    program.recipes.push_back(recipe_of(Nanoseconds(length)));
  program.edges = {edge_between(0, 1)};
  program.ranks.resize(2);
  const auto at = [](Op op, std::int32_t recipe) {
    Instruction instruction;
    instruction.key.op = op;
    instruction.recipe = recipe;
    instruction.target = is_transfer(op) ? 0 : -1;
    return instruction;
  };
  Instruction send = at(Op::Send, 2);
  send.after_stream = 0;
  program.ranks[0].streams = {stream_of({at(Op::F, 0), at(Op::F, 3)}),
                              stream_of({send}, EdgeId(0))};
  program.ranks[1].streams = {stream_of({at(Op::F, 1), at(Op::Recv, 2), at(Op::F, 0)})};
  return program;
}

TEST(Engine, UnderRendezvousATransferWaitsForBothAndTheSenderGoesOn) {
  const Timeline timeline = run(one_message(25, 7)).timeline;
  ASSERT_EQ(timeline.spans.size(), 6u);
  EXPECT_EQ(timeline.tracks,
            (std::vector<Track>{
                {RankId(0), "compute"}, {RankId(0), "send 0>1"}, {RankId(1), "compute"}}));
  EXPECT_EQ(timeline.spans[1].end, 110_ns) << "the sender's computation";
  const Span& send = timeline.spans[2];
  const Span& receive = timeline.spans[4];
  EXPECT_EQ(send.start, 25_ns);
  EXPECT_EQ(send.end, 32_ns);
  EXPECT_EQ(receive.start, 25_ns);
  EXPECT_EQ(receive.end, 32_ns);
  EXPECT_EQ(timeline.spans[5].start, 32_ns);
  EXPECT_EQ(timeline.flows, (std::vector<Flow>{{2, 4}}));
  EXPECT_EQ(run(one_message(3, 7)).timeline.spans[4].start, 10_ns)
      << "waiting for the sender is no span";
}

TEST(Engine, AnEagerTransferStartsAtOnce) {
  const EngineOptions eager{.discipline = Discipline::Eager};
  Timeline timeline = run(one_message(12, 7), eager).timeline;  // sent 10-17, reached at 12
  EXPECT_EQ(timeline.spans[2].start, 10_ns);
  EXPECT_EQ(timeline.spans[2].end, 10_ns);
  EXPECT_EQ(timeline.spans[4].start, 12_ns);
  EXPECT_EQ(timeline.spans[4].end, 17_ns);
  EXPECT_EQ(timeline.flows, (std::vector<Flow>{{2, 4}}));
  timeline = run(one_message(25, 7), eager).timeline;  // there long before
  EXPECT_EQ(timeline.spans[4].start, 25_ns);
  EXPECT_EQ(timeline.spans[4].end, 25_ns);
  timeline = run(one_message(3, 7), eager).timeline;  // reached before it was sent
  EXPECT_EQ(timeline.spans[4].start, 10_ns);
  EXPECT_EQ(timeline.spans[4].end, 17_ns);
}

// `count` microbatches: rank 0 computes each for `send_work` and sends it, which takes `copy`; rank 1 computes for
// `receive_work` on it. Each end of the edge is in a lane of its own, or in its rank's compute lane.
struct Copies {
  std::int64_t count, send_work, copy, receive_work;
};
Program copies(const Copies& of, bool send_lane, bool receive_lane) {
  Program program;
  for (const std::int64_t length : {of.send_work, of.receive_work, of.copy})
    program.recipes.push_back(recipe_of(Nanoseconds(length)));
  program.edges = {edge_between(0, 1)};
  program.body_microbatches = static_cast<std::int32_t>(of.count);
  program.ranks.resize(2);
  std::vector<Instruction> compute[2], transfers[2];
  for (std::int32_t m = 0; m < of.count; ++m) {
    const auto at = [&](Op op, std::int32_t recipe) {
      return Instruction{.key = {.op = op, .microbatch = m}, .recipe = recipe, .target = is_transfer(op) ? 0 : -1};
    };
    Instruction send = at(Op::Send, 2), work = at(Op::F, 1);
    compute[0].push_back(at(Op::F, 0));
    if (send_lane) {
      send.after_stream = 0;
      send.after_index = static_cast<std::uint32_t>(m);
    }
    (send_lane ? transfers : compute)[0].push_back(send);
    (receive_lane ? transfers : compute)[1].push_back(at(Op::Recv, 2));
    if (receive_lane) {
      work.after_stream = 1;
      work.after_index = static_cast<std::uint32_t>(m);
    }
    compute[1].push_back(work);
  }
  for (const std::size_t r : {0u, 1u}) {
    program.ranks[r].streams = {stream_of(compute[r])};
    if (transfers[r].empty()) continue;
    program.ranks[r].streams.push_back(stream_of(transfers[r], EdgeId(0)));
    if (r == 1) program.ranks[r].streams.back().kind = StreamKind::Receive;
  }
  return program;
}

TEST(Engine, CopiesOverlapComputeAsFarAsTheLanesSay) {
  for (const Copies& of : {Copies{6, 10, 4, 7}, {6, 4, 10, 7}, {6, 7, 4, 10}, {5, 9, 9, 9}, {1, 3, 5, 8}, {40, 1, 100, 1}}) {
    const std::int64_t more = of.count - 1, a = of.send_work, c = of.copy, b = of.receive_work;
    const auto makespan = [&](bool send_lane, bool receive_lane) {
      return end_of(run(copies(of, send_lane, receive_lane)).timeline).value;
    };
    // Lanes of their own on both sides: the slowest of computing, copying and computing sets the pace.
    EXPECT_EQ(makespan(true, true), a + c + b + more * std::max({a, c, b}));
    // The receiver copies where it computes: its pace is the sum of both.
    EXPECT_EQ(makespan(true, false), a + c + b + more * std::max(a, c + b));
    EXPECT_EQ(makespan(false, true), a + c + b + more * std::max(a + c, b));
    // Both do: nothing goes on beside a copy, on either rank.
    EXPECT_EQ(makespan(false, false), a + c + b + more * (std::max(a, b) + c));
  }
}

TEST(Engine, ACopyAndTheComputeOfItsOwnRankShareTimeOnlyFromLaneToLane) {
  const auto shared = [](const Program& program, std::int64_t rank) {
    Nanoseconds time;
    const Timeline timeline = run(program).timeline;
    for (const Span& work : timeline.spans) {
      for (const Span& copy : timeline.spans) {
        const bool of_rank = timeline.tracks[work.track].rank.value == rank && timeline.tracks[copy.track].rank.value == rank;
        if (!of_rank || work.key.op != Op::F || !is_transfer(copy.key.op)) continue;
        time += std::max(Nanoseconds(0), std::min(work.end, copy.end) - std::max(work.start, copy.start));
      }
    }
    return time;
  };
  const Copies of{.count = 6, .send_work = 10, .copy = 4, .receive_work = 10};
  for (const std::int64_t rank : {0, 1}) {
    // All but the last copy beside the sender's next work, all but the first beside the receiver's work before.
    EXPECT_EQ(shared(copies(of, true, true), rank), 20_ns);
    EXPECT_EQ(shared(copies(of, false, false), rank), 0_ns);
  }
}

TEST(Engine, OneFOneBUnderRendezvousTakesWhatSimGridsBlockingReceiversTake) {
  EXPECT_EQ(
      end_of(
          run(program_of(one_f_one_b(4, 16), 1'000'000, 1'000'000, 1'000'000, 2'005'000)).timeline),
      127'175'000_ns);
  const EngineResult large =
      run(program_of(one_f_one_b(64, 1024), 1'000'000, 1'000'000, 1'000'000, 2'005'000));
  EXPECT_EQ(end_of(large.timeline), 7'613'855'000_ns);
  // Computations, two ends of each message, a WAIT for each edge.
  EXPECT_EQ(large.instructions, 2 * 64 * 1024 + 2 * 2 * 63 * 1024 + 2 * 63);
  EXPECT_EQ(large.timeline.flows.size(), 2u * 63 * 1024);
}

TEST(Engine, SpansOfATrackFollowOneAnotherAndFlowsJoinMessages) {
  for (const Discipline discipline : {Discipline::Eager, Discipline::Rendezvous}) {
    const Timeline timeline =
        run(program_of(one_f_one_b(5, 9), 10, 12, 8, 7), {.discipline = discipline, .steps = 3})
            .timeline;
    for (std::size_t k = 1; k < timeline.spans.size(); ++k) {
      const Span &before = timeline.spans[k - 1], &span = timeline.spans[k];
      ASSERT_LE(before.track, span.track);
      if (before.track == span.track) {
        ASSERT_LE(before.end, span.start);
      }
    }
    EXPECT_EQ(timeline.flows.size(), 3u * 2 * 4 * 9);
    for (const Flow& flow : timeline.flows) {
      InstructionKey sent = timeline.spans[flow.from].key, received = timeline.spans[flow.to].key;
      ASSERT_EQ(sent.op, Op::Send);
      ASSERT_EQ(received.op, Op::Recv);
      ASSERT_EQ(sent.microbatch, received.microbatch);
      ASSERT_EQ(timeline.spans[flow.from].step, timeline.spans[flow.to].step);
      ASSERT_LE(timeline.spans[flow.from].start, timeline.spans[flow.to].start);
    }
  }
}

TEST(Engine, RepeatsTheBodyBetweenPrologueAndEpilogue) {
  Program program = one_message(3, 7);
  program.body_steps = 2;
  program.ranks[1].streams[0].prologue = {program.ranks[0].streams[0].body[0],
                                          program.ranks[0].streams[0].body[0]};
  program.ranks[1].streams[0].epilogue = {program.ranks[0].streams[0].body[0]};
  program.ranks[0].streams[0].body[1].key.step = 1;
  const EngineResult result = run(program, {.steps = 5});  // three bodies
  const std::vector<const Span*> sender = spans_of(result.timeline, 0),
                                 receiver = spans_of(result.timeline, 2);
  std::vector<std::int32_t> steps;
  for (const Span* span : sender) steps.push_back(span->step);
  EXPECT_EQ(steps, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(receiver.size(), 2u + 3 * 3 + 1);
  EXPECT_EQ(receiver[2]->start, 20_ns);
  EXPECT_EQ(receiver[6]->start, 120_ns)
      << "the second message follows the second computation of the sender";
  EXPECT_EQ(receiver.back()->step, 6);
  EXPECT_EQ(result.instructions, 2 * 3 + 3 + 2 + 3 * 3 + 1);
}

TEST(Engine, AStepTakesTheSameTimeWithAndWithoutSpans) {
  for (const Discipline discipline : {Discipline::Eager, Discipline::Rendezvous}) {
    const Program program = program_of(one_f_one_b(4, 6), 10, 12, 8, 7);
    const Timeline all = run(program, {.discipline = discipline, .steps = 4}).timeline;
    const Timeline ends =
        run(program, {.discipline = discipline, .steps = 4, .spans = false}).timeline;
    EXPECT_EQ(step_times(all).size(), 4u);
    EXPECT_EQ(step_times(all), step_times(ends));
    EXPECT_EQ(ends.spans.size(), 2u * 4 * 4);
    EXPECT_TRUE(ends.flows.empty());
  }
}

TEST(Engine, TheSameProgramGivesTheSameTimeline) {
  const Program program = program_of(one_f_one_b(6, 12), 10, 12, 8, 7);
  const EngineResult once = run(program, {.steps = 2}), again = run(program, {.steps = 2});
  EXPECT_EQ(once.timeline, again.timeline);
  EXPECT_EQ(once.events, again.events);
}

TEST(Engine, AnInstructionWaitsForTheOneOfItsOwnRepetition) {
  Program program = one_message(3, 0);
  Instruction wait = program.ranks[0].streams[1].body[0];
  wait.key.op = Op::Wait;
  wait.after_stream = 1;
  program.ranks[0].streams[0].body.push_back(wait);
  program.recipes[1].segments[0].duration =
      500_ns;  // the receiver is late, so each WAIT holds the sender up
  const std::vector<Span> spans = run(program, {.steps = 2}).timeline.spans;
  EXPECT_EQ(spans[2].start, 500_ns) << "second step of the sender";
  EXPECT_EQ(spans[0].start, 0_ns);
}

TEST(Engine, RefusesByNameWhatItDoesNotRun) {
  Program program = one_message(3, 7);
  program.ranks[0].streams[0].body[0].key.op = Op::Offload;
  auto refused = simulate(program);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::Unavailable);
  EXPECT_NE(refused.error().message.find("the simulator does not run OFFLOAD"), std::string::npos)
      << refused.error().message;
  program = one_message(3, 7);
  program.ranks[1].streams[0].body[1].group = 1;
  refused = simulate(program);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("grouped transfers"), std::string::npos);
}

// DDP's overlap: six layers, the last first, 2 ms of backward each; 4 ranks, 10 GB/s, 50 us a
// collective. Parts and all-reduces of a bucket as a program has them.
Program overlapped(const Buckets& buckets, const std::vector<Bytes>& sizes) {
  Program program;
  program.ranks.resize(4);
  const auto layers = static_cast<std::int32_t>(sizes.size());
  std::int32_t low = layers;
  for (const std::vector<std::int32_t>& bucket : buckets) {
    Bytes size;
    for (const std::int32_t tensor : bucket) size += sizes[static_cast<std::size_t>(tensor)];
    const auto part = static_cast<std::int32_t>(program.recipes.size());
    program.recipes.push_back(recipe_of(Nanoseconds(2'000'000) * (low - bucket.back())));
    program.recipes.push_back(recipe_of(
        transfer_time(Nanoseconds(50'000), BytesPerSecond(10e9), ring_volume(4, size))));
    low = bucket.back();
    const auto group = static_cast<std::int32_t>(program.groups.size());
    program.groups.push_back({.ranks = {RankId(0), RankId(1), RankId(2), RankId(3)}});
    for (std::uint8_t r = 0; r < 4; ++r) {
      std::vector<Stream>& streams = program.ranks[r].streams;
      streams.resize(2);
      streams[1].kind = StreamKind::Collective;
      streams[1].body.push_back({.key = {.op = Op::AllReduce,
                                         .slice = static_cast<std::uint8_t>(group),
                                         .direction = r},
                                 .recipe = part + 1,
                                 .target = group,
                                 .after_index = static_cast<std::uint32_t>(streams[0].body.size()),
                                 .after_stream = 0});
      streams[0].body.push_back({.key = {.op = Op::BF,
                                         .slice = static_cast<std::uint8_t>(group),
                                         .direction = r,
                                         .microbatch = 0},
                                 .recipe = part});
    }
  }
  return program;
}

TEST(Engine, CollectivesRunBesideTheBackwardThatMakesTheNextBucket) {
  constexpr std::int64_t kMiB = 1 << 20;
  const std::vector<Bytes> sizes = {Bytes(4 * kMiB), Bytes(10 * kMiB), Bytes(12 * kMiB),
                                    Bytes(kMiB / 2), Bytes(8 * kMiB),  Bytes(kMiB / 4)};
  const std::vector<std::int32_t> ready = {5, 4, 3, 2, 1, 0};
  const auto last_end = [&](BucketLimits limits) {
    const auto result = simulate(overlapped(ready_buckets(sizes, ready, limits), sizes));
    EXPECT_TRUE(result) << result.error().text();
    Nanoseconds end;
    for (const Span& span : result->timeline.spans) end = std::max(end, span.end);
    return seconds(end);
  };
  EXPECT_NEAR(last_end({}), 16.2181e-3, 5e-8);
  EXPECT_NEAR(last_end({Bytes(1), Bytes(1)}), 12.6791e-3, 5e-8);
}

TEST(Engine, ACollectiveStartsWhenItsLastMemberArrives) {
  Program program;
  program.recipes = {recipe_of(Nanoseconds(10)), recipe_of(Nanoseconds(25)),
                     recipe_of(Nanoseconds(7))};
  program.groups.push_back({.ranks = {RankId(0), RankId(1)}});
  program.ranks.resize(2);
  for (std::uint8_t r = 0; r < 2; ++r) {
    Instruction work{.key = {.op = Op::F, .direction = r, .microbatch = 0}, .recipe = r};
    Instruction call{.key = {.op = Op::AllReduce, .direction = r}, .recipe = 2, .target = 0};
    program.ranks[r].streams = {stream_of({work, call})};
  }
  const auto result = simulate(program);
  ASSERT_TRUE(result) << result.error().text();
  for (const Span& span : result->timeline.spans) {
    if (span.key.op != Op::AllReduce) continue;
    EXPECT_EQ(span.start.value, 25);
    EXPECT_EQ(span.end.value, 32);
  }
}

}  // namespace
}  // namespace penstock::test
