#include "models/costs/memory_share.h"

#include <gtest/gtest.h>

#include "models/costs/bytes.h"
#include "models/costs/flops.h"
#include "models/workloads/network_builder.h"

namespace penstock {
namespace {

Workload transformer() {
  NetworkBuilder net("transformer", 128);
  const LayerId x = net.embedding("embedding", 256, 512, 1);
  LayerId y = net.layer_norm("norm", x);
  y = net.attention("attention", net.linear("qkv", y, 1536, 1), 8);
  y = net.gelu("gelu", net.add("add", x, y));
  net.cross_entropy("loss", net.linear("head", y, 256, 1));
  return net.take();
}

constexpr double kBandwidth = 1e10;  // B/s

Contention host(Bytes cache) {
  return {.private_cache = cache, .memory_bandwidth = BytesPerSecond(kBandwidth)};
}

MemoryShares shares(const Workload& workload, std::int64_t layer, std::int64_t samples,
                    const StageTimes& times, const Contention& contention) {
  const Network& network = workload.networks[0];
  return memory_shares(workload, network.layers[static_cast<std::size_t>(layer)],
                       input_shapes(network, LayerId(layer)), samples, times, contention);
}

StageTimes all(Nanoseconds time) { return {time, time, time, time, time, time, time}; }

TEST(MemoryShare, IsTheBytesASecondOfThoseThatACoreMoves) {
  const Workload workload = transformer();
  // An addition of 16 samples of 256 KiB: 12 MiB forward, 12 MiB back.
  const double bytes = 12 * 1024.0 * 1024;
  const Nanoseconds least = nanoseconds(bytes / kBandwidth);
  const Contention contention = host(Bytes(1 << 20));
  EXPECT_EQ(shares(workload, 4, 16, all(least), contention).forward, 1);
  EXPECT_EQ(shares(workload, 4, 16, all(Nanoseconds(least.value / 3)), contention).forward, 1);
  const MemoryShares half = shares(workload, 4, 16, all(least * 2), contention);
  EXPECT_EQ(half.forward, 0.5);
  EXPECT_EQ(half.backward_input, 0.5);
  EXPECT_EQ(half.backward_weight, 0);  // it has no parameters
  EXPECT_EQ(shares(workload, 4, 16, all(least * 3), contention).forward, 0.333);
}

TEST(MemoryShare, OfEachPassByItsOwnTime) {
  const Workload workload = transformer();
  const Network& network = workload.networks[0];
  const Layer& head = network.layers[6];
  const LayerTraffic bytes = layer_traffic(workload, head, input_shapes(network, LayerId(6)), 16);
  StageTimes times;
  times.forward = nanoseconds(bytes.forward / kBandwidth * 10);
  times.backward_input = nanoseconds(bytes.backward_input / kBandwidth * 4);
  times.backward_weight = nanoseconds(bytes.backward_weight / kBandwidth * 5);
  times.step = nanoseconds(step_traffic(head, workload.optimizer) / kBandwidth * 2);
  EXPECT_EQ(shares(workload, 6, 16, times, host(Bytes(1 << 16))),
            (MemoryShares{.forward = 0.1, .backward_input = 0.25, .backward_weight = 0.2, .step = 0.5}));
  // A loss has its time in `loss`.
  times = {};
  times.loss = Nanoseconds(1);
  EXPECT_EQ(shares(workload, 7, 16, times, host(Bytes(1 << 16))).forward, 1);
}

TEST(MemoryShare, WhatStaysInAPrivateCacheIsNotBoundByMemory) {
  const Workload workload = transformer();
  // A Gelu of one sample moves 2 · 256 KiB.
  EXPECT_EQ(shares(workload, 5, 1, all(Nanoseconds(1)), host(Bytes(1 << 19))).forward, 0);
  EXPECT_EQ(shares(workload, 5, 1, all(Nanoseconds(1)), host(Bytes((1 << 19) - 1))).forward, 1);
}

TEST(MemoryShare, WhereNothingIsKnownNothingIsSaid) {
  Workload workload = transformer();
  EXPECT_EQ(shares(workload, 5, 16, all(Nanoseconds(1)), Contention{}), MemoryShares{});
  EXPECT_EQ(shares(workload, 5, 16, {}, host(Bytes(0))), MemoryShares{});
  workload.networks[0].layers[5].kind = LayerKind::Opaque;
  EXPECT_EQ(shares(workload, 5, 16, all(Nanoseconds(1)), host(Bytes(0))), MemoryShares{});
}

}  // namespace
}  // namespace penstock
