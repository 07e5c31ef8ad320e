#pragma once

// What a search chooses among: a setting (microbatch size, schedule, number of ranks), and in it a
// division of the layers.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/order.h"
#include "core/plan.h"
#include "core/result.h"
#include "core/workload.h"
#include "models/costs/cost_table.h"
#include "planner/partition/contiguous_dp.h"
#include "planner/schedules/schedule.h"

namespace penstock {

struct Setting {
  const Workload* workload = nullptr;
  const Cluster* cluster = nullptr;
  const CostTable* costs = nullptr;
  const Schedule* schedule = nullptr;
  std::map<std::string, std::string> parameters;
  std::int64_t microbatches = 1;
  std::vector<DeviceId> devices;  // rank r runs on devices[r]
  Order order;                    // with STEPs; edges of a chain
  DivisionProblem problem;

  std::int32_t ranks() const { return static_cast<std::int32_t>(devices.size()); }
};

// Ranks on the cluster's first devices, in its order; each is limited to its device's memory, and
// to `limit` unless that is 0. (Infeasible) where the schedule does not admit the shape. Pointers
// must outlive the setting. O(operations).
Result<Setting> make_setting(const Workload& workload, const Cluster& cluster,
                             const CostTable& costs, const ChosenSchedule& schedule,
                             std::int32_t ranks, Bytes limit);

// Stages [0, ends[0]), [ends[0], ends[1]), … as lists of layers.
std::vector<std::vector<LayerId>> stages_of(const std::vector<std::int32_t>& ends);

// A division in figures: the messages between its stages and how long they take, and what an Order
// of it costs.
struct DividedCosts {
  std::vector<PlanEdge> edges;
  std::vector<StageEdge> stage_edges;
  OrderCosts costs;
};
Result<DividedCosts> divided_costs(const Setting& setting, const std::vector<std::int32_t>& ends);

// Of a plan that has its workload, the layers and copies of all its stages, and its edges: what stage `s` recomputes, its
// times and its memory. `costs` are of the samples that a copy of it takes. O(layers of all stages).
void fill_stage(Plan& plan, std::size_t s, const CostTable& costs);

// The plan of a division, complete but for what penstock::predict fills and the certificate.
// O(layers of all stages).
Result<Plan> plan_of(const Setting& setting, const std::vector<std::int32_t>& ends);

}  // namespace penstock
