#include "models/workloads/network_builder.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

Workload tiny() {
  NetworkBuilder net("tiny", 5);
  const LayerId x = net.embedding("embedding", 256, 6, 0.5);
  LayerId y = net.layer_norm("norm", x);
  y = net.attention("attention", net.linear("qkv", y, 18, 0.1), 3);
  y = net.gelu("gelu", net.add("add", x, y));
  net.cross_entropy("loss", net.linear("head", y, 256, 0.1));
  return net.take();
}

TEST(NetworkBuilder, MakesAValidWorkloadOfEveryKindItOffers) {
  const auto valid = validate(tiny());
  EXPECT_TRUE(valid) << valid.error().text();
}

TEST(NetworkBuilder, ShapesAndParametersFollowFromTheInputs) {
  const Workload workload = tiny();
  const auto& layers = workload.networks[0].layers;
  EXPECT_EQ(layers[0].parameters[0].dimensions, (std::vector<std::int64_t>{256, 6}));
  EXPECT_EQ(layers[0].parameters[1].dimensions, (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(layers[2].name, "qkv");
  EXPECT_EQ(layers[2].parameters[0].name, "qkv.weight");
  EXPECT_EQ(layers[2].parameters[0].dimensions, (std::vector<std::int64_t>{6, 18}));  // [in, out]
  EXPECT_EQ(layers[2].parameters[1].dimensions, (std::vector<std::int64_t>{18}));
  EXPECT_EQ(layers[3].output.dimensions, (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(layers[3].attribute("heads"), 3);
  EXPECT_EQ(layers[4].inputs, (std::vector<LayerId>{LayerId(0), LayerId(3)}));
}

TEST(NetworkBuilder, TargetsAreTheTokensOneByteFurtherOn) {
  const Workload workload = tiny();
  ASSERT_EQ(workload.sources.size(), 2u);
  EXPECT_EQ(workload.sources[0].kind, SourceKind::Text);
  EXPECT_EQ(workload.sources[1].kind, SourceKind::NextText);
  EXPECT_EQ(workload.sources[0].sample, workload.sources[1].sample);
  EXPECT_EQ(workload.sources[0].sample.type, DataType::Byte);
  EXPECT_EQ(workload.networks[0].layers.front().sources, std::vector<SourceId>{SourceId(0)});
  EXPECT_EQ(workload.networks[0].layers.back().sources, std::vector<SourceId>{SourceId(1)});
}

TEST(NetworkBuilder, OneTrainedStoreHoldsAllLayers) {
  const Workload workload = tiny();
  ASSERT_EQ(workload.stores.size(), 1u);
  EXPECT_EQ(workload.stores[0].kind, StoreKind::Trained);
  EXPECT_TRUE(workload.stores[0].layers.empty());
  EXPECT_EQ(workload.hyper_period, 1);
}

}  // namespace
}  // namespace penstock
