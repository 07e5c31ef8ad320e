#include "planner/lowering.h"

#include <fmt/format.h>

#include <array>

namespace penstock {
namespace {

constexpr std::int32_t kAbsent = -1;

// The operations a recipe may be of, in the order recipes are listed.
constexpr std::array kRecipeOps = {Op::Load, Op::F, Op::Loss, Op::BF,
                                   Op::B,    Op::W, Op::R,    Op::Step};

std::size_t recipe_slot(Op op) {
  std::size_t slot = 0;
  while (slot < kRecipeOps.size() && kRecipeOps[slot] != op) ++slot;
  PENSTOCK_CHECK(slot < kRecipeOps.size(), "an order holds F, BF, B, W, R and STEP only");
  return slot;
}

Nanoseconds duration_of(const StageTimes& times, Op op) {
  switch (op) {
    case Op::Load:
      return times.load;
    case Op::F:
      return times.forward;
    case Op::Loss:
      return times.loss;
    case Op::BF:
      return times.backward();
    case Op::B:
      return times.backward_input;
    case Op::W:
      return times.backward_weight;
    case Op::R:
      return times.recompute;
    default:
      return times.step;
  }
}

class Lowering {
 public:
  Lowering(const Order& order, LoweringParts parts) : order_(order), parts_(std::move(parts)) {
    stages_ = static_cast<std::size_t>(order.stages);
    copies_ = order.rank_of.size();
    inputs_.resize(stages_);
    outputs_.resize(stages_);
    for (std::size_t e = 0; e < order.edges.size(); ++e) {
      inputs_[order.edges[e].to.index()].push_back(e);
      outputs_[order.edges[e].from.index()].push_back(e);
    }
  }

  Program run() {
    program_.name = std::move(parts_.name);
    program_.body_microbatches = order_.microbatches;
    program_.stages = order_.stages;
    program_.microbatch_size = parts_.microbatch_size;
    program_.ranks.resize(static_cast<std::size_t>(order_.ranks));
    make_edges();
    make_streams();
    make_recipes();
    make_stores();
    std::size_t rows = 0;
    for (std::int32_t rank = 0; rank < order_.ranks; ++rank) rows += reserve(RankId(rank));
    program_.buffers.reserve(rows);
    program_.first_buffer.reserve(program_.ranks.size() + 1);
    program_.first_buffer.push_back(0);
    for (std::int32_t rank = 0; rank < order_.ranks; ++rank) lower_rank(RankId(rank));
    return std::move(program_);
  }

 private:
  std::size_t copy(const OrderOp& op) const { return op.direction * stages_ + op.stage; }
  std::size_t slot(std::size_t copy, std::size_t edge) const {
    return copy / stages_ * order_.edges.size() + edge;
  }

  // Messages an operation waits for and causes, by edge number.
  template <class Visit>
  void for_each_input(const OrderOp& op, Visit visit) const {
    if (op.op == Op::F) {
      for (const std::size_t e : inputs_[op.stage]) visit(activation_[slot(copy(op), e)]);
    } else if (is_backward(op.op)) {
      for (const std::size_t e : outputs_[op.stage]) visit(gradient_[slot(copy(op), e)]);
    }
  }
  template <class Visit>
  void for_each_output(const OrderOp& op, Visit visit) const {
    if (op.op == Op::F) {
      for (const std::size_t e : outputs_[op.stage]) visit(activation_[slot(copy(op), e)]);
    } else if (is_backward(op.op)) {
      for (const std::size_t e : inputs_[op.stage]) visit(gradient_[slot(copy(op), e)]);
    }
  }

