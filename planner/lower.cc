#include "planner/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/invalid.h"
#include "core/liveness.h"
#include "core/replicas.h"
#include "core/stage_layout.h"
#include "planner/contention.h"
#include "planner/gather_norms.h"
#include "planner/lowering.h"
#include "planner/ordinary_training.h"
#include "planner/replicated_lowering.h"
#include "planner/schedules/schedule.h"

namespace penstock {
namespace {

Result<void> refuse_what_is_not_lowered(const Plan& plan) {
  PENSTOCK_TRY_VOID(expect_ordinary_training(plan.workload));
  std::vector<std::int32_t> stage_on(plan.devices.size(), -1);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    if (stage.tensor_parallel != 1 ||
        stage.devices.size() != static_cast<std::size_t>(stage.replicas))
      return fail(ErrorCode::Infeasible,
                  fmt::format("stage {} is held by {} ranks, in {} replicas of {}", s,
                              stage.devices.size(), stage.replicas, stage.tensor_parallel),
                  "programs are made of replicas that one rank holds: tensor parallelism 1");
    for (const RankId rank : stage.devices) {
      std::int32_t& other = stage_on[rank.index()];
      if (other >= 0)
        return fail(ErrorCode::Infeasible,
                    fmt::format("stages {} and {} are both on rank {}", other, s, rank.value),
                    "programs are made of one stage a rank: chunks 1");
      other = static_cast<std::int32_t>(s);
    }
  }
  for (std::size_t r = 0; r < stage_on.size(); ++r) {
    if (stage_on[r] < 0)
      return fail(ErrorCode::Infeasible, fmt::format("rank {} holds no stage", r),
                  "leave idle devices out of the plan");
  }
  return {};
}

// An Order has one rank a stage.
Result<void> refuse_replicas(const Plan& plan) {
  if (!is_replicated(plan)) return {};
  return fail(ErrorCode::Infeasible, "an order has no place for the replicas of a stage",
              "lower the plan itself");
}

// A program's memory and an executor's addresses must be the same: the bytes a plan carries are
// those its layers take.
Result<void> check_memory(const Plan& plan, std::size_t s) {
  const StageLayout layout = lay_out_stage(plan, StageId(static_cast<std::int64_t>(s)));
  const StageMemory& memory = plan.stages[s].memory;
  const Bytes optimizer = plan.workload.optimizer.states() * layout.parameters;
  struct Row {
    std::string_view what;
    Bytes claimed, actual;
  };
  for (const Row& row :
       {Row{"parameters", memory.parameters, layout.parameters},
        Row{"gradients", memory.gradients, layout.parameters},
        Row{"optimizer", memory.optimizer, optimizer}, Row{"stash", memory.stash, layout.stash},
        Row{"data", memory.data, layout.data_bytes}}) {
    if (row.claimed != row.actual)
      return invalid(fmt::format("/stages/{}/memory/{}", s, row.what),
                     fmt::format("{} B, but the layers of stage {} take {} B", row.claimed.value, s,
                                 row.actual.value),
                     "plan again, or correct the figure");
  }
  if (memory.workspace < layout.workspace)
    return invalid(fmt::format("/stages/{}/memory/workspace", s),
                   fmt::format("{} B, but the layers of stage {} take at least {} B",
                               memory.workspace.value, s, layout.workspace.value),
                   "plan again, or correct the figure");
  return {};
}

bool has_loss(const Plan& plan, const PlanStage& stage) {
  const Network& network = plan.workload.networks[stage.network.index()];
  return std::any_of(stage.layers.begin(), stage.layers.end(),
                     [&](LayerId layer) { return network.layers[layer.index()].is_loss(); });
}

bool has_sources(const Plan& plan, const PlanStage& stage) {
  const Network& network = plan.workload.networks[stage.network.index()];
  return std::any_of(stage.layers.begin(), stage.layers.end(),
                     [&](LayerId layer) { return !network.layers[layer.index()].sources.empty(); });
}

LoweringParts parts_of(const Plan& plan) {
  LoweringParts parts;
  std::string replicas;
  for (const PlanStage& stage : plan.stages)
    replicas += fmt::format("{}{}", replicas.empty() ? "" : ":", stage.replicas);
  parts.name = fmt::format("{}, {} stage{}{}, {} microbatch{}", plan.schedule.name, plan.stages.size(),
                           plan.stages.size() == 1 ? "" : "s",
                           is_replicated(plan) ? " on " + replicas : "", plan.microbatches,
                           plan.microbatches == 1 ? "" : "es");
  parts.microbatch_size = plan.microbatch_size;
  parts.network = plan.stages.front().network;
  for (const PlanStage& stage : plan.stages) {
    parts.times.push_back(stage.times);
    parts.loads.push_back(has_sources(plan, stage));
    parts.computes_loss.push_back(has_loss(plan, stage));
    parts.memory.push_back(stage.memory);
  }
  parts.edges = plan.edges;
  for (const PlanDevice& device : plan.devices) {
    parts.devices.push_back(device.device);
    parts.limits.push_back(device.memory_limit_bytes);
  }
  return parts;
}

void count_parameters(const Plan& plan, Program& program) {
  for (ProgramStore& store : program.stores) {
    const PlanStage& stage = plan.stages[store.stage.index()];
    for (const LayerId layer : stage.layers)
      store.parameters += static_cast<std::int32_t>(
          plan.workload.networks[stage.network.index()].layers[layer.index()].parameters.size());
  }
}

// A plan's bandwidths say how long a message takes, and a sum of two times is longer than each.
Result<Program> expect_plausible_times(Program program) {
  for (const Recipe& recipe : program.recipes)
    for (const Segment& segment : recipe.segments)
      if (segment.duration > kLongestTime)
        return fail(ErrorCode::Infeasible,
                    fmt::format("{} takes {}", recipe.name, long_time(seconds(segment.duration))),
                    "26 days at most: are the plan's times and bandwidths right?");
  return program;
}

std::vector<StageEdge> stage_edges(const Plan& plan) {
  std::vector<StageEdge> edges;
  for (const PlanEdge& edge : plan.edges) edges.push_back({edge.from, edge.to});
  return edges;
}

}  // namespace

