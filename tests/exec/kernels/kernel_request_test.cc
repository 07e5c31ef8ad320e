#include "exec/cpu/kernels/kernel_request.h"

#include <gtest/gtest.h>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

void expect_refused(const Case& c, const char* fragment) {
  const auto kernel = make_kernel(c.layer, c.inputs, c.microbatch, c.rows_in_step);
  ASSERT_FALSE(kernel.has_value()) << c.text;
  EXPECT_EQ(kernel.error().code, ErrorCode::BadInput);
  EXPECT_NE(kernel.error().message.find(fragment), std::string::npos) << kernel.error().message;
  EXPECT_NE(kernel.error().message.find(c.layer.name), std::string::npos) << kernel.error().message;
}

TEST(KernelRequest, RefusesAParameterOfTheWrongShape) {
  Case c = linear_case(1, 5, 8, 24);
  c.layer.parameters[0].dimensions = {24, 8};
  expect_refused(c, "\"weight\" is [24, 8], expected [8, 24]");
}

TEST(KernelRequest, RefusesAMissingParameterInputOrSource) {
  Case no_bias = layer_norm_case(1, 5, 8);
  no_bias.layer.parameters.pop_back();
  expect_refused(no_bias, "1 parameters");
  Case no_targets = cross_entropy_case(1, 5, 8);
  no_targets.layer.sources.clear();
  expect_refused(no_targets, "0 data sources");
  Case one_summand = add_case(1, 5, 8);
  one_summand.inputs.pop_back();
  expect_refused(one_summand, "1 inputs");
  Case no_input = linear_case(1, 5, 8, 24);
  no_input.inputs.clear();
  expect_refused(no_input, "0 inputs");
}

TEST(KernelRequest, RefusesShapesTheKindCannotHave) {
  Case heads = attention_case(1, 5, 8, 2);
  heads.layer.attributes["heads"] = 3;
  expect_refused(heads, "multiple of heads");
  Case unequal = add_case(1, 5, 8);
  unequal.inputs[1].dimensions = {5, 9};
  expect_refused(unequal, "different shapes");
  Case bytes = gelu_case(1, 5, 8);
  bytes.inputs[0].type = DataType::Byte;
  expect_refused(bytes, "f32");
}

TEST(KernelRequest, CountsRowsOverAllLeadingDimensions) {
  EXPECT_EQ(rows({DataType::F32, {5, 7, 8}}, 3), 105);
  EXPECT_EQ(features({DataType::F32, {5, 7, 8}}), 8);
}

}  // namespace
}  // namespace penstock::cpu::testing
