#include "cli/plan_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/arguments/optimizer_input.h"
#include "cli/inputs.h"
#include "core/file.h"
#include "core/formats/profile_format.h"
#include "models/clusters/clusters.h"
#include "models/text_form.h"
#include "models/workloads/builders.h"
#include "models/workloads/precision.h"
#include "planner/schedules/schedule.h"
#include "planner/strategies.h"
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

bool names_no_device(const std::string& text) {
  const auto form = parse_text_form(text);
  return form && (form->name == "flat" || form->name == "nodes") && !form->argument.empty() &&
         form->find("device") == nullptr;
}

std::vector<std::string> recompute_words() {
  std::vector<std::string> words = {"all", "none"};
  for (const auto& [kind, name] : enum_names(LayerKind())) {
    if (kind != LayerKind::CrossEntropy && kind != LayerKind::MeanSquared) words.emplace_back(name);
  }
  return words;
}

Result<std::vector<LayerKind>> parse_recompute(const std::string& text) {
  std::vector<LayerKind> kinds;
  if (text.empty() || text == "none") return kinds;
  const std::vector<std::string> known = recompute_words();
  const auto names = enum_names(LayerKind());
  for (const auto& [kind, name] : names) {
    if (kind == LayerKind::CrossEntropy || kind == LayerKind::MeanSquared) continue;
    if (text == "all") kinds.push_back(kind);
  }
  if (text == "all") return kinds;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word == "all" || word == "none")
      return fail(ErrorCode::Usage, fmt::format("--recompute: \"{}\" stands alone, and there is more in \"{}\"", word, text),
                  fmt::format("write {}, or the kinds of layers", word));
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const auto& row) { return row.second == word; });
    const std::string_view near = nearest(word, known);
    if (std::find(known.begin() + 2, known.end(), word) == known.end())
      return fail(ErrorCode::Usage,
                  fmt::format("--recompute: there is no kind of layer \"{}\" to recompute", word),
                  near.empty() ? fmt::format("all, none, or some of {}",
                                             fmt::join(known.begin() + 2, known.end(), ", "))
                               : fmt::format("did you mean {}?", near));
    kinds.push_back(found->first);
  }
  return kinds;
}

Result<PlanRequest> plan_request(const PlanFlags& input) {
  if (const auto strategy = find_strategy(input.strategy); !strategy) {
    Error error = strategy.error();
    error.message = "--strategy: " + error.message;
    return fail(std::move(error));
  }
  PlanRequest request;
  for (const std::string& schedule : input.schedules) PENSTOCK_TRY_VOID(find_schedule(schedule));
  request.schedules = input.schedules;
  PENSTOCK_TRY(request.recompute, parse_recompute(input.recompute));
  auto workload = load_workload(input.workload);
  if (!workload) return fail(say_kind(std::move(workload.error()), input.workload, "penstock.workload/1"));
  request.workload = std::move(*workload);
  auto cluster = load_cluster(input.cluster, input.ranks);
  if (!cluster) return fail(say_kind(std::move(cluster.error()), input.cluster, "penstock.cluster/1"));
  request.cluster = std::move(*cluster);
  const auto devices = static_cast<std::int64_t>(request.cluster.devices.size());
  if (input.ranks > devices) {
    return fail(ErrorCode::Infeasible,
                fmt::format("--ranks {}: the cluster has {} device{}", input.ranks, devices,
                            devices == 1 ? "" : "s"),
                "name a larger cluster, or ask for fewer ranks");
  }
  if (!input.profile.empty()) {
    const auto document = read_document(input.profile);
    if (!document) return fail(say_kind(document.error(), input.profile, kProfileSchema));
    const std::string name = input.profile == "-" ? "<stdin>" : input.profile;
    auto profile = profile_from(*document, name);
    if (!profile) return fail(say_kind(std::move(profile.error()), input.profile, kProfileSchema));
    request.profile = std::move(*profile);
    if (is_this_machine(input.cluster, request.cluster))
      PENSTOCK_TRY_VOID(expect_this_machine(*request.profile, name));
  }
  if (input.global_batch > 0) request.workload.global_batch = input.global_batch;
  if (!input.optimizer.empty())
    PENSTOCK_TRY_VOID(parse_optimizer(input.optimizer, request.workload.optimizer));
  if (input.precision) set_precision(request.workload, *input.precision);
  request.microbatch_sizes = input.microbatch_sizes;
  request.ranks = input.ranks;
  if (is_this_machine(input.cluster, request.cluster)) request.cores = identify_machine().cores;
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
