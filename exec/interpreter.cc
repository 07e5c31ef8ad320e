#include "exec/interpreter.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/lanes.h"

namespace penstock {
namespace {

// The message of an edge, or the call of a group, in a given step and microbatch, as all ends compute it.
std::uint64_t identity(std::int32_t target, std::int32_t step, const InstructionKey& key) {
  return static_cast<std::uint64_t>(target) << 48 | static_cast<std::uint64_t>(step & 0xffffff) << 24 |
         static_cast<std::uint64_t>(key.microbatch & 0xffffff);
}

// An order in which one thread may issue a section: each stream in its own order, nothing before what it comes after.
std::vector<std::pair<std::size_t, std::size_t>> issue_order(const RankProgram& rank, std::vector<Instruction> Stream::*part) {
  std::vector<std::size_t> cursor(rank.streams.size(), 0);
  std::vector<std::pair<std::size_t, std::size_t>> order;
  const auto place_next = [&](std::size_t s) {
    const auto& list = rank.streams[s].*part;
    if (cursor[s] == list.size()) return false;
    const Instruction& next = list[cursor[s]];
    if (next.after_stream >= 0 && cursor[static_cast<std::size_t>(next.after_stream)] <= next.after_index) return false;
    order.emplace_back(s, cursor[s]++);
    return true;
  };
  for (bool progress = true; progress;) {
    progress = place_next(0);
    for (std::size_t s = 1; s < rank.streams.size(); ++s) {
      while (place_next(s)) progress = true;
    }
  }
  return order;
}

}  // namespace

Result<std::unique_ptr<Interpreter>> Interpreter::load(Setup setup) {
  std::unique_ptr<Interpreter> interpreter(new Interpreter(std::move(setup)));
  PENSTOCK_TRY_VOID(interpreter->prepare());
  return interpreter;
}

Result<void> Interpreter::prepare() {
  const Program& program = *setup_.program;
  const RankProgram& rank = program.ranks[setup_.rank.index()];
  PENSTOCK_TRY(arena_, setup_.device->allocate(program.arena[setup_.rank.index()]));
  const auto buffers = program.buffers_of(setup_.rank);
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const Buffer& buffer = buffers[b];
    const bool keyed_by_owner = buffer.cls == BufferClass::SendBuffer || buffer.cls == BufferClass::ReceiveBuffer;
    const std::int32_t stage = buffer.cls == BufferClass::Workspace ? -1 : buffer.stage;
    buffers_[{buffer.cls, stage, buffer.microbatch, keyed_by_owner ? buffer.owner : -1}] = static_cast<std::int32_t>(b);
    if (is_persistent(buffer.cls) && !meter_.acquire(buffer.offset, buffer.bytes)) {
      return fail(ErrorCode::Internal, "persistent buffers overlap");
    }
  }
  for (std::size_t s = 0; s < rank.streams.size(); ++s) {
    const auto role = rank.streams[s].kind == StreamKind::Compute ? StreamRole::Compute : StreamRole::Transfer;
    streams_.push_back(setup_.device->create_stream(
        fmt::format("{} {}", setup_.rank.value, lane_of(program, setup_.rank.index(), s)), role));
  }
  for (EventHandle& done : done_) done = setup_.device->create_event();
  PENSTOCK_TRY_VOID(prepare_stages());
  PENSTOCK_TRY_VOID(prepare_section(&Stream::prologue, prologue_));
  PENSTOCK_TRY_VOID(prepare_section(&Stream::body, body_));
  PENSTOCK_TRY_VOID(prepare_section(&Stream::epilogue, epilogue_));
  const std::size_t repetitions = static_cast<std::size_t>(setup_.steps / program.body_steps);
  stamps_.resize(prologue_.stamps + repetitions * body_.stamps + epilogue_.stamps);
  return {};
}

