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

TEST(StepFlops, CountWhatTheOptimizerDoes) {
  Layer layer = layer_of(LayerKind::Linear, {10, 4});
  layer.parameters = {{"w", {6, 4}}, {"b", {4}}};
  Optimizer x = {.kind = OptimizerKind::Adam};
  EXPECT_EQ(step_flops(layer, x), Flops(13 * 28));
  x.weight_decay = 0.1;
  x.clip = 1;
  EXPECT_EQ(step_flops(layer, x), Flops((13 + 2 + 3) * 28));
  layer.parameters[1].role = ParameterRole::Statistic;
  EXPECT_EQ(step_flops(layer, x), Flops(18 * 24 + 2 * 4));
}

TEST(LayerFlopsDeath, OfAnOpaqueLayerAreNotGuessed) {
  EXPECT_DEATH(layer_flops(layer_of(LayerKind::Opaque, {10, 6}), {}, 1), "opaque");
}

}  // namespace
}  // namespace penstock
