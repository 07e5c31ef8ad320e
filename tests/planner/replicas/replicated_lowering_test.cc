#include "planner/replicated_lowering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/program_check.h"
#include "core/replicas.h"
#include "planner/lower.h"
#include "sim/engine.h"
#include "tests/planner/replicas/replicated_plans.h"

namespace penstock {
namespace {

constexpr std::uint64_t kSeeds = 150;

Program must_lower(const Plan& plan, std::uint64_t seed) {
  auto program = lower(plan);
  if (!program) {
    ADD_FAILURE() << "seed " << seed << ": " << program.error().text();
    return {};
  }
  return *program;
}

TEST(ReplicatedLowering, EveryPlanIsValidAndItsProgramProvedAndSimulated) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Plan plan = test::random_replicated_plan(seed);
    const auto valid = validate(plan);
    ASSERT_TRUE(valid) << "seed " << seed << ": " << valid.error().text();
    const Program program = must_lower(plan, seed);
    for (const Violation& violation : check(program))
      ADD_FAILURE() << "seed " << seed << " " << violation.rule << ": " << violation.message;
    for (const Discipline discipline : {Discipline::Eager, Discipline::Rendezvous}) {
      const auto result = simulate(program, {.discipline = discipline, .steps = 2});
      ASSERT_TRUE(result) << "seed " << seed << ": " << result.error().text();
    }
  }
}

// What cannot be seen in the program itself: rows of all samples reach every copy, and copies run the
// microbatches that their split gives them.
TEST(ReplicatedLowering, CopiesRunTheMicrobatchesOfTheirSplit) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Plan plan = test::random_replicated_plan(seed);
    const Program program = must_lower(plan, seed);
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
      for (std::int32_t copy = 0; copy < plan.stages[s].replicas; ++copy) {
        std::set<std::int64_t> expected, ran;
        for (std::int64_t m = 0; m < plan.microbatches; ++m)
          if (runs(plan.stages[s], copy, m)) expected.insert(m);
        const RankId rank = plan.stages[s].devices[static_cast<std::size_t>(copy)];
        for (const Instruction& i : program.ranks[rank.index()].streams[0].body)
          if (i.key.op == Op::F) {
            EXPECT_EQ(i.key.direction, copy);
            ran.insert(i.key.microbatch);
          }
        EXPECT_EQ(ran, expected) << "seed " << seed;
      }
  }
}

TEST(ReplicatedLowering, OfSingleCopiesIsWhatAnOrderOfThePlanLowersTo) {
  std::int64_t compared = 0, recomputing = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Plan plan = test::random_replicated_plan(seed);
    std::int32_t rank = 0;
    for (PlanStage& stage : plan.stages) {  // the first copy of each stage, of whole microbatches
      stage.replicas = 1;
      stage.devices = {RankId(rank++)};
      stage.split = Split::Batch;
      stage.reduce_latency = Nanoseconds(0);
      stage.reduce_bandwidth = BytesPerSecond(0);
    }
    plan.devices.resize(plan.stages.size());
    for (PlanEdge& edge : plan.edges) edge.hops.clear();
    if (plan.workload.optimizer.clip != 0) continue;
    for (std::size_t s = seed % 2; s < plan.stages.size(); s += 2) {  // every second runs forwards again
      plan.stages[s].recompute = {plan.stages[s].layers.front()};
      plan.stages[s].times.recompute = Nanoseconds(5 + static_cast<std::int64_t>(s));
      ++recomputing;
    }
    LoweringParts parts;
    parts.name = "the plan";
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      parts.times.push_back(plan.stages[s].times);
      parts.loads.push_back(s == 0);
      parts.computes_loss.push_back(s + 1 == plan.stages.size());
      parts.memory.push_back(plan.stages[s].memory);
    }
    parts.edges = plan.edges;
    parts.microbatch_size = plan.microbatch_size;
    for (const PlanDevice& device : plan.devices) {
      parts.devices.push_back(device.device);
      parts.limits.push_back(device.memory_limit_bytes);
    }
    const auto order = order_of(plan);
    ASSERT_TRUE(order) << order.error().text();
    const auto program = lower_replicated(plan, parts);
    ASSERT_TRUE(program) << program.error().text();
    EXPECT_EQ(*program, lower_parts(with_steps(*order), parts)) << "seed " << seed;
    ++compared;
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(recomputing, 200);
}

