#include "planner/ordinary_training.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock {

Result<void> expect_ordinary_training(const Workload& workload) {
  const auto refuse = [&](std::string what) {
    return fail(ErrorCode::Infeasible, fmt::format("workload {} has {}", workload.name, what),
                "ordinary training of one network is what can be planned yet");
  };
  if (workload.networks.size() != 1)
    return refuse(fmt::format("{} networks", workload.networks.size()));
  const auto other = std::find_if(workload.stores.begin(), workload.stores.end(),
                                  [](const Store& s) { return s.kind != StoreKind::Trained; });
  if (other != workload.stores.end())
    return refuse(
        fmt::format("store '{}', which is {}", other->name,
                    enum_names(StoreKind())[static_cast<std::size_t>(other->kind)].second));
  if (!workload.tasks.empty())
    return refuse(fmt::format("tasks of its own, first '{}'", workload.tasks.front().name));
  if (!workload.edges.empty())
    return refuse(fmt::format("{} edges between tasks", workload.edges.size()));
  if (workload.hyper_period != 1)
    return refuse(fmt::format("a hyper-period of {} steps", workload.hyper_period));
  if (workload.phases.size() > 1)
    return refuse(fmt::format("{} phases", workload.phases.size()));
  return {};
}

}  // namespace penstock
