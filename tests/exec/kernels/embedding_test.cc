#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> embed(const Case& c, const Point& at) {
  const std::int64_t tokens = c.layer.output.dimensions[0], width = c.layer.output.dimensions[1];
  std::vector<double> y;
  for (std::int64_t row = 0; row < c.microbatch * tokens; ++row) {
    for (std::int64_t i = 0; i < width; ++i) {
      y.push_back(at.parameters[0][at.data[0][row] * width + i] +
                  at.parameters[1][row % tokens * width + i]);
    }
  }
  return y;
}

}  // namespace

KindCheck embedding_check() {
  return {embed,
          1e-6,
          {embedding_case(1, 5, 8, 256), embedding_case(3, 17, 24, 11),
           embedding_case(2, 64, 64, 256), embedding_case(1, 1, 1, 1), embedding_case(1, 3, 7, 2),
           embedding_case(2, 5, 33, 251)}};
}

namespace {

TEST(Embedding, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(embedding_check());
}

TEST(Embedding, AddsTheRowsOfARepeatedTokenInOrderOfSampleAndPosition) {
  Harness harness(embedding_case(2, 3, 1, 4));
  const std::uint8_t tokens[] = {2, 0, 2, 2, 1, 2};
  std::memcpy(harness.data[0].octets(), tokens, sizeof tokens);
  // A sum whose result tells the order: 1e8 swallows what is added to it one by one.
  const float gradient[] = {1.0f, 0, 1e8f, 3.0f, 0, -1e8f};
  std::memcpy(harness.output_gradient.floats(), gradient, sizeof gradient);
  std::memset(harness.parameter_gradients[0].at, 0, harness.parameter_gradients[0].bytes);
  harness.backward_weight();
  EXPECT_EQ(harness.parameter_gradients[0].floats()[2], ((1.0f + 1e8f) + 3.0f) + -1e8f);
}

TEST(EmbeddingDeathTest, RefusesATokenBeyondTheVocabulary) {
  Harness harness(embedding_case(1, 3, 2, 4));
  harness.data[0].octets()[1] = 4;
  EXPECT_DEATH(harness.forward(), "vocabulary");
}

}  // namespace
}  // namespace penstock::cpu::testing
