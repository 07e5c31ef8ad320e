#include <gtest/gtest.h>

#include <string>

#include "models/workloads/builders.h"

namespace penstock {
namespace {

TEST(Mlp, IsValidWithItsClosedFormOfParametersOverAGrid) {
  for (const std::int64_t layers : {1, 3, 40}) {
    for (const std::int64_t width : {1, 32, 130}) {
      for (const std::int64_t input : {1, 7, 64}) {
        const auto workload =
            build_workload("mlp:layers=" + std::to_string(layers) +
                           ",width=" + std::to_string(width) + ",input=" + std::to_string(input));
        ASSERT_TRUE(workload) << workload.error().text();
        const auto valid = validate(*workload);
        ASSERT_TRUE(valid) << workload->name << ": " << valid.error().text();
        EXPECT_EQ(workload->networks[0].parameter_count(),
                  (256 + input) * width + layers * (width + 1) * width + (width + 1) * 256)
            << workload->name;
      }
    }
  }
}

TEST(Mlp, IsAChain) {
  const auto workload = build_workload("mlp:layers=3,width=8");
  const auto& layers = workload->networks[0].layers;
  ASSERT_EQ(layers.size(), 9u);
  for (std::size_t i = 1; i < layers.size(); ++i) {
    ASSERT_EQ(layers[i].inputs.size(), 1u);
    EXPECT_EQ(layers[i].inputs[0].index(), i - 1);
  }
  EXPECT_EQ(workload->global_batch, 16);
}

}  // namespace
}  // namespace penstock
