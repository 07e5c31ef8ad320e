#include "core/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/graph_algorithms.h"
#include "core/invalid.h"
#include "core/replicas.h"

namespace penstock {
namespace {

// Whoever adds up the numbers of a plan need not look for overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 56;
bool plausible(Nanoseconds t) {
  return t.value >= 0 && t <= kLongestTime;
}

// Stage by layer of one network; an invalid id where none holds it.
std::vector<StageId> stage_of_layer(const Network& network,
                                    const std::vector<std::vector<LayerId>>& stages) {
  std::vector<StageId> owner(network.layers.size());
  for (std::size_t s = 0; s < stages.size(); ++s)
    for (const LayerId layer : stages[s])
      owner[layer.index()] = StageId(static_cast<std::int64_t>(s));
  return owner;
}

Result<void> check_layers(const Plan& plan, std::size_t index) {
  const PlanStage& stage = plan.stages[index];
  const std::string at = fmt::format("/stages/{}", index);
  if (stage.network.value < 0 || stage.network.index() >= plan.workload.networks.size())
    return invalid(at + "/network",
                   fmt::format("stage {} is of network {}, of {}", index, stage.network.value,
                               plan.workload.networks.size()),
                   "networks count from 0, in the order of the workload");
  const Network& network = plan.workload.networks[stage.network.index()];
  if (stage.layers.empty())
    return invalid(at + "/layers", fmt::format("stage {} has no layers", index), "drop it");
  const auto check_list = [&](const std::vector<LayerId>& layers,
                              const std::string& key) -> Result<void> {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string place = fmt::format("{}/{}/{}", at, key, i);
      if (layers[i].value < 0 || layers[i].index() >= network.layers.size())
        return invalid(place,
                       fmt::format("stage {} names layer {}, which network '{}' does not have",
                                   index, layers[i].value, network.name),
                       fmt::format("its layers are 0 to {}", network.layers.size() - 1));
      if (i > 0 && layers[i] <= layers[i - 1])
        return invalid(place,
                       fmt::format("stage {} lists layer {} after layer {}", index, layers[i].value,
                                   layers[i - 1].value),
                       "list each layer once, ascending");
    }
    return {};
  };
  PENSTOCK_TRY_VOID(check_list(stage.layers, "layers"));
  PENSTOCK_TRY_VOID(check_list(stage.recompute, "recompute"));
  for (std::size_t i = 0; i < stage.recompute.size(); ++i) {
    if (!std::binary_search(stage.layers.begin(), stage.layers.end(), stage.recompute[i]))
      return invalid(fmt::format("{}/recompute/{}", at, i),
                     fmt::format("stage {} recomputes layer {}, which it does not hold", index,
                                 stage.recompute[i].value),
                     "recompute lists layers of the stage");
    if (network.layers[stage.recompute[i].index()].is_loss())
      return invalid(fmt::format("{}/recompute/{}", at, i),
                     fmt::format("stage {} recomputes layer {}, a loss", index,
                                 stage.recompute[i].value),
                     "a loss runs once, right after F; recompute the layers before it");
  }
  return {};
}

Result<void> check_cover(const Plan& plan) {
  for (std::size_t n = 0; n < plan.workload.networks.size(); ++n) {
    const Network& network = plan.workload.networks[n];
    std::vector<StageId> owner(network.layers.size());
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      if (plan.stages[s].network.index() != n) continue;
      for (std::size_t i = 0; i < plan.stages[s].layers.size(); ++i) {
        const LayerId layer = plan.stages[s].layers[i];
        if (owner[layer.index()].valid())
          return invalid(
              fmt::format("/stages/{}/layers/{}", s, i),
              fmt::format("layer {} ('{}') is on stages {} and {}", layer.value,
                          network.layers[layer.index()].name, owner[layer.index()].value, s),
              "each layer is on exactly one stage");
        owner[layer.index()] = StageId(static_cast<std::int64_t>(s));
      }
    }
    for (std::size_t i = 0; i < owner.size(); ++i)
      if (!owner[i].valid())
        return invalid("/stages",
                       fmt::format("layer {} ('{}') of network '{}' is on no stage", i,
                                   network.layers[i].name, network.name),
                       "each layer is on exactly one stage");
  }
  for (std::size_t s = 1; s < plan.stages.size(); ++s) {
    const PlanStage &a = plan.stages[s - 1], &b = plan.stages[s];
    if (std::pair(a.network, a.layers.front()) > std::pair(b.network, b.layers.front()))
      return invalid(fmt::format("/stages/{}", s),
                     fmt::format("stage {} begins before stage {}", s, s - 1),
                     "list stages in the order of their first layers");
  }
  return {};
}

