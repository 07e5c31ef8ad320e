#include "models/costs/flops.h"

#include <gtest/gtest.h>

#include <string>

#include "models/workloads/builders.h"

namespace penstock {
namespace {

const TensorShape kHidden{DataType::F32, {10, 6}};

Layer layer_of(LayerKind kind, std::vector<std::int64_t> output) {
  Layer layer;
  layer.name = "layer";
  layer.kind = kind;
  layer.output = {DataType::F32, std::move(output)};
  return layer;
}

LayerFlops flops(const Layer& layer, const TensorShape& input, std::int64_t microbatch) {
  return layer_flops(layer, std::vector{input}, microbatch);
}

LayerFlops expected(double forward, double input, double weight) {
  return {Flops(forward), Flops(input), Flops(weight)};
}

// Counted by hand for 2 samples of 10 positions.
TEST(LayerFlops, FollowTheirClosedForms) {
  EXPECT_EQ(layer_flops(layer_of(LayerKind::Embedding, {10, 6}), {}, 2), expected(120, 0, 240));
  EXPECT_EQ(flops(layer_of(LayerKind::LayerNorm, {10, 6}), kHidden, 2), expected(960, 1680, 600));
  EXPECT_EQ(flops(layer_of(LayerKind::Linear, {10, 4}), kHidden, 2),
            expected(20 * 4 * 13, 960, 960 + 80));
  EXPECT_EQ(flops(layer_of(LayerKind::Gelu, {10, 6}), kHidden, 2), expected(960, 2040, 0));
  EXPECT_EQ(flops(layer_of(LayerKind::Add, {10, 6}), kHidden, 2), expected(120, 0, 0));
  EXPECT_EQ(flops(layer_of(LayerKind::CrossEntropy, {}), kHidden, 2),
            expected(600 + 40, 120 + 20, 0));
  EXPECT_EQ(flops(layer_of(LayerKind::MeanSquared, {}), kHidden, 2), expected(360, 240, 0));
  Layer attention = layer_of(LayerKind::Attention, {10, 6});
  attention.attributes["heads"] = 3;
  EXPECT_EQ(flops(attention, {DataType::F32, {10, 18}}, 2),
            expected(2 * (4 * 600 + 6 * 300), 2 * (8 * 600 + 4 * 300), 0));
}

// By hand for 2 samples: images [3, 4, 6] of 72 elements, 144 in all.
TEST(LayerFlops, OfImageLayersFollowTheirClosedForms) {
  const TensorShape image{DataType::F32, {3, 4, 6}};
  EXPECT_EQ(layer_flops(layer_of(LayerKind::Pixels, {3, 4, 6}), {}, 2), expected(288, 0, 0));
  Layer conv = layer_of(LayerKind::Conv2d, {5, 2, 3});
  conv.attributes = {{"kernel", 3}, {"stride", 2}, {"padding", 1}};
  conv.parameters = {{"w", {5, 3, 3, 3}}};
  const double product = 2 * (2 * 5 * 2 * 3) * (3 * 9);
  EXPECT_EQ(flops(conv, image, 2), expected(product, product, product));
  conv.parameters.push_back({"b", {5}});
  EXPECT_EQ(flops(conv, image, 2), expected(product + 60, product, product + 60));
  EXPECT_EQ(flops(layer_of(LayerKind::BatchNorm, {3, 4, 6}), image, 2),
            expected(8 * 144, 10 * 144, 4 * 144));
  EXPECT_EQ(flops(layer_of(LayerKind::Relu, {3, 4, 6}), image, 2), expected(144, 144, 0));
  Layer pool = layer_of(LayerKind::MaxPool, {3, 2, 3});
  pool.attributes = {{"kernel", 2}, {"stride", 2}, {"padding", 0}};
  EXPECT_EQ(flops(pool, image, 2), expected(36 * 4 * 2, 36, 0));
  EXPECT_EQ(flops(layer_of(LayerKind::AveragePool, {3}), image, 2), expected(144 + 6, 6, 0));
  EXPECT_EQ(flops(layer_of(LayerKind::Upsample, {3, 8, 12}), image, 2), expected(0, 576, 0));
  EXPECT_EQ(flops(layer_of(LayerKind::Concat, {6, 4, 6}), image, 2), expected(0, 0, 0));
}

// ResNet-20 for CIFAR by hand: stem 27·16·32², stage 0 6·9·16²·32², stages 1 and 2 as much but for
// their first convolution, which reads half the channels, and a 1x1 projection.
TEST(LayerFlops, OfResnet20AreTwiceItsMultiplyAdds) {
  const Workload workload = *build_workload("resnet:blocks=3");
  const Network& network = workload.networks[0];
  double forward = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    if (network.layers[i].kind == LayerKind::Conv2d)
      forward += layer_flops(network.layers[i],
                             input_shapes(network, LayerId(static_cast<std::int64_t>(i))), 1)
                     .forward.value;
  const double full = 9 * 16 * 16 * 32 * 32;
  EXPECT_EQ(forward / 2, 27 * 16 * 32 * 32 + 18 * full - 2 * full / 2 + 2 * full / 18);
}

TEST(LayerFlops, GrowInProportionToTheMicrobatch) {
  const Workload workload = *build_workload("gpt:layers=1,hidden=32,sequence=8");
  const Network& network = workload.networks[0];
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const auto shapes = input_shapes(network, LayerId(static_cast<std::int64_t>(i)));
    EXPECT_EQ(layer_flops(network.layers[i], shapes, 6).total(),
              6 * layer_flops(network.layers[i], shapes, 1).total())
        << network.layers[i].name;
  }
}

// Kaplan et al. 2020: a step takes 6 FLOPs a token and weight of the matrices, and attention 12·T·h
// a token and block (scores and values, forward and twice that backward). What is left over is
// elementwise: a few per cent.
TEST(LayerFlops, OfGptShapesAreSixTimesParametersAndTokensPlusAttention) {
  struct Shape {
    std::int64_t layers, hidden, heads, tokens;
  };
  for (const Shape& s :
       {Shape{12, 768, 12, 1024}, Shape{24, 1024, 16, 1024}, Shape{4, 256, 4, 128}}) {
    const Workload workload = *build_workload(
        "gpt:layers=" + std::to_string(s.layers) + ",hidden=" + std::to_string(s.hidden) +
        ",heads=" + std::to_string(s.heads) + ",sequence=" + std::to_string(s.tokens));
    const Network& network = workload.networks[0];
    const std::int64_t b = 4;
    double total = 0;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      total += layer_flops(network.layers[i],
                           input_shapes(network, LayerId(static_cast<std::int64_t>(i))), b)
                   .total()
                   .value;
    }
    const double h = static_cast<double>(s.hidden), blocks = static_cast<double>(s.layers);
    const double matrices = blocks * 12 * h * h + h * 256;
    const double tokens = static_cast<double>(b * s.tokens);
    const double leading =
        6 * matrices * tokens + 12 * blocks * h * static_cast<double>(s.tokens) * tokens;
    EXPECT_GT(total, leading) << workload.name;
    EXPECT_LT(total, 1.06 * leading) << workload.name;
  }
}

TEST(StepFlops, CountMomentum) {
  Layer layer = layer_of(LayerKind::Linear, {10, 4});
  layer.parameters = {{"w", {6, 4}, Initializer::Zeros, 0}, {"b", {4}, Initializer::Zeros, 0}};
  EXPECT_EQ(step_flops(layer, {OptimizerKind::Sgd, 0.1, 0.9}), Flops(4 * 28));
  EXPECT_EQ(step_flops(layer, {OptimizerKind::Sgd, 0.1, 0}), Flops(2 * 28));
}

TEST(LayerFlopsDeath, OfAnOpaqueLayerAreNotGuessed) {
  EXPECT_DEATH(layer_flops(layer_of(LayerKind::Opaque, {10, 6}), {}, 1), "opaque");
}

}  // namespace
}  // namespace penstock
