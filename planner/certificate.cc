#include "planner/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/contrast.h"
#include "core/replicas.h"
#include "core/stage_layout.h"
#include "models/costs/cost_table.h"
#include "planner/bounds/bounds.h"
#include "planner/explain.h"
#include "planner/lower.h"
#include "planner/predict.h"

namespace penstock {
namespace {

// Seconds are doubles of integer nanoseconds, and survive a file: what differs by more was not
// derived from the plan.
bool equal(double a, double b) {
  return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

double largest(const std::vector<Bound>& bounds) {
  double most = 0;
  for (const Bound& bound : bounds) most = std::max(most, bound.seconds);
  return most;
}

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan) {}

  std::vector<Violation> run() {
    if (const Result<void> valid = validate(plan_); !valid) {
      say("plan", valid.error().text());
      return std::move(violations_);
    }
    check_times();
    check_program();
    check_certificate();
    return std::move(violations_);
  }

 private:
  void say(std::string rule, std::string message) {
    Violation& violation = violations_.emplace_back();
    violation.rule = std::move(rule);
    violation.message = std::move(message);
  }
  void expect(double claimed, double derived, std::string rule, std::string_view what) {
    if (!equal(claimed, derived))
      say(std::move(rule),
          fmt::format("{} is {:.9g}, the plan says {:.9g}", what, derived, claimed));
  }

