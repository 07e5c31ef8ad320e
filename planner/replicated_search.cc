#include "planner/replicated_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "planner/bounds/replica_bound.h"
#include "planner/certificate.h"
#include "planner/explain.h"
#include "planner/partition/replica_dp.h"
#include "planner/predict.h"

namespace penstock {
namespace {

// Of a setting, and so of a division whose cuts are moved: what may be simulated.
constexpr std::size_t kMostMoves = 64;
constexpr double kNear = 1.25;  // divisions slower than this many times the best are not moved

class ReplicatedSearch {
 public:
  explicit ReplicatedSearch(const PlanRequest& request) : request_(request) {}

  Result<Plan> run() {
    PENSTOCK_TRY_VOID(choose_space());
    for (std::size_t c = 0; c < costs_.size() && !request_.stop.stop_requested(); ++c) {
      for (const ChosenSchedule& schedule : schedules_) {
        PENSTOCK_TRY_VOID(try_setting(costs_[c], schedule));
        if (request_.progress)
          request_.progress(c + 1, costs_.size(), best_ ? best_->iteration_time_s : 0);
      }
    }
    if (!best_ && request_.stop.stop_requested())
      return fail(ErrorCode::Interrupted, "interrupted before any plan was found");
    if (!best_) {
      refuse("replicas make no division faster", "name those of each stage (--replicas 2,1)");
      return fail(refusal_);
    }
    certify(*best_, space_of(best_->microbatch_size));
    best_->certificate.binding_constraint = binding_constraint(*best_);
    if (second_)
      best_->certificate.runner_up =
          fmt::format("{}: {} an iteration", describe(*second_),
                      text(nanoseconds(second_->iteration_time_s)));
    return std::move(*best_);
  }

 private:
  Result<void> choose_space();
  Result<void> add_costs(const CostTable& whole);
  Result<void> try_setting(const ReplicaCosts& costs, const ChosenSchedule& schedule);
  Result<void> improve(const ReplicaCosts& costs, const ChosenSchedule& schedule,
                       ReplicaDivision division, Nanoseconds time);
  // The simulated iteration time of a division; nothing if it does not fit.
  Result<std::optional<Nanoseconds>> evaluate(const ReplicaCosts& costs,
                                              const ChosenSchedule& schedule,
                                              const ReplicaDivision& division);

  ReplicaSpace space_of(std::int64_t microbatch) const {
    ReplicaSpace space = space_;
    for (const ReplicaCosts& costs : costs_)
      if (costs.microbatch == microbatch) space.counts = counts_of(costs);
    return space;
  }
  std::vector<std::int32_t> counts_of(const ReplicaCosts& costs) const {
    const bool shares = request_.split == Split::Batch;
    const std::int64_t most =
        shares ? costs.microbatch : request_.workload.global_batch / costs.microbatch;
    std::vector<std::int32_t> counts;
    for (std::int32_t r = 1; r <= std::min<std::int64_t>(space_.devices, most); ++r)
      if (costs.of(r, request_.split) != nullptr) counts.push_back(r);
    return counts;
  }
  // The first refusal is told; that nothing fits in memory rather than that some sizes are impossible.
  void refuse(std::string message, std::string hint, bool lacks_memory = false) {
    if (!refusal_.message.empty() && (refusal_lacks_memory_ || !lacks_memory)) return;
    refusal_lacks_memory_ = lacks_memory;
    refusal_ = {
        .code = ErrorCode::Infeasible, .message = std::move(message), .hint = std::move(hint)};
  }
  bool is_named() const { return !request_.replicas.empty(); }

