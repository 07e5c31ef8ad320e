#include "core/replicas.h"
#include "exec/backend.h"
#include "exec/data_source.h"
#include "exec/replicated_reference.h"
#include "exec/run.h"
#include "exec/training.h"
#include "exec/whole_network.h"

// The oracle of the executor: no program, no streams that overlap, no edges. The whole network is one stage; microbatches
// pass through it one after the other in ascending order, each operation finished before the next is issued.

namespace penstock {
namespace {

// A gigabyte of spans and losses: they are kept for all steps.
std::int64_t most_steps(const Plan& plan) {
  const std::int64_t losses = plan.microbatches * loss_parts(plan) * static_cast<std::int64_t>(sizeof(double));
  std::int64_t copies = 1;
  if (is_replicated(plan))
    for (const PlanStage& stage : plan.stages) copies += stage.replicas;
  const std::int64_t spans = copies * (4 * plan.microbatches + 1) * static_cast<std::int64_t>(sizeof(Span));
  return (std::int64_t{1} << 30) / (losses + spans);
}

// One rank that computes, whatever the plan's ranks.
Timeline reference_timeline() {
  Timeline timeline;
  timeline.origin = Origin::Measured;
  timeline.name = "reference";
  timeline.ranks = 1;
  timeline.tracks = {Track{.rank = RankId(0), .lane = std::string(kComputeLane)}};
  return timeline;
}

template <class Network>
RunResult result_of(const Plan& plan, const RunOptions& options, const Network& network, const RankDevice& device,
                    const Training& training, Timeline timeline, std::int32_t step) {
  timeline.peak_memory = timeline.live_peak = {network.memory_bytes()};
  timeline.weights_digest = weights_digest(plan.workload, network);
  RunResult result{.timeline = std::move(timeline), .backend = options.backend,
                   .instruction_set = device.describe().instruction_set};
  training.fill(result, step);
  return result;
}

Result<RunResult> run_replicated_reference(const Plan& plan, const RunOptions& options, RankDevice& device) {
  std::int32_t updates = 0;
  for (const PlanStage& stage : plan.stages) updates += stage.replicas;
  PENSTOCK_TRY(const auto training, Training::prepare(plan, options, {.updates = updates, .most_steps = most_steps(plan)}));
  PENSTOCK_TRY(const DataSource data, DataSource::open(options.data, plan.workload, options.seed));
  PENSTOCK_TRY(const auto network, ReplicatedNetwork::make(plan, data, device, options.seed, *training));
  PENSTOCK_TRY_VOID(training->restore(*network));
  Timeline timeline = reference_timeline();
  training->begin();
  std::int32_t step = 0;
  for (; step < training->steps() && !options.stop.stop_requested(); ++step) {
    if (training->pauses_at(step)) PENSTOCK_TRY_VOID(training->pause(step, *network, false));
    PENSTOCK_TRY_VOID(network->step(step, timeline));
    training->report();
  }
  PENSTOCK_TRY_VOID(training->pause(step, *network, true));
  return result_of(plan, options, *network, device, *training, std::move(timeline), step);
}

}  // namespace

Result<RunResult> run_reference(const Plan& plan, const RunOptions& options) {
  PENSTOCK_TRY(const auto backend, open_backend(options.backend));
  PENSTOCK_TRY(const auto device, backend->lone_device());
  if (is_replicated(plan)) return run_replicated_reference(plan, options, *device);
  PENSTOCK_TRY(const auto training, Training::prepare(plan, options, {.most_steps = most_steps(plan)}));
  PENSTOCK_TRY(const DataSource data, DataSource::open(options.data, plan.workload, options.seed));
  PENSTOCK_TRY(const auto network,
               WholeNetwork::make(plan.workload, data, *device,
                                  {.microbatch_size = plan.microbatch_size, .microbatches = plan.microbatches,
                                   .seed = options.seed, .first_step = training->first_step(), .losses = training->losses(),
                                   .gradient_norms = training->gradient_norms(), .board = training->board()}));
  PENSTOCK_TRY_VOID(training->restore(*network));

  Timeline timeline = reference_timeline();
  const StreamHandle stream = device->create_stream("reference", StreamRole::Compute);
  const auto perform = [&](Op op, StageCall& call, std::int32_t step, std::int32_t microbatch) -> Result<void> {
    Stamp stamp;
    device->launch(stream, call, WorkTag{.instruction = 0, .step = step}, &stamp);
    PENSTOCK_TRY_VOID(device->synchronize());
    timeline.spans.push_back(Span{.track = 0, .step = step, .start = stamp.start, .end = stamp.end,
                                  .key = {.op = op, .microbatch = microbatch}, .label = -1});
    return {};
  };
  Stage& stage = network->stage();
  const StageMemoryMap& memory = network->memory(0);
  const auto update = stage.update(memory);
  const auto norms = plan.workload.optimizer.clip != 0 ? stage.squared_norms(memory) : nullptr;
  training->begin();
  std::int32_t step = 0;
  for (; step < training->steps() && !options.stop.stop_requested(); ++step) {
    if (training->pauses_at(step)) PENSTOCK_TRY_VOID(training->pause(step, *network, false));
    for (std::int32_t m = 0; m < plan.microbatches; ++m) {
      PENSTOCK_TRY_VOID(perform(Op::Load, *stage.load(memory, m), step, m));
      PENSTOCK_TRY_VOID(perform(Op::F, *stage.forward(memory, m), step, m));
      PENSTOCK_TRY_VOID(perform(Op::Loss, *stage.loss(memory, m), step, m));
      PENSTOCK_TRY_VOID(perform(Op::BF, *stage.backward(memory, m), step, m));
    }
    if (norms != nullptr) device->launch(stream, *norms, WorkTag{.instruction = 0, .step = step}, nullptr);
    PENSTOCK_TRY_VOID(perform(Op::Step, *update, step, -1));
    training->report();
  }
  PENSTOCK_TRY_VOID(training->pause(step, *network, true));

  return result_of(plan, options, *network, *device, *training, std::move(timeline), step);
}

}  // namespace penstock
