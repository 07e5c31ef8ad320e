#pragma once

// What CLUSTER means on the command line: "this-machine",
// "flat:16,bandwidth=1.25GB/s,latency=5us,memory=16GiB,device=v100",
// "nodes:128x8,device=a100-80,intra=300GB/s,inter=200GB/s", or a file (TOML or JSON).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/cluster.h"
#include "core/result.h"

namespace penstock {

// A way to write a cluster without a file.
struct ClusterForm {
  std::string_view name;
  std::string_view form;
  std::string_view about;
};
std::span<const ClusterForm> cluster_forms();

// `ranks`: for this-machine, how many (0: one a core); elsewhere ignored. The cluster is valid
// (penstock::validate).
Result<Cluster> load_cluster(const std::string& text, std::int32_t ranks = 0);

// One rank a core, or `ranks` of them; memory divided evenly; ranks of one process hand tensors
// over by threads, each pair in 3 us + bytes / 8 GB/s until a profile says better
// (CostTable::transfer).
Cluster this_machine(std::int32_t ranks = 0);

// The same forms as load_cluster's "flat:…" and "nodes:…" (inline.cc). Units as in core/units.
//
//   flat:N[,device=cpu][,bandwidth=][,latency=0s][,memory=]
//     N devices, any two of them joined by one link. device=cpu: the ranks of this machine, with
//     its memory divided evenly and its hand-off where neither bandwidth nor latency is given.
//     Other kinds: each on a host of its own, with the kind's memory; bandwidth is required (of
//     more than one device).
//   nodes:HxD[,device=cpu][,intra=][,inter=][,intra-latency=0s][,inter-latency=0s][,memory=]
//     H hosts of D devices. Devices of a host are joined by a link of their own, all devices by one
//     link between hosts. intra is required where D > 1, inter where H > 1. device=cpu: each host
//     has this machine's memory.
Result<Cluster> inline_cluster(std::string_view text);

// The link between ranks of one process: a profile's figures for the path of this name replace the
// cluster's.
inline constexpr std::string_view kThreadLink = "thread";

}  // namespace penstock