  void make_edges() {
    const std::size_t directions = copies_ / stages_;
    activation_.assign(directions * order_.edges.size(), kAbsent);
    gradient_ = activation_;
    for (const Payload payload : {Payload::Activation, Payload::Gradient}) {
      const bool forward = payload == Payload::Activation;
      for (std::size_t d = 0; d < directions; ++d) {
        for (std::size_t e = 0; e < order_.edges.size(); ++e) {
          const StageEdge edge = order_.edges[e];
          const RankId from = order_.rank(edge.from, static_cast<int>(d)),
                       to = order_.rank(edge.to, static_cast<int>(d));
          if (from == to) continue;
          (forward ? activation_ : gradient_)[d * order_.edges.size() + e] =
              static_cast<std::int32_t>(program_.edges.size());
          program_.edges.push_back({.from = forward ? edge.from : edge.to,
                                    .to = forward ? edge.to : edge.from,
                                    .source = forward ? from : to,
                                    .destination = forward ? to : from,
                                    .payload = payload,
                                    .kind = DependencyKind::Data,
                                    .tensors = parts_.edges[e].tensors,
                                    .bytes = parts_.edges[e].bytes});
          times_.push_back(forward ? parts_.edges[e].activation : parts_.edges[e].gradient);
        }
      }
    }
  }

  void make_streams() {
    for (std::size_t r = 0; r < program_.ranks.size(); ++r) {
      program_.ranks[r].device = parts_.devices[r];
      program_.ranks[r].memory_limit = parts_.limits[r];
      program_.ranks[r].streams.emplace_back();
    }
    for (std::size_t e = 0; e < program_.edges.size(); ++e) {
      std::vector<Stream>& streams = program_.ranks[program_.edges[e].source.index()].streams;
      stream_of_.push_back(static_cast<std::int16_t>(streams.size()));
      Stream& stream = streams.emplace_back();
      stream.kind = StreamKind::Send;
      stream.edge = EdgeId(static_cast<std::int64_t>(e));
    }
  }

  void make_recipes() {
    recipes_.assign(stages_ * kRecipeOps.size(), kAbsent);
    std::vector<std::uint8_t> occurs(recipes_.size(), 0);
    for (const OrderOp& op : order_.ops) {
      PENSTOCK_CHECK(!op.fused, "fused operations are not lowered");
      occurs[op.stage * kRecipeOps.size() + recipe_slot(op.op)] = 1;
      if (op.op != Op::F) continue;
      if (parts_.loads[op.stage]) occurs[op.stage * kRecipeOps.size() + recipe_slot(Op::Load)] = 1;
      if (parts_.computes_loss[op.stage])
        occurs[op.stage * kRecipeOps.size() + recipe_slot(Op::Loss)] = 1;
    }
    for (std::size_t i = 0; i < occurs.size(); ++i) {
      if (!occurs[i]) continue;
      const std::size_t stage = i / kRecipeOps.size();
      const Op op = kRecipeOps[i % kRecipeOps.size()];
      recipes_[i] = static_cast<std::int32_t>(program_.recipes.size());
      add_recipe(fmt::format("{} stage {}", name(op), stage), SegmentKind::Compute,
                 duration_of(parts_.times[stage], op), Bytes(0));
    }
    for (std::size_t e = 0; e < program_.edges.size(); ++e) {
      const ProgramEdge& edge = program_.edges[e];
      transfers_.push_back(static_cast<std::int32_t>(program_.recipes.size()));
      const std::string_view what = edge.payload == Payload::Activation ? "activation" : "gradient";
      add_recipe(fmt::format("{} stage {} to {}", what, edge.from.value, edge.to.value),
                 SegmentKind::Transfer, times_[e], edge.bytes);
    }
  }

  void add_recipe(std::string name, SegmentKind kind, Nanoseconds duration, Bytes bytes) {
    Recipe& recipe = program_.recipes.emplace_back();
    recipe.name = std::move(name);
    Segment& segment = recipe.segments.emplace_back();
    segment.kind = kind;
    segment.duration = duration;
    segment.bytes = bytes;
  }

