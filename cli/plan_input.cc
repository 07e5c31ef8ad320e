#include "cli/plan_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/optimizer_input.h"
#include "core/file.h"
#include "core/formats/profile_format.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/schedules/schedule.h"
#include "profiler/profiler.h"

namespace penstock::cli {
namespace {

Result<void> expect_this_machine(const Profile& profile, const std::string& path) {
  const Fingerprint here = identify_machine();
  const Fingerprint& there = profile.machine;
  std::string difference;
  if (there.cpu != here.cpu)
    difference = fmt::format("a {}, and this is a {}", there.cpu, here.cpu);
  if (difference.empty() && there.instruction_set != here.instruction_set)
    difference = fmt::format("a machine with {}, and this one has {}", there.instruction_set,
                             here.instruction_set);
  if (difference.empty() && there.cores != here.cores)
    difference = fmt::format("{} cores, and this machine has {}", there.cores, here.cores);
  if (difference.empty()) return {};
  return fail(Error{
      .code = ErrorCode::BadInput,
      .message = fmt::format("the profile was taken on {}", difference),
      .where = {.file = path},
      .hint =
          "measure here with penstock profile, or describe that machine as a cluster in a file"});
}

}  // namespace

bool is_this_machine(const std::string& text, const Cluster& cluster) {
  const bool written_out = text.rfind("flat:", 0) == 0 || text.rfind("nodes:", 0) == 0;
  return text == "this-machine" ||
         (written_out && std::all_of(cluster.devices.begin(), cluster.devices.end(),
                                     [](const Device& d) { return d.kind == "cpu"; }));
}

Result<PlanRequest> plan_request(const PlanFlags& input) {
  if (input.strategy != "auto") {
    return fail(ErrorCode::Usage,
                fmt::format("--strategy: there is no strategy \"{}\"", input.strategy),
                "there is auto");
  }
  PlanRequest request;
  for (const std::string& schedule : input.schedules) PENSTOCK_TRY_VOID(find_schedule(schedule));
  request.schedules = input.schedules;
  PENSTOCK_TRY(request.workload, load_workload(input.workload));
  PENSTOCK_TRY(request.cluster, load_cluster(input.cluster, input.ranks));
  const auto devices = static_cast<std::int64_t>(request.cluster.devices.size());
  if (input.ranks > devices) {
    return fail(ErrorCode::Infeasible,
                fmt::format("--ranks {}: the cluster has {} device{}", input.ranks, devices,
                            devices == 1 ? "" : "s"),
                "name a larger cluster, or ask for fewer ranks");
  }
  if (!input.profile.empty()) {
    PENSTOCK_TRY(const Value document, read_document(input.profile));
    const std::string name = input.profile == "-" ? "<stdin>" : input.profile;
    PENSTOCK_TRY(request.profile, profile_from(document, name));
    if (is_this_machine(input.cluster, request.cluster))
      PENSTOCK_TRY_VOID(expect_this_machine(*request.profile, name));
  }
  if (input.global_batch > 0) request.workload.global_batch = input.global_batch;
  if (!input.optimizer.empty())
    PENSTOCK_TRY_VOID(parse_optimizer(input.optimizer, request.workload.optimizer));
  request.microbatch_sizes = input.microbatch_sizes;
  request.ranks = input.ranks;
  if (input.any_replicas) request.replicas.clear();
  if (!input.replicas.empty())
    request.replicas.assign(input.replicas.begin(), input.replicas.end());
  if (input.split != "batch" && input.split != "round_robin")
    return fail(ErrorCode::Usage, fmt::format("--split: there is no split \"{}\"", input.split),
                "batch or round_robin");
  if (input.split == "round_robin") request.split = Split::RoundRobin;
  request.memory_limit = input.memory_limit;
  return request;
}

}  // namespace penstock::cli
