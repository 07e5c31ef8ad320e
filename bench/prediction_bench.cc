// Is what `plan` and `simulate` say what `run` does? For each schedule and number of stages, several times: profiles a
// transformer on this machine, plans, simulates and runs it, and prints predicted against measured iteration time; then the
// speed-up of two stages over one against what the pipeline's fill and drain leave. Needs two otherwise idle cores. Each
// run has a profile of its own, taken just before it: a machine's speed may drift by more than predictions are off.
//
//   prediction_bench [--workload W] [--microbatch B] [--repeats N] [--steps N] [--data PATH]
//
// One JSON line a set, as docs/metrics.md defines the errors; exit 1 if a median error is above 5 % or the speed-up below
// 0.92 of its bound.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/lower.h"
#include "planner/search.h"
#include "profiler/profiler.h"

namespace {

using namespace penstock;
using namespace penstock::bench;

struct Settings {
  std::string workload = "gpt:layers=2,hidden=512,heads=8,sequence=128,batch=64";
  std::int64_t microbatch = 4;
  int repeats = 5;
  int steps = 8;
  std::string data = PENSTOCK_SOURCE_DOCS;
};

struct Pair {
  double predicted = 0, measured = 0;
  double error() const { return predicted / measured - 1; }
};

Plan make(const Workload& workload, const Profile& profile, const Settings& settings, const std::string& schedule, int stages) {
  PlanRequest request;
  request.workload = workload;
  request.cluster = this_machine(2);
  request.profile = profile;
  request.schedules = {schedule};
  request.microbatch_sizes = {settings.microbatch};
  request.ranks = stages;
  return must(make_plan(request));
}

Pair once(const Plan& plan, const Settings& settings) {
  const Program program = must(lower(plan));
  return {.predicted = simulated(program), .measured = measured(plan, program, settings.steps, settings.data)};
}

Settings parse(int argc, char** argv) {
  Settings settings;
  const std::map<std::string, std::function<void(const char*)>> flags = {
      {"--workload", [&](const char* v) { settings.workload = v; }},
      {"--microbatch", [&](const char* v) { settings.microbatch = std::atoll(v); }},
      {"--repeats", [&](const char* v) { settings.repeats = std::atoi(v); }},
      {"--steps", [&](const char* v) { settings.steps = std::atoi(v); }},
      {"--data", [&](const char* v) { settings.data = v; }},
  };
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto flag = flags.find(argv[i]);
    if (flag == flags.end()) {
      fmt::print(stderr, "prediction_bench: unknown flag {}\n", argv[i]);
      std::exit(2);
    }
    flag->second(argv[i + 1]);
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  const Workload workload = must(build_workload(settings.workload));
  ProfileRequest request;
  request.microbatch_sizes = {settings.microbatch};
  request.budget_s = 1;

  bool good = true;
  std::map<int, double> best;  // measured, by stages
  const std::int64_t m = workload.global_batch / settings.microbatch;
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    for (const int stages : {1, 2}) {
      std::vector<double> errors, predicted, measured;
      for (int i = 0; i < settings.repeats; ++i) {
        const Profile profile = must(make_profile(workload, request));
        for (const std::string& warning : profile.warnings) fmt::print(stderr, "warning: {}\n", warning);
        const Pair pair = once(make(workload, profile, settings, schedule, stages), settings);
        predicted.push_back(pair.predicted);
        measured.push_back(pair.measured);
        errors.push_back(pair.error());
      }
      const double error = median(errors);
      good = good && std::abs(error) <= 0.05;
      best[stages] = best.contains(stages) ? std::min(best[stages], median(measured)) : median(measured);
      fmt::print("{{\"set\": \"{} x {}\", \"rows\": {}, \"microbatches\": {}, \"predicted_s\": {:.4f}, \"measured_s\": {:.4f}, "
                 "\"median\": {:+.4f}, \"least\": {:+.4f}, \"most\": {:+.4f}}}\n",
                 schedule, stages, settings.repeats, m, median(predicted), median(measured), error,
                 *std::min_element(errors.begin(), errors.end()), *std::max_element(errors.begin(), errors.end()));
      std::fflush(stdout);
    }
  }
  const double bound = 2.0 * static_cast<double>(m) / static_cast<double>(m + 1);
  const double speedup = best[1] / best[2];
  good = good && speedup >= 0.92 * bound;
  fmt::print("{{\"set\": \"2 stages against 1\", \"microbatches\": {}, \"speedup\": {:.3f}, \"bound\": {:.3f}, \"of_bound\": {:.3f}}}\n",
             m, speedup, bound, speedup / bound);
  return good ? 0 : 1;
}
