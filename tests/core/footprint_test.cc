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

TEST(Footprint, KeepsOnlyTheInputWhereTheGradientIsComputedFromIt) {
  const TensorShape input = f32({5, 8});
  for (LayerKind kind :
       {LayerKind::Linear, LayerKind::Gelu, LayerKind::MeanSquared, LayerKind::Opaque}) {
    const BackwardNeeds needs = backward_needs(layer(kind, 1), {{input}}, 3);
    EXPECT_TRUE(needs.inputs);
    EXPECT_EQ(needs.saved, Bytes(0));
  }
}

TEST(Footprint, KeepsNothingWhereTheGradientPassesThrough) {
  const TensorShape inputs[] = {f32({5, 8}), f32({5, 8})};
  const BackwardNeeds add = backward_needs(layer(LayerKind::Add, 2), inputs, 3);
  const BackwardNeeds embedding = backward_needs(layer(LayerKind::Embedding, 0), {}, 3);
  for (const BackwardNeeds& needs : {add, embedding}) {
    EXPECT_FALSE(needs.inputs);
    EXPECT_EQ(needs.saved, Bytes(0));
  }
}

}  // namespace
}  // namespace penstock
