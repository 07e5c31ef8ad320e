#include <algorithm>

#include "core/replicas.h"
#include "exec/cpu/cpu_device.h"
#include "exec/data_source.h"
#include "exec/losses.h"
#include "exec/replicated_reference.h"
#include "exec/run.h"
#include "exec/whole_network.h"

// The oracle of the executor: no program, no streams that overlap, no edges. The whole network is one stage; microbatches
// pass through it one after the other in ascending order, each operation finished before the next is issued.

namespace penstock {
namespace {

Result<RunResult> run_replicated_reference(const Plan& plan, const RunOptions& options) {
  PENSTOCK_TRY(const DataSource data, DataSource::open(options.data, plan.workload, options.seed));
  const std::int64_t losses_a_step = plan.microbatches * loss_parts(plan);
  std::vector<double> losses(static_cast<std::size_t>(options.steps * losses_a_step), 0.0);
  cpu::CpuDevice device(std::make_shared<cpu::RunState>(), -1);
  PENSTOCK_TRY(const auto network, ReplicatedNetwork::make(plan, data, device, options.seed, losses.data()));
  Timeline timeline;
  timeline.origin = Origin::Measured;
  timeline.name = "reference";
  timeline.ranks = 1;
  std::int32_t step = 0;
  for (; step < options.steps && !options.stop.stop_requested(); ++step) {
    if (options.progress) options.progress(step);
    PENSTOCK_TRY_VOID(network->step(step));
  }
  timeline.losses = step_losses(losses, losses_a_step, step);
  timeline.peak_memory = timeline.live_peak = {network->memory_bytes()};
  timeline.weights_digest = network->weights_digest();
  return RunResult{.timeline = std::move(timeline), .backend = options.backend,
                   .instruction_set = device.describe().instruction_set, .steps = step,
                   .interrupted = step < options.steps};
}

}  // namespace

Result<RunResult> run_reference(const Plan& plan, const RunOptions& options) {
  PENSTOCK_TRY_VOID(check_backend(options.backend));
  if (is_replicated(plan)) return run_replicated_reference(plan, options);
  PENSTOCK_TRY(const DataSource data, DataSource::open(options.data, plan.workload, options.seed));
  std::vector<double> losses(static_cast<std::size_t>(options.steps) * static_cast<std::size_t>(plan.microbatches), 0.0);
  cpu::CpuDevice device(std::make_shared<cpu::RunState>(), -1);
  PENSTOCK_TRY(const auto network,
               WholeNetwork::make(plan.workload, data, device,
                                  {.microbatch_size = plan.microbatch_size, .microbatches = plan.microbatches,
                                   .seed = options.seed, .losses = losses.data()}));

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
  Stage& stage = network->stage();
  const StageMemoryMap& memory = network->memory(0);
  const auto update = stage.update(memory);
  std::int32_t step = 0;
  for (; step < options.steps && !options.stop.stop_requested(); ++step) {
    if (options.progress) options.progress(step);
    for (std::int32_t m = 0; m < plan.microbatches; ++m) {
      PENSTOCK_TRY_VOID(perform(Op::Load, *stage.load(memory, m), step, m));
      PENSTOCK_TRY_VOID(perform(Op::F, *stage.forward(memory, m), step, m));
      PENSTOCK_TRY_VOID(perform(Op::Loss, *stage.loss(memory, m), step, m));
      PENSTOCK_TRY_VOID(perform(Op::BF, *stage.backward(memory, m), step, m));
    }
    PENSTOCK_TRY_VOID(perform(Op::Step, *update, step, -1));
  }

  timeline.warmup_steps = std::min(options.warmup_steps, std::max(0, step - 1));
  timeline.losses = step_losses(losses, plan.microbatches, step);
  timeline.peak_memory = timeline.live_peak = {network->memory_bytes()};
  timeline.weights_digest = network->weights_digest();
  return RunResult{.timeline = std::move(timeline), .backend = options.backend,
                   .instruction_set = device.describe().instruction_set, .steps = step,
                   .interrupted = step < options.steps};
}

}  // namespace penstock
