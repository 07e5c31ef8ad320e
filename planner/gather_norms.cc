#include "planner/gather_norms.h"

#include <algorithm>
#include <utility>

#include "core/buckets.h"

namespace penstock {
namespace {

constexpr Bytes kNorm{sizeof(double)};

Bytes table_bytes(const Workload& workload) {
  Bytes bytes;
  for (const Network& network : workload.networks)
    for (const Layer& layer : network.layers)
      bytes += static_cast<std::int64_t>(layer.parameters.size()) * kNorm;
  return bytes;
}

// Behind the rank's other rows that STEP uses, before its workspace.
void add_tables(Program& program, Bytes bytes) {
  std::vector<Buffer> rows;
  rows.reserve(program.buffers.size() + program.ranks.size());
  std::vector<std::size_t> first = {0};
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    const auto held = program.buffers_of(RankId(static_cast<std::int64_t>(r)));
    const auto place = std::find_if(held.begin(), held.end(), [](const Buffer& b) {
      return !is_persistent(b.cls) || b.cls >= BufferClass::Workspace;
    });
    rows.insert(rows.end(), held.begin(), place);
    Buffer& table = rows.emplace_back();
    table.cls = BufferClass::Norms;
    table.bytes = bytes;
    for (const Instruction& instruction : program.ranks[r].streams[0].body)
      if (instruction.key.op == Op::Step) table.stage = instruction.key.stage;
    rows.insert(rows.end(), place, held.end());
    first.push_back(rows.size());
  }
  program.buffers = std::move(rows);
  program.first_buffer = std::move(first);
}

}  // namespace

Result<void> add_gather_hop(Plan& plan, const CostTable& costs) {
  if (plan.workload.optimizer.clip == 0 || plan.ranks() == 1) return {};
  const Bytes bytes = table_bytes(plan.workload);
  Hop slowest;
  for (std::size_t r = 0; r < plan.devices.size(); ++r) {
    PENSTOCK_TRY(const Hop hop,
                 costs.hop(plan.cluster, plan.devices[r].device,
                           plan.devices[(r + 1) % plan.devices.size()].device));
    if (r == 0 || hop.time(bytes) > slowest.time(bytes)) slowest = hop;
  }
  plan.gather_latency = slowest.latency;
  plan.gather_bandwidth = slowest.bandwidth;
  return {};
}

void gather_norms(const Plan& plan, Program& program) {
  const Bytes bytes = table_bytes(plan.workload);
  if (plan.workload.optimizer.clip == 0 || bytes.value == 0) return;
  Group group;
  group.kind = GroupKind::GradientNorm;
  group.bytes = bytes;
  for (std::size_t r = 0; r < program.ranks.size(); ++r)
    group.ranks.push_back(RankId(static_cast<std::int64_t>(r)));
  const auto target = static_cast<std::int32_t>(program.groups.size());
  program.groups.push_back(std::move(group));
  const auto recipe = static_cast<std::int32_t>(program.recipes.size());
  const auto ranks = static_cast<std::int32_t>(program.ranks.size());
  program.recipes.push_back(
      {"GATHER squared norms",
       {{.kind = SegmentKind::Collective,
         .duration = ranks == 1 ? Nanoseconds(0)
                                : ring_gather(ranks, plan.gather_latency, plan.gather_bandwidth,
                                              bytes),
         .bytes = bytes,
         .group = GroupId(target)}}});
  add_tables(program, bytes);
  for (RankProgram& rank : program.ranks) {
    std::vector<Instruction>& body = rank.streams[0].body;
    body.reserve(body.size() + 1);
    const auto step = std::find_if(body.begin(), body.end(), [](const Instruction& instruction) {
      return instruction.key.op == Op::Step;
    });
    if (step == body.end()) continue;
    Instruction gather = *step;
    gather.key.op = Op::Gather;
    gather.recipe = recipe;
    gather.target = target;
    step->after_stream = -1;
    step->after_index = 0;
    body.insert(step, gather);
  }
}

}  // namespace penstock