  const PlanRequest& request_;
  ReplicaSpace space_;
  std::vector<ChosenSchedule> schedules_;
  std::vector<ReplicaCosts> costs_;  // one a microbatch size, descending
  std::optional<Plan> best_, second_;
  Error refusal_;
  bool refusal_lacks_memory_ = false;
};

Result<void> ReplicatedSearch::choose_space() {
  const std::vector<Device>& devices = request_.cluster.devices;
  std::int32_t asked = 0;
  if (is_named()) {
    PENSTOCK_TRY(asked, ranks_of_replicas(request_));
  }
  space_.replicas = request_.replicas;
  space_.split = request_.split;
  space_.devices = is_named()           ? asked
                   : request_.ranks > 0 ? request_.ranks
                                        : static_cast<std::int32_t>(devices.size());
  for (std::int32_t d = 1; d < space_.devices; ++d) {
    const Device& device = devices[static_cast<std::size_t>(d)];
    if (device.kind != devices[0].kind || device.peak_f32 != devices[0].peak_f32 ||
        device.memory_bandwidth != devices[0].memory_bandwidth)
      return fail(ErrorCode::Infeasible,
                  fmt::format("devices {} and {} are not of one kind: a {} and a {}",
                              devices[0].name, device.name, devices[0].kind, device.kind),
                  "replicas run on devices of one kind and speed");
  }
  PlanRequest whole = request_;
  whole.ranks = 0;
  PENSTOCK_TRY(const SearchSpace space, search_space(whole));
  for (const ChosenSchedule& chosen : space.schedules)
    if (request_.split == Split::Batch || chosen.schedule->name == "1f1b" ||
        chosen.schedule->name == "gpipe")
      schedules_.push_back(chosen);
  if (schedules_.empty())
    refuse("none of the schedules is defined for replicas that take turns at microbatches",
           "1f1b or gpipe, or the split batch");
  for (const CostTable& costs : space.costs) PENSTOCK_TRY_VOID(add_costs(costs));
  return {};
}

// The costs of a microbatch and its parts. Parts that a profile lacks are no options, and an error if
// they are asked for.
Result<void> ReplicatedSearch::add_costs(const CostTable& whole) {
  ReplicaCosts costs;
  costs.microbatch = whole.microbatch;
  costs.parts[whole.microbatch] = whole;
  const std::int64_t microbatches = request_.workload.global_batch / whole.microbatch;
  const bool shares = request_.split == Split::Batch;
  std::set<std::int32_t> counts(request_.replicas.begin(), request_.replicas.end());
  for (std::int32_t r = 1; !is_named() && r <= space_.devices; ++r) counts.insert(r);
  for (const std::int32_t r : counts) {
    if (r > (shares ? whole.microbatch : microbatches)) {
      if (!is_named()) break;
      refuse(shares ? fmt::format("{} replicas cannot share microbatches of {} samples", r,
                                  whole.microbatch)
                    : fmt::format("{} replicas cannot take turns at {} microbatches", r,
                                  microbatches),
             shares ? "a larger microbatch (--microbatch), or --split round_robin"
                    : "smaller microbatches (--microbatch), or --split batch");
      return {};
    }
    const std::int64_t part = shares ? (whole.microbatch + r - 1) / r : whole.microbatch;
    if (costs.parts.contains(part)) continue;
    auto table = costs_of(request_, part);
    if (table) {
      costs.parts[part] = *std::move(table);
    } else if (is_named()) {
      refuse(table.error().message, table.error().hint);
      return {};
    }
  }
  costs_.push_back(std::move(costs));
  return {};
}

Result<std::optional<Nanoseconds>> ReplicatedSearch::evaluate(const ReplicaCosts& costs,
                                                              const ChosenSchedule& schedule,
                                                              const ReplicaDivision& division) {
  // A candidate of which no program can be made is one that does not fit.
  const auto refused = [&](const Error& error) -> Result<std::optional<Nanoseconds>> {
    if (error.code != ErrorCode::Infeasible) return fail(error);
    refuse(error.message, error.hint);
    return std::optional<Nanoseconds>();
  };
  auto made = replicated_plan(request_, costs, schedule, division.ends, division.replicas,
                              request_.split);
  if (!made) return refused(made.error());
  Plan plan = *std::move(made);
  const auto lowered = lay_out(plan);
  if (!lowered) return refused(lowered.error());
  const Program& program = *lowered;
  for (const PlanDevice& device : plan.devices) {
    const Bytes excess = device.peak_memory_bytes - device.memory_limit_bytes;
    if (excess.value <= 0) continue;
    refuse(fmt::format("nothing fits: {} takes {} more than the {} of rank {}", describe(plan),
                       text(excess), text(device.memory_limit_bytes), device.rank.value),
           "a smaller microbatch, more stages, or a higher memory limit", true);
    return std::optional<Nanoseconds>();
  }
  PENSTOCK_TRY(const Nanoseconds time, simulated_iteration_time(program));
  plan.iteration_time_s = seconds(time);
  plan.throughput_samples_per_s =
      static_cast<double>(request_.workload.global_batch) / plan.iteration_time_s;
  if (!best_ || plan.iteration_time_s < best_->iteration_time_s) {
    // A neighbour of the best is not worth naming as its rival.
    if (best_ && (describe(*best_) != describe(plan))) second_ = std::move(best_);
    best_ = std::move(plan);
  }
  return std::optional(time);
}

Result<void> ReplicatedSearch::try_setting(const ReplicaCosts& costs,
                                           const ChosenSchedule& schedule) {
  ReplicaProblem problem;
  problem.workload = &request_.workload;
  problem.devices = space_.devices;
  problem.split = request_.split;
  problem.microbatches = request_.workload.global_batch / costs.microbatch;
  problem.all_devices = is_named() || request_.ranks > 0;
  problem.options = space_of(costs.microbatch).options();
  problem.costs.resize(static_cast<std::size_t>(space_.devices) + 1);
  for (std::int32_t r = 1; r <= space_.devices; ++r)
    problem.costs[static_cast<std::size_t>(r)] = costs.of(r, request_.split);
  problem.from_previous.resize(static_cast<std::size_t>(space_.devices));
  for (std::int32_t d = 0; d < space_.devices; ++d) {
    const Bytes memory = request_.cluster.devices[static_cast<std::size_t>(d)].memory;
    problem.limits.push_back(
        request_.memory_limit.value > 0 ? std::min(request_.memory_limit, memory) : memory);
    if (d == 0) continue;
    PENSTOCK_TRY(const Hop there, costs.parts.begin()->second.hop(request_.cluster, DeviceId(d - 1),
                                                                  DeviceId(d)));
    PENSTOCK_TRY(const Hop back, costs.parts.begin()->second.hop(request_.cluster, DeviceId(d),
                                                                 DeviceId(d - 1)));
    const Bytes much(1 << 20);
    problem.from_previous[static_cast<std::size_t>(d)] =
        there.time(much) < back.time(much) ? back : there;
  }
  // First as if a rank kept one microbatch, then as many as it has devices behind it, or all.
  for (const std::int64_t kept :
       {std::int64_t{1}, std::int64_t{space_.devices}, problem.microbatches}) {
    problem.kept = kept;
    const std::optional<ReplicaDivision> division = divide_over_replicas(problem);
    if (!division) {
      refuse(fmt::format("nothing fits: {} with microbatches of {} in no division over {} ranks",
                         schedule.schedule->name, costs.microbatch, space_.devices),
             "a smaller microbatch, more ranks, or a higher memory limit", true);
      return {};
    }
    const bool shares = std::any_of(division->replicas.begin(), division->replicas.end(),
                                    [](std::int32_t r) { return r > 1; });
    if (!shares) return {};  // the search without replicas knows it
    PENSTOCK_TRY(const std::optional<Nanoseconds> time, evaluate(costs, schedule, *division));
    if (!time) continue;
    if (seconds(*time) <= kNear * best_->iteration_time_s)
      return improve(costs, schedule, *division, *time);
    return {};
  }
  return {};
}

// Moves one cut at a time, as local_moves does, by what simulation says.
Result<void> ReplicatedSearch::improve(const ReplicaCosts& costs, const ChosenSchedule& schedule,
                                       ReplicaDivision division, Nanoseconds time) {
  std::size_t moves = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t cut = 0; cut + 1 < division.ends.size(); ++cut) {
      for (const std::int32_t shift : {-4, -2, -1, 1, 2, 4}) {
        ReplicaDivision next = division;
        next.ends[cut] += shift;
        if (next.ends[cut] <= (cut == 0 ? 0 : next.ends[cut - 1]) ||
            next.ends[cut] >= next.ends[cut + 1])
          continue;
        if (++moves > kMostMoves || request_.stop.stop_requested()) return {};
        PENSTOCK_TRY(const std::optional<Nanoseconds> shorter, evaluate(costs, schedule, next));
        if (!shorter || *shorter >= time) continue;
        time = *shorter;
        division = std::move(next);
        moved = true;
      }
    }
  }
  return {};
}

}  // namespace