// Drops or swaps one thing: the checker must not let it pass.
TEST(ReplicatedLowering, MutatedProgramsAreRefused) {
  std::int64_t dropped = 0, swapped = 0, unwaited = 0, early = 0, lost = 0, parted = 0, overlaid = 0,
               unreached = 0, partless = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Program program = must_lower(test::random_replicated_plan(seed), seed);
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
      if (program.ranks[r].streams.back().kind != StreamKind::Collective) continue;
      {
        Program mutant = program;  // one rank never calls
        mutant.ranks[r].streams.back().body.pop_back();
        for (Instruction& i : mutant.ranks[r].streams[0].body)
          if (i.after_stream == static_cast<std::int16_t>(program.ranks[r].streams.size() - 1))
            i.after_stream = -1;
        EXPECT_FALSE(check(mutant).empty()) << "seed " << seed;
        ++dropped;
      }
      if (program.ranks[r].streams.back().body.size() > 1) {
        Program mutant = program;
        std::vector<Instruction>& calls = mutant.ranks[r].streams.back().body;
        std::swap(calls[0], calls[1]);
        EXPECT_FALSE(check(mutant).empty()) << "seed " << seed;
        ++swapped;
      }
      {
        Program mutant = program;  // nothing waits for the sums
        for (Instruction& i : mutant.ranks[r].streams[0].body)
          if (i.after_stream == static_cast<std::int16_t>(program.ranks[r].streams.size() - 1))
            i.after_stream = -1;
        EXPECT_FALSE(check(mutant).empty()) << "seed " << seed;
        ++unwaited;
      }
      {
        Program mutant = program;  // sums of gradients that are still being made
        for (Instruction& i : mutant.ranks[r].streams.back().body) --i.after_index;
        EXPECT_FALSE(check(mutant).empty()) << "seed " << seed;
        ++early;
      }
    }
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
      const std::vector<Instruction>& body = program.ranks[r].streams[0].body;
      for (std::size_t i = 0; i < body.size(); ++i) {
        if (!program.is_part(body[i]) || body[i].key.slice == 0) continue;
        Program gone = program;  // one part of a backward never runs
        gone.ranks[r].streams[0].body[i].key.op = Op::Wait;
        EXPECT_FALSE(check(gone).empty()) << "seed " << seed;
        Program turned = program;  // two change places
        std::swap(turned.ranks[r].streams[0].body[i], turned.ranks[r].streams[0].body[i - 1]);
        EXPECT_FALSE(check(turned).empty()) << "seed " << seed;
        Program topless = program;  // the layers of the first part are not those that end the stage
        for (ProgramStore& store : topless.stores)
          if (store.layers > 0) ++store.layers;
        EXPECT_FALSE(check(topless).empty()) << "seed " << seed;
        ++parted;
        break;
      }
    }
    for (const ProgramStore& store : program.stores) {
      if (store.samples == 0) continue;
      Program more = program;  // a copy without samples beside those that have some
      more.stores.push_back(store);
      more.stores.back().copy = 9;
      more.stores.back().samples = more.stores.back().first_sample = 0;
      EXPECT_FALSE(check(more).empty()) << "seed " << seed;
      ++partless;
      break;
    }
    for (std::size_t e = 0; e < program.edges.size(); ++e) {
      Program shifted = program;  // received a row further on, in the stash or in a buffer
      shifted.edges[e].receive_offset += Bytes(64);
      EXPECT_FALSE(check(shifted).empty()) << "seed " << seed;
      // Two messages at one place of a buffer.
      if (program.edges[e].receive_buffer.valid() && program.edges[e].samples > 0) {
        Program twice = program;
        Bytes& offset = twice.edges[e].receive_offset;
        const Bytes other = twice.edges[program.receive_row(e)].receive_offset;
        if (offset != other) {
          offset = other;
          EXPECT_FALSE(check(twice).empty()) << "seed " << seed;
          ++overlaid;
        }
      }
      if (program.edges[e].source == program.edges[e].destination) continue;
      Program cut = program;  // an edge that carries nothing, at both ends
      std::int64_t carried = 0;
      for (RankProgram& rank : cut.ranks)
        for (Stream& stream : rank.streams)
          for (Instruction& i : stream.body)
            if (is_transfer(i.key.op) && i.target == static_cast<std::int32_t>(e)) {
              i.key.op = Op::Wait;
              i.target = -1;
              ++carried;
            }
      if (carried == 0) continue;  // copies that never run the same microbatch
      ProgramEdge& gone = cut.edges[e];  // and that no rank has to serve
      gone.kind = DependencyKind::Order;
      const std::vector<Violation> found = check(cut);
      const bool is_alone = std::count_if(program.edges.begin(), program.edges.end(), [&](const auto& o) {
                              return o.payload == gone.payload && o.from == gone.from && o.to == gone.to &&
                                     o.tensors == gone.tensors;
                            }) == 1;
      if (is_alone) continue;  // then nothing says that anything crosses
      EXPECT_FALSE(found.empty()) << "seed " << seed;
      unreached += std::any_of(found.begin(), found.end(), [](const Violation& v) { return v.rule == "R3"; });
    }
    for (std::size_t e = 0; e < program.edges.size(); ++e) {
      if (program.edges[e].samples == 0) continue;
      Program mutant = program;  // one sample comes from elsewhere
      ++mutant.edges[e].first_sample;
      EXPECT_FALSE(check(mutant).empty()) << "seed " << seed;
      ++lost;
    }
  }
  for (const std::int64_t count : {dropped, swapped, unwaited, early, lost, parted, overlaid, unreached, partless}) EXPECT_GT(count, 20);
}

TEST(ReplicatedLowering, OneAllReduceAStepWhateverTheMicrobatchesSoTheVolumeASampleFalls) {
  // Microbatches of a step add up locally (no_sync): n of them share one all-reduce of each bucket.
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Plan plan = test::random_replicated_plan(seed);
    const auto bytes = [&] {
      Bytes sum;
      const Program program = must_lower(plan, seed);
      for (const RankProgram& rank : program.ranks)
        for (const Stream& stream : rank.streams)
          for (const Instruction& i : stream.body)
            if (i.key.op == Op::AllReduce)
              sum += program.groups[static_cast<std::size_t>(i.target)].bytes;
      return sum;
    };
    const Bytes once = bytes();
    Bytes gradients;
    for (const PlanStage& stage : plan.stages)
      if (stage.replicas > 1) gradients += stage.replicas * stage.memory.gradients;
    EXPECT_EQ(once, gradients) << "seed " << seed;
    plan.microbatches *= 3;
    plan.workload.global_batch *= 3;
    EXPECT_EQ(bytes(), once) << "seed " << seed;  // a third of what three steps would send
  }
}

}  // namespace
}  // namespace penstock
