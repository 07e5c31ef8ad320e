#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

// The check of a kind's kernel against its reference; none of what is known by its costs alone. Without a default: a kind
// that is new does not compile here.
std::optional<KindCheck> check_of(LayerKind kind) {
  switch (kind) {
    case LayerKind::Embedding:
      return embedding_check();
    case LayerKind::LayerNorm:
      return layer_norm_check();
    case LayerKind::Linear:
      return linear_check();
    case LayerKind::Attention:
      return attention_check();
    case LayerKind::Gelu:
      return gelu_check();
    case LayerKind::Add:
      return add_check();
    case LayerKind::CrossEntropy:
      return cross_entropy_check();
    case LayerKind::MeanSquared:
      return mean_squared_check();
    case LayerKind::Pixels:
      return pixels_check();
    case LayerKind::Conv2d:
      return conv2d_check();
    case LayerKind::BatchNorm:
      return batch_norm_check();
    case LayerKind::Relu:
      return relu_check();
    case LayerKind::MaxPool:
      return max_pool_check();
    case LayerKind::AveragePool:
      return average_pool_check();
    case LayerKind::Upsample:
      return upsample_check();
    case LayerKind::Concat:
      return concat_check();
    case LayerKind::Opaque:
      break;
  }
  return std::nullopt;
}

// Numbers that fill no vector register, nor a block of oneDNN's.
class Odd {
 public:
  explicit Odd(std::uint32_t seed) : generator_(seed) {}
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(generator_() % static_cast<std::uint32_t>(limit));
  }
  std::int64_t size() { return std::array<std::int64_t, 10>{1, 2, 3, 5, 7, 9, 13, 17, 19, 21}[below(10)]; }
  std::int64_t small() { return 1 + below(4); }
  ImageSize image() { return {size(), 1 + below(9), 1 + below(9)}; }

 private:
  std::mt19937 generator_;
};

// One that fits: each place of the window holds some of the image.
WindowSize window(Odd& odd, const ImageSize& image) {
  WindowSize out{1 + odd.below(5), 1 + odd.below(3), 0};
  out.padding = odd.below(out.kernel);
  while (std::min(image.height, image.width) + 2 * out.padding < out.kernel) --out.kernel;
  out.padding = std::min(out.padding, out.kernel - 1);
  return out;
}

Case odd_case(LayerKind kind, Odd& odd) {
  const std::int64_t b = odd.small(), tokens = odd.size(), width = odd.size();
  const ImageSize image = odd.image();
  switch (kind) {
    case LayerKind::Embedding:
      return embedding_case(b, tokens, width, 1 + odd.below(256));
    case LayerKind::LayerNorm:
      return layer_norm_case(b, tokens, 2 + width);  // of two values only ±1 is left, and no gradient to speak of
    case LayerKind::Linear:
      return linear_case(b, tokens, width, odd.size());
    case LayerKind::Attention: {
      const std::int64_t heads = odd.small();
      return attention_case(b, tokens, heads * odd.small(), heads);
    }
    case LayerKind::Gelu:
      return gelu_case(b, tokens, width);
    case LayerKind::Add:
      return add_case(b, tokens, width);
    case LayerKind::CrossEntropy:
      return cross_entropy_case(b, tokens, width);
    case LayerKind::MeanSquared:
      return mean_squared_case(b, width);
    case LayerKind::Pixels:
      return pixels_case(b, image);
    case LayerKind::Conv2d:
      return conv2d_case(b, image, odd.size(), window(odd, image), odd.below(2) == 0);
    case LayerKind::BatchNorm:
      return batch_norm_case(2 + b, image);  // likewise
    case LayerKind::Relu:
      return relu_case(b, image);
    case LayerKind::MaxPool:
      return max_pool_case(b, image, window(odd, image));
    case LayerKind::AveragePool:
      return average_pool_case(b, image);
    case LayerKind::Upsample:
      return upsample_case(b, image, odd.small());
    case LayerKind::Concat:
      return concat_case(b, {odd.size(), odd.size(), odd.small()}, image.height, image.width);
    case LayerKind::Opaque:
      break;
  }
  ADD_FAILURE() << "no case of this kind";
  return {};
}

