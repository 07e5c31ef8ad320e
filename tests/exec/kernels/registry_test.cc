#include <gtest/gtest.h>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

TEST(Registry, BuildsAKernelForEveryKindThatCanBeExecuted) {
  for (const Case& c : one_case_of_each_kind(1, 5, 8)) {
    EXPECT_TRUE(make_kernel(c.layer, c.inputs, c.microbatch, c.rows_in_step).has_value()) << c.text;
  }
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
