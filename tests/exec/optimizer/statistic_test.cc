#include "exec/optimizer/statistic.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock {
namespace {

TEST(Statistic, AStepIsTheRunningAverageOverItsMicrobatches) {
  for (const std::int64_t microbatches : {1, 2, 5, 16}) {
    double running = 3;
    std::vector<float> value = {3}, gradient = {0};
    for (std::int64_t m = 0; m < microbatches; ++m) {
      const double measured = static_cast<double>(m * m) - 2;
      running = 0.9 * running + 0.1 * measured;
      gradient[0] += statistic_weight(m, microbatches) * static_cast<float>(measured);
    }
    update_statistic(statistic_decay(microbatches), 1, value.data(), gradient.data());
    EXPECT_NEAR(value[0], running, 1e-5 * (1 + running)) << microbatches;
    EXPECT_EQ(gradient[0], 0.0f);
  }
}

TEST(Statistic, WeightsAndDecayAddUpToOne) {
  for (const std::int64_t microbatches : {1, 3, 40}) {
    double sum = statistic_decay(microbatches);
    for (std::int64_t m = 0; m < microbatches; ++m) sum += statistic_weight(m, microbatches);
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

}  // namespace
}  // namespace penstock
