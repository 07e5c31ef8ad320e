#include <gtest/gtest.h>

#include "core/liveness.h"
#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

// One stage of two copies that take turns at four microbatches; their gradients in one bucket.
Program two_copies() {
  Program program = sample_program(gpipe_order(1, 4));
  program.ranks.push_back(program.ranks[0]);
  const std::vector<Buffer> rows = program.buffers;
  program.buffers.clear();
  program.first_buffer = {0};
  program.stores.push_back(program.stores[0]);
  Group group;
  group.ranks = {RankId(0), RankId(1)};
  group.stage = StageId(0);
  group.end_parameter = 1;
  group.bytes = Bytes(4096);
  program.groups = {group};
  for (std::int32_t r = 0; r < 2; ++r) {
    ProgramStore& store = program.stores[static_cast<std::size_t>(r)];
    store.rank = RankId(r);
    store.copy = r;
    store.parameters = 1;
    store.accumulation.copies = {{0, 2}, {1, 3}};
    for (const Buffer& row : rows)
      if (row.microbatch < 0 || row.microbatch % 2 == r) {
        program.buffers.push_back(row);
        if (row.owner >= 0) program.buffers.back().owner = r;
      }
    program.first_buffer.push_back(program.buffers.size());
    std::vector<Instruction>& body = compute(program, static_cast<std::size_t>(r));
    std::erase_if(body, [&](const Instruction& i) {
      return i.key.microbatch >= 0 && i.key.microbatch % 2 != r;
    });
    for (Instruction& i : body) {
      i.key.direction = static_cast<std::uint8_t>(r);
      if (i.key.op == Op::Step) i.target = r;
    }
    const std::size_t step = position(program, static_cast<std::size_t>(r), Op::Step, -1);
    Instruction call{.key = {.op = Op::AllReduce, .direction = static_cast<std::uint8_t>(r)},
                     .target = 0,
                     .after_index = static_cast<std::uint32_t>(step - 1),
                     .after_stream = 0};
    std::vector<Stream>& streams = program.ranks[static_cast<std::size_t>(r)].streams;
    body[step].after_stream = static_cast<std::int16_t>(streams.size());
    streams.push_back({StreamKind::Collective, EdgeId(), {}, {call}, {}});
  }
  assign_memory(program);
  return program;
}

Instruction& call(Program& program, std::size_t rank) {
  return program.ranks[rank].streams.back().body.front();
}

TEST(Reductions, CopiesThatAddUpTheirGradientsPass) {
  const std::vector<Violation> violations = check(two_copies());
  EXPECT_TRUE(violations.empty()) << violations.front().rule << ": " << violations.front().message;
}

TEST(Reductions, CopiesWithoutAGroupAreRefused) {
  Program program = two_copies();
  program.groups.clear();
  for (std::size_t r = 0; r < 2; ++r) {
    program.ranks[r].streams.pop_back();
    find(program, r, Op::Step, -1).after_stream = -1;
  }
  EXPECT_TRUE(refuses(program, "R10", "stage 0 has 2 copies, but no group adds up their gradients"));
}

TEST(Reductions, AGroupHasAllCopiesInTheirOrder) {
  Program program = two_copies();
  std::swap(program.groups[0].ranks[0], program.groups[0].ranks[1]);
  EXPECT_TRUE(refuses(program, "R10", "in another order"));
}

TEST(Reductions, BucketsMakeUpTheGradients) {
  Program program = two_copies();
  program.groups[0].bytes = Bytes(2048);
  EXPECT_TRUE(refuses(program, "R10", "do not make up its gradients"));
}

TEST(Reductions, BucketsAreInTheOrderOfParametersAndLayers) {
  Program program = two_copies();
  Group upper = program.groups[0];
  program.groups[0].bytes = upper.bytes = upper.offset = Bytes(2048);
  upper.first_parameter = 1, upper.end_parameter = 2, upper.first_layer = 3;
  program.groups.push_back(upper);
  for (ProgramStore& store : program.stores) store.parameters = 2;
  for (std::size_t r = 0; r < 2; ++r) {
    std::vector<Instruction>& calls = program.ranks[r].streams.back().body;
    calls.push_back(calls.front());
    calls.back().target = 1;
    calls.back().key.slice = 1;
    ++find(program, r, Op::Step, -1).after_index;
  }
  const std::vector<Violation> violations = check(program);
  EXPECT_TRUE(violations.empty()) << violations.front().rule << ": " << violations.front().message;
  Program turned = program;  // the layers of the one are those of the other
  std::swap(turned.groups[0].first_layer, turned.groups[1].first_layer);
  EXPECT_TRUE(refuses(turned, "R10", "a group of stage 0 adds up parameters 1 to 1 from layer 0 on"));
  Program gap = program;
  ++gap.groups[1].first_parameter, ++gap.groups[1].end_parameter;
  EXPECT_TRUE(refuses(gap, "R10", "adds up parameters 2 to 2"));
  Program more = program;
  ++more.groups[1].end_parameter;
  EXPECT_TRUE(refuses(more, "R10", "the groups of stage 0 end at parameter 2; its stores have 2"));
  Program numbers = program;
  for (std::size_t r = 0; r < 2; ++r) numbers.ranks[r].streams.back().body[1].key.slice = 2;
  EXPECT_TRUE(refuses(numbers, "keys", "is numbered 2, where 1 is next"));
  Program beyond = program;
  for (ProgramStore& store : beyond.stores) store.layers = 3;
  EXPECT_TRUE(refuses(beyond, "R10", "from layer 3 on"));
}