  void check_times() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      StageTimes sum;
      const std::vector<StageTimes>* times =
          layer_times_at(plan_, largest_part(plan_, plan_.stages[s]));
      for (const LayerId layer : plan_.stages[s].layers) {
        if (times == nullptr || layer.index() >= times->size())
          return say("times", fmt::format("the plan carries no times of layer {}", layer.value));
        sum += (*times)[layer.index()];
      }
      sum.recompute = {};
      for (const LayerId layer : plan_.stages[s].recompute)
        sum.recompute += (*times)[layer.index()].recompute;
      if (sum != plan_.stages[s].times)
        say("times", fmt::format("the times of stage {} are not the sums of its layers' times", s));
    }
    for (const PlanEdge& edge : plan_.edges) slowest_of_hops(edge);
    if (plan_.costs != "derived") return;
    check_derived();
    check_replicas();
    for (const PlanEdge& edge : plan_.edges) {
      if (!edge.hops.empty()) continue;
      const DeviceId from = device_of(edge.from), to = device_of(edge.to);
      const std::optional<Path> there = route(plan_.cluster, from, to),
                                back = route(plan_.cluster, to, from);
      if (!there || !back) {
        say("times",
            fmt::format("stages {} and {} are not connected", edge.from.value, edge.to.value));
      } else if (edge.activation != there->time(edge.bytes) ||
                 edge.gradient != back->time(edge.bytes)) {
        say("times",
            fmt::format(
                "transfers between stages {} and {} do not take what the cluster's links say",
                edge.from.value, edge.to.value));
      }
    }
  }

  // Of a message between copies, what the slowest of its hops takes.
  void slowest_of_hops(const PlanEdge& edge) {
    if (edge.hops.empty()) return;
    const Network& network =
        plan_.workload.networks[plan_.stages[edge.from.index()].network.index()];
    const std::vector<Meeting> pairs = meetings(plan_, edge.from, edge.to);  // as valid() has found
    Nanoseconds there, back;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const ReplicaHop& hop = edge.hops[i];
      const Bytes bytes = tensor_offsets(network, edge.tensors, pairs[i].samples.count).back();
      there = std::max(there, Hop{hop.latency, hop.bandwidth}.time(bytes));
      back = std::max(back, Hop{hop.back_latency, hop.back_bandwidth}.time(bytes));
    }
    if (edge.activation != there || edge.gradient != back)
      say("times", fmt::format("between stages {} and {} the slowest hops take {} ns and {} ns, the "
                               "plan says {} ns and {} ns",
                               edge.from.value, edge.to.value, there.value, back.value,
                               edge.activation.value, edge.gradient.value));
  }

  // Derived costs are those of the workload's shapes on the first device; scratch of a stage too.
  void check_derived() {
    if (!holds_derived(plan_.layer_times, plan_.microbatch_size, "layer_times")) return;
    for (const PartTimes& part : plan_.part_times)
      if (!holds_derived(part.layers, part.samples, "part_times")) return;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const auto costs = derived_costs(plan_.workload, plan_.cluster.devices.front(),
                                       largest_part(plan_, plan_.stages[s]));
      if (!costs) return say("times", costs.error().text());
      const StageMemory memory = stage_memory(
          *costs, lay_out_stage(plan_, StageId(static_cast<std::int64_t>(s))), plan_.workload);
      if (memory.workspace != plan_.stages[s].memory.workspace)
        say("memory", fmt::format("the workspace of stage {} is {} B, the plan says {} B", s,
                                  memory.workspace.value, plan_.stages[s].memory.workspace.value));
    }
  }

  bool holds_derived(const std::vector<StageTimes>& claimed, std::int64_t samples,
                     std::string_view key) {
    const auto costs =
        derived_costs(plan_.workload, plan_.cluster.devices.front(), samples);
    if (!costs) {
      say("times", costs.error().text());
      return false;
    }
    for (std::size_t l = 0; l < std::min(claimed.size(), costs->layers.size()); ++l) {
      StageTimes derived = stage_times(*costs, {LayerId(static_cast<std::int64_t>(l))});
      // Again the forward, of layers that may be recomputed.
      if (claimed[l].recompute.value != 0) derived.recompute = derived.forward;
      if (claimed[l] == derived) continue;
      say("times", fmt::format("{} of layer {} at {} samples are not those derived for device {}",
                               key, l, samples, plan_.cluster.devices.front().name));
      return false;
    }
    return true;
  }

  // Hops between copies, and around the rings of replicas, as the cluster's links say.
  void check_replicas() {
    const auto same = [&](RankId from, RankId to, Nanoseconds latency, BytesPerSecond bandwidth) {
      const std::optional<Path> path =
          route(plan_.cluster, plan_.devices[from.index()].device, plan_.devices[to.index()].device);
      return path && path->latency == latency && path->bandwidth == bandwidth;
    };
    for (const PlanEdge& edge : plan_.edges)
      for (const ReplicaHop& hop : edge.hops) {
        const RankId a = plan_.stages[edge.from.index()].devices[static_cast<std::size_t>(hop.from)],
                     b = plan_.stages[edge.to.index()].devices[static_cast<std::size_t>(hop.to)];
        if (!same(a, b, hop.latency, hop.bandwidth) ||
            !same(b, a, hop.back_latency, hop.back_bandwidth))
          say("times", fmt::format("the hop between ranks {} and {} is not what the cluster's links "
                                   "say",
                                   a.value, b.value));
      }
    if (plan_.gather_bandwidth.value != 0) {
      std::vector<RankId> all;
      for (const PlanDevice& device : plan_.devices) all.push_back(device.rank);
      if (!is_slowest(all, norm_bytes(), plan_.gather_latency, plan_.gather_bandwidth))
        say("times", "the slowest hop around the ranks does not have the figures by which the plan "
                     "gathers norms");
    }
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const PlanStage& stage = plan_.stages[s];
      if (stage.replicas > 1 && !is_slowest(stage.devices, stage.memory.parameters,
                                            stage.reduce_latency, stage.reduce_bandwidth))
        say("times", fmt::format("the slowest hop around the replicas of stage {} does not have the "
                                 "figures by which the plan adds up their gradients",
                                 s));
    }
  }

  // Whether of the hops around a ring the first of those over which `bytes` take longest has these
  // figures.
  bool is_slowest(const std::vector<RankId>& ring, Bytes bytes, Nanoseconds latency,
                  BytesPerSecond bandwidth) const {
    std::optional<Path> slowest;
    for (std::size_t r = 0; r < ring.size(); ++r) {
      const std::optional<Path> path =
          route(plan_.cluster, plan_.devices[ring[r].index()].device,
                plan_.devices[ring[(r + 1) % ring.size()].index()].device);
      if (!path) return false;
      if (!slowest || path->time(bytes) > slowest->time(bytes)) slowest = path;
    }
    return slowest->latency == latency && slowest->bandwidth == bandwidth;
  }

  // Of the table of all squared norms: 8 bytes a parameter.
  Bytes norm_bytes() const {
    Bytes bytes;
    for (const Network& network : plan_.workload.networks)
      for (const Layer& layer : network.layers)
        bytes += Bytes(8 * static_cast<std::int64_t>(layer.parameters.size()));
    return bytes;
  }

  void check_program() {
    const Result<Program> program = lower(plan_);
    if (!program) return say("plan", program.error().text());
    for (std::size_t r = 0; r < plan_.devices.size(); ++r) {
      const PlanDevice& device = plan_.devices[r];
      if (program->arena[r] != device.peak_memory_bytes)
        say("memory", fmt::format("the program of rank {} takes {} B, the plan says {} B", r,
                                  program->arena[r].value, device.peak_memory_bytes.value));
      const Bytes memory = plan_.cluster.devices[device.device.index()].memory;
      if (device.memory_limit_bytes <= memory) continue;
      const auto [allowed, there] = contrast(device.memory_limit_bytes, memory);
      say("memory", fmt::format("rank {} is allowed {}, its device has {}", r, allowed, there));
    }
    for (Violation& violation : check(*program)) violations_.push_back(std::move(violation));
    if (!violations_.empty()) return;
    const Result<Nanoseconds> time = simulated_iteration_time(*program);
    if (!time) return say("iteration time", time.error().text());
    if (const std::string binding = binding_constraint(plan_);
        binding != plan_.certificate.binding_constraint)
      say("certificate", fmt::format("the binding constraint is '{}', the plan says '{}'", binding,
                                     plan_.certificate.binding_constraint));
    expect(plan_.iteration_time_s, seconds(*time), "iteration time",
           "the simulated iteration time in seconds");
    expect(plan_.throughput_samples_per_s,
           static_cast<double>(plan_.workload.global_batch) / seconds(*time), "iteration time",
           "the throughput in samples a second");
  }

  void check_certificate() {
    const Certificate& claimed = plan_.certificate;
    if (claimed.objective != "iteration_time" || claimed.objective_unit != "s")
      return say("certificate", fmt::format("the objective '{}' in '{}' has no proven bound",
                                            claimed.objective, claimed.objective_unit));
    const std::size_t layers =
        plan_.workload.networks[plan_.stages[0].network.index()].layers.size();
    if (plan_.layer_times.size() != layers)
      return say("certificate", "the plan does not carry a time for each layer of its network");
    if (is_replicated(plan_)) return check_replica_certificate();
    std::int32_t ranks = 0;
    for (const std::int32_t most :
         {plan_.ranks(), static_cast<std::int32_t>(std::min(plan_.cluster.devices.size(), layers))})
      if (plan_space(most, plan_.microbatches, plan_.microbatch_size) == claimed.plan_space)
        ranks = most;
    if (ranks == 0)
      return say("certificate",
                 fmt::format("the plan space '{}' is not this plan's", claimed.plan_space));
    Plan derived = bare();
    certify(derived, ranks);
    compare(derived.certificate);
  }

  void check_replica_certificate() {
    for (const ReplicaSpace& space : replica_spaces(plan_)) {
      if (text(space, plan_.microbatches, plan_.microbatch_size) !=
          plan_.certificate.plan_space)
        continue;
      Plan derived = bare();
      certify(derived, space);
      return compare(derived.certificate);
    }
    say("certificate",
        fmt::format("the plan space '{}' is not this plan's", plan_.certificate.plan_space));
  }

  // What bounds are derived from.
  Plan bare() const {
    Plan derived;
    derived.workload = plan_.workload;
    derived.stages = plan_.stages;
    derived.layer_times = plan_.layer_times;
    derived.part_times = plan_.part_times;
    derived.microbatches = plan_.microbatches;
    derived.microbatch_size = plan_.microbatch_size;
    derived.iteration_time_s = plan_.iteration_time_s;
    return derived;
  }

  void compare(const Certificate& proven) {
    const Certificate& claimed = plan_.certificate;
    bool same_names = proven.bounds.size() == claimed.bounds.size();
    for (std::size_t b = 0; same_names && b < proven.bounds.size(); ++b) {
      same_names = proven.bounds[b].name == claimed.bounds[b].name;
      if (same_names)
        expect(claimed.bounds[b].seconds, proven.bounds[b].seconds, "certificate",
               proven.bounds[b].name);
    }
    if (!same_names) say("certificate", "the bounds are not those that are known");
    expect(claimed.objective_value, proven.objective_value, "certificate", "the objective");
    expect(claimed.lower_bound_s, proven.lower_bound_s, "certificate",
           "the lower bound in seconds");
    if (std::abs(claimed.gap - proven.gap) > 1e-12)
      say("certificate", fmt::format("the gap is {}, the plan says {}", proven.gap, claimed.gap));
    if (proven.lower_bound_s > plan_.iteration_time_s * (1 + 1e-12))
      say("certificate", fmt::format("the iteration time {} s is below the proven bound {} s",
                                     plan_.iteration_time_s, proven.lower_bound_s));
  }

  DeviceId device_of(StageId stage) const {
    return plan_.devices[plan_.stages[stage.index()].devices[0].index()].device;
  }

  const Plan& plan_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Bound> lower_bounds(const Network& network, const std::vector<StageTimes>& layers,
                                std::int32_t ranks, std::int64_t microbatches) {
  PENSTOCK_CHECK(layers.size() == network.layers.size() && ranks >= 1,
                 "one time a layer, at least one rank");
  const BoundProblem problem{&network, &layers, ranks, microbatches};
  return {work_bound(problem), longest_layer_bound(problem), fill_and_drain_bound(problem),
          division_bound(problem)};
}

