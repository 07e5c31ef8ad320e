#include "tests/sim/timed_program.h"

#include <algorithm>
#include <utility>

namespace penstock::test {
namespace {

void append_list(Order& order, const std::vector<OrderOp>& list) {
  order.ops.insert(order.ops.end(), list.begin(), list.end());
  order.first.push_back(order.ops.size());
}

Nanoseconds duration(const OrderCosts& costs, const OrderOp& op) {
  switch (op.op) {
    case Op::F:
      return costs.forward[op.stage];
    case Op::BF:
      return costs.backward_input[op.stage] + costs.backward_weight[op.stage];
    case Op::B:
      return costs.backward_input[op.stage];
    case Op::W:
      return costs.backward_weight[op.stage];
    case Op::R:
      return costs.recompute[op.stage];
    default:
      return costs.step[op.stage];
  }
}

std::int32_t add_recipe(Program& program, SegmentKind kind, Nanoseconds length) {
  program.recipes.push_back(recipe_of(length, kind));
  return static_cast<std::int32_t>(program.recipes.size() - 1);
}

}  // namespace

Recipe recipe_of(Nanoseconds length, SegmentKind kind) {
  Recipe recipe;
  Segment& segment = recipe.segments.emplace_back();
  segment.kind = kind;
  segment.duration = length;
  return recipe;
}

ProgramEdge edge_between(std::int32_t from, std::int32_t to) {
  ProgramEdge edge;
  edge.from = StageId(from);
  edge.to = StageId(to);
  edge.source = RankId(from);
  edge.destination = RankId(to);
  return edge;
}

Stream stream_of(std::vector<Instruction> body, EdgeId edge) {
  Stream stream;
  stream.kind = edge.valid() ? StreamKind::Send : StreamKind::Compute;
  stream.edge = edge;
  stream.body = std::move(body);
  return stream;
}

OrderOp order_op(Op op, std::int32_t stage, std::int32_t microbatch, std::int32_t slice,
                 bool is_fused) {
  OrderOp out;
  out.op = op;
  out.slice = static_cast<std::uint8_t>(slice);
  out.stage = static_cast<std::uint16_t>(stage);
  out.microbatch = static_cast<std::uint32_t>(microbatch) & 0x3fffffff;
  out.fused = is_fused;
  return out;
}

Order chain_of(std::int32_t microbatches, std::initializer_list<std::vector<OrderOp>> lists) {
  Order order = chain_order(static_cast<std::int32_t>(lists.size()), microbatches);
  order.first.resize(1);
  for (const std::vector<OrderOp>& list : lists) append_list(order, list);
  return order;
}

Order one_f_one_b(std::int32_t stages, std::int32_t microbatches) {
  Order order = chain_order(stages, microbatches);
  order.first.resize(1);
  for (std::int32_t r = 0; r < stages; ++r) {
    const std::int32_t warm_up = std::min(microbatches, stages - 1 - r);
    std::vector<OrderOp> list;
    for (std::int32_t i = 0; i < warm_up; ++i) list.push_back(order_op(Op::F, r, i));
    for (std::int32_t i = 0; i < microbatches; ++i) {
      if (warm_up + i < microbatches) list.push_back(order_op(Op::F, r, warm_up + i));
      list.push_back(order_op(Op::BF, r, i));
    }
    append_list(order, list);
  }
  return order;
}

Order gpipe(std::int32_t stages, std::int32_t microbatches) {
  Order order = chain_order(stages, microbatches);
  order.first.resize(1);
  for (std::int32_t r = 0; r < stages; ++r) {
    std::vector<OrderOp> list;
    for (std::int32_t i = 0; i < microbatches; ++i) list.push_back(order_op(Op::F, r, i));
    for (std::int32_t i = 0; i < microbatches; ++i) list.push_back(order_op(Op::BF, r, i));
    append_list(order, list);
  }
  return order;
}

// 1F1B with the backward split; the weight gradients of the first r microbatches of rank r come at
// its end.
Order zero_bubble_h1(std::int32_t stages, std::int32_t microbatches) {
  Order order = chain_order(stages, microbatches);
  order.first.resize(1);
  for (std::int32_t r = 0; r < stages; ++r) {
    const std::int32_t warm_up = stages - 1 - r;
    std::vector<OrderOp> list;
    for (std::int32_t i = 0; i < warm_up; ++i) list.push_back(order_op(Op::F, r, i));
    for (std::int32_t i = 0; i < microbatches; ++i) {
      if (warm_up + i < microbatches) list.push_back(order_op(Op::F, r, warm_up + i));
      list.push_back(order_op(Op::B, r, i));
      if (i >= r) list.push_back(order_op(Op::W, r, i - r));
    }
    for (std::int32_t i = microbatches - r; i < microbatches; ++i)
      list.push_back(order_op(Op::W, r, i));
    append_list(order, list);
  }
  return order;
}

Program timed_program(const Order& order, const OrderCosts& costs) {
  Program program;
  program.stages = order.stages;
  program.body_microbatches = order.microbatches;
  program.ranks.resize(static_cast<std::size_t>(order.ranks));
  for (RankProgram& rank : program.ranks) rank.streams.resize(1);

  // [is gradient][direction][edge of the order] -> edge of the program, or -1; a SEND stream on its
  // source's rank.
  const std::size_t directions = order.rank_of.size() / static_cast<std::size_t>(order.stages);
  std::vector<std::int32_t> edge_of(2 * directions * order.edges.size(), -1), transfer;
  std::vector<std::size_t> send_stream;
  for (std::size_t k = 0; k < edge_of.size(); ++k) {
    const bool is_gradient = k >= edge_of.size() / 2;
    const std::size_t e = k % order.edges.size();
    const int direction = static_cast<int>(k / order.edges.size() % directions);
    StageId from = order.edges[e].from, to = order.edges[e].to;
    if (is_gradient) std::swap(from, to);
    const RankId source = order.rank(from, direction), destination = order.rank(to, direction);
    if (source == destination) continue;
    edge_of[k] = static_cast<std::int32_t>(program.edges.size());
    ProgramEdge& edge = program.edges.emplace_back();
    edge.from = from;
    edge.to = to;
    edge.source = source;
    edge.destination = destination;
    edge.payload = is_gradient ? Payload::Gradient : Payload::Activation;
    transfer.push_back(add_recipe(program, SegmentKind::Transfer,
                                  is_gradient ? costs.gradient[e] : costs.activation[e]));
    std::vector<Stream>& streams = program.ranks[source.index()].streams;
    send_stream.push_back(streams.size());
    streams.push_back(stream_of({}, EdgeId(edge_of[k])));
  }

  for (std::int32_t r = 0; r < order.ranks; ++r) {
    std::vector<Stream>& streams = program.ranks[static_cast<std::size_t>(r)].streams;
    std::vector<Instruction>& body = streams[0].body;
    for (const OrderOp& op : order.of(RankId(r))) {
      Instruction made;
      made.key = {.op = op.op,
                  .slice = op.slice,
                  .direction = static_cast<std::uint8_t>(op.direction),
                  .stage = op.stage,
                  .microbatch = static_cast<std::int32_t>(op.microbatch)};
      const auto for_each_message = [&](bool is_input, auto visit) {
        if (op.op != Op::F && !is_backward(op.op)) return;
        for (std::size_t e = 0; e < order.edges.size(); ++e) {
          const bool is_gradient = op.op != Op::F;
          if ((is_input != is_gradient ? order.edges[e].to : order.edges[e].from).value != op.stage)
            continue;
          const std::int32_t edge =
              edge_of[((is_gradient ? directions : 0) + op.direction) * order.edges.size() + e];
          if (edge < 0) continue;
          Instruction message = made;
          message.key.op = is_input ? Op::Recv : Op::Send;
          message.target = edge;
          message.recipe = transfer[static_cast<std::size_t>(edge)];
          visit(message);
        }
      };
      for_each_message(true, [&](const Instruction& receive) { body.push_back(receive); });
      made.recipe = add_recipe(program, SegmentKind::Compute, duration(costs, op));
      body.push_back(made);
      for_each_message(false, [&](Instruction send) {
        send.after_stream = 0;
        send.after_index = static_cast<std::uint32_t>(body.size() - 1);
        streams[send_stream[static_cast<std::size_t>(send.target)]].body.push_back(send);
      });
    }
    for (std::size_t s = 1; s < streams.size(); ++s) {
      if (streams[s].body.empty()) continue;
      Instruction wait = streams[s].body.back();
      wait.key.op = Op::Wait;
      wait.recipe = wait.target = -1;
      wait.after_stream = static_cast<std::int16_t>(s);
      wait.after_index = static_cast<std::uint32_t>(streams[s].body.size() - 1);
      body.push_back(wait);
    }
  }
  return program;
}

}  // namespace penstock::test
