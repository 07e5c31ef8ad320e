#include "tests/exec/sample_plan.h"

#include <fmt/core.h>
#include <numeric>
#include <gtest/gtest.h>

#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/lower.h"
#include "planner/search.h"
#include "tests/support/files.h"

namespace penstock::test {

namespace {

Plan plan_on(const std::string& workload, const std::string& schedule, std::int32_t ranks, std::int64_t microbatch,
             const Optimizer& optimizer, PlanRequest request, Precision precision = Precision::F32) {
  auto built = build_workload(workload);
  auto cluster = load_cluster(fmt::format("flat:{},device=cpu,memory=4GiB,bandwidth=8GB/s,latency=3us", ranks));
  if (!built || !cluster) {
    ADD_FAILURE() << (built ? cluster.error().text() : built.error().text());
    return {};
  }
  request.workload = *built;
  request.workload.optimizer = optimizer;
  set_precision(request.workload, precision);
  request.cluster = *cluster;
  request.schedules = {schedule};
  request.microbatch_sizes = {microbatch};
  auto plan = make_plan(request);
  if (!plan) {
    ADD_FAILURE() << plan.error().text();
    return {};
  }
  return *plan;
}

}  // namespace

Plan sample_plan(const std::string& workload, const std::string& schedule, std::int32_t ranks, std::int64_t microbatch,
                 const Optimizer& optimizer, const std::vector<LayerKind>& recompute, Precision precision) {
  PlanRequest request;
  request.ranks = ranks;
  request.recompute = recompute;
  return plan_on(workload, schedule, ranks, microbatch, optimizer, std::move(request), precision);
}

Plan replicated_plan(const std::string& workload, const std::string& schedule, const std::vector<std::int32_t>& replicas,
                     Split split, std::int64_t microbatch, const Optimizer& optimizer,
                     const std::vector<LayerKind>& recompute, Precision precision) {
  PlanRequest request;
  request.recompute = recompute;
  request.replicas = replicas;
  request.split = split;
  return plan_on(workload, schedule, std::accumulate(replicas.begin(), replicas.end(), 0), microbatch, optimizer,
                 std::move(request), precision);
}

Program sample_program(const Plan& plan) {
  auto program = lower(plan);
  if (!program) {
    ADD_FAILURE() << program.error().text();
    return {};
  }
  return *program;
}

const std::string& sample_text() {
  static const TempDir folder;
  static const std::string path = [] {
    std::string text;
    for (int line = 0; line < 400; ++line) text += fmt::format("line {} of {} lines says {}\n", line, 400, line * line % 97);
    write_file(folder / "text.txt", text);
    return (folder / "text.txt").string();
  }();
  return path;
}

}  // namespace penstock::test