Result<std::int32_t> ranks_of_replicas(const PlanRequest& request) {
  const auto devices = static_cast<std::int64_t>(request.cluster.devices.size());
  const std::size_t layers = request.workload.networks.front().layers.size();
  const std::int64_t asked =
      std::accumulate(request.replicas.begin(), request.replicas.end(), std::int64_t{0});
  if (asked > devices)
    return fail(ErrorCode::Infeasible,
                fmt::format("replicas {} take {} ranks, but cluster {} has {} devices",
                            fmt::join(request.replicas, ","), asked, request.cluster.name,
                            devices),
                "fewer replicas, or a larger cluster");
  if (request.replicas.size() > layers)
    return fail(ErrorCode::Infeasible,
                fmt::format("{} stages, but network {} has {} layers", request.replicas.size(),
                            request.workload.networks.front().name, layers));
  if (request.ranks > 0 && request.ranks != asked)
    return fail(ErrorCode::Usage,
                fmt::format("replicas {} take {} ranks, not {}", fmt::join(request.replicas, ","),
                            asked, request.ranks),
                "leave out the number of ranks");
  return static_cast<std::int32_t>(asked);
}

Result<Plan> search_replicated(const PlanRequest& request) {
  return ReplicatedSearch(request).run();
}

}  // namespace penstock
