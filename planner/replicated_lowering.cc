#include "planner/replicated_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/replicas.h"
#include "planner/copy_edges.h"
#include "planner/copy_lists.h"
#include "planner/stage_buckets.h"

namespace penstock {
namespace {

constexpr std::size_t kMostCopies = 256;  // what an instruction's key can tell apart

class CopyLowering {
 public:
  CopyLowering(const Plan& plan, LoweringParts parts, std::vector<CopyList> lists)
      : plan_(plan), parts_(std::move(parts)), lists_(std::move(lists)), edges_(copy_edges(plan)) {}

  Result<Program> run() {
    program_.name = std::move(parts_.name);
    program_.body_microbatches = static_cast<std::int32_t>(plan_.microbatches);
    program_.microbatch_size = plan_.microbatch_size;
    program_.stages = static_cast<std::int32_t>(plan_.stages.size());
    program_.edges = edges_.edges;
    PENSTOCK_TRY_VOID(make_groups());
    make_recipes();
    make_stores();
    make_streams();
    program_.first_buffer.push_back(0);
    for (std::size_t rank = 0; rank < lists_.size(); ++rank) lower_rank(rank);
    return std::move(program_);
  }

 private:
  // A stage's operations: recipes of the whole ones, and what its last backward is cut into.
  struct StageOps {
    std::array<std::int32_t, 6> recipes{-1, -1, -1, -1, -1, -1};  // by Slot
    std::vector<std::int32_t> part_recipes;                   // empty: not cut
    std::vector<std::int32_t> groups, after_part;             // one a bucket
  };
  enum Slot : std::size_t { kLoad, kForward, kLoss, kBackward, kRecompute, kStep };

  Result<void> make_groups() {
    ops_.resize(plan_.stages.size());
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const PlanStage& stage = plan_.stages[s];
      if (stage.replicas == 1) {
        buckets_.emplace_back();
        continue;
      }
      if (stage.devices.size() > kMostCopies)
        return fail(ErrorCode::Infeasible,
                    fmt::format("stage {} has {} replicas", s, stage.devices.size()),
                    fmt::format("at most {} copies of a stage can be told apart", kMostCopies));
      StageBuckets buckets = stage_buckets(plan_, StageId(static_cast<std::int64_t>(s)));
      for (const Group& group : buckets.groups) {
        ops_[s].groups.push_back(static_cast<std::int32_t>(program_.groups.size()));
        program_.groups.push_back(group);
      }
      ops_[s].after_part = buckets.after_part;
      buckets_.push_back(std::move(buckets));
    }
    return {};
  }

  std::int32_t add_recipe(std::string name, Segment segment) {
    program_.recipes.push_back({std::move(name), {segment}});
    return static_cast<std::int32_t>(program_.recipes.size()) - 1;
  }

