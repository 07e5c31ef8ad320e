#include <fmt/core.h>

#include "exec/cpu/cpu_device.h"
#include "exec/data_source.h"
#include "exec/losses.h"
#include "exec/parameters.h"
#include "exec/run.h"

// The oracle of the executor: no program, no streams that overlap, no edges. The whole network is one stage; microbatches
// pass through it one after the other in ascending order, each operation finished before the next is issued.

namespace penstock {
namespace {

// The same plan with all layers of network 0 on one stage.
Plan single_stage(const Plan& plan) {
  Plan single = plan;
  single.edges.clear();
  single.stages.assign(1, PlanStage{});
  for (std::size_t l = 0; l < plan.workload.networks[0].layers.size(); ++l) {
    single.stages[0].layers.push_back(LayerId(static_cast<std::int64_t>(l)));
  }
  single.stages[0].devices = {RankId(0)};
  single.devices.resize(1);
  return single;
}

// Buffers one behind the other: each takes its bytes, rounded up.
struct Allotment {
  Bytes next;
  Bytes take(Bytes bytes) {
    const Bytes at = next;
    next = align_up(next + bytes, kTensorAlignment);
    return at;
  }
};

}  // namespace

Result<RunResult> run_reference(const Plan& plan, const RunOptions& options) {
  const Plan single = single_stage(plan);
  const Network& network = single.workload.networks[0];
  PENSTOCK_TRY(const DataSource data, DataSource::open(options.data, single.workload, options.seed));
  std::vector<double> losses(static_cast<std::size_t>(options.steps * single.microbatches), 0.0);
  auto state = std::make_shared<cpu::RunState>();
  cpu::CpuDevice device(state, -1);

  const StageRequest request{.workload = &single.workload, .network = NetworkId(0), .layers = single.stages[0].layers,
                             .layout = lay_out_stage(single, StageId(0)), .microbatch_size = single.microbatch_size,
                             .microbatches = single.microbatches, .data = &data, .losses = losses.data()};
  PENSTOCK_TRY(const auto stage, device.make_stage(request));
  const StageLayout& layout = request.layout;
  Allotment memory;
  const Bytes weights = memory.take(layout.parameters), gradients = memory.take(layout.parameters);
  const Bytes optimizer = memory.take(layout.parameters * single.workload.optimizer.states());
  const Bytes workspace = memory.take(layout.workspace + stage->scratch_bytes());
  const Bytes samples = memory.take(layout.data_bytes), stash = memory.take(layout.stash);
  PENSTOCK_TRY(std::byte* const arena, device.allocate(memory.next));

  StageMemoryMap map;
  map.weights = arena + weights.value;
  map.gradients = arena + gradients.value;
  map.optimizer = single.workload.optimizer.states() > 0 ? arena + optimizer.value : nullptr;
  map.workspace = arena + workspace.value;
  map.data = arena + samples.value;
  map.stash = arena + stash.value;
  const std::vector<Bytes> offsets = parameter_offsets(network, request.layers);
  std::vector<const Parameter*> parameters;
  for (const Layer& layer : network.layers) {
    for (const Parameter& parameter : layer.parameters) parameters.push_back(&parameter);
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::vector<float> values = initial_values(*parameters[p], options.seed);
    device.write(map.weights + offsets[p].value, values.data(), Bytes(static_cast<std::int64_t>(values.size() * 4)));
  }

  Timeline timeline;
  timeline.origin = Origin::Measured;
  timeline.name = "reference";
  timeline.ranks = 1;
  timeline.tracks = {Track{.rank = RankId(0), .lane = "compute"}};
  const StreamHandle stream = device.create_stream("reference", StreamRole::Compute);
  const auto perform = [&](Op op, StageCall& call, std::int32_t step, std::int32_t microbatch) -> Result<void> {
    Stamp stamp;
    device.launch(stream, call, WorkTag{.instruction = 0, .step = step}, &stamp);
    PENSTOCK_TRY_VOID(device.synchronize());
    timeline.spans.push_back(Span{.track = 0, .step = step, .start = stamp.start, .end = stamp.end,
                                  .key = {.op = op, .microbatch = microbatch}, .label = -1});
    return {};
  };
  const auto update = stage->update(map);
  std::int32_t step = 0;
  for (; step < options.steps && !options.stop.stop_requested(); ++step) {
    if (options.progress) options.progress(step);
    for (std::int32_t m = 0; m < single.microbatches; ++m) {
      PENSTOCK_TRY_VOID(perform(Op::Load, *stage->load(map, m), step, m));
      PENSTOCK_TRY_VOID(perform(Op::F, *stage->forward(map, m), step, m));
      PENSTOCK_TRY_VOID(perform(Op::Loss, *stage->loss(map, m), step, m));
      PENSTOCK_TRY_VOID(perform(Op::BF, *stage->backward(map, m), step, m));
    }
    PENSTOCK_TRY_VOID(perform(Op::Step, *update, step, -1));
  }

  timeline.warmup_steps = std::min(options.warmup_steps, std::max(0, step - 1));
  timeline.losses = step_losses(losses, single.microbatches, step);
  timeline.peak_memory = timeline.live_peak = {memory.next};
  WeightsDigest digest;
  std::vector<float> values;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    values.resize(static_cast<std::size_t>(parameters[p]->elements()));
    device.read(values.data(), map.weights + offsets[p].value, Bytes(static_cast<std::int64_t>(values.size() * 4)));
    digest.add(values.data(), values.size());
  }
  timeline.weights_digest = digest.text();
  return RunResult{.timeline = std::move(timeline), .backend = options.backend,
                   .instruction_set = device.describe().instruction_set, .steps = step,
                   .interrupted = step < options.steps};
}

}  // namespace penstock