Result<void> Interpreter::prepare_stages() {
  const Plan& plan = *setup_.plan;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    if (std::find(stage.devices.begin(), stage.devices.end(), setup_.rank) == stage.devices.end()) continue;
    const StageId id(static_cast<std::int64_t>(s));
    const StageRequest request = this->request(id);
    layouts_[id] = request.layout;
    PENSTOCK_TRY(stages_[id], setup_.device->make_stage(request));
    const Bytes needed = request.layout.workspace + stages_[id]->scratch_bytes();
    const auto workspace = buffers_.find({BufferClass::Workspace, -1, -1, -1});
    const Bytes given = workspace == buffers_.end()
                            ? Bytes(0)
                            : setup_.program->buffers_of(setup_.rank)[static_cast<std::size_t>(workspace->second)].bytes;
    if (needed > given) {
      return fail(ErrorCode::Infeasible,
                  fmt::format("stage {} needs {} B of workspace with this machine's kernels, the plan gives {} B", s,
                              needed.value, given.value),
                  "profile the workload on this machine and plan again with --profile");
    }
    const Network& network = plan.workload.networks[stage.network.index()];
    const std::vector<Bytes> offsets = parameter_offsets(network, stage.layers);
    std::byte* weights = address(BufferClass::Weights, id, -1, -1);
    std::size_t next = 0;
    for (const LayerId layer : stage.layers) {
      for (const Parameter& parameter : network.layers[layer.index()].parameters) {
        const std::vector<float> values = initial_values(parameter, setup_.seed);
        setup_.device->write(weights + offsets[next++].value, values.data(),
                             Bytes(static_cast<std::int64_t>(values.size() * sizeof(float))));
      }
    }
  }
  return {};
}

Result<PreparedInstruction> Interpreter::prepare_instruction(const Instruction& instruction, std::size_t stream) {
  if (instruction.group != 0) {
    return fail(ErrorCode::Unavailable, fmt::format("the executor does not run grouped transfers yet ({})", text(instruction)),
                "choose a schedule without them");
  }
  const Program& program = *setup_.program;
  const InstructionKey& key = instruction.key;
  const StageId id(key.stage);
  PreparedInstruction out;
  out.key = key;
  out.stream = streams_[stream];
  const auto stage = stages_.find(id);
  if (key.op != Op::Wait && stage == stages_.end()) {
    return fail(ErrorCode::Internal, fmt::format("{} is on rank {}, which does not hold its stage", text(instruction), setup_.rank.value));
  }
  switch (key.op) {
    case Op::Load: out.call = stage->second->load(memory_map(id, key.microbatch), key.microbatch); break;
    case Op::F: out.call = stage->second->forward(memory_map(id, key.microbatch), key.microbatch); break;
    case Op::R: out.call = stage->second->recompute(memory_map(id, key.microbatch), key.microbatch); break;
    case Op::Loss: out.call = stage->second->loss(memory_map(id, key.microbatch), key.microbatch); break;
    case Op::BF: {
      const Segment& segment = program.recipes[static_cast<std::size_t>(instruction.recipe)].segments.front();
      const auto layers = static_cast<std::int32_t>(setup_.plan->stages[id.index()].layers.size());
      if (program.is_part(instruction) && (segment.end_layer > layers || (key.slice == 0 && segment.end_layer != layers))) {
        return fail(ErrorCode::Internal, fmt::format("{} ends at layer {} of a stage of {}", text(instruction), segment.end_layer, layers));
      }
      out.call = program.is_part(instruction)
                     ? stage->second->backward_part(memory_map(id, key.microbatch), key.microbatch,
                                                    static_cast<std::size_t>(segment.first_layer),
                                                    static_cast<std::size_t>(segment.end_layer))
                     : stage->second->backward(memory_map(id, key.microbatch), key.microbatch);
      break;
    }
    case Op::AllReduce:
    case Op::Gather: prepare_collective(instruction, *stage->second, out); break;
    case Op::Step: {
      const StageMemoryMap map = memory_map(id, -1);
      if (setup_.plan->workload.optimizer.clip != 0 && map.squared_norms == nullptr) {
        return fail(ErrorCode::Internal, fmt::format("{} clips by norms that the program does not gather", text(instruction)));
      }
      out.call = stage->second->update(map);
      break;
    }
    case Op::Wait: break;
    case Op::Send:
    case Op::Recv: {
      const bool sends = key.op == Op::Send;
      out.edge = EdgeId(instruction.target);
      const ProgramEdge& edge = program.edges[out.edge.index()];
      out.bytes = edge.bytes;
      const auto& ends = sends ? setup_.senders : setup_.receivers;
      out.communicator = ends.at(out.edge);
      out.target = instruction.target;
      out.data = message(instruction);
      if (out.data == nullptr) {
        return fail(ErrorCode::Internal, fmt::format("{} has no buffer on rank {}", text(instruction), setup_.rank.value));
      }
      break;
    }
    default:
      return fail(ErrorCode::Unavailable, fmt::format("the executor does not run {} yet ({})", name(key.op), text(instruction)),
                  "choose a schedule without it");
  }
  return out;
}