  void make_recipes() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const StageTimes& times = parts_.times[s];
      const std::array<std::optional<Nanoseconds>, 6> whole = {
          parts_.loads[s] ? std::optional(times.load) : std::nullopt, times.forward,
          parts_.computes_loss[s] ? std::optional(times.loss) : std::nullopt,
          times.backward(), recomputes(s) ? std::optional(times.recompute) : std::nullopt,
          times.step};
      constexpr std::array kNames = {"LOAD", "F", "LOSS", "BF", "R", "STEP"};
      for (std::size_t k = 0; k < whole.size(); ++k)
        if (whole[k])
          ops_[s].recipes[k] =
              add_recipe(fmt::format("{} stage {}", kNames[k], s), {.duration = *whole[k]});
    }
    for (std::size_t e = 0; e < program_.edges.size(); ++e) {
      const ProgramEdge& edge = program_.edges[e];
      transfers_.push_back(add_recipe(
          fmt::format("{} stage {} to {}",
                      edge.payload == Payload::Activation ? "activation" : "gradient",
                      edge.from.value, edge.to.value),
          {.kind = SegmentKind::Transfer, .duration = edges_.times[e], .bytes = edge.bytes}));
    }
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const std::vector<StageBuckets::Part>& parts = buckets_[s].parts;
      for (std::size_t k = 0; parts.size() > 1 && k < parts.size(); ++k)
        ops_[s].part_recipes.push_back(
            add_recipe(fmt::format("BF stage {} part {}", s, k),
                       {.duration = parts[k].time,
                        .first_layer = parts[k].first_layer,
                        .end_layer = parts[k].end_layer}));
    }
    for (std::size_t g = 0; g < program_.groups.size(); ++g) {
      const Group& group = program_.groups[g];
      const PlanStage& stage = plan_.stages[group.stage.index()];
      reductions_.push_back(add_recipe(
          fmt::format("ALLREDUCE stage {} parameters {} to {}", group.stage.value,
                      group.first_parameter, group.end_parameter - 1),
          {.kind = SegmentKind::Collective,
           .duration = ring_all_reduce(stage.replicas, stage.reduce_latency,
                                       stage.reduce_bandwidth, group.bytes),
           .bytes = group.bytes,
           .group = GroupId(static_cast<std::int64_t>(g))}));
    }
  }

  // A copy adds its microbatches in the order of its backwards; then the copies are added. Copies
  // that share microbatches each add all of them.
  void make_stores() {
    std::vector<AccumulationTree> trees(plan_.stages.size());
    for (std::size_t s = 0; s < trees.size(); ++s)
      trees[s].copies.resize(static_cast<std::size_t>(plan_.stages[s].replicas));
    for (const CopyList& list : lists_)
      for (const OrderOp& op : list.ops)
        if (op.op == Op::BF)
          trees[list.stage.index()].copies[static_cast<std::size_t>(list.copy)].push_back(
              static_cast<std::int32_t>(op.microbatch));
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const PlanStage& stage = plan_.stages[s];
      first_store_.push_back(static_cast<std::int32_t>(program_.stores.size()));
      for (std::int32_t copy = 0; copy < stage.replicas; ++copy) {
        ProgramStore& store = program_.stores.emplace_back();
        store.name = fmt::format("stage {}", s);
        store.network = parts_.network;
        store.stage = StageId(static_cast<std::int64_t>(s));
        store.rank = stage.devices[static_cast<std::size_t>(copy)];
        store.copy = copy;
        store.accumulation = trees[s];
        if (!ops_[s].part_recipes.empty())
          store.layers = static_cast<std::int32_t>(stage.layers.size());
        if (stage.replicas == 1 || stage.split != Split::Batch) continue;
        const SampleRange samples = samples_of(plan_, store.stage, copy);
        store.first_sample = samples.first;
        store.samples = samples.count;
      }
    }
  }

  void make_streams() {
    for (std::size_t r = 0; r < lists_.size(); ++r) {
      RankProgram& rank = program_.ranks.emplace_back();
      rank.device = parts_.devices[r];
      rank.memory_limit = parts_.limits[r];
      rank.streams.emplace_back();
    }
    for (std::size_t e = 0; e < program_.edges.size(); ++e) {
      std::vector<Stream>& streams = program_.ranks[program_.edges[e].source.index()].streams;
      stream_of_.push_back(static_cast<std::int16_t>(streams.size()));
      Stream& stream = streams.emplace_back();
      stream.kind = StreamKind::Send;
      stream.edge = EdgeId(static_cast<std::int64_t>(e));
    }
    for (std::size_t r = 0; r < lists_.size(); ++r)
      if (!ops_[lists_[r].stage.index()].groups.empty())
        program_.ranks[r].streams.emplace_back().kind = StreamKind::Collective;
  }

  bool recomputes(std::size_t stage) const { return !plan_.stages[stage].recompute.empty(); }
  void lower_rank(std::size_t rank);
  void add_persistent_rows();
  void add_messages(const std::vector<std::int32_t>& edges, Op op, const OrderOp& of);
  void add_message_rows(const std::vector<std::int32_t>& owners, BufferClass cls,
                        const OrderOp& of);
  void backward(const OrderOp& op, bool is_last);
  void close();
  void add_row(BufferClass cls, std::int32_t microbatch, std::int32_t owner, Bytes bytes) {
    if (bytes.value == 0 && is_persistent(cls)) return;
    Buffer& row = program_.buffers.emplace_back();
    row.cls = cls;
    row.stage = static_cast<std::uint16_t>(list_->stage.value);
    row.microbatch = microbatch;
    row.owner = owner;
    row.bytes = bytes;
  }
  Instruction instruction(Op op, std::int32_t microbatch, std::int32_t recipe,
                          std::int32_t target = -1) const {
    Instruction out;
    out.key.op = op;
    out.key.network = static_cast<std::uint8_t>(parts_.network.value);
    out.key.stage = static_cast<std::uint16_t>(list_->stage.value);
    out.key.direction = static_cast<std::uint8_t>(list_->copy);
    out.key.microbatch = microbatch;
    out.recipe = recipe;
    out.target = target;
    return out;
  }
  std::vector<Instruction>& compute() { return streams_->front().body; }
  std::uint32_t last() { return static_cast<std::uint32_t>(compute().size() - 1); }

  const Plan& plan_;
  LoweringParts parts_;
  const std::vector<CopyList> lists_;  // one a rank
  const CopyEdges edges_;
  Program program_;
  std::vector<StageBuckets> buckets_;  // one a stage; empty without replicas
  std::vector<StageOps> ops_;          // one a stage
  std::vector<std::int32_t> transfers_, reductions_;  // recipes: one an edge, one a group
  std::vector<std::int32_t> first_store_;             // one a stage
  std::vector<std::int16_t> stream_of_;               // one an edge: on its source rank

  // Of the rank at hand.
  const CopyList* list_ = nullptr;
  const CopyEdges::OfCopy* ends_ = nullptr;
  std::vector<Stream>* streams_ = nullptr;
};

