#include "core/footprint.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TensorShape f32(std::vector<std::int64_t> dimensions) {
  return {DataType::F32, std::move(dimensions)};
}

Layer layer(LayerKind kind, std::size_t inputs) {
  Layer result;
  result.kind = kind;
  for (std::size_t i = 0; i < inputs; ++i)
    result.inputs.push_back(LayerId(static_cast<std::int64_t>(i)));
  return result;
}

TEST(Footprint, KeepsTwoFloatsForEachNormalisedRow) {
  const TensorShape input = f32({17, 24});
  const BackwardNeeds needs = backward_needs(layer(LayerKind::LayerNorm, 1), {{input}}, 3);
  EXPECT_TRUE(needs.inputs);
  EXPECT_EQ(needs.saved,
            Bytes(448));  // 3·17 rows · 2 floats = 408 bytes, up to the next multiple of 64
}

TEST(Footprint, KeepsTheProbabilitiesOfEveryHead) {
  Layer attention = layer(LayerKind::Attention, 1);
  attention.attributes["heads"] = 8;
  const TensorShape input = f32({128, 3 * 512});
  const BackwardNeeds needs = backward_needs(attention, {{input}}, 4);
  EXPECT_TRUE(needs.inputs);
  EXPECT_EQ(needs.saved, Bytes(4 * 8 * 128 * 128 * 4));
}

TEST(Footprint, KeepsTheProbabilitiesOfALossInsteadOfItsLogits) {
  const TensorShape logits = f32({5, 10});
  const BackwardNeeds needs = backward_needs(layer(LayerKind::CrossEntropy, 1), {{logits}}, 3);
  EXPECT_FALSE(needs.inputs);
  EXPECT_EQ(needs.saved, Bytes(640));  // 600 bytes, rounded up
}

TEST(Footprint, KeepsTwoFloatsForEachNormalisedChannelWhateverTheBatch) {
  const TensorShape input = f32({17, 5, 3});
  for (std::int64_t microbatch : {1, 4}) {
    const BackwardNeeds needs =
        backward_needs(layer(LayerKind::BatchNorm, 1), {{input}}, microbatch);
    EXPECT_TRUE(needs.inputs);
    EXPECT_EQ(needs.saved, Bytes(192));  // 17 · 2 floats = 136 bytes, rounded up
  }
}

TEST(Footprint, KeepsOneIndexForEachPooledOutputInsteadOfTheInput) {
  Layer pool = layer(LayerKind::MaxPool, 1);
  pool.output = f32({16, 4, 4});
  const TensorShape input = f32({16, 8, 8});
  const BackwardNeeds needs = backward_needs(pool, {{input}}, 3);
  EXPECT_FALSE(needs.inputs);
  EXPECT_EQ(needs.saved, Bytes(3 * 16 * 4 * 4 * 4));
}

TEST(Footprint, KeepsOnlyTheInputWhereTheGradientIsComputedFromIt) {
  const TensorShape input = f32({5, 8});
  for (LayerKind kind :
       {LayerKind::Linear, LayerKind::Gelu, LayerKind::MeanSquared, LayerKind::Conv2d,
        LayerKind::Relu, LayerKind::Opaque}) {
    const BackwardNeeds needs = backward_needs(layer(kind, 1), {{input}}, 3);
    EXPECT_TRUE(needs.inputs);
    EXPECT_EQ(needs.saved, Bytes(0));
  }
}

TEST(Footprint, KeepsNothingWhereTheGradientPassesThrough) {
  const TensorShape inputs[] = {f32({5, 8}), f32({5, 8})};
  const BackwardNeeds add = backward_needs(layer(LayerKind::Add, 2), inputs, 3);
  const BackwardNeeds embedding = backward_needs(layer(LayerKind::Embedding, 0), {}, 3);
  const BackwardNeeds pixels = backward_needs(layer(LayerKind::Pixels, 0), {}, 3);
  const BackwardNeeds concat = backward_needs(layer(LayerKind::Concat, 2), inputs, 3);
  const BackwardNeeds average =
      backward_needs(layer(LayerKind::AveragePool, 1), {{inputs[0]}}, 3);
  const BackwardNeeds upsample = backward_needs(layer(LayerKind::Upsample, 1), {{inputs[0]}}, 3);
  for (const BackwardNeeds& needs : {add, embedding, pixels, concat, average, upsample}) {
    EXPECT_FALSE(needs.inputs);
    EXPECT_EQ(needs.saved, Bytes(0));
  }
}

}  // namespace
}  // namespace penstock