TEST(Registry, EveryKindHasACheckAgainstItsReferenceWithOddShapes) {
  for (const auto& [kind, kind_name] : enum_names(LayerKind{})) {
    SCOPED_TRACE(kind_name);
    const std::optional<KindCheck> check = check_of(kind);
    ASSERT_EQ(check.has_value(), kind != LayerKind::Opaque);
    if (!check) continue;
    bool single = false, sample = false, ragged = false;
    std::set<std::int64_t> kernels, strides, paddings;
    for (const Case& c : check->cases) {
      EXPECT_EQ(c.layer.kind, kind) << c.text;
      const TensorShape& shape = c.inputs.empty() ? c.layer.output : c.inputs[0];
      single = single || (c.microbatch == 1 && shape.elements() <= (kind == LayerKind::Attention ? 3 : 1));
      sample = sample || (c.microbatch == 1 && shape.elements() > 3);
      ragged = ragged || (c.microbatch > 1 && shape.elements() > 16 && shape.elements() % 16 != 0 &&
                          shape.dimensions.back() % 16 != 0);
      if (kind != LayerKind::Conv2d && kind != LayerKind::MaxPool) continue;
      kernels.insert(c.layer.attribute("kernel"));
      strides.insert(c.layer.attribute("stride"));
      paddings.insert(c.layer.attribute("padding"));
    }
    EXPECT_TRUE(single) << "no case of one element";
    EXPECT_TRUE(sample) << "no case of one sample";
    EXPECT_TRUE(ragged) << "no case that fills no vector register";
    if (kernels.empty()) continue;
    for (const std::int64_t kernel : {1, 2, 3, 5}) EXPECT_TRUE(kernels.contains(kernel)) << kernel;
    for (const std::int64_t stride : {1, 2, 3}) EXPECT_TRUE(strides.contains(stride)) << stride;
    for (const std::int64_t padding : {0, 1, 2}) EXPECT_TRUE(paddings.contains(padding)) << padding;
  }
}

TEST(Registry, EveryKindMatchesItsReferenceAtRandomOddShapes) {
  std::uint32_t seed = 1;
  for (const auto& [kind, kind_name] : enum_names(LayerKind{})) {
    if (kind == LayerKind::Opaque) continue;
    const KindCheck check = *check_of(kind);
    for (int round = 0; round < 6; ++round) {
      Odd odd(seed++);
      expect_matches_reference(odd_case(kind, odd), check.reference, check.bound);
    }
  }
}

TEST(Registry, BuildsAKernelForEveryKindThatCanBeExecuted) {
  std::set<LayerKind> built;
  for (const Case& c : one_case_of_each_kind(1, 5, 8)) {
    EXPECT_TRUE(make_kernel(c.layer, c.inputs, c.microbatch, c.rows_in_step).has_value()) << c.text;
    built.insert(c.layer.kind);
  }
  EXPECT_EQ(built.size() + 1, enum_names(LayerKind{}).size()) << "the tests of all kinds leave one out";
}

TEST(Registry, RefusesAnOpaqueLayerAsInfeasible) {
  Layer layer;
  layer.name = "mystery";
  layer.kind = LayerKind::Opaque;
  const auto kernel = make_kernel(layer, {}, 1, 1);
  ASSERT_FALSE(kernel.has_value());
  EXPECT_EQ(kernel.error().code, ErrorCode::Infeasible);
  EXPECT_NE(kernel.error().message.find("mystery"), std::string::npos);
  EXPECT_FALSE(kernel.error().hint.empty());
}

}  // namespace
}  // namespace penstock::cpu::testing
