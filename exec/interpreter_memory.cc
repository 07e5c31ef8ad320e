#include <algorithm>

#include "core/replicas.h"
#include "exec/interpreter.h"

// Where a rank's instructions find their memory: addresses from the program's rows, places in them from the layout of the
// stage at the samples that this copy takes.

namespace penstock {
namespace {

// The row of what one copy sends to, or receives from, a stage: of the first edge that joins them there.
std::int32_t row_between(const Program& program, Payload payload, StageId from, StageId to, RankId rank, bool sends) {
  for (std::size_t e = 0; e < program.edges.size(); ++e) {
    const ProgramEdge& edge = program.edges[e];
    if (edge.payload != payload || edge.from != from || edge.to != to) continue;
    if ((sends ? edge.source : edge.destination) != rank) continue;
    return static_cast<std::int32_t>(sends ? program.send_row(e) : program.receive_row(e));
  }
  return -1;
}

std::int32_t copy_of(const PlanStage& stage, RankId rank) {
  return static_cast<std::int32_t>(std::find(stage.devices.begin(), stage.devices.end(), rank) - stage.devices.begin());
}

}  // namespace

StageRequest Interpreter::request(StageId id) const {
  const Plan& plan = *setup_.plan;
  const PlanStage& stage = plan.stages[id.index()];
  const std::int32_t copy = copy_of(stage, setup_.rank);
  const SampleRange samples = samples_of(plan, id, copy);
  StageRequest request{.workload = &plan.workload, .network = stage.network, .layers = stage.layers,
                       .layout = lay_out_stage(plan, id, copy), .microbatch_size = samples.count,
                       .microbatches = plan.microbatches, .whole_microbatch = plan.microbatch_size,
                       .first_sample = samples.first, .data = setup_.data, .first_step = setup_.first_step,
                       .losses = setup_.losses, .board = setup_.board};
  if (copy == 0) request.gradient_norms = setup_.gradient_norms;  // all copies know the same
  request.loss_copies = loss_parts(plan);
  request.loss_copy = loss_parts(stage) > 1 ? copy : 0;
  return request;
}

std::byte* Interpreter::address(BufferClass cls, StageId stage, std::int32_t microbatch, std::int32_t owner) const {
  const auto found = buffers_.find({cls, cls == BufferClass::Workspace ? -1 : stage.value, microbatch, owner});
  if (found == buffers_.end()) return nullptr;
  return arena_ + setup_.program->buffers_of(setup_.rank)[static_cast<std::size_t>(found->second)].offset.value;
}

StageMemoryMap Interpreter::memory_map(StageId stage, std::int32_t microbatch) const {
  const Program& program = *setup_.program;
  const StageLayout& layout = layouts_.at(stage);
  StageMemoryMap map;
  map.weights = address(BufferClass::Weights, stage, -1, -1);
  map.gradients = address(BufferClass::Gradients, stage, -1, -1);
  map.optimizer = address(BufferClass::Optimizer, stage, -1, -1);
  map.workspace = address(BufferClass::Workspace, stage, -1, -1);
  map.squared_norms = reinterpret_cast<double*>(address(BufferClass::Norms, stage, -1, -1));
  if (microbatch < 0) return map;
  map.data = address(BufferClass::Data, stage, microbatch, -1);
  map.stash = address(BufferClass::Stash, stage, microbatch, -1);
  for (const std::int32_t e : layout.out_edges) {
    const StageId to = setup_.plan->edges[static_cast<std::size_t>(e)].to;
    map.activation_send.push_back(address(BufferClass::SendBuffer, stage, microbatch,
                                          row_between(program, Payload::Activation, stage, to, setup_.rank, true)));
    map.gradient_receive.push_back(address(BufferClass::ReceiveBuffer, stage, microbatch,
                                           row_between(program, Payload::Gradient, to, stage, setup_.rank, false)));
  }
  for (const std::int32_t e : layout.in_edges) {
    const StageId from = setup_.plan->edges[static_cast<std::size_t>(e)].from;
    map.gradient_send.push_back(address(BufferClass::SendBuffer, stage, microbatch,
                                        row_between(program, Payload::Gradient, stage, from, setup_.rank, true)));
  }
  return map;
}

void Interpreter::prepare_collective(const Instruction& instruction, Stage& stage, PreparedInstruction& out) const {
  const Program& program = *setup_.program;
  const Group& group = program.groups[static_cast<std::size_t>(instruction.target)];
  const StageId id(instruction.key.stage);
  const StageMemoryMap map = memory_map(id, -1);
  out.group = setup_.groups.at(GroupId(instruction.target));
  out.target = instruction.target;
  out.bytes = group.bytes;
  if (instruction.key.op == Op::AllReduce) {
    out.data = map.gradients + group.offset.value;
    return;
  }
  // Norms of the parameters of this stage, which its first copy hands out: the others have found the same.
  const PlanStage& planned = setup_.plan->stages[id.index()];
  out.call = stage.squared_norms(map);
  out.data = reinterpret_cast<std::byte*>(map.squared_norms);
  if (copy_of(planned, setup_.rank) > 0) return;
  constexpr auto kEntry = static_cast<std::int64_t>(sizeof(double));
  const std::vector<Layer>& layers = setup_.plan->workload.networks[planned.network.index()].layers;
  std::int64_t entry = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto count = static_cast<std::int64_t>(layers[l].parameters.size());
    if (std::binary_search(planned.layers.begin(), planned.layers.end(), LayerId(static_cast<std::int64_t>(l)))) {
      out.mine.push_back({Bytes(entry * kEntry), Bytes(count * kEntry)});
    }
    entry += count;
  }
}

// Of a SEND or RECV; null if the program has no buffer for it.
std::byte* Interpreter::message(const Instruction& instruction) const {
  const Program& program = *setup_.program;
  const auto e = static_cast<std::size_t>(instruction.target);
  const ProgramEdge& edge = program.edges[e];
  const StageId id(instruction.key.stage);
  const std::int32_t microbatch = instruction.key.microbatch;
  const bool sends = instruction.key.op == Op::Send;
  std::byte* at = nullptr;
  if (sends || edge.payload == Payload::Gradient) {
    at = address(sends ? BufferClass::SendBuffer : BufferClass::ReceiveBuffer, id, microbatch,
                 static_cast<std::int32_t>(sends ? program.send_row(e) : program.receive_row(e)));
  } else {
    const StageLayout& layout = layouts_.at(id);
    for (std::size_t i = 0; i < layout.in_edges.size(); ++i) {
      if (setup_.plan->edges[static_cast<std::size_t>(layout.in_edges[i])].from != edge.from) continue;
      at = address(BufferClass::Stash, id, microbatch, -1) + layout.received[i].value;
    }
  }
  return at == nullptr ? nullptr : at + (sends ? edge.send_offset : edge.receive_offset).value;
}

}  // namespace penstock