TEST(Reductions, ABucketIsAddedUpAfterWhatMakesItAndBeforeStep) {
  Program early = two_copies();
  --call(early, 1).after_index;
  EXPECT_TRUE(refuses(early, "R10", "'ALLREDUCE 0@1 g0' may start before 'BF 0.3@1'"));
  Program late = two_copies();
  find(late, 0, Op::Step, -1).after_stream = -1;
  EXPECT_TRUE(refuses(late, "R10", "'ALLREDUCE 0 g0' is not sure to be over when 'STEP 0 s0'"));
  Program twice = two_copies();
  for (std::size_t r = 0; r < 2; ++r)
    twice.ranks[r].streams.back().body.push_back(call(twice, r));
  EXPECT_TRUE(refuses(twice, "R10", "group 0 adds up gradients of stage 0 2 times a step"));
}

TEST(Reductions, OneRankThatDoesNotCallIsFoundByThreeRules) {
  Program program = two_copies();
  program.ranks[1].streams.back().body.clear();
  find(program, 1, Op::Step, -1).after_stream = -1;
  EXPECT_TRUE(refuses(program, "R6", "1 of the 2 members of group 0 call it"));
  EXPECT_TRUE(refuses(program, "R10", "rank 1: group 0 adds up gradients of stage 0 0 times"));
  EXPECT_TRUE(refuses(program, "R7a", "waits for what no rank has"));
}

TEST(Reductions, NormsAreGatheredAfterTheGradientsAreAddedUpAndBeforeStep) {
  Program program = two_copies();
  program.groups.push_back({.kind = GroupKind::GradientNorm,
                            .ranks = {RankId(0), RankId(1)},
                            .bytes = Bytes(8)});
  EXPECT_TRUE(refuses(program, "R10", "is clipped by norms that have not been gathered"));
  for (std::size_t r = 0; r < 2; ++r) {
    std::vector<Instruction>& body = compute(program, r);
    const std::size_t step = position(program, r, Op::Step, -1);
    Instruction gather = body[step];
    gather.key.op = Op::Gather;
    gather.target = 1;
    gather.recipe = -1;
    body[step].after_stream = -1;
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(step), gather);
  }
  Buffer norms;
  norms.cls = BufferClass::Norms;
  norms.bytes = Bytes(8);
  program.buffers.insert(program.buffers.begin() + static_cast<std::ptrdiff_t>(program.first_buffer[1]), norms);
  program.buffers.insert(program.buffers.begin(), norms);
  program.first_buffer[1] += 1, program.first_buffer[2] += 2;
  assign_memory(program);
  const std::vector<Violation> violations = check(program);
  EXPECT_TRUE(violations.empty()) << violations.front().rule << ": " << violations.front().message;
  // A sum of gradients in the compute stream, behind the gather.
  Program summed_late = program;
  for (std::size_t r = 0; r < 2; ++r) {
    std::vector<Instruction>& body = compute(summed_late, r);
    Instruction sum = call(summed_late, r);
    sum.after_stream = -1;
    summed_late.ranks[r].streams.pop_back();
    const std::size_t gather = position(summed_late, r, Op::Gather, -1);
    body[gather].after_stream = -1;
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(gather) + 1, sum);
  }
  assign_memory(summed_late);
  EXPECT_TRUE(refuses(summed_late, "R10", "'ALLREDUCE 0 g0' is not sure to be over when 'GATHER 0 g1' takes norms"));
  find(program, 0, Op::Gather, -1).after_stream = -1;
  EXPECT_TRUE(refuses(program, "R10", "is not sure to be over when 'GATHER 0 g1' takes norms"));
}

}  // namespace
}  // namespace penstock::test
