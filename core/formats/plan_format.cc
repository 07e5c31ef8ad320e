#include "core/formats/plan_format.h"

#include <fmt/format.h>

#include "core/formats/cluster_format.h"
#include "core/formats/contention_fields.h"
#include "core/formats/format_support.h"
#include "core/formats/workload_format.h"
#include "core/random.h"

namespace penstock {

template <class A>
void describe(A& a, StageTimes& x) {
  a.required("load_ns", x.load);
  a.required("forward_ns", x.forward);
  a.required("loss_ns", x.loss);
  a.required("backward_input_ns", x.backward_input);
  a.required("backward_weight_ns", x.backward_weight);
  a.required("recompute_ns", x.recompute);
  a.required("step_ns", x.step);
}

template <class A>
void describe(A& a, StageMemory& x) {
  a.required("parameters_bytes", x.parameters);
  a.required("gradients_bytes", x.gradients);
  a.required("optimizer_bytes", x.optimizer);
  a.required("stash_bytes", x.stash);
  a.required("data_bytes", x.data);
  a.required("workspace_bytes", x.workspace);
}

void write_value(JsonWriter& writer, const StageTimes& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const StageMemory& x) {
  write_row(writer, x);
}

template <class A>
void describe(A& a, PlanStage& x) {
  a.required("network", x.network);
  a.required("layers", x.layers);
  a.required("chunk", x.chunk);
  a.required("devices", x.devices);
  a.required("tensor_parallel", x.tensor_parallel);
  a.required("replicas", x.replicas);
  a.required("split", x.split);
  a.required("recompute", x.recompute);
  a.required("times", x.times);
  a.required("memory", x.memory);
  if (A::kReading || x.replicas > 1) {
    a.optional("reduce_latency_ns", x.reduce_latency);
    a.optional("reduce_bandwidth_bytes_per_s", x.reduce_bandwidth);
  }
}

template <class A>
void describe(A& a, ReplicaHop& x) {
  a.required("from", x.from);
  a.required("to", x.to);
  a.required("latency_ns", x.latency);
  a.required("bandwidth_bytes_per_s", x.bandwidth, above(0));
  a.required("back_latency_ns", x.back_latency);
  a.required("back_bandwidth_bytes_per_s", x.back_bandwidth, above(0));
}

template <class A>
void describe(A& a, BucketLimits& x) {
  a.required("first_bytes", x.first, at_least(0));
  a.required("rest_bytes", x.rest, at_least(0));
}

template <class A>
void describe(A& a, PartTimes& x) {
  a.required("samples", x.samples, at_least(1));
  a.required("layers", x.layers);
}

template <class A>
void describe(A& a, PlanEdge& x) {
  a.required("from", x.from);
  a.required("to", x.to);
  a.required("tensors", x.tensors);
  a.required("message_bytes", x.bytes);
  a.required("activation_ns", x.activation);
  a.required("gradient_ns", x.gradient);
  unless_empty(a, "hops", x.hops);
}

template <class A>
void describe(A& a, PlanDevice& x) {
  a.required("rank", x.rank);
  a.required("device", x.device);
  a.required("peak_memory_bytes", x.peak_memory_bytes);
  a.required("memory_limit_bytes", x.memory_limit_bytes);
}

void write_value(JsonWriter& writer, const ReplicaHop& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const PlanEdge& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const PlanDevice& x) {
  write_row(writer, x);
}

template <class A>
void describe(A& a, Bound& x) {
  a.required("name", x.name);
  a.required("bound_s", x.seconds);
}

// The objective under a key that says its unit, for readers that want seconds and nothing else.
template <class A>
void describe_objective(A& a, Certificate& x) {
  a.required("objective", x.objective);
  a.required("objective_unit", x.objective_unit);
  a.required("objective_value", x.objective_value);
  std::optional<double> in_seconds;
  if (!A::kReading && x.objective_unit == "s") in_seconds = x.objective_value;
  a.optional("objective_s", in_seconds);
  if (a.ok() && in_seconds && (x.objective_unit != "s" || *in_seconds != x.objective_value))
    a.fail("objective_s",
           fmt::format("objective_s is {}, the objective {} {}", *in_seconds, x.objective_value,
                       x.objective_unit),
           "objective_s repeats objective_value where objective_unit is \"s\"");
}

template <class A>
void describe(A& a, Plan& x) {
  Certificate& certificate = x.certificate;
  a.required("strategy", x.strategy);
  describe_objective(a, certificate);
  a.required("schedule", x.schedule.name);
  a.optional("schedule_parameters", x.schedule.parameters);
  a.optional("weight_policy", x.weight_policy);
  a.required("microbatch_size", x.microbatch_size);
  a.required("microbatches", x.microbatches);
  a.required("iteration_time_s", x.iteration_time_s);
  a.required("throughput_samples_per_s", x.throughput_samples_per_s);
  a.required("lower_bound_s", certificate.lower_bound_s);
  a.required("gap", certificate.gap);
  a.required("bounds", certificate.bounds);
  a.required("plan_space", certificate.plan_space);
  a.required("binding_constraint", certificate.binding_constraint);
  // Always there, null where the search found no other plan.
  a.required("runner_up", certificate.runner_up);
  a.required("costs", x.costs);
  a.optional("profile_machine", x.profile_machine);
  // One row a layer of the planned network: what stage times are sums of, and bounds are derived from.
  unless_empty(a, "layer_times", x.layer_times);
  unless_empty(a, "part_times", x.part_times);
  if (A::kReading || x.gather_bandwidth.value > 0) {
    a.optional("gather_latency_ns", x.gather_latency);
    a.optional("gather_bandwidth_bytes_per_s", x.gather_bandwidth);
  }
  if (A::kReading || !x.part_times.empty() || x.bucket_limits != BucketLimits())
    a.optional("bucket_limits", x.bucket_limits);
  if (A::kReading || x.contention) a.optional("contention", x.contention);
  a.required("devices", x.devices);
  a.required("stages", x.stages);
  a.required("edges", x.edges);
  a.required("cluster", x.cluster);
  a.required("workload", x.workload);
}

// As a member of from_document: reads, then validates with the place of what is wrong.
bool read_value(ReadContext& context, const Value& value, Plan& plan) {
  return read_validated(context, value, plan);
}

Result<Plan> plan_from(const Value& document, std::string file_name) {
  return from_document<Plan>(document, std::move(file_name), kPlanSchema);
}

Result<Plan> read_plan(std::string_view text, std::string file_name) {
  PENSTOCK_TRY(const Value document, parse_json(text, file_name));
  return plan_from(document, std::move(file_name));
}

std::string write_plan(const Plan& plan) {
  return to_json(plan, kPlanSchema);
}

std::string plan_digest(const Plan& plan) {
  return fmt::format("{:016x}", hash(write_plan(plan)));
}

}  // namespace penstock