void CopyLowering::add_persistent_rows() {
  const StageMemory& memory = parts_.memory[list_->stage.index()];
  const std::int32_t store = first_store_[list_->stage.index()] + list_->copy;
  add_row(BufferClass::Weights, -1, store, memory.parameters);
  add_row(BufferClass::Gradients, -1, store, memory.gradients);
  add_row(BufferClass::Optimizer, -1, store, memory.optimizer);
  add_row(BufferClass::Workspace, -1, -1, memory.workspace);
}

// RECVs, or SENDs behind what is last in the compute stream.
void CopyLowering::add_messages(const std::vector<std::int32_t>& edges, Op op, const OrderOp& of) {
  const auto microbatch = static_cast<std::int32_t>(of.microbatch);
  for (const std::int32_t e : edges) {
    const auto edge = static_cast<std::size_t>(e);
    const bool sends = op == Op::Send;
    const StageId other = sends ? program_.edges[edge].to : program_.edges[edge].from;
    const std::int32_t copy = sends ? edges_.to_copy[edge] : edges_.from_copy[edge];
    if (!runs(plan_.stages[other.index()], copy, microbatch)) continue;
    Instruction message = instruction(op, microbatch, transfers_[edge], e);
    if (!sends) {
      compute().push_back(message);
      continue;
    }
    message.after_stream = 0;
    message.after_index = last();
    (*streams_)[static_cast<std::size_t>(stream_of_[edge])].body.push_back(message);
  }
}

void CopyLowering::add_message_rows(const std::vector<std::int32_t>& owners, BufferClass cls,
                                    const OrderOp& of) {
  for (const std::int32_t e : owners)
    add_row(cls, static_cast<std::int32_t>(of.microbatch), e,
            (cls == BufferClass::SendBuffer ? edges_.send_bytes
                                            : edges_.receive_bytes)[static_cast<std::size_t>(e)]);
}

