#include "exec/cpu/math/convolution.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace penstock::cpu {
namespace {

// Floats at a 64-byte boundary, as the kernels are promised.
class Floats {
 public:
  explicit Floats(std::int64_t count)
      : count_(count),
        at_(static_cast<float*>(std::aligned_alloc(64, (count * 4 + 127) / 64 * 64)), std::free) {}

  float* data() const { return at_.get(); }
  float& operator[](std::int64_t i) const { return at_.get()[i]; }
  std::int64_t size() const { return count_; }
  std::vector<float> values() const { return {data(), data() + count_}; }

 private:
  std::int64_t count_;
  std::unique_ptr<float, void (*)(void*)> at_;
};

// Values whose products and sums are exact in f32, so that any order of addition gives the same
// bits.
Floats small_integers(std::int64_t count, int seed) {
  Floats values(count);
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 7 + i / 13 + seed * 13) % 11 - 5);
  return values;
}

std::string text(const ConvolutionSpec& s) {
  return fmt::format("{}x{}x{}x{} to {}, kernel {} stride {} padding {} pass {}", s.samples,
                     s.channels, s.height, s.width, s.outputs, s.kernel, s.stride, s.padding,
                     static_cast<int>(s.pass));
}

// `call(x, w, y)` with the indices of every product of the sum.
template <class Call>
void each_product(const ConvolutionSpec& s, Call call) {
  const std::int64_t rows = s.output_height(), columns = s.output_width();
  for (std::int64_t y = 0; y < s.samples * s.outputs * rows * columns; ++y) {
    const std::int64_t j = y % columns, i = y / columns % rows, k = y / columns / rows % s.outputs;
    const std::int64_t n = y / columns / rows / s.outputs;
    for (std::int64_t tap = 0; tap < s.channels * s.kernel * s.kernel; ++tap) {
      const std::int64_t row = i * s.stride + tap / s.kernel % s.kernel - s.padding;
      const std::int64_t column = j * s.stride + tap % s.kernel - s.padding;
      if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
      const std::int64_t plane = n * s.channels + tap / s.kernel / s.kernel;
      call((plane * s.height + row) * s.width + column,
           k * s.channels * s.kernel * s.kernel + tap, y);
    }
  }
}

void expect_exact(ConvolutionSpec s) {
  const std::int64_t pixels = s.output_height() * s.output_width();
  const Floats x = small_integers(s.samples * s.channels * s.height * s.width, 1);
  const Floats w = small_integers(s.outputs * s.channels * s.kernel * s.kernel, 2);
  const Floats y = small_integers(s.samples * s.outputs * pixels, 3);
  const Floats bias = small_integers(s.outputs, 4);
  const bool forward = s.pass == ConvolutionPass::Forward;
  const bool to_input = s.pass == ConvolutionPass::InputGradient;
  const Floats& first = to_input ? y : x;
  const Floats& second = s.pass == ConvolutionPass::WeightGradient ? y : w;
  const Floats& shape = forward ? y : to_input ? x : w;

  std::vector<float> want(static_cast<std::size_t>(shape.size()), 0.0f);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (s.bias) want[i] = bias[static_cast<std::int64_t>(i) / pixels % s.outputs];
  }
  each_product(s, [&](std::int64_t at_x, std::int64_t at_w, std::int64_t at_y) {
    if (forward) want[at_y] += x[at_x] * w[at_w];
    else if (to_input) want[at_x] += y[at_y] * w[at_w];
    else want[at_w] += x[at_x] * y[at_y];
  });

  const auto pass = Convolution::prepare(s);
  ASSERT_TRUE(pass.has_value()) << pass.error().text();
  const Floats workspace((pass->workspace_bytes().value + 3) / 4);
  for (std::int64_t i = 0; i < workspace.size(); ++i) workspace[i] = NAN;
  const Floats result = small_integers(shape.size(), 5);
  auto* scratch = reinterpret_cast<std::byte*>(workspace.data());
  for (const bool accumulate : {false, true}) {
    if (accumulate && forward) continue;
    const std::vector<float> before = result.values();
    pass->run(first.data(), second.data(), bias.data(), accumulate, result.data(), scratch);
    std::vector<float> sum = want;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      if (accumulate) sum[i] += before[i];
    }
    EXPECT_EQ(result.values(), sum) << text(s) << ' ' << pass->implementation();
  }
}

TEST(Convolution, IsExactOnIntegersForEveryWindow) {
  const std::tuple<std::int64_t, std::int64_t> channels[] = {{1, 1}, {3, 16}, {17, 8}, {16, 33}};
  std::int64_t count = 0;
  for (std::int64_t kernel : {1, 3, 5, 7}) {
    for (std::int64_t stride : {1, 2}) {
      for (std::int64_t padding : {0, 1, 3}) {
        for (const auto& [in, out] : channels) {
          ConvolutionSpec s{.samples = 1 + count++ % 4,
                            .channels = in,
                            .height = 9,
                            .width = 8,
                            .outputs = out,
                            .kernel = kernel,
                            .stride = stride,
                            .padding = padding};
          expect_exact(s);
          s.bias = true;
          expect_exact(s);
          s.bias = false;
          s.pass = ConvolutionPass::InputGradient;
          expect_exact(s);
          s.pass = ConvolutionPass::WeightGradient;
          expect_exact(s);
        }
      }
    }
  }
}

TEST(Convolution, IsExactWhereItIsAMatrixProduct) {
  for (const auto& [samples, in, out, height] :
       {std::tuple(1, 1, 1, 12), std::tuple(3, 17, 33, 16), std::tuple(2, 64, 16, 14)}) {
    ConvolutionSpec s{.samples = samples, .channels = in, .height = height, .width = 13,
                      .outputs = out};
    expect_exact(s);
    s.bias = true;
    expect_exact(s);
    s.bias = false;
    s.pass = ConvolutionPass::InputGradient;
    expect_exact(s);
    s.pass = ConvolutionPass::WeightGradient;
    expect_exact(s);
    s.height = 3;
    expect_exact(s);
  }
}

TEST(Convolution, TakesImagesAsSmallAsItsKernelAndStridesThatLeavePixelsOut) {
  for (const ConvolutionPass pass : {ConvolutionPass::Forward, ConvolutionPass::InputGradient,
                                     ConvolutionPass::WeightGradient}) {
    expect_exact({.pass = pass, .samples = 2, .channels = 5, .height = 3, .width = 3, .outputs = 7,
                  .kernel = 3});
    expect_exact({.pass = pass, .samples = 1, .channels = 32, .height = 1, .width = 1, .outputs = 16,
                  .kernel = 3, .padding = 1});
    expect_exact({.pass = pass, .samples = 2, .channels = 16, .height = 10, .width = 11,
                  .outputs = 16, .kernel = 2, .stride = 3});
  }
}

TEST(Convolution, ChoosesAFastKernelForTheShapesOfResidualNetworks) {
  for (const ConvolutionPass pass : {ConvolutionPass::Forward, ConvolutionPass::InputGradient,
                                     ConvolutionPass::WeightGradient}) {
    const auto made = Convolution::prepare({.pass = pass, .samples = 4, .channels = 64,
                                            .height = 56, .width = 56, .outputs = 64, .kernel = 3,
                                            .padding = 1});
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->implementation().find("ref"), std::string::npos)
        << "the slow reference kernel was chosen: " << made->implementation();
  }
}

}  // namespace
}  // namespace penstock::cpu