Result<void> Interpreter::prepare_section(std::vector<Instruction> Stream::*part, Section& section) {
  const RankProgram& rank = setup_.program->ranks[setup_.rank.index()];
  std::map<std::pair<std::int32_t, std::uint32_t>, EventHandle> events;  // of instructions that others come after
  std::size_t total = 0;
  for (const Stream& stream : rank.streams) {
    total += (stream.*part).size();
    for (const Instruction& instruction : stream.*part) {
      if (instruction.after_stream < 0) continue;
      EventHandle& event = events[{instruction.after_stream, instruction.after_index}];
      if (!event.valid()) event = setup_.device->create_event();
    }
  }
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> placed;
  for (const auto& [s, i] : issue_order(rank, part)) {
    const Instruction& instruction = (rank.streams[s].*part)[i];
    PENSTOCK_TRY(PreparedInstruction prepared, prepare_instruction(instruction, s));
    std::size_t before = 0;  // the tag counts through the stream's sections
    if (part != &Stream::prologue) before += rank.streams[s].prologue.size();
    if (part == &Stream::epilogue) before += rank.streams[s].body.size();
    prepared.position = static_cast<std::uint32_t>(before + i);
    if (instruction.after_stream >= 0) prepared.wait_for = events.at({instruction.after_stream, instruction.after_index});
    if (const auto event = events.find({static_cast<std::int32_t>(s), static_cast<std::uint32_t>(i)}); event != events.end()) {
      prepared.recorded = event->second;
    }
    placed[{s, i}] = section.instructions.size();
    section.stamps += prepared.stamps();
    section.instructions.push_back(std::move(prepared));
  }
  if (section.instructions.size() != total) {
    return fail(ErrorCode::Infeasible, fmt::format("rank {}: its streams wait for one another in a circle", setup_.rank.value),
                "penstock check shows the circle");
  }
  if (part != &Stream::body) return {};
  const auto buffers = setup_.program->buffers_of(setup_.rank);
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (is_persistent(buffers[b].cls)) continue;
    section.instructions[placed.at({0, buffers[b].first})].acquires.push_back(static_cast<std::int32_t>(b));
    section.instructions[placed.at({0, buffers[b].last})].releases.push_back(static_cast<std::int32_t>(b));
  }
  return {};
}

Result<void> Interpreter::issue(const Section& section, std::int32_t first_step, std::size_t first_stamp) {
  RankDevice& device = *setup_.device;
  const auto buffers = setup_.program->buffers_of(setup_.rank);
  for (std::size_t i = 0; i < section.instructions.size(); ++i) {
    const PreparedInstruction& instruction = section.instructions[i];
    const std::int32_t step = first_step + instruction.key.step;
    const WorkTag tag{.instruction = static_cast<std::int32_t>(instruction.position), .step = step};
    Stamp* stamp = &stamps_[first_stamp];
    first_stamp += instruction.stamps();
    for (const std::int32_t b : instruction.acquires) {
      const Buffer& buffer = buffers[static_cast<std::size_t>(b)];
      if (meter_.acquire(buffer.offset, buffer.bytes)) continue;
      return fail(ErrorCode::Internal, fmt::format("rank {}: {} takes memory that is still in use", setup_.rank.value, text(instruction.key)));
    }
    if (instruction.wait_for.valid()) device.wait(instruction.stream, instruction.wait_for, tag);
    if (instruction.call) {
      device.launch(instruction.stream, *instruction.call, tag, stamp);
      if (instruction.stamps() > 1) ++stamp;
    }
    if (instruction.key.op == Op::Send) {
      instruction.communicator->send(instruction.stream, instruction.data, instruction.bytes,
                                     identity(instruction.target, step, instruction.key), tag, stamp);
    } else if (instruction.key.op == Op::Recv) {
      instruction.communicator->receive(instruction.stream, instruction.data, instruction.bytes,
                                        identity(instruction.target, step, instruction.key), tag, stamp);
    } else if (instruction.key.op == Op::Gather) {
      instruction.group->gather(instruction.stream, instruction.data, instruction.bytes, instruction.mine,
                                identity(instruction.target, step, instruction.key), tag, stamp);
    } else if (instruction.key.op == Op::AllReduce) {
      instruction.group->all_reduce(instruction.stream, instruction.data, instruction.bytes,
                                    identity(instruction.target, step, instruction.key), tag, stamp);
    }
    if (instruction.recorded.valid()) device.record(instruction.stream, instruction.recorded);
    for (const std::int32_t b : instruction.releases) {
      meter_.release(buffers[static_cast<std::size_t>(b)].offset, buffers[static_cast<std::size_t>(b)].bytes);
    }
  }
  return {};
}

Result<void> Interpreter::run(StepGate& gate) {
  const Result<void> issued = issue_all(gate);
  if (!issued) setup_.device->abort(issued.error());
  // Drained in any case: workers must be done with what this and the communicators hold.
  const Result<void> finished = setup_.device->synchronize();
  return issued ? finished : issued;
}

