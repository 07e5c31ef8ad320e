#include "planner/partition/stage_figures.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "core/stage_layout.h"
#include "planner/candidate.h"
#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

std::vector<LayerId> recomputed(const CostTable& costs, const std::vector<LayerId>& layers) {
  std::vector<LayerId> out;
  std::copy_if(layers.begin(), layers.end(), std::back_inserter(out),
               [&](LayerId layer) { return costs.layers[layer.index()].recomputed; });
  return out;
}

// Every contiguous range of random networks, residual cuts among them: the same bytes as the layout
// the executor uses.
TEST(StageFigures, AreThoseOfTheStageLayout) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    test::Draws draws(seed);
    const std::int64_t microbatch = draws.between(1, 3);
    const Workload workload = test::random_workload(draws, draws.between(1, 14), 6);
    ASSERT_TRUE(validate(workload).has_value()) << validate(workload).error().text();
    CostTable costs = test::random_costs(draws, workload, microbatch, 100);
    if (seed % 2 == 1)
      for (std::size_t l = 0; l < costs.layers.size(); ++l)
        costs.layers[l].recomputed = !workload.networks[0].layers[l].is_loss() && draws.chance(0.6);
    const auto n = static_cast<std::int32_t>(workload.networks[0].layers.size());
    StageGrower range(workload, costs);
    ASSERT_EQ(range.layers(), n);
    for (std::int32_t first = 0; first < n; ++first) {
      range.start(first);
      for (std::int32_t end = first + 1; end <= n; ++end) {
        range.extend();
        std::vector<std::int32_t> ends;
        if (first > 0) ends.push_back(first);
        const auto stage = static_cast<std::int64_t>(ends.size());
        ends.push_back(end);
        if (end < n) ends.push_back(n);
        const std::vector<std::vector<LayerId>> stages = stages_of(ends);
        const std::vector<PlanEdge> edges =
            crossing_edges(workload.networks[0], stages, microbatch);
        const StageLayout layout =
            lay_out_stage(workload, NetworkId(0), stages, edges, StageId(stage), microbatch,
                          recomputed(costs, stages[static_cast<std::size_t>(stage)]));
        const StageMemory memory = stage_memory(costs, layout, workload);
        const StageTimes times = stage_times(costs, stages[static_cast<std::size_t>(stage)]);
        const StageFigures& figures = range.figures();
        const std::string where =
            fmt::format("seed {}, layers [{}, {}) of {}", seed, first, end, n);
        // Of what is recomputed, at least what a backward reads; at most all.
        const Nanoseconds once = times.order_forward() + times.backward();
        EXPECT_GE(figures.compute, once) << where;
        EXPECT_LE(figures.compute, once + stage_times(costs, layout.recomputed).recompute) << where;
        EXPECT_EQ(figures.step, times.step) << where;
        const StageTimes before = first == 0 ? StageTimes() : stage_times(costs, stages[0]);
        EXPECT_EQ(figures.before, before.order_forward() + before.backward()) << where;
        EXPECT_EQ(figures.parameters, memory.parameters) << where;
        EXPECT_EQ(figures.stash, memory.stash) << where;
        EXPECT_EQ(figures.data, memory.data) << where;
        EXPECT_LE(figures.workspace, memory.workspace) << where;
        EXPECT_GE(2 * figures.workspace.value + 2048, memory.workspace.value) << where;
        Bytes received, sent;
        for (const PlanEdge& edge : edges) {
          if (edge.to.value == stage) received += edge.bytes;
          if (edge.from.value == stage) sent += edge.bytes;
        }
        // With one stage before and one behind, each tensor crosses once.
        EXPECT_EQ(figures.received, received) << where;
        EXPECT_EQ(figures.sent, sent) << where;
      }
    }
  }
}

TEST(StageFigures, CountATensorThatSeveralStagesReadOnce) {
  test::Draws draws(7);
  Workload workload = test::random_workload(draws, 0, 1);  // embedding, head, loss
  const CostTable costs = test::random_costs(draws, workload, 1, 10);
  StageGrower range(workload, costs);
  range.start(0);
  range.extend();
  const Bytes size = align_up(workload.networks[0].layers[0].output.bytes(), kTensorAlignment);
  EXPECT_EQ(range.figures().sent, size);
  EXPECT_EQ(range.figures().received, Bytes(0));
  range.extend();
  EXPECT_EQ(range.figures().stash, size);  // the head reads it again
}

}  // namespace
}  // namespace penstock
