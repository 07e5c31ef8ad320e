#include "models/clusters/this_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/clusters/clusters.h"
#include "models/clusters/device_kinds.h"
#include "models/clusters/host_info.h"

namespace penstock {

Bytes even_part(Bytes memory, std::int64_t ranks) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  const std::int64_t part = memory.value / ranks;
  return Bytes(part >= kMiB ? part / kMiB * kMiB : std::max<std::int64_t>(part, 1));
}

Link thread_link(std::int64_t devices) {
  Link link{std::string(kThreadLink), {}, kThreadLatency, kThreadBandwidth, Sharing::None};
  for (std::int64_t device = 0; device < devices; ++device) link.devices.emplace_back(device);
  return link;
}

Cluster this_machine(std::int32_t ranks) {
  const HostInfo host = read_host_info();
  const std::int64_t n = ranks > 0 ? ranks : host.cores;
  const DeviceKind cpu = *find_device_kind("cpu");
  Cluster cluster{"this-machine", {{"host0"}}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    cluster.devices.push_back({fmt::format("cpu{}", i), HostId(0), std::string(cpu.name),
                               even_part(host.memory, n), cpu.peak_f32, cpu.memory_bandwidth});
  }
  if (n > 1) cluster.links.push_back(thread_link(n));
  return cluster;
}

}  // namespace penstock
