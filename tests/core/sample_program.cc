#include "tests/core/sample_program.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/liveness.h"

namespace penstock::test {
namespace {

void append(Order& order, Op op, std::int32_t stage, std::int32_t microbatch) {
  OrderOp out{.op = op, .stage = static_cast<std::uint16_t>(stage)};
  out.microbatch = static_cast<std::uint32_t>(microbatch) & 0x3fffffff;
  order.ops.push_back(out);
}

void finish_rank(Order& order, std::int32_t stage) {
  append(order, Op::Step, stage, 0);
  order.first[static_cast<std::size_t>(stage) + 1] = order.ops.size();
}

class Lowering {
 public:
  Lowering(const Order& order, const SampleOptions& options) : order_(order), options_(options) {}

  Program lower() {
    program_.name =
        fmt::format("sample, {} stages, {} microbatches", order_.stages, order_.microbatches);
    program_.body_microbatches = order_.microbatches;
    program_.stages = order_.stages;
    program_.recipes = {
        {"F", {{SegmentKind::Compute, Nanoseconds(100), Bytes(0), GroupId()}}},
        {"BF", {{SegmentKind::Compute, Nanoseconds(200), Bytes(0), GroupId()}}},
        {"transfer", {{SegmentKind::Transfer, Nanoseconds(10), options_.message, GroupId()}}},
        {"STEP", {{SegmentKind::Compute, Nanoseconds(50), Bytes(0), GroupId()}}}};
    for (const bool gradients : {false, true})
      for (std::int32_t s = 0; s + 1 < order_.stages; ++s) edge(s, gradients);
    for (std::int32_t s = 0; s < order_.stages; ++s) rank(s);
    assign_memory(program_);
    return std::move(program_);
  }

 private:
  std::int32_t activation_edge(std::int32_t from) const { return from; }
  std::int32_t gradient_edge(std::int32_t to) const { return order_.stages - 1 + to; }

  void edge(std::int32_t s, bool gradients) {
    ProgramEdge edge;
    edge.from = StageId(s);
    edge.to = StageId(s + 1);
    edge.source = RankId(s);
    edge.destination = RankId(s + 1);
    if (gradients) {
      std::swap(edge.from, edge.to);
      std::swap(edge.source, edge.destination);
      edge.payload = Payload::Gradient;
    }
    edge.tensors = {LayerId(s)};
    edge.bytes = options_.message;
    program_.edges.push_back(edge);
  }

  static Instruction instruction(Op op, std::int32_t stage, std::int32_t microbatch,
                                 std::int32_t recipe, std::int32_t target = -1) {
    Instruction out;
    out.key.op = op;
    out.key.stage = static_cast<std::uint16_t>(stage);
    out.key.microbatch = microbatch;
    out.recipe = recipe;
    out.target = target;
    return out;
  }