std::string plan_space(std::int32_t ranks, std::int64_t microbatches,
                       std::int64_t microbatch_size) {
  return fmt::format(
      "contiguous stages, one a rank, on at most {} rank{}; {} microbatch{} of {} sample{}, "
      "forwards and full "
      "backwards in any order",
      ranks, ranks == 1 ? "" : "s", microbatches, microbatches == 1 ? "" : "es", microbatch_size, microbatch_size == 1 ? "" : "s");
}

namespace {

void certify(Plan& plan, std::vector<Bound> bounds, std::string space) {
  Certificate& certificate = plan.certificate;
  certificate.objective = "iteration_time";
  certificate.objective_unit = "s";
  certificate.objective_value = plan.iteration_time_s;
  certificate.bounds = std::move(bounds);
  certificate.lower_bound_s = largest(certificate.bounds);
  certificate.gap = 1 - certificate.lower_bound_s / plan.iteration_time_s;
  certificate.plan_space = std::move(space);
}

}  // namespace

void certify(Plan& plan, std::int32_t ranks) {
  const Network& network = plan.workload.networks[plan.stages.front().network.index()];
  certify(plan, lower_bounds(network, plan.layer_times, ranks, plan.microbatches),
          plan_space(ranks, plan.microbatches, plan.microbatch_size));
}

void certify(Plan& plan, const ReplicaSpace& space) {
  certify(plan, replica_bounds(plan, space),
          text(space, plan.microbatches, plan.microbatch_size));
}

std::vector<Violation> verify(const Plan& plan) {
  return Verifier(plan).run();
}

}  // namespace penstock