Result<Order> order_of(const Plan& plan) {
  PENSTOCK_TRY_VOID(refuse_what_is_not_lowered(plan));
  PENSTOCK_TRY_VOID(refuse_replicas(plan));
  PENSTOCK_TRY(const ChosenSchedule chosen, find_schedule(plan.schedule.name));
  Shape shape;
  shape.stages = static_cast<std::int32_t>(plan.stages.size());
  shape.microbatches =
      static_cast<std::int32_t>(std::min<std::int64_t>(plan.microbatches, INT32_MAX));
  shape.parameters = plan.schedule.parameters;
  PENSTOCK_TRY(const Order emitted, emit(*chosen.schedule, shape));

  // The schedule puts stage s on a rank of its own numbering; its list moves to the rank where the
  // plan has that stage.
  Order order;
  order.ranks = emitted.ranks;
  order.stages = emitted.stages;
  order.microbatches = emitted.microbatches;
  order.slices = emitted.slices;
  order.edges = stage_edges(plan);
  std::vector<RankId> lists(plan.stages.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    order.rank_of.push_back(plan.stages[s].devices[0].value);
    lists[plan.stages[s].devices[0].index()] = emitted.rank(StageId(static_cast<std::int64_t>(s)));
  }
  order.ops.reserve(emitted.ops.size());
  order.first.push_back(0);
  for (const RankId list : lists) {
    const std::span<const OrderOp> ops = emitted.of(list);
    order.ops.insert(order.ops.end(), ops.begin(), ops.end());
    order.first.push_back(order.ops.size());
  }
  std::vector<bool> recomputes;
  for (const PlanStage& stage : plan.stages) recomputes.push_back(!stage.recompute.empty());
  if (std::find(recomputes.begin(), recomputes.end(), true) == recomputes.end()) return order;
  return with_recompute(std::move(order), recomputes);
}

Result<Program> lower(const Plan& plan) {
  if (is_replicated(plan)) {
    PENSTOCK_TRY_VOID(refuse_what_is_not_lowered(plan));
    for (std::size_t s = 0; s < plan.stages.size(); ++s) PENSTOCK_TRY_VOID(check_memory(plan, s));
    PENSTOCK_TRY(Program program, lower_replicated(plan, parts_of(plan)));
    count_parameters(plan, program);
    gather_norms(plan, program);
    add_contention(plan, program);
    assign_memory(program);
    return expect_plausible_times(std::move(program));
  }
  PENSTOCK_TRY(Order order, order_of(plan));
  return lower(with_steps(std::move(order)), plan);
}

Result<Program> lower(const Order& order, const Plan& plan) {
  PENSTOCK_TRY_VOID(refuse_what_is_not_lowered(plan));
  PENSTOCK_TRY_VOID(refuse_replicas(plan));
  const auto stages = static_cast<std::int32_t>(plan.stages.size());
  if (order.stages != stages || order.ranks != plan.ranks() ||
      order.microbatches != plan.microbatches || order.slices != 1 ||
      order.rank_of.size() != plan.stages.size())
    return fail(ErrorCode::BadInput,
                fmt::format("an order of {} stages, {} ranks, {} microbatches, {} slices does not "
                            "fit a plan of {}, {}, {}, 1",
                            order.stages, order.ranks, order.microbatches, order.slices, stages,
                            plan.ranks(), plan.microbatches));
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (order.rank_of[s] != plan.stages[s].devices[0].value)
      return fail(ErrorCode::BadInput,
                  fmt::format("the order has stage {} on rank {}, the plan on rank {}", s,
                              order.rank_of[s], plan.stages[s].devices[0].value));
    PENSTOCK_TRY_VOID(check_memory(plan, s));
  }
  Program program;
  if (const std::vector<StageEdge> edges = stage_edges(plan); order.edges == edges) {
    program = lower_parts(order, parts_of(plan));
  } else {
    Order with_edges = order;
    with_edges.edges = edges;
    program = lower_parts(with_edges, parts_of(plan));
  }
  count_parameters(plan, program);
  gather_norms(plan, program);
  add_contention(plan, program);
  assign_memory(program);
  return expect_plausible_times(std::move(program));
}

