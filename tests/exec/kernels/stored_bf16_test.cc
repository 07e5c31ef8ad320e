#include <gtest/gtest.h>

#include <cstring>

#include "core/footprint.h"
#include "exec/cpu/math/bf16.h"
#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

Case stored(Case c) {
  for (TensorShape& shape : c.inputs) shape.type = DataType::BF16;
  if (!c.layer.is_loss()) c.layer.output.type = DataType::BF16;
  return c;
}

std::uint16_t* halves(const Operand& operand) {
  return reinterpret_cast<std::uint16_t*>(operand.at);
}

// Random floats, rounded into one operand and widened into the other.
void share(const Operand& wide, const Operand& narrow) {
  round_to_bf16(wide.floats(), wide.count(), halves(narrow));
  widen(halves(narrow), wide.count(), wide.floats());
}

void expect_rounded(const Operand& wide, const Operand& narrow, const std::string& what) {
  std::vector<std::uint16_t> expected(static_cast<std::size_t>(wide.count()));
  round_to_bf16(wide.floats(), wide.count(), expected.data());
  EXPECT_EQ(std::memcmp(expected.data(), narrow.at, 2 * expected.size()), 0) << what;
}

void expect_equal(const Operand& a, const Operand& b, const std::string& what) {
  ASSERT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(std::memcmp(a.at, b.at, static_cast<std::size_t>(a.bytes)), 0) << what;
}

// The f32 kernel on rounded operands, its results rounded.
TEST(StoredBf16, IsTheF32KernelBetweenWideningAndRounding) {
  for (const Case& c : one_case_of_each_kind(3, 5, 6)) {
    SCOPED_TRACE(c.text);
    Harness wide(c), narrow(stored(c));
    wide.statistic_weight = narrow.statistic_weight = 0.25f;
    for (std::size_t i = 0; i < wide.inputs.size(); ++i) {
      share(wide.inputs[i], narrow.inputs[i]);
      share(wide.input_gradients[i], narrow.input_gradients[i]);
    }
    const bool is_loss = c.layer.is_loss();
    if (!is_loss) share(wide.output_gradient, narrow.output_gradient);
    for (std::size_t i = 0; i < wide.parameters.size(); ++i) {
      std::memcpy(narrow.parameters[i].at, wide.parameters[i].at, static_cast<std::size_t>(wide.parameters[i].bytes));
      std::memcpy(narrow.parameter_gradients[i].at, wide.parameter_gradients[i].at,
                  static_cast<std::size_t>(wide.parameter_gradients[i].bytes));
    }
    for (std::size_t i = 0; i < wide.data.size(); ++i)
      std::memcpy(narrow.data[i].at, wide.data[i].at, static_cast<std::size_t>(wide.data[i].bytes));
    for (const bool accumulate : {false, true}) {
      for (Harness* harness : {&wide, &narrow}) {
        harness->forward();
        harness->backward_weight();
        harness->backward_input(accumulate);
      }
      if (!is_loss) expect_rounded(wide.output, narrow.output, "output");
      EXPECT_EQ(wide.loss, narrow.loss);
      for (std::size_t i = 0; i < wide.inputs.size(); ++i) {
        expect_rounded(wide.input_gradients[i], narrow.input_gradients[i], "input gradient");
        share(wide.input_gradients[i], narrow.input_gradients[i]);  // what the next round adds to
      }
      for (std::size_t i = 0; i < wide.parameters.size(); ++i)
        expect_equal(wide.parameter_gradients[i], narrow.parameter_gradients[i], "parameter gradient");
    }
    EXPECT_TRUE(narrow.guards_intact());
    EXPECT_EQ(narrow.kernel().workspace_bytes(),
              align_up(wide.kernel().workspace_bytes(), kTensorAlignment) +
                  widened_bytes(narrow.description.layer, narrow.description.inputs, 3));
  }
}

TEST(StoredBf16, TheSameProducerTwiceGetsOneSum) {
  Harness harness(stored(add_case(2, 3, 5)));
  LayerOperands operands = harness.operands();
  std::vector<float*> gradients(2, operands.input_gradients[0]);
  operands.input_gradients = gradients;
  const float three = 3;
  for (std::int64_t i = 0; i < 2 * 3 * 5; ++i) round_to_bf16(&three, 1, halves(harness.output_gradient) + i);
  harness.kernel().backward_input(operands);
  for (std::int64_t i = 0; i < 2 * 3 * 5; ++i) {
    float sum = 0;
    widen(halves(harness.input_gradients[0]) + i, 1, &sum);
    EXPECT_EQ(sum, 6.0f);
  }
}

}  // namespace
}  // namespace penstock::cpu::testing
