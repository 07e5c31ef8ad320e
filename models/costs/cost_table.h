#pragma once

// What each layer of a workload costs on one kind of device at one microbatch size: from a profile
// where there is one, else derived from FLOPs and bytes at the device's peak rates. Planner and
// simulator see only this.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/contention.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/stage_layout.h"
#include "core/workload.h"

namespace penstock {

// Of one microbatch, `step` of one optimizer step. What the forward pass of a loss layer takes
// stands in `loss`, and its `forward` is zero. A full backward takes exactly backward_input +
// backward_weight.
struct LayerCost {
  Nanoseconds load, forward, loss, backward_input, backward_weight, step;
  Bytes scratch;  // library scratch of one call
  // Whether a stage keeps nothing of it for the backward and runs its forward again instead. Never a
  // loss. Set by recompute(): costs themselves say false.
  bool recomputed = false;

  bool operator==(const LayerCost&) const = default;
};

// One message between two ranks: α + bytes/β; nothing at all for no bytes.
struct Hop {
  Nanoseconds latency;
  BytesPerSecond bandwidth;

  Nanoseconds time(Bytes bytes) const {
    return bytes.value == 0 ? Nanoseconds(0) : transfer_time(latency, bandwidth, bytes);
  }
  bool operator==(const Hop&) const = default;
};

struct CostTable {
  std::string source;             // "derived" or "profiled"
  std::string machine;            // of the profile
  std::int64_t microbatch = 1;    // samples
  std::vector<LayerCost> layers;  // of network 0
  // The profile's hand-off between ranks, which replaces the cluster's figures of the link of that
  // name. Not so for a link of another name: what the user says of a link stands.
  bool link_profiled = false;
  std::string link;
  Nanoseconds link_latency;
  BytesPerSecond link_bandwidth;
  std::optional<Contention> contention;  // the profile's, of ranks with a core each; none: not measured

  // The profiled hand-off if the route is that link alone, else the cluster's route. Infeasible if
  // there is none.
  Result<Hop> hop(const Cluster& cluster, DeviceId from, DeviceId to) const;
  // One message between ranks on these devices, 0 if they are the same, else α + bytes/β of the
  // hop.
  Result<Nanoseconds> transfer(const Cluster& cluster, DeviceId from, DeviceId to,
                               Bytes bytes) const;
};

// For each layer and pass max(FLOPs / peak, bytes / memory bandwidth) (roofline: Williams et al.
// 2009), by the closed forms of flops.h and bytes.h. Refuses opaque layers, a microbatch below one
// sample, and workloads of several networks (Infeasible). O(layers).
Result<CostTable> derived_costs(const Workload& workload, const Device& device,
                                std::int64_t microbatch);

// Medians of the profile: of each layer F (of a loss Loss), B if it has inputs, W and Step if it
// has parameters, Load if it has sources. Where BF was measured, the parts sum to it: W is BF - B,
// never negative. Refuses a profile of another workload or device kind, a microbatch it does not
// hold (naming those it does), and one that lacks any of these: nothing is extrapolated. O(layers ·
// rows of the profile).
Result<CostTable> profiled_costs(const Workload& workload, const Profile& profile,
                                 const Device& device, std::int64_t microbatch);

// From here on layers of these kinds are recomputed.
void recompute(CostTable& costs, const Network& network, const std::vector<LayerKind>& kinds);

// Of a stage: the sums over its layers; `recompute`, the forwards of those that are recomputed.
StageTimes stage_times(const CostTable& costs, const std::vector<LayerId>& layers);

// Of a stage on one of its ranks. Gradients take what the parameters take, the optimizer its
// states' multiple; the workspace is the layout's and behind it, on the next 64-byte boundary, the
// largest scratch of a layer.
StageMemory stage_memory(const CostTable& costs, const StageLayout& layout,
                         const Workload& workload);

}  // namespace penstock