  // The trees first: a copy adds up in the order in which its rank finishes the weight gradients of
  // microbatches.
  void make_stores() {
    std::vector<AccumulationTree> trees(stages_);
    for (AccumulationTree& tree : trees) {
      tree.copies.resize(copies_ / stages_);
      if (copies_ == stages_) tree.copies[0].reserve(static_cast<std::size_t>(order_.microbatches));
    }
    std::vector<std::uint8_t> seen(copies_ * static_cast<std::size_t>(order_.microbatches), 0);
    for (const OrderOp& op : order_.ops) {
      if (op.op != Op::BF && op.op != Op::W) continue;
      std::uint8_t& is_seen =
          seen[copy(op) * static_cast<std::size_t>(order_.microbatches) + op.microbatch];
      if (!is_seen)
        trees[op.stage].copies[op.direction].push_back(static_cast<std::int32_t>(op.microbatch));
      is_seen = 1;
    }
    for (std::size_t c = 0; c < copies_; ++c) {
      const std::size_t stage = c % stages_;
      program_.stores.push_back({.name = fmt::format("stage {}", stage),
                                 .network = parts_.network,
                                 .stage = StageId(static_cast<std::int64_t>(stage)),
                                 .rank = RankId(order_.rank_of[c]),
                                 .copy = static_cast<std::int32_t>(c / stages_),
                                 .accumulation = trees[stage]});
    }
  }

  // Exactly what lower_rank adds, so that vectors hold nothing to spare. Returns the rank's number
  // of buffers.
  std::size_t reserve(RankId rank) {
    RankProgram& target = program_.ranks[rank.index()];
    std::size_t compute = target.streams.size() - 1,
                rows = persistent_rows(rank);  // a WAIT for each stream
    std::vector<std::size_t> sends(target.streams.size(), 0);
    for (const OrderOp& op : order_.of(rank)) {
      ++compute;
      if (op.op == Op::F) {
        compute += parts_.loads[op.stage] + parts_.computes_loss[op.stage];
        rows += 1u + (parts_.memory[op.stage].data.value > 0);
      }
      for_each_input(op, [&](std::int32_t e) {
        if (e == kAbsent) return;
        ++compute;
        rows += parts_.message_buffers && is_backward(op.op);
      });
      for_each_output(op, [&](std::int32_t e) {
        if (e == kAbsent) return;
        ++sends[static_cast<std::size_t>(stream_of_[static_cast<std::size_t>(e)])];
        rows += parts_.message_buffers;
      });
    }
    target.streams[0].body.reserve(compute);
    for (std::size_t s = 1; s < sends.size(); ++s) target.streams[s].body.reserve(sends[s]);
    return rows;
  }

  void lower_rank(RankId rank);
  std::size_t persistent_rows(RankId rank) const;
  void add_persistent_rows(RankId rank);
  void add_row(BufferClass cls, const OrderOp& op, std::int32_t owner, Bytes bytes) {
    Buffer& row = program_.buffers.emplace_back();
    row.cls = cls;
    row.slice = op.slice;
    row.stage = op.stage;
    row.microbatch = static_cast<std::int32_t>(op.microbatch);
    row.owner = owner;
    row.bytes = bytes;
  }
  Instruction instruction(Op op, const OrderOp& of) const {
    Instruction out;
    out.key.op = op;
    out.key.network = static_cast<std::uint8_t>(parts_.network.value);
    out.key.stage = of.stage;
    out.key.slice = of.slice;
    out.key.direction = of.direction;
    out.key.microbatch = op == Op::Step ? -1 : static_cast<std::int32_t>(of.microbatch);
    return out;
  }
  Instruction compute(Op op, const OrderOp& of) const {
    Instruction out = instruction(op, of);
    out.recipe = recipes_[of.stage * kRecipeOps.size() + recipe_slot(op)];
    if (op == Op::Step) out.target = static_cast<std::int32_t>(copy(of));
    return out;
  }
  Instruction transfer(Op op, const OrderOp& of, std::int32_t edge) const {
    Instruction out = instruction(op, of);
    out.recipe = transfers_[static_cast<std::size_t>(edge)];
    out.target = edge;
    return out;
  }