  void rank(std::int32_t s) {
    const bool first = s == 0, last = s + 1 == order_.stages;
    RankProgram rank;
    rank.device = DeviceId(s);
    rank.memory_limit = options_.memory_limit;
    std::vector<std::int32_t> sends;  // edges that leave, ascending
    if (!last) sends.push_back(activation_edge(s));
    if (!first) sends.push_back(gradient_edge(s - 1));
    rank.streams.resize(options_.blocking_sends ? 1 : 1 + sends.size());
    for (std::size_t i = 1; i < rank.streams.size(); ++i) {
      rank.streams[i].kind = StreamKind::Send;
      rank.streams[i].edge = EdgeId(sends[i - 1]);
    }
    std::vector<Instruction>& body = rank.streams[0].body;
    const auto send = [&](std::int32_t microbatch, std::int32_t edge) {
      Instruction out = instruction(Op::Send, s, microbatch, 2, edge);
      if (options_.blocking_sends) return body.push_back(out);
      out.after_stream = 0;
      out.after_index = static_cast<std::uint32_t>(body.size() - 1);
      const auto stream =
          static_cast<std::size_t>(std::find(sends.begin(), sends.end(), edge) - sends.begin()) + 1;
      rank.streams[stream].body.push_back(out);
    };
    std::vector<std::int32_t> added;
    for (const OrderOp& op : order_.of(RankId(s))) {
      const auto microbatch = static_cast<std::int32_t>(op.microbatch);
      if (op.op == Op::F) {
        if (!first) body.push_back(instruction(Op::Recv, s, microbatch, 2, activation_edge(s - 1)));
        if (first) body.push_back(instruction(Op::Load, s, microbatch, 3));
        body.push_back(instruction(Op::F, s, microbatch, 0));
        if (!last) send(microbatch, activation_edge(s));
        if (last) body.push_back(instruction(Op::Loss, s, microbatch, 3));
      } else if (op.op == Op::BF) {
        if (!last) body.push_back(instruction(Op::Recv, s, microbatch, 2, gradient_edge(s)));
        body.push_back(instruction(options_.split_backward ? Op::B : Op::BF, s, microbatch, 1));
        if (!first) send(microbatch, gradient_edge(s - 1));
        if (options_.split_backward) body.push_back(instruction(Op::W, s, microbatch, 1));
        added.push_back(microbatch);
      } else {
        body.push_back(instruction(Op::Step, s, -1, 3, s));
      }
    }
    for (std::size_t i = 1; i < rank.streams.size(); ++i) {
      Instruction wait = instruction(Op::Wait, s, -1, -1);
      wait.after_stream = static_cast<std::int16_t>(i);
      wait.after_index = static_cast<std::uint32_t>(rank.streams[i].body.size() - 1);
      body.push_back(wait);
    }
    program_.ranks.push_back(std::move(rank));
    program_.stores.push_back({.name = fmt::format("stage {}", s),
                               .stage = StageId(s),
                               .rank = RankId(s),
                               .accumulation = {{added}}});
    buffers(s, sends);
  }

  void buffers(std::int32_t s, const std::vector<std::int32_t>& sends) {
    if (program_.first_buffer.empty()) program_.first_buffer.push_back(0);
    const auto add = [&](BufferClass cls, std::int32_t microbatch, std::int32_t owner,
                         Bytes bytes) {
      Buffer& buffer = program_.buffers.emplace_back();
      buffer.cls = cls;
      buffer.stage = static_cast<std::uint16_t>(s);
      buffer.microbatch = microbatch;
      buffer.owner = owner;
      buffer.bytes = bytes;
    };
    add(BufferClass::Weights, -1, s, options_.parameters);
    add(BufferClass::Gradients, -1, s, options_.parameters);
    add(BufferClass::Optimizer, -1, s, options_.parameters);
    add(BufferClass::Workspace, -1, -1, options_.workspace);
    for (std::int32_t m = 0; m < order_.microbatches; ++m) {
      if (s == 0) add(BufferClass::Data, m, -1, options_.data);
      add(BufferClass::Stash, m, -1, options_.stash);
      for (const std::int32_t edge : sends) add(BufferClass::SendBuffer, m, edge, options_.message);
      if (s + 1 < order_.stages)
        add(BufferClass::ReceiveBuffer, m, gradient_edge(s), options_.message);
    }
    program_.first_buffer.push_back(program_.buffers.size());
  }

  const Order& order_;
  const SampleOptions& options_;
  Program program_;
};

}  // namespace

Order gpipe_order(std::int32_t stages, std::int32_t microbatches) {
  Order order = chain_order(stages, microbatches);
  for (std::int32_t s = 0; s < stages; ++s) {
    for (const Op op : {Op::F, Op::BF})
      for (std::int32_t m = 0; m < microbatches; ++m) append(order, op, s, m);
    finish_rank(order, s);
  }
  return order;
}

Order one_f_one_b_order(std::int32_t stages, std::int32_t microbatches) {
  Order order = chain_order(stages, microbatches);
  for (std::int32_t s = 0; s < stages; ++s) {
    const std::int32_t warmup = std::min(microbatches, stages - 1 - s);
    for (std::int32_t m = 0; m < warmup; ++m) append(order, Op::F, s, m);
    for (std::int32_t m = warmup; m < microbatches; ++m) {
      append(order, Op::F, s, m);
      append(order, Op::BF, s, m - warmup);
    }
    for (std::int32_t m = microbatches - warmup; m < microbatches; ++m) append(order, Op::BF, s, m);
    finish_rank(order, s);
  }
  return order;
}

Program sample_program(const Order& order, const SampleOptions& options) {
  return Lowering(order, options).lower();
}

}  // namespace penstock::test
