// Does a prediction hold where two ranks slow one another down? Two stages on a workload bound by memory: normalisation, GELU and
// additions over tensors that no cache holds, with one product at the end. Profiles it on this machine, plans, simulates with and
// without contention, runs it, several times. Needs two otherwise idle cores.
//
// Whoever else uses the machine's memory, on other cores or in other virtual machines, slows the runs as well. So one rank is run
// before and after: by how much that prediction is off is none of contention's doing, and the errors `beside_one_rank` leave it out.
//
//   contention_bench [--repeats N] [--steps N] [--blocks N] [--positions N] [--data PATH]
//
// One JSON line a repeat and one with medians; errors are predicted / measured - 1 (docs/metrics.md). Exit 1 if the median of
// `beside_one_rank` with contention is above 5 %.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "models/clusters/clusters.h"
#include "models/workloads/network_builder.h"
#include "planner/lower.h"
#include "planner/search.h"
#include "profiler/profiler.h"

namespace {

using namespace penstock;
using namespace penstock::bench;

struct Settings {
  int repeats = 5, steps = 8, blocks = 8, positions = 2048;
  std::string data = PENSTOCK_SOURCE_DOCS;
};

Workload memory_bound(const Settings& settings) {
  NetworkBuilder net("memory bound", settings.positions);
  LayerId x = net.embedding("embedding", 256, 512, 0.02);
  for (int b = 0; b < settings.blocks; ++b) {
    const std::string block = fmt::format("block{}.", b);
    x = net.add(block + "add", x, net.gelu(block + "gelu", net.layer_norm(block + "norm", x)));
  }
  net.cross_entropy("loss", net.linear("head", x, 256, 0.02));
  Workload workload = net.take();
  workload.global_batch = 16;
  return workload;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--repeats") {
      settings.repeats = std::max(1, std::atoi(argv[i + 1]));
    } else if (flag == "--steps") {
      settings.steps = std::max(4, std::atoi(argv[i + 1]));
    } else if (flag == "--blocks") {
      settings.blocks = std::max(1, std::atoi(argv[i + 1]));
    } else if (flag == "--positions") {
      settings.positions = std::max(1, std::atoi(argv[i + 1]));
    } else if (flag == "--data") {
      settings.data = argv[i + 1];
    } else {
      fmt::print(stderr, "contention_bench: unknown flag {}\n", flag);
      std::exit(2);
    }
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  PlanRequest request;
  request.workload = memory_bound(settings);
  request.cluster = this_machine(2);
  request.schedules = {"1f1b"};
  request.microbatch_sizes = {1};
  request.cores = identify_machine().cores;
  ProfileRequest measure;
  measure.microbatch_sizes = {1};
  measure.budget_s = 1;

  std::vector<double> with, without, beside, beside_without;
  for (int i = 0; i < settings.repeats; ++i) {
    request.profile = must(make_profile(request.workload, measure));
    for (const std::string& warning : request.profile->warnings) fmt::print(stderr, "warning: {}\n", warning);
    request.ranks = 1;
    const Plan lone_plan = must(make_plan(request));
    const Program lone_program = must(lower(lone_plan));
    request.ranks = 2;
    const Plan plan = must(make_plan(request));
    const Program program = must(lower(plan));
    const auto one_rank = [&] { return measured(lone_plan, lone_program, settings.steps, settings.data); };
    const double before = one_rank();
    const double took = measured(plan, program, settings.steps, settings.data);
    const double after = one_rank();
    const double predicted = simulated(program), alone = simulated(program, false);
    const double lone = 2 * simulated(lone_program) / (before + after);
    with.push_back(predicted / took - 1);
    without.push_back(alone / took - 1);
    beside.push_back(predicted / took / lone - 1);
    beside_without.push_back(alone / took / lone - 1);
    const Contention contention = request.profile->contention_of_host();
    fmt::print("{{\"measured_s\": {:.4f}, \"predicted_s\": {:.4f}, \"without_s\": {:.4f}, \"error\": {:+.4f}, \"error_without\": "
               "{:+.4f}, \"error_of_one_rank\": {:+.4f}, \"beside_one_rank\": {:+.4f}, \"beside_one_rank_without\": {:+.4f}, "
               "\"memory_beside_memory\": {:.3f}}}\n",
               took, predicted, alone, with.back(), without.back(), lone - 1, beside.back(),
               beside_without.back(), contention.of(WorkClass::Memory, WorkClass::Memory));
    std::fflush(stdout);
  }
  fmt::print("{{\"set\": \"two memory-bound stages\", \"rows\": {}, \"median\": {:+.4f}, \"median_without\": {:+.4f}, "
             "\"beside_one_rank\": {:+.4f}, \"beside_one_rank_without\": {:+.4f}}}\n",
             settings.repeats, median(with), median(without), median(beside), median(beside_without));
  return std::abs(median(beside)) <= 0.05 ? 0 : 1;
}