  const Order& order_;
  LoweringParts parts_;
  Program program_;
  std::size_t stages_ = 0, copies_ = 0;
  std::vector<std::vector<std::size_t>> inputs_,
      outputs_;  // by stage: entries of Order::edges, ascending
  std::vector<std::int32_t> activation_,
      gradient_;  // [direction][Order edge] -> Program edge, kAbsent inside a rank
  std::vector<Nanoseconds> times_;       // one a Program edge
  std::vector<std::int16_t> stream_of_;  // one a Program edge: its stream on the source rank
  std::vector<std::int32_t> recipes_;    // [stage][kRecipeOps]
  std::vector<std::int32_t> transfers_;  // one a Program edge
};

std::size_t Lowering::persistent_rows(RankId rank) const {
  std::size_t rows = 0;
  Bytes workspace;
  for (std::size_t c = 0; c < copies_; ++c) {
    if (order_.rank_of[c] != rank.value) continue;
    const StageMemory& memory = parts_.memory[c % stages_];
    rows +=
        (memory.parameters.value > 0) + (memory.gradients.value > 0) + (memory.optimizer.value > 0);
    workspace = std::max(workspace, memory.workspace);
  }
  return rows + (workspace.value > 0);
}

void Lowering::add_persistent_rows(RankId rank) {
  Bytes workspace;
  OrderOp of;
  bool is_first = true;
  std::uint16_t first_stage = 0;
  const auto add = [&](BufferClass cls, std::int32_t owner, Bytes bytes) {
    if (bytes.value == 0) return;
    add_row(cls, of, owner, bytes);
    program_.buffers.back().microbatch = -1;
  };
  for (std::size_t c = 0; c < copies_; ++c) {
    if (order_.rank_of[c] != rank.value) continue;
    of.stage = static_cast<std::uint16_t>(c % stages_);
    if (is_first) first_stage = of.stage;
    is_first = false;
    const StageMemory& memory = parts_.memory[of.stage];
    add(BufferClass::Weights, static_cast<std::int32_t>(c), memory.parameters);
    add(BufferClass::Gradients, static_cast<std::int32_t>(c), memory.gradients);
    add(BufferClass::Optimizer, static_cast<std::int32_t>(c), memory.optimizer);
    workspace = std::max(workspace, memory.workspace);
  }
  of.stage = first_stage;
  add(BufferClass::Workspace, -1, workspace);
}

void Lowering::lower_rank(RankId rank) {
  add_persistent_rows(rank);
  std::vector<Stream>& streams = program_.ranks[rank.index()].streams;
  std::vector<Instruction>& body = streams[0].body;
  for (const OrderOp& op : order_.of(rank)) {
    for_each_input(op, [&](std::int32_t e) {
      if (e == kAbsent) return;
      body.push_back(transfer(Op::Recv, op, e));
      if (parts_.message_buffers && is_backward(op.op))
        add_row(BufferClass::ReceiveBuffer, op, e,
                program_.edges[static_cast<std::size_t>(e)].bytes);
    });
    if (op.op == Op::F && parts_.loads[op.stage]) body.push_back(compute(Op::Load, op));
    body.push_back(compute(op.op, op));
    if (op.op == Op::F) {
      if (parts_.computes_loss[op.stage]) body.push_back(compute(Op::Loss, op));
      add_row(BufferClass::Stash, op, -1, parts_.memory[op.stage].stash);
      if (parts_.memory[op.stage].data.value > 0)
        add_row(BufferClass::Data, op, -1, parts_.memory[op.stage].data);
    }
    for_each_output(op, [&](std::int32_t e) {
      if (e == kAbsent) return;
      Instruction send = transfer(Op::Send, op, e);
      send.after_stream = 0;
      send.after_index = static_cast<std::uint32_t>(body.size() - 1);
      streams[static_cast<std::size_t>(stream_of_[static_cast<std::size_t>(e)])].body.push_back(
          send);
      if (parts_.message_buffers)
        add_row(BufferClass::SendBuffer, op, e, program_.edges[static_cast<std::size_t>(e)].bytes);
    });
  }
  for (std::size_t s = 1; s < streams.size(); ++s) {
    if (streams[s].body.empty()) continue;
    Instruction wait;
    wait.key = streams[s].body.back().key;
    wait.key.op = Op::Wait;
    wait.after_stream = static_cast<std::int16_t>(s);
    wait.after_index = static_cast<std::uint32_t>(streams[s].body.size() - 1);
    body.push_back(wait);
  }
  program_.first_buffer.push_back(program_.buffers.size());
}

}  // namespace

Program lower_parts(const Order& order, LoweringParts parts) {
  return Lowering(order, std::move(parts)).run();
}

}  // namespace penstock