Result<void> Interpreter::issue_all(StepGate& gate) {
  const std::int32_t body_steps = setup_.program->body_steps;
  const std::int32_t repetitions = setup_.steps / body_steps;
  std::size_t stamp = 0;
  PENSTOCK_TRY_VOID(issue(prologue_, 0, stamp));
  stamp += prologue_.stamps;
  for (repetitions_ = 0; repetitions_ < repetitions; ++repetitions_) {
    const EventHandle done = done_[repetitions_ % 2];
    // Never more than two repetitions ahead of the work: a stop takes effect soon, a run given up ends.
    if (repetitions_ >= 2 && !setup_.device->await(done)) break;
    if (gate.meets_before(repetitions_)) {
      PENSTOCK_TRY_VOID(setup_.device->synchronize());
      PENSTOCK_TRY(const bool goes_on, gate.meet(repetitions_));
      if (!goes_on) break;
    }
    if (!gate.enter(repetitions_)) break;
    PENSTOCK_TRY_VOID(issue(body_, repetitions_ * body_steps, stamp));
    setup_.device->record(streams_[0], done);
    stamp += body_.stamps;
  }
  return issue(epilogue_, repetitions_ * body_steps, stamp);
}

const Instruction* Interpreter::instruction(std::size_t stream, WorkTag tag) const {
  const Stream& s = setup_.program->ranks[setup_.rank.index()].streams[stream];
  auto index = static_cast<std::size_t>(tag.instruction);
  for (const auto* part : {&s.prologue, &s.body, &s.epilogue}) {
    if (index < part->size()) return &(*part)[index];
    index -= part->size();
  }
  return nullptr;
}

void Interpreter::append_spans(Timeline& timeline, std::vector<Transfer>& transfers) const {
  const Program& program = *setup_.program;
  const auto first_track = static_cast<std::uint32_t>(timeline.tracks.size());
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    timeline.tracks.push_back(Track{.rank = setup_.rank, .lane = lane_of(program, setup_.rank.index(), s)});
  }
  // Work of the rank's own, unlike the exchange: busy time under a name of its own.
  const auto squares_label = [&] {
    const auto at = std::find(timeline.labels.begin(), timeline.labels.end(), kSquaresLabel);
    if (at != timeline.labels.end()) return static_cast<std::int32_t>(at - timeline.labels.begin());
    timeline.labels.emplace_back(kSquaresLabel);
    return static_cast<std::int32_t>(timeline.labels.size() - 1);
  };
  std::size_t stamp = 0;
  const auto append = [&](const Section& section, std::int32_t first_step) {
    for (const PreparedInstruction& instruction : section.instructions) {
      const Stamp* at = &stamps_[stamp];
      stamp += instruction.stamps();
      if (instruction.key.op == Op::Wait) continue;
      if (instruction.edge.valid()) transfers.push_back({instruction.edge, static_cast<std::uint32_t>(timeline.spans.size())});
      Span span{.track = first_track + static_cast<std::uint32_t>(instruction.stream.value),
                .step = first_step + instruction.key.step, .start = at->start, .end = at->end, .key = instruction.key,
                .edge = instruction.edge, .label = -1};
      if (instruction.stamps() > 1) {
        span.label = squares_label();
        timeline.spans.push_back(span);
        span.label = -1;
        span.start = at[1].start;
        span.end = at[1].end;
      }
      timeline.spans.push_back(span);
    }
  };
  append(prologue_, 0);
  for (std::int32_t k = 0; k < repetitions_; ++k) append(body_, k * program.body_steps);
  append(epilogue_, repetitions_ * program.body_steps);
}

std::byte* Interpreter::parameter_address(const ParameterPlace& place, std::int32_t state) const {
  if (state < 0) return address(BufferClass::Weights, place.stage, -1, -1) + place.offset.value;
  return address(BufferClass::Optimizer, place.stage, -1, -1) + state * layouts_.at(place.stage).parameters.value +
         place.offset.value;
}

void Interpreter::read_parameter(const ParameterPlace& place, std::int32_t state, std::span<float> out) const {
  setup_.device->read(out.data(), parameter_address(place, state), Bytes(static_cast<std::int64_t>(out.size_bytes())));
}

void Interpreter::write_parameter(const ParameterPlace& place, std::int32_t state, std::span<const float> values) {
  setup_.device->write(parameter_address(place, state), values.data(),
                       Bytes(static_cast<std::int64_t>(values.size_bytes())));
}

}  // namespace penstock
