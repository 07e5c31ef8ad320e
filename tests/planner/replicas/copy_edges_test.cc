#include "planner/copy_edges.h"

#include <gtest/gtest.h>

#include "core/replicas.h"
#include "core/stage_layout.h"
#include "tests/planner/replicas/replicated_plans.h"

namespace penstock {
namespace {

// Which sample of which tensor each byte of a buffer is, for the copy of a stage that holds it.
std::vector<std::int64_t> names(const Plan& plan, const PlanEdge& edge, StageId stage,
                                std::int32_t copy) {
  const Network& network = plan.workload.networks[0];
  const SampleRange samples = samples_of(plan, stage, copy);
  const std::vector<Bytes> offsets = tensor_offsets(network, edge.tensors, samples.count);
  std::vector<std::int64_t> out(static_cast<std::size_t>(offsets.back().value), -1);
  for (std::size_t t = 0; t < edge.tensors.size(); ++t) {
    const std::int64_t bytes = network.layers[edge.tensors[t].index()].output.bytes().value;
    for (std::int64_t i = 0; i < samples.count * bytes; ++i)
      out[static_cast<std::size_t>(offsets[t].value + i)] =
          (static_cast<std::int64_t>(t) << 40) + samples.first * bytes + i;
  }
  return out;
}

TEST(CopyEdges, EveryByteThatACopyNeedsArrivesOnceFromOneThatHasIt) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Plan plan = test::random_replicated_plan(seed);
    const CopyEdges edges = copy_edges(plan);
    for (const PlanEdge& edge : plan.edges) {
      for (const bool forward : {true, false}) {
        const StageId from = forward ? edge.from : edge.to, to = forward ? edge.to : edge.from;
        for (std::int32_t copy = 0; copy < plan.stages[to.index()].replicas; ++copy) {
          const std::int64_t m = copy;  // one that the copy runs, whatever its split
          const std::vector<std::int64_t> wanted = names(plan, edge, to, copy);
          std::vector<std::int64_t> got(wanted.size(), -1);
          for (std::size_t e = 0; e < edges.edges.size(); ++e) {
            const ProgramEdge& part = edges.edges[e];
            if (part.from != from || part.to != to || edges.to_copy[e] != copy) continue;
            if (!runs(plan.stages[from.index()], edges.from_copy[e], m)) continue;
            const std::vector<std::int64_t> source = names(plan, edge, from, edges.from_copy[e]);
            for (std::int64_t i = 0; i < part.bytes.value; ++i) {
              const std::int64_t name = source[static_cast<std::size_t>(part.send_offset.value + i)];
              std::int64_t& place = got[static_cast<std::size_t>(part.receive_offset.value + i)];
              EXPECT_EQ(place, -1) << "seed " << seed << " edge " << e << " byte " << i;
              place = name;
            }
          }
          EXPECT_EQ(got, wanted) << "seed " << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace penstock
