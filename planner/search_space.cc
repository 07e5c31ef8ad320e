#include "planner/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <functional>
#include <set>

namespace penstock {
namespace {

Result<void> choose_ranks(const PlanRequest& request, SearchSpace& space) {
  const std::vector<Device>& devices = request.cluster.devices;
  const Network& network = request.workload.networks.front();
  const auto available = static_cast<std::int32_t>(devices.size());
  const auto layers = static_cast<std::int32_t>(network.layers.size());
  if (request.ranks < 0) return fail(ErrorCode::Usage, fmt::format("{} ranks", request.ranks));
  if (request.ranks > available)
    return fail(ErrorCode::Infeasible, fmt::format("{} ranks, but cluster {} has {} devices",
                                                   request.ranks, request.cluster.name, available));
  if (request.ranks > layers)
    return fail(ErrorCode::Infeasible,
                fmt::format("{} stages, but network {} has {} layers", request.ranks, network.name,
                            layers),
                "a stage holds one layer or more: ask for fewer ranks");
  space.least_ranks = request.ranks > 0 ? request.ranks : 1;
  space.most_ranks = request.ranks > 0 ? request.ranks : std::min(available, layers);
  for (std::int32_t r = 1; r < space.most_ranks; ++r) {
    const Device& device = devices[static_cast<std::size_t>(r)];
    if (device.kind == devices[0].kind && device.peak_f32 == devices[0].peak_f32 &&
        device.memory_bandwidth == devices[0].memory_bandwidth)
      continue;
    return fail(ErrorCode::Infeasible,
                fmt::format("devices {} and {} are not of one kind: a {} and a {}", devices[0].name,
                            device.name, devices[0].kind, device.kind),
                "plans are made for devices of one kind and speed");
  }
  return {};
}

Result<void> choose_schedules(const PlanRequest& request, SearchSpace& space) {
  for (const std::string& name : request.schedules) {
    PENSTOCK_TRY(const ChosenSchedule chosen, find_schedule(name));
    space.schedules.push_back(chosen);
  }
  if (space.schedules.empty())
    for (const Schedule& schedule : schedules()) space.schedules.push_back({&schedule, {}});
  return {};
}

// Whether all times of a plan, and of a step of it, are bounded as core/units.h says, however its
// layers are divided: no stage takes longer than all layers, no message than all outputs.
Result<void> expect_bounded(const PlanRequest& request, const SearchSpace& space,
                            const CostTable& costs) {
  double microbatch = 0, update = 0;
  for (const LayerCost& cost : costs.layers) {
    for (const Nanoseconds time : {cost.load, cost.forward, cost.loss, cost.backward_input,
                                   cost.backward_weight})
      microbatch += seconds(time);
    update += seconds(cost.step);
  }
  if (microbatch + update > seconds(kLongestTime))
    return fail(ErrorCode::BadInput,
                fmt::format("{} samples through all layers take {}", costs.microbatch,
                            long_time(microbatch + update)),
                fmt::format("costs are bounded by {}: are the rates or times in the right unit?",
                            long_time(seconds(kLongestTime))));
  Bytes outputs;
  for (const Layer& layer : request.workload.networks.front().layers)
    outputs += align_up(layer.output.bytes() * costs.microbatch, kTensorAlignment);
  double message = 0;
  // With replicas more ranks than layers take part, and gradients go around in 2(R - 1) messages.
  const auto devices = static_cast<std::int64_t>(request.cluster.devices.size());
  const std::int64_t named = std::accumulate(request.replicas.begin(), request.replicas.end(), std::int64_t{0});
  const bool replicated = named > static_cast<std::int64_t>(request.replicas.size());
  const auto reach = static_cast<std::int32_t>(
      request.replicas.empty() ? devices : replicated ? std::min(devices, named) : space.most_ranks);
  for (std::int32_t r = 1; r < reach; ++r) {
    for (const auto& [from, to] : {std::pair(DeviceId(r - 1), DeviceId(r)),
                                   std::pair(DeviceId(r), DeviceId(r - 1))}) {
      const auto found = costs.hop(request.cluster, from, to);
      if (!found && r >= space.most_ranks) continue;  // those that need it say so
      if (!found) return fail(found.error());
      const Hop& hop = *found;
      const double time =
          seconds(hop.latency) + static_cast<double>(outputs.value) / hop.bandwidth.value;
      message = std::max(message, time);
      if (!(time <= seconds(kLongestTime)))
        return fail(
            ErrorCode::BadInput,
            fmt::format("from device {} to {}, messages of {} would take {}",
                        request.cluster.devices[from.index()].name,
                        request.cluster.devices[to.index()].name, text(outputs), long_time(time)),
            fmt::format("is the link's bandwidth of {} in the right unit?", text(hop.bandwidth)));
    }
  }
  const auto microbatches =
      static_cast<double>(request.workload.global_batch / costs.microbatch);
  const double step = microbatches * (microbatch + 2 * reach * message) + update;
  if (step > seconds(kLongestRun) / 4)
    return fail(ErrorCode::BadInput,
                fmt::format("a step of {:.0f} microbatches of {} may take {}", microbatches,
                            costs.microbatch, long_time(step)),
                fmt::format("steps of up to {} are planned: are the rates, times and links in the "
                            "right unit?",
                            long_time(seconds(kLongestRun) / 4)));
  return {};
}

// Of sizes that nobody named: with more microbatches a step the pipeline is full anyway, and orders of
// millions of operations take long to evaluate.
constexpr std::int64_t kMostMicrobatches = 16384;

using Sizes = std::set<std::int64_t, std::greater<>>;

Result<Sizes> microbatch_sizes(const PlanRequest& request) {
  const std::int64_t batch = request.workload.global_batch;
  Sizes sizes;
  for (const std::int64_t size : request.microbatch_sizes) {
    if (size < 1 || batch % size != 0)
      return fail(
          ErrorCode::Usage,
          fmt::format("microbatches of {} do not divide the global batch of {}", size, batch),
          "name sizes that do: --microbatch 1 always does");
    sizes.insert(size);
  }
  if (!sizes.empty()) return sizes;
  if (!request.profile) {
    for (std::int64_t size = 1; size <= batch / size; ++size)
      if (batch % size == 0)
        for (const std::int64_t divisor : {size, batch / size})
          if (batch / divisor <= kMostMicrobatches) sizes.insert(divisor);
    return sizes;
  }
  std::set<std::int64_t> held;
  for (const LayerTime& time : request.profile->times)
    if (time.microbatch > 0) held.insert(time.microbatch);
  for (const std::int64_t size : held)
    if (batch % size == 0) sizes.insert(size);
  if (sizes.empty())
    return fail(
        ErrorCode::Infeasible,
        fmt::format("the profile holds microbatches of {}, none of which divides the global "
                    "batch of {}",
                    fmt::join(held, ", "), batch),
        "profile with other --microbatch sizes, or change --global-batch");
  return sizes;
}

}  // namespace

Result<CostTable> costs_of(const PlanRequest& request, std::int64_t samples) {
  const Device& device = request.cluster.devices.front();
  PENSTOCK_TRY(CostTable costs,
               request.profile ? profiled_costs(request.workload, *request.profile, device, samples)
                               : derived_costs(request.workload, device, samples));
  if (request.cores > 0) {
    if (!costs.contention) costs.contention.emplace();
    costs.contention->cores = request.cores;
  }
  recompute(costs, request.workload.networks.front(), request.recompute);
  return costs;
}

Result<SearchSpace> search_space(const PlanRequest& request) {
  SearchSpace space;
  PENSTOCK_TRY_VOID(choose_ranks(request, space));
  PENSTOCK_TRY_VOID(choose_schedules(request, space));
  PENSTOCK_TRY(const Sizes sizes, microbatch_sizes(request));
  for (const std::int64_t size : sizes) {
    PENSTOCK_TRY(CostTable costs, costs_of(request, size));
    PENSTOCK_TRY_VOID(expect_bounded(request, space, costs));
    space.costs.push_back(std::move(costs));
  }
  return space;
}

}  // namespace penstock