// Ranks of a stage, and that it is the next chunk of each. `held`: by rank, the stages seen so far.
Result<void> check_ranks(const Plan& plan, std::size_t index,
                         std::map<RankId, std::vector<std::size_t>>& held) {
  const PlanStage& stage = plan.stages[index];
  const std::string at = fmt::format("/stages/{}", index);
  if (stage.replicas < 1 || stage.tensor_parallel < 1)
    return invalid(at + (stage.replicas < 1 ? "/replicas" : "/tensor_parallel"),
                   fmt::format("stage {} has {} replicas of {} ranks", index, stage.replicas,
                               stage.tensor_parallel),
                   "both are 1 or more");
  if (static_cast<std::int64_t>(stage.replicas) * stage.tensor_parallel !=
      static_cast<std::int64_t>(stage.devices.size()))
    return invalid(at + "/devices",
                   fmt::format("stage {} has {} ranks, for {} replicas of {}", index,
                               stage.devices.size(), stage.replicas, stage.tensor_parallel),
                   "devices lists replicas times tensor_parallel ranks");
  if (stage.chunk < 0)
    return invalid(at + "/chunk", fmt::format("stage {} is chunk {}", index, stage.chunk),
                   "chunks count from 0");
  for (std::size_t i = 0; i < stage.devices.size(); ++i) {
    const RankId rank = stage.devices[i];
    const std::string place = fmt::format("{}/devices/{}", at, i);
    if (rank.value < 0 || rank.index() >= plan.devices.size())
      return invalid(
          place,
          fmt::format("stage {} is on rank {}, of {}", index, rank.value, plan.devices.size()),
          "name ranks that are listed under devices");
    std::vector<std::size_t>& stages = held[rank];
    if (!stages.empty() && stages.back() == index)
      return invalid(place, fmt::format("stage {} is on rank {} twice", index, rank.value),
                     "name each rank of a stage once");
    if (static_cast<std::size_t>(stage.chunk) != stages.size())
      return invalid(at + "/chunk",
                     fmt::format("stage {} is chunk {}, and rank {} holds {} stages before it",
                                 index, stage.chunk, rank.value, stages.size()),
                     "the stages of a rank are its chunks 0, 1, … in their order");
    stages.push_back(index);
  }
  return {};
}

Result<void> check_amounts(const PlanStage& stage, std::size_t index) {
  const StageTimes& t = stage.times;
  for (const Nanoseconds x :
       {t.load, t.forward, t.loss, t.backward_input, t.backward_weight, t.recompute, t.step})
    if (!plausible(x))
      return invalid(fmt::format("/stages/{}/times", index),
                     fmt::format("a time of stage {} is {} ns", index, x.value),
                     "times are from 0 to 26 days");
  if (const Nanoseconds all = t.order_forward() + t.backward() + t.recompute + t.step;
      !plausible(all))
    return invalid(fmt::format("/stages/{}/times", index),
                   fmt::format("the times of stage {} add up to {}", index,
                               long_time(seconds(all))),
                   "together they are 26 days at most");
  const StageMemory& m = stage.memory;
  for (const Bytes x : {m.parameters, m.gradients, m.optimizer, m.stash, m.data, m.workspace})
    if (x.value < 0 || x.value > kMostBytes)
      return invalid(fmt::format("/stages/{}/memory", index),
                     fmt::format("a size of stage {} is {} bytes", index, x.value),
                     "sizes are from 0 to 2^56");
  return {};
}

