#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> attend(const Case& c, const Point& at) {
  const std::int64_t tokens = c.inputs[0].dimensions[0], width = c.layer.output.dimensions[1];
  const std::int64_t heads = c.layer.attribute("heads"), depth = width / heads;
  std::vector<double> y(c.microbatch * tokens * width, 0.0);
  const auto part = [&](std::int64_t s, std::int64_t t, std::int64_t which, std::int64_t i) {
    return at.inputs[0][((s * tokens + t) * 3 + which) * width + i];
  };
  for (std::int64_t s = 0; s < c.microbatch; ++s) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t t = 0; t < tokens; ++t) {
        std::vector<double> p(t + 1);
        double total = 0;
        for (std::int64_t u = 0; u <= t; ++u) {
          double score = 0;
          for (std::int64_t i = h * depth; i < (h + 1) * depth; ++i)
            score += part(s, t, 0, i) * part(s, u, 1, i);
          total += p[u] = std::exp(score / std::sqrt(static_cast<double>(depth)));
        }
        for (std::int64_t u = 0; u <= t; ++u) {
          for (std::int64_t i = h * depth; i < (h + 1) * depth; ++i) {
            y[(s * tokens + t) * width + i] += p[u] / total * part(s, u, 2, i);
          }
        }
      }
    }
  }
  return y;
}

}  // namespace

KindCheck attention_check() {
  return {attend,
          3e-6,
          {attention_case(1, 5, 8, 2), attention_case(3, 17, 24, 3), attention_case(1, 64, 64, 4),
           attention_case(1, 1, 8, 8), attention_case(1, 1, 1, 1), attention_case(1, 2, 3, 1),
           attention_case(2, 19, 21, 3)}};
}

namespace {

TEST(Attention, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(attention_check());
}

TEST(Attention, KeepsProbabilitiesThatAreExactlyZeroForLaterTokens) {
  const std::int64_t b = 2, tokens = 17, heads = 2;
  Harness harness(attention_case(b, tokens, 8, heads));
  harness.forward();
  for (std::int64_t head = 0; head < b * heads; ++head) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      const float* row = harness.saved.floats() + (head * tokens + t) * tokens;
      double total = 0;
      for (std::int64_t u = 0; u < tokens; ++u) {
        if (u > t) {
          EXPECT_EQ(row[u], 0.0f);
        }
        total += row[u];
      }
      EXPECT_NEAR(total, 1.0, 1e-6);
    }
  }
}

TEST(Attention, ChangesNoBitOfEarlierTokensWhenALaterOneChanges) {
  const std::int64_t tokens = 17, width = 8, changed = 9;
  Harness before(attention_case(1, tokens, width, 2)), after(attention_case(1, tokens, width, 2));
  for (std::int64_t i = changed * 3 * width; i < tokens * 3 * width; ++i)
    after.inputs[0].floats()[i] += 1.0f;
  before.forward();
  after.forward();
  EXPECT_EQ(std::memcmp(before.output.at, after.output.at, changed * width * 4), 0);
  EXPECT_NE(std::memcmp(before.output.at, after.output.at, tokens * width * 4), 0);
}

TEST(Attention, SendsNoGradientToTokensAfterTheOneThatAsked) {
  const std::int64_t tokens = 17, width = 8, asked = 9;
  Harness harness(attention_case(1, tokens, width, 2));
  for (std::int64_t t = 0; t < tokens; ++t) {
    if (t != asked) std::memset(harness.output_gradient.floats() + t * width, 0, width * 4);
  }
  harness.all();
  const float* gradient = harness.input_gradients[0].floats();
  for (std::int64_t i = (asked + 1) * 3 * width; i < tokens * 3 * width; ++i)
    EXPECT_EQ(gradient[i], 0.0f);
  EXPECT_NE(gradient[asked * 3 * width], 0.0f);
}

TEST(Attention, StaysFiniteForLargeScores) {
  Harness harness(attention_case(1, 17, 8, 2));
  for (std::int64_t i = 0; i < harness.inputs[0].count(); ++i)
    harness.inputs[0].floats()[i] *= 100.0f;
  harness.all();
  for (std::int64_t i = 0; i < harness.input_gradients[0].count(); ++i) {
    ASSERT_TRUE(std::isfinite(harness.input_gradients[0].floats()[i]));
  }
}

}  // namespace
}  // namespace penstock::cpu::testing
