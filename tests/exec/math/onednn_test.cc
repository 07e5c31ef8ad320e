#include "exec/cpu/math/onednn.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::cpu {
namespace {

TEST(OneDnn, HoldsItsArithmeticAtStrictF32) {
  dnnl_fpmath_mode_t before = dnnl_fpmath_mode_strict, mode = dnnl_fpmath_mode_any;
  ASSERT_EQ(dnnl_get_default_fpmath_mode(&before), dnnl_success);
  ASSERT_EQ(dnnl_set_default_fpmath_mode(dnnl_fpmath_mode_bf16), dnnl_success);
  const Attributes attributes = plain_attributes();
  EXPECT_EQ(dnnl_primitive_attr_get_fpmath_mode(attributes.value, &mode), dnnl_success);
  EXPECT_EQ(mode, dnnl_fpmath_mode_strict);
  dnnl_set_default_fpmath_mode(before);
}

TEST(OneDnn, AskingTheCallerForScratchIsPartOfEveryPrimitive) {
  dnnl_scratchpad_mode_t mode = dnnl_scratchpad_mode_library;
  const Attributes attributes = plain_attributes();
  EXPECT_EQ(dnnl_primitive_attr_get_scratchpad_mode(attributes.value, &mode), dnnl_success);
  EXPECT_EQ(mode, dnnl_scratchpad_mode_user);
}

TEST(OneDnn, AFailureSaysWhatCouldNotBePrepared) {
  const Error error = onednn_failed("a convolution of 1x2", dnnl_unimplemented).value();
  EXPECT_EQ(error.code, ErrorCode::Unavailable);
  EXPECT_NE(error.message.find("a convolution of 1x2"), std::string::npos);
  EXPECT_FALSE(error.hint.empty());
}

TEST(OneDnn, APrimitiveMovesWithItsMemory) {
  // A copy of eight floats to a layout of the same kind with gaps of one.
  dnnl_memory_desc_t dense, sparse;
  const dnnl_dims_t size = {8}, one = {1}, two = {2};
  ASSERT_EQ(dnnl_memory_desc_init_by_strides(&dense, 1, size, dnnl_f32, one), dnnl_success);
  ASSERT_EQ(dnnl_memory_desc_init_by_strides(&sparse, 1, size, dnnl_f32, two), dnnl_success);
  const Attributes attributes = plain_attributes();
  Description description;
  ASSERT_EQ(dnnl_reorder_primitive_desc_create(&description.value, &dense, cpu_engine(), &sparse,
                                               cpu_engine(), attributes.value),
            dnnl_success);
  auto made = Primitive::prepare(description, {{DNNL_ARG_FROM, dense}, {DNNL_ARG_TO, sparse}},
                                 "a copy");
  ASSERT_TRUE(made.has_value());
  const Primitive moved = std::move(*made);
  alignas(64) float from[8], to[16] = {};
  for (int i = 0; i < 8; ++i) from[i] = static_cast<float>(i + 1);
  std::vector<std::byte> scratch(static_cast<std::size_t>(moved.scratch_bytes().value) + 64);
  moved.run({from, to}, scratch.data());
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(to[2 * i], from[i]);
    EXPECT_EQ(to[2 * i + 1], 0.0f);
  }
}

}  // namespace
}  // namespace penstock::cpu