Result<void> check_devices(const Plan& plan) {
  if (plan.devices.empty())
    return invalid("/devices", "the plan has no ranks", "list at least one");
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const PlanDevice& row = plan.devices[i];
    const std::string at = fmt::format("/devices/{}", i);
    if (row.rank.value != static_cast<std::int64_t>(i))
      return invalid(at + "/rank", fmt::format("row {} is of rank {}", i, row.rank.value),
                     "list all ranks, ascending from 0");
    if (row.device.value < 0 || row.device.index() >= plan.cluster.devices.size())
      return invalid(at + "/device",
                     fmt::format("rank {} runs on device {}, of {} in the cluster", i,
                                 row.device.value, plan.cluster.devices.size()),
                     "devices count from 0, in the order of the cluster");
    if (row.peak_memory_bytes.value < 0)
      return invalid(at + "/peak_memory_bytes",
                     fmt::format("rank {} has a peak of {} bytes", i, row.peak_memory_bytes.value),
                     "sizes are 0 or more");
    if (row.memory_limit_bytes.value <= 0)
      return invalid(at + "/memory_limit_bytes",
                     fmt::format("rank {} has a limit of {} bytes", i,
                                 row.memory_limit_bytes.value),
                     "a rank's limit is above 0, its device's memory at most");
  }
  return {};
}

std::string text(const PlanEdge& edge) {
  std::string tensors;
  for (const LayerId layer : edge.tensors)
    tensors += fmt::format("{}{}", tensors.empty() ? "" : ", ", layer.value);
  return fmt::format("{} -> {}, tensors [{}], {} bytes", edge.from.value, edge.to.value, tensors,
                     edge.bytes.value);
}