Program lower(const Order& order, const OrderCosts& costs, Bytes bytes) {
  LoweringParts parts;
  parts.name = fmt::format("{} stage{}, {} microbatch{}", order.stages, order.stages == 1 ? "" : "s",
                           order.microbatches, order.microbatches == 1 ? "" : "es");
  for (std::size_t s = 0; s < static_cast<std::size_t>(order.stages); ++s) {
    StageTimes& times = parts.times.emplace_back();
    times.forward = costs.forward[s];
    times.backward_input = costs.backward_input[s];
    times.backward_weight = costs.backward_weight[s];
    times.recompute = costs.recompute[s];
    times.step = costs.step[s];
    parts.memory.emplace_back().stash = Bytes(1);
  }
  parts.loads.assign(static_cast<std::size_t>(order.stages), 0);
  parts.computes_loss = parts.loads;
  for (std::size_t e = 0; e < order.edges.size(); ++e)
    parts.edges.push_back({.from = order.edges[e].from,
                           .to = order.edges[e].to,
                           .tensors = {},
                           .bytes = bytes,
                           .activation = costs.activation[e],
                           .gradient = costs.gradient[e]});
  parts.message_buffers = false;
  for (std::int32_t rank = 0; rank < order.ranks; ++rank) parts.devices.push_back(DeviceId(rank));
  parts.limits.assign(static_cast<std::size_t>(order.ranks), Bytes(0));
  Program program = lower_parts(order, std::move(parts));
  assign_memory(program);
  return program;
}

OrderCosts order_costs(const std::vector<StageTimes>& stages, const std::vector<PlanEdge>& edges) {
  OrderCosts costs;
  for (const StageTimes& times : stages) {
    costs.forward.push_back(times.order_forward());
    costs.backward_input.push_back(times.backward_input);
    costs.backward_weight.push_back(times.backward_weight);
    costs.recompute.push_back(times.recompute);
    costs.step.push_back(times.step);
  }
  for (const PlanEdge& edge : edges) {
    costs.activation.push_back(edge.activation);
    costs.gradient.push_back(edge.gradient);
  }
  return costs;
}

OrderCosts order_costs(const Plan& plan, const Order& order) {
  PENSTOCK_CHECK(order.edges.size() == plan.edges.size(), "costs are of the plan's own order");
  std::vector<StageTimes> times;
  for (const PlanStage& stage : plan.stages) times.push_back(stage.times);
  return order_costs(times, plan.edges);
}

Order with_recompute(Order order, const std::vector<bool>& recomputes) {
  std::vector<OrderOp> ops;
  ops.reserve(order.ops.size() + order.ops.size() / 2);
  std::vector<std::size_t> first = {0};
  for (std::int32_t rank = 0; rank < order.ranks; ++rank) {
    for (const OrderOp& op : order.of(RankId(rank))) {
      if (is_backward(op.op) && recomputes[op.stage]) {
        OrderOp again = op;
        again.op = Op::R;
        again.fused = 0;
        ops.push_back(again);
      }
      ops.push_back(op);
    }
    first.push_back(ops.size());
  }
  order.ops = std::move(ops);
  order.first = std::move(first);
  return order;
}

Order with_steps(Order order) {
  std::vector<OrderOp> ops;
  ops.reserve(order.ops.size() + order.rank_of.size());
  std::vector<std::size_t> first = {0};
  for (std::int32_t rank = 0; rank < order.ranks; ++rank) {
    const std::span<const OrderOp> list = order.of(RankId(rank));
    ops.insert(ops.end(), list.begin(), list.end());
    for (std::size_t c = 0; c < order.rank_of.size(); ++c) {
      if (order.rank_of[c] != rank) continue;
      OrderOp& step = ops.emplace_back();
      step.op = Op::Step;
      step.stage = static_cast<std::uint16_t>(c % static_cast<std::size_t>(order.stages));
      step.direction = c >= static_cast<std::size_t>(order.stages) ? 1 : 0;
    }
    first.push_back(ops.size());
  }
  order.ops = std::move(ops);
  order.first = std::move(first);
  return order;
}

}  // namespace penstock
