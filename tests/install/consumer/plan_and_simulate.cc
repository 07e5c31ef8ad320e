// What a program that uses the installed libraries looks like: plans a small workload, runs the plan on a
// virtual clock, and prints what comes of it.

#include <cstdio>
#include <utility>

#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/lower.h"
#include "planner/search.h"
#include "sim/engine.h"

namespace {

int complain(const penstock::Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return 1;
}

}  // namespace

int main() {
  auto workload = penstock::load_workload("mlp:layers=4,width=64,batch=8");
  if (!workload) return complain(workload.error());
  auto cluster = penstock::load_cluster("flat:2,device=v100,bandwidth=12GB/s");
  if (!cluster) return complain(cluster.error());

  penstock::PlanRequest request;
  request.workload = std::move(*workload);
  request.cluster = std::move(*cluster);
  request.ranks = 2;
  const auto plan = penstock::make_plan(request);
  if (!plan) return complain(plan.error());
  const auto program = penstock::lower(*plan);
  if (!program) return complain(program.error());
  const auto result = penstock::simulate(*program, {.steps = 3});
  if (!result) return complain(result.error());
  const double simulated = penstock::seconds(penstock::iteration_time(result->timeline));
  std::printf("stages %zu\nplanned %.9f\nsimulated %.9f\n", plan->stages.size(),
              plan->iteration_time_s, simulated);
  return plan->stages.size() == 2 && simulated == plan->iteration_time_s ? 0 : 1;
}
