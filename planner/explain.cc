#include "planner/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/replicas.h"

namespace penstock {

std::string describe_layers(std::int32_t first, std::int32_t end) {
  return end - first == 1 ? fmt::format("layer {}", first)
                          : fmt::format("layers {}-{}", first, end - 1);
}

std::string binding_constraint(const Plan& plan) {
  const auto work = [&](const PlanStage& stage) {
    const std::int64_t turns = stage.split == Split::RoundRobin ? stage.replicas : 1;
    return (plan.microbatches + turns - 1) / turns *
               (stage.times.order_forward() + stage.times.recompute + stage.times.backward()) +
           stage.times.step;
  };
  const auto longest =
      std::max_element(plan.stages.begin(), plan.stages.end(),
                       [&](const PlanStage& a, const PlanStage& b) { return work(a) < work(b); });
  const PlanDevice& device = plan.devices[longest->devices.front().index()];
  return fmt::format(
      "stage {} ({}): {} of compute a step; memory leaves {} free", longest - plan.stages.begin(),
      describe_layers(longest->layers.front().value, longest->layers.back().value + 1),
      text(work(*longest)), text(device.memory_limit_bytes - device.peak_memory_bytes));
}

std::string describe(const Plan& plan) {
  std::string ranks = std::to_string(plan.ranks());
  if (is_replicated(plan)) {
    ranks.clear();
    for (const PlanStage& stage : plan.stages)
      ranks += fmt::format("{}{}", ranks.empty() ? "" : ":", stage.replicas);
  }
  return fmt::format("{} on {} rank{}, {} microbatch{} of {}", plan.schedule.name, ranks,
                     plan.ranks() == 1 ? "" : "s", plan.microbatches,
                     plan.microbatches == 1 ? "" : "es", plan.microbatch_size);
}

Error nothing_fits(const NearestMiss& miss, const Restrictions& restrictions) {
  std::vector<std::string_view> remedies;
  if (restrictions.smaller_microbatches) remedies.push_back("a smaller microbatch");
  if (restrictions.one_f_one_b)
    remedies.push_back("1f1b, which keeps fewer microbatches than gpipe");
  remedies.push_back(restrictions.more_ranks ? "more ranks"
                                             : "a cluster with more or larger devices");
  if (restrictions.higher_limit) remedies.push_back("a higher memory limit");
  const Shortage& lack = miss.shortage;
  return {.code = ErrorCode::Infeasible,
          .message =
              fmt::format("nothing fits: nearest is {} on {} rank{} with microbatches of {}, where "
                          "in the best division "
                          "stage {} ({}) takes {} ({} bytes) more than the {} of its rank",
                          miss.schedule, miss.ranks, miss.ranks == 1 ? "" : "s",
                          miss.microbatch_size, lack.stage, describe_layers(lack.first, lack.end),
                          text(lack.excess), lack.excess.value, text(miss.limit)),
          .hint = fmt::format("try {}", fmt::join(remedies, ", or "))};
}

}  // namespace penstock
