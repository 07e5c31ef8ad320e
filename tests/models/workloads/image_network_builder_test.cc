#include "models/workloads/image_network_builder.h"

#include <gtest/gtest.h>

#include <cmath>

namespace penstock {
namespace {

using Dims = std::vector<std::int64_t>;

Workload classifier() {
  ImageNetworkBuilder net("tiny", 3, 9);
  LayerId x = net.pixels("pixels", ImageInput::Clean);
  x = net.conv("conv", x, {.channels = 4, .kernel = 5, .stride = 2, .bias = true});
  x = net.relu("relu", net.batch_norm("norm", x));
  LayerId y = net.upsample("upsample", net.max_pool("pool", x, 2), 2);
  y = net.concat("concat", {y, net.upsample("again", net.max_pool("pool2", x, 2), 2)});
  y = net.add("add", y, y);
  net.cross_entropy("loss", net.linear("head", net.average_pool("average", y), 7));
  return net.take();
}

TEST(ImageNetworkBuilder, MakesAValidWorkloadOfEveryKindItOffers) {
  const auto valid = validate(classifier());
  EXPECT_TRUE(valid) << valid.error().text();
}

TEST(ImageNetworkBuilder, ShapesAndParametersFollowFromTheInputs) {
  const Workload workload = classifier();
  const auto& layers = workload.networks[0].layers;
  EXPECT_EQ(layers[0].output.dimensions, (Dims{3, 9, 9}));
  EXPECT_EQ(layers[1].output.dimensions, (Dims{4, 5, 5}));
  EXPECT_EQ(layers[1].attribute("padding"), 2);
  EXPECT_EQ(layers[1].parameters[0].dimensions, (Dims{4, 3, 5, 5}));
  EXPECT_DOUBLE_EQ(layers[1].parameters[0].deviation, std::sqrt(2.0 / 75));
  EXPECT_EQ(layers[1].parameters[1].name, "conv.bias");
  EXPECT_EQ(layers[2].parameters.size(), 4u);
  EXPECT_EQ(layers[2].parameters[1].role, ParameterRole::Trained);
  EXPECT_EQ(layers[2].parameters[3].role, ParameterRole::Statistic);
  EXPECT_EQ(layers[2].parameters[3].initializer, Initializer::Ones);
  EXPECT_EQ(layers[4].output.dimensions, (Dims{4, 2, 2}));  // pool: 5 / 2 rounded down
  EXPECT_EQ(layers[8].output.dimensions, (Dims{8, 4, 4}));  // concat
  EXPECT_EQ(layers[10].output.dimensions, (Dims{8}));       // average
  EXPECT_EQ(layers[11].parameters[0].dimensions, (Dims{8, 7}));
}

TEST(ImageNetworkBuilder, AClassifierReadsImagesAndLabels) {
  const Workload workload = classifier();
  ASSERT_EQ(workload.sources.size(), 2u);
  EXPECT_EQ(workload.sources[0].kind, SourceKind::Image);
  EXPECT_EQ(workload.sources[1].kind, SourceKind::Label);
  EXPECT_TRUE(workload.sources[1].sample.dimensions.empty());
  EXPECT_EQ(workload.networks[0].layers.back().sources, std::vector<SourceId>{SourceId(1)});
}

TEST(ImageNetworkBuilder, ADenoiserReadsTheNoisyImageAndComparesWithTheCleanOne) {
  ImageNetworkBuilder net("tiny", 1, 4);
  net.mean_squared("loss", net.conv("conv", net.pixels("pixels", ImageInput::Noisy), {}));
  const Workload workload = net.take();
  const auto valid = validate(workload);
  ASSERT_TRUE(valid) << valid.error().text();
  const auto kind = [&](std::size_t layer) {
    return workload.sources[workload.networks[0].layers[layer].sources[0].index()].kind;
  };
  EXPECT_EQ(kind(0), SourceKind::NoisyImage);
  EXPECT_EQ(kind(2), SourceKind::Image);
  EXPECT_EQ(workload.sources.size(), 2u);
}

}  // namespace
}  // namespace penstock
