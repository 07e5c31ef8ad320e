#include "models/costs/bytes.h"

#include <gtest/gtest.h>

#include "models/costs/flops.h"
#include "models/workloads/network_builder.h"

namespace penstock {
namespace {

// One layer of every kind: 8 positions, width 16, 2 heads.
Workload every_kind() {
  NetworkBuilder net("every", 8);
  const LayerId x = net.embedding("embedding", 256, 16, 1);
  LayerId y = net.layer_norm("norm", x);
  y = net.attention("attention", net.linear("qkv", y, 48, 1), 2);
  y = net.gelu("gelu", net.add("add", x, y));
  net.cross_entropy("loss", net.linear("head", y, 256, 1));
  return net.take();
}

LayerTraffic traffic(const Workload& workload, std::int64_t layer, std::int64_t microbatch) {
  const Network& network = workload.networks[0];
  return layer_traffic(workload, network.layers[static_cast<std::size_t>(layer)],
                       input_shapes(network, LayerId(layer)), microbatch);
}

// By hand, 4 samples: 32 rows; an activation of width 16 has 2048 bytes, of width 48 6144, of width
// 256 32768.
TEST(LayerTraffic, FollowsItsClosedForms) {
  const Workload workload = every_kind();
  EXPECT_EQ(traffic(workload, 0, 4), (LayerTraffic{64, 32 + 3 * 2048, 0, 32 + 5 * 2048}));
  EXPECT_EQ(traffic(workload, 1, 4),
            (LayerTraffic{0, 4096 + 256 + 128, 6144 + 256 + 64, 4096 + 256 + 256}));
  const double weight = 16 * 48 * 4, bias = 48 * 4;
  EXPECT_EQ(traffic(workload, 2, 4),
            (LayerTraffic{0, 8192 + weight + bias, 8192 + weight, 8192 + 2 * (weight + bias)}));
  const double probabilities = 4 * 2 * 8 * 8 * 4;
  EXPECT_EQ(traffic(workload, 3, 4),
            (LayerTraffic{0, 8192 + 2 * probabilities, 2 * 6144 + 2048 + 3 * probabilities, 0}));
  EXPECT_EQ(traffic(workload, 4, 4), (LayerTraffic{0, 6144, 6144, 0}));
  EXPECT_EQ(traffic(workload, 5, 4), (LayerTraffic{0, 4096, 6144, 0}));
  EXPECT_EQ(traffic(workload, 7, 4), (LayerTraffic{64, 32 + 65536, 32 + 65536, 0}));
}

TEST(StepTraffic, ReadsAndWritesWeightsGradientsAndMomentum) {
  const Workload workload = every_kind();
  const Layer& norm = workload.networks[0].layers[1];
  EXPECT_EQ(step_traffic(norm, {OptimizerKind::Sgd, 0.1, 0.9}), 128 * 6);
  EXPECT_EQ(step_traffic(norm, {OptimizerKind::Sgd, 0.1, 0}), 128 * 4);
  EXPECT_EQ(step_traffic(workload.networks[0].layers[5], {}), 0);
}

TEST(StepTraffic, TwoStatesDecayAndClippingMoveMore) {
  const Workload workload = every_kind();
  const Layer& norm = workload.networks[0].layers[1];
  Optimizer x = {.kind = OptimizerKind::AdamW};
  EXPECT_EQ(step_traffic(norm, x), 128 * 8);
  x.weight_decay = 0.1;
  EXPECT_EQ(step_traffic(norm, x), 128 * 11);
  x.clip = 1;
  EXPECT_EQ(step_traffic(norm, x), 128 * 14);
}

TEST(ScratchEstimate, IsAlignedAndZeroWhereKernelsNeedNone) {
  const Workload workload = every_kind();
  const Network& network = workload.networks[0];
  const auto scratch = [&](std::int64_t layer) {
    return scratch_estimate(network.layers[static_cast<std::size_t>(layer)],
                            input_shapes(network, LayerId(layer)), 4);
  };
  EXPECT_EQ(scratch(0), Bytes(0));
  EXPECT_EQ(scratch(1), Bytes(0));
  EXPECT_EQ(scratch(2), Bytes(65536 + 6144));  // the output, larger than weight and input
  EXPECT_EQ(scratch(3), Bytes(65536 + 5 * 256 +
                              2 * 256));  // [8, 8] matrices: five packed, scores, packed scores
  EXPECT_EQ(scratch(4), Bytes(0));
}

}  // namespace
}  // namespace penstock
