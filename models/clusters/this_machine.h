#pragma once

// CPU ranks of this machine, as "this-machine" and "flat:N,device=cpu" describe them.

#include <cstdint>

#include "core/cluster.h"

namespace penstock {

// One rank's even part of `memory`, in whole MiB where that is at least one.
Bytes even_part(Bytes memory, std::int64_t ranks);

// Hand-off of a tensor between two threads: a copy through shared memory and a wake-up. Fixed, so
// that plans made without a profile are the same on every machine.
inline constexpr Nanoseconds kThreadLatency{3000};
inline constexpr BytesPerSecond kThreadBandwidth{8e9};

// The link named kThreadLink (clusters.h) among the first `devices` devices of a cluster.
Link thread_link(std::int64_t devices);

}  // namespace penstock
