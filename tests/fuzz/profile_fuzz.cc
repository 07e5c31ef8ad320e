// A profile: round trip; it is fitted, and costs a workload if it has what that takes.

#include <algorithm>

#include "core/formats/profile_format.h"
#include "models/clusters/clusters.h"
#include "models/costs/cost_table.h"
#include "models/workloads/builders.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

void run(std::string_view bytes) {
  const Result<Profile> profile = read_profile(bytes, "profile");
  if (!profile) return require_refusal(profile.error());
  const std::string json = write_profile(*profile);
  require(require_value(read_profile(json, "p.json"), "what is written reads back") == *profile, "it reads back equal", json);
  if (!profile->links.empty()) {
    const LinkFit fit = fit_link(profile->links);
    require(fit.latency.value >= 0 && fit.bandwidth.value > 0, "a link has a latency and a bandwidth");
    const Nanoseconds time = transfer_time(fit.latency, fit.bandwidth, Bytes(1 << 20));
    require(time.value >= 0 && time <= kForever, "a message takes some time");
  }
  static const Workload workload =
      require_value(build_workload("mlp:layers=1,width=2,input=2,batch=2"), "the workload is one");
  static const Cluster cluster = require_value(load_cluster("flat:1,device=cpu,memory=1GiB"), "the cluster is one");
  Device device = cluster.devices.front();
  device.kind = profile->device_kind;
  Profile ours = *profile;
  ours.workload_fingerprint = fingerprint(workload);
  for (const std::int64_t microbatch : {1, 2}) {
    const Result<CostTable> costs = profiled_costs(workload, ours, device, microbatch);
    if (!costs) {
      require_refusal(costs.error());
      continue;
    }
    for (const LayerCost& layer : costs->layers)
      require(std::min({layer.load, layer.forward, layer.loss, layer.backward_input, layer.backward_weight, layer.step}).value >= 0,
              "no time is negative");
  }
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::fuzz::run(penstock::fuzz::text(data, size));
  return 0;
}