// The last backward of a replicated stage in parts, behind each the buckets it completes.
void CopyLowering::backward(const OrderOp& op, bool is_last) {
  const StageOps& ops = ops_[list_->stage.index()];
  const auto microbatch = static_cast<std::int32_t>(op.microbatch);
  const std::size_t parts = is_last ? std::max<std::size_t>(1, ops.part_recipes.size()) : 1;
  for (std::size_t part = 0; part < parts; ++part) {
    Instruction piece = instruction(Op::BF, microbatch, ops.recipes[kBackward]);
    if (parts > 1) piece.recipe = ops.part_recipes[part];
    piece.key.slice = static_cast<std::uint8_t>(part);
    compute().push_back(piece);
    for (std::size_t k = 0; is_last && k < ops.groups.size(); ++k) {
      if (static_cast<std::size_t>(ops.after_part[k]) != part) continue;
      const std::int32_t group = ops.groups[k];
      Instruction reduction =
          instruction(Op::AllReduce, -1, reductions_[static_cast<std::size_t>(group)], group);
      reduction.key.slice = static_cast<std::uint8_t>(k);
      reduction.after_stream = 0;
      reduction.after_index = last();
      streams_->back().body.push_back(reduction);
    }
  }
}

void CopyLowering::lower_rank(std::size_t rank) {
  list_ = &lists_[rank];
  const std::size_t s = list_->stage.index();
  ends_ = &edges_.of[s][static_cast<std::size_t>(list_->copy)];
  streams_ = &program_.ranks[rank].streams;
  add_persistent_rows();
  for (std::size_t i = 0; i < list_->ops.size(); ++i) {
    const OrderOp& op = list_->ops[i];
    const bool forward = op.op == Op::F;
    const auto microbatch = static_cast<std::int32_t>(op.microbatch);
    if (!forward && recomputes(s))
      compute().push_back(instruction(Op::R, microbatch, ops_[s].recipes[kRecompute]));
    add_messages((forward ? ends_->activations_in : ends_->gradients_in).edges, Op::Recv, op);
    if (forward) {
      if (parts_.loads[s])
        compute().push_back(instruction(Op::Load, microbatch, ops_[s].recipes[kLoad]));
      compute().push_back(instruction(Op::F, microbatch, ops_[s].recipes[kForward]));
      if (parts_.computes_loss[s])
        compute().push_back(instruction(Op::Loss, microbatch, ops_[s].recipes[kLoss]));
      add_row(BufferClass::Stash, microbatch, -1, parts_.memory[s].stash);
      if (parts_.memory[s].data.value > 0)
        add_row(BufferClass::Data, microbatch, -1, parts_.memory[s].data);
    } else {
      add_message_rows(ends_->gradients_in.owners, BufferClass::ReceiveBuffer, op);
      backward(op, i + 1 == list_->ops.size());
    }
    const CopyEdges::Ends& out = forward ? ends_->activations_out : ends_->gradients_out;
    add_messages(out.edges, Op::Send, op);
    add_message_rows(out.owners, BufferClass::SendBuffer, op);
  }
  close();
  program_.first_buffer.push_back(program_.buffers.size());
}

// STEP, once all buckets are added up; then a WAIT for the last SEND of each edge.
void CopyLowering::close() {
  const std::size_t s = list_->stage.index();
  Instruction step =
      instruction(Op::Step, -1, ops_[s].recipes[kStep], first_store_[s] + list_->copy);
  if (streams_->back().kind == StreamKind::Collective) {
    step.after_stream = static_cast<std::int16_t>(streams_->size() - 1);
    step.after_index = static_cast<std::uint32_t>(streams_->back().body.size() - 1);
  }
  compute().push_back(step);
  for (std::size_t stream = 1; stream < streams_->size(); ++stream) {
    const std::vector<Instruction>& body = (*streams_)[stream].body;
    if (body.empty() || (*streams_)[stream].kind != StreamKind::Send) continue;
    Instruction wait;
    wait.key = body.back().key;
    wait.key.op = Op::Wait;
    wait.after_stream = static_cast<std::int16_t>(stream);
    wait.after_index = static_cast<std::uint32_t>(body.size() - 1);
    compute().push_back(wait);
  }
}

}  // namespace

Result<Program> lower_replicated(const Plan& plan, LoweringParts parts) {
  PENSTOCK_TRY(std::vector<CopyList> lists, copy_lists(plan));
  return CopyLowering(plan, std::move(parts), std::move(lists)).run();
}

}  // namespace penstock
