#include "models/costs/work_class.h"

#include <gtest/gtest.h>

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

LayerClasses classes(const Workload& workload, std::int64_t layer, std::int64_t samples,
                     Bytes cache) {
  const Network& network = workload.networks[0];
  return layer_classes(workload, network.layers[static_cast<std::size_t>(layer)],
                       input_shapes(network, LayerId(layer)), samples, cache);
}

TEST(WorkClass, ProductsAreBoundByArithmeticAndPassesOverElementsByMemory) {
  const Workload workload = transformer();
  const Bytes cache(1 << 20);
  for (const std::int64_t memory : {0, 1, 4, 5})
    EXPECT_EQ(classes(workload, memory, 16, cache).forward, WorkClass::Memory) << memory;
  for (const std::int64_t matrix : {2, 3, 6}) {
    const LayerClasses c = classes(workload, matrix, 16, cache);
    EXPECT_EQ(c.forward, WorkClass::Matrix) << matrix;
    EXPECT_EQ(c.backward_input, WorkClass::Matrix) << matrix;
  }
  // An update reads and writes each weight for a few operations.
  EXPECT_EQ(classes(workload, 2, 16, cache).step, WorkClass::Memory);
}

TEST(WorkClass, WhatStaysInAPrivateCacheIsNotBoundByMemory) {
  const Workload workload = transformer();
  // A Gelu of one sample moves 2 · 256 KiB.
  EXPECT_EQ(classes(workload, 5, 1, Bytes(1 << 19)).forward, WorkClass::Matrix);
  EXPECT_EQ(classes(workload, 5, 1, Bytes((1 << 19) - 1)).forward, WorkClass::Memory);
}

TEST(WorkClass, AProductThatReadsItsWeightsForOneRowIsBoundByMemory) {
  NetworkBuilder net("row", 1);
  net.cross_entropy("loss", net.linear("head", net.embedding("embedding", 256, 1024, 1), 256, 1));
  EXPECT_EQ(classes(net.take(), 1, 1, Bytes(1 << 19)).forward, WorkClass::Memory);
}

TEST(WorkClass, OfAnOpaqueLayerNothingIsSaid) {
  Workload workload = transformer();
  workload.networks[0].layers[5].kind = LayerKind::Opaque;
  EXPECT_EQ(classes(workload, 5, 16, Bytes(0)), LayerClasses{});
}

}  // namespace
}  // namespace penstock
