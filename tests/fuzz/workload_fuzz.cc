// A workload, TOML or JSON: round trips in both forms; a small ordinary one is planned, and the plan keeps what it claims.

#include "core/footprint.h"
#include "core/formats/plan_format.h"
#include "core/formats/workload_format.h"
#include "models/clusters/clusters.h"
#include "planner/certificate.h"
#include "planner/lower.h"
#include "planner/ordinary_training.h"
#include "planner/search.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

bool small(const Workload& workload) {
  std::size_t layers = 0, parameters = 0;
  for (const Network& network : workload.networks) {
    layers += network.layers.size();
    for (const Layer& layer : network.layers) parameters += layer.parameters.size();
  }
  return layers <= 16 && parameters <= 64 && workload.global_batch <= 32;
}

void plan(const Workload& workload) {
  static const Cluster cluster =
      require_value(load_cluster("flat:3,device=v100,bandwidth=10GB/s,latency=5us"), "the cluster is one");
  PlanRequest request{.workload = workload, .cluster = cluster};
  if (workload.global_batch % 2 == 0) request.replicas = {};
  const Result<Plan> made = make_plan(request);
  if (!made) return require_refusal(made.error());
  const auto again = read_plan(write_plan(*made), "plan");
  require(require_value(again, "a plan that was made reads back") == *made, "a plan that was made reads back equal");
  for (const Violation& violation : verify(*made)) require(false, "a plan that was made verifies", violation.message);
  exercise(require_value(lower(*made), "a plan that was made is lowered"));
}

void run(std::string_view bytes) {
  const Result<Workload> workload = read_workload(bytes, "workload");
  if (!workload) return require_refusal(workload.error());
  const std::string json = write_workload(*workload), toml = write_workload_toml(*workload);
  const Result<Workload> from_json = read_workload(json, "w.json"), from_toml = read_workload(toml, "w.toml");
  require(require_value(from_json, "written JSON reads back") == *workload, "JSON reads back equal", json);
  require(require_value(from_toml, "written TOML reads back") == *workload, "TOML reads back equal", toml);
  require(write_workload(*from_toml) == json, "equal workloads are written alike");
  require(fingerprint(*from_json) == fingerprint(*workload), "equal workloads have one fingerprint");
  for (const Network& network : workload->networks)
    for (std::size_t l = 0; l < network.layers.size(); ++l)
      require(!signature(*workload, network, LayerId(static_cast<std::int64_t>(l))).empty(), "a layer has a signature");
  if (expect_ordinary_training(*workload) && small(*workload)) plan(*workload);
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::fuzz::run(penstock::fuzz::text(data, size));
  return 0;
}