// The edges of all networks, as crossing_edges gives them.
std::vector<PlanEdge> implied_edges(const Plan& plan) {
  std::vector<PlanEdge> out;
  for (std::size_t n = 0; n < plan.workload.networks.size(); ++n) {
    std::vector<std::vector<LayerId>> stages(plan.stages.size());
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
      if (plan.stages[s].network.index() == n) stages[s] = plan.stages[s].layers;
    const auto edges = crossing_edges(plan.workload.networks[n], stages, plan.microbatch_size);
    out.insert(out.end(), edges.begin(), edges.end());
  }
  std::sort(out.begin(), out.end(), [](const PlanEdge& a, const PlanEdge& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  return out;
}

Result<void> check_edges(const Plan& plan) {
  const std::vector<PlanEdge> expected = implied_edges(plan);
  for (std::size_t i = 0; i < std::max(expected.size(), plan.edges.size()); ++i) {
    const std::string at = fmt::format("/edges/{}", i);
    if (i >= plan.edges.size())
      return invalid("/edges", "an edge is missing: " + text(expected[i]),
                     "list what crosses between stages");
    const PlanEdge& edge = plan.edges[i];
    if (i >= expected.size()) return invalid(at, "nothing crosses here: " + text(edge), "drop it");
    const PlanEdge& want = expected[i];
    if (edge.from != want.from || edge.to != want.to || edge.tensors != want.tensors ||
        edge.bytes != want.bytes)
      return invalid(at, fmt::format("edge {} is {}; expected {}", i, text(edge), text(want)),
                     "edges, by (from, to), are exactly the tensors that cross");
    if (!plausible(edge.activation) || !plausible(edge.gradient))
      return invalid(at,
                     fmt::format("edge {} takes {} ns and {} ns", i, edge.activation.value,
                                 edge.gradient.value),
                     "times are from 0 to 26 days");
  }
  std::vector<VertexPair> graph;
  for (const PlanEdge& edge : plan.edges) graph.emplace_back(edge.from.value, edge.to.value);
  if (!topological_order(static_cast<std::int32_t>(plan.stages.size()), graph))
    return invalid(
        "/edges", "stages wait for each other in a circle",
        "cut the network so that no stage needs, even through others, what itself produces");
  return {};
}

Result<void> check_numbers(const Plan& plan) {
  const std::pair<const char*, double> numbers[] = {
      {"iteration_time_s", plan.iteration_time_s},
      {"throughput_samples_per_s", plan.throughput_samples_per_s},
      {"objective_value", plan.certificate.objective_value},
      {"lower_bound_s", plan.certificate.lower_bound_s},
      {"gap", plan.certificate.gap}};
  for (const auto& [key, x] : numbers)
    if (!std::isfinite(x))
      return invalid(std::string("/") + key, fmt::format("{} is {}", key, x),
                     "a plan's claims are finite numbers");
  for (std::size_t i = 0; i < plan.certificate.bounds.size(); ++i)
    if (!std::isfinite(plan.certificate.bounds[i].seconds))
      return invalid(fmt::format("/bounds/{}", i), "a bound is not finite",
                     "a plan's claims are finite numbers");
  return {};
}

}  // namespace

std::vector<PlanEdge> crossing_edges(const Network& network,
                                     const std::vector<std::vector<LayerId>>& stages,
                                     std::int64_t microbatch_size) {
  const std::vector<StageId> owner = stage_of_layer(network, stages);
  std::map<std::pair<StageId, StageId>, std::set<LayerId>> crossing;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    for (const LayerId input : network.layers[i].inputs)
      if (owner[i].valid() && owner[input.index()].valid() && owner[i] != owner[input.index()])
        crossing[{owner[input.index()], owner[i]}].insert(input);
  std::vector<PlanEdge> edges;
  for (const auto& [pair, tensors] : crossing) {
    PlanEdge edge;
    edge.from = pair.first;
    edge.to = pair.second;
    edge.tensors.assign(tensors.begin(), tensors.end());
    for (const LayerId tensor : tensors)
      edge.bytes += align_up(network.layers[tensor.index()].output.bytes() * microbatch_size,
                             kTensorAlignment);
    edges.push_back(std::move(edge));
  }
  return edges;
}

Result<void> validate(const Plan& plan) {
  PENSTOCK_TRY_VOID(within("/workload", validate(plan.workload)));
  PENSTOCK_TRY_VOID(within("/cluster", validate(plan.cluster)));
  // Division, not multiplication: the product could overflow.
  const std::int64_t batch = plan.workload.global_batch;
  if (plan.microbatch_size < 1 || plan.microbatches < 1 || batch % plan.microbatch_size != 0 ||
      batch / plan.microbatch_size != plan.microbatches)
    return invalid("/microbatches",
                   fmt::format("{} microbatches of {} samples do not make the global batch of {}",
                               plan.microbatches, plan.microbatch_size, batch),
                   "microbatch_size times microbatches is global_batch");
  PENSTOCK_TRY_VOID(check_devices(plan));
  if (plan.stages.empty()) return invalid("/stages", "the plan has no stages", "list at least one");
  for (std::size_t s = 0; s < plan.stages.size(); ++s) PENSTOCK_TRY_VOID(check_layers(plan, s));
  PENSTOCK_TRY_VOID(check_cover(plan));
  std::map<RankId, std::vector<std::size_t>> held;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    PENSTOCK_TRY_VOID(check_ranks(plan, s, held));
    PENSTOCK_TRY_VOID(check_amounts(plan.stages[s], s));
  }
  PENSTOCK_TRY_VOID(check_edges(plan));
  PENSTOCK_TRY_VOID(validate_replicas(plan));
  if (plan.schedule.name.empty())
    return invalid("/schedule", "the plan names no schedule", "e.g. \"1f1b\"");
  if (plan.contention) PENSTOCK_TRY_VOID(within("/contention", validate(*plan.contention)));
  if (plan.costs != "derived" && plan.costs != "profiled")
    return invalid("/costs", fmt::format("costs are '{}'", plan.costs),
                   "\"derived\" or \"profiled\"");
  if (plan.costs == "derived" && !plan.profile_machine.empty())
    return invalid("/profile_machine",
                   fmt::format("costs are derived, and of a profile of {}", plan.profile_machine),
                   "a machine is named where costs are profiled");
  for (std::size_t l = 0; l < plan.layer_times.size(); ++l) {
    const StageTimes& t = plan.layer_times[l];
    for (const Nanoseconds x :
         {t.load, t.forward, t.loss, t.backward_input, t.backward_weight, t.recompute, t.step})
      if (!plausible(x))
        return invalid(fmt::format("/layer_times/{}", l),
                       fmt::format("a time of layer {} is {} ns", l, x.value),
                       "times are from 0 to 26 days");
  }
  return check_numbers(plan);
}

}  // namespace penstock
