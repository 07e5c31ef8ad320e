#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> convolve(const Case& c, const Point& at) {
  const auto &in = c.inputs[0].dimensions, &out = c.layer.output.dimensions;
  const std::int64_t kernel = c.layer.attribute("kernel"), stride = c.layer.attribute("stride"),
                     padding = c.layer.attribute("padding");
  std::vector<double> y;
  for (std::int64_t row = 0; row < c.microbatch * out[0] * out[1]; ++row) {
    const std::int64_t n = row / out[1] / out[0], k = row / out[1] % out[0], i = row % out[1];
    for (std::int64_t j = 0; j < out[2]; ++j) {
      double sum = at.parameters.size() > 1 ? at.parameters[1][k] : 0;
      for (std::int64_t tap = 0; tap < in[0] * kernel * kernel; ++tap) {
        const std::int64_t channel = tap / kernel / kernel;
        const std::int64_t y_in = i * stride + tap / kernel % kernel - padding;
        const std::int64_t x_in = j * stride + tap % kernel - padding;
        if (y_in < 0 || y_in >= in[1] || x_in < 0 || x_in >= in[2]) continue;
        sum += at.parameters[0][k * in[0] * kernel * kernel + tap] *
               at.inputs[0][((n * in[0] + channel) * in[1] + y_in) * in[2] + x_in];
      }
      y.push_back(sum);
    }
  }
  return y;
}

}  // namespace

KindCheck conv2d_check() {
  return {convolve,
          2e-6,
          {conv2d_case(1, {1, 1, 1}, 1, {1, 1, 0}), conv2d_case(2, {3, 9, 7}, 5, {3, 1, 1}),
           conv2d_case(3, {17, 6, 5}, 9, {3, 2, 1}), conv2d_case(4, {3, 11, 12}, 16, {7, 2, 3}),
           conv2d_case(1, {16, 5, 6}, 32, {1, 2, 0}), conv2d_case(2, {8, 7, 7}, 4, {5, 2, 1}),
           conv2d_case(2, {20, 4, 4}, 18, {1, 1, 0}), conv2d_case(2, {9, 13, 12}, 17, {1, 1, 0}),
           conv2d_case(1, {1, 1, 1}, 1, {1, 1, 0}, false), conv2d_case(1, {3, 4, 5}, 2, {2, 1, 0}),
           conv2d_case(1, {2, 5, 4}, 3, {2, 3, 1}), conv2d_case(2, {1, 3, 3}, 19, {3, 1, 2}),
           conv2d_case(1, {5, 1, 1}, 7, {3, 2, 1}), conv2d_case(1, {3, 9, 7}, 5, {5, 3, 4}, false)}};
}

namespace {

TEST(Conv2d, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(conv2d_check());
}

TEST(Conv2d, WorksWithoutABias) {
  expect_matches_reference(conv2d_case(2, {3, 9, 7}, 5, {3, 1, 1}, false), convolve, 2e-6);
}

TEST(Conv2d, DoesNotReadTheInputGradientItOverwrites) {
  Harness harness(conv2d_case(1, {3, 5, 5}, 4, {3, 2, 0}));
  const Operand& gradient = harness.input_gradients[0];
  for (std::int64_t i = 0; i < gradient.count(); ++i) gradient.floats()[i] = NAN;
  harness.backward_input();
  for (std::int64_t i = 0; i < gradient.count(); ++i)
    EXPECT_TRUE(std::isfinite(gradient.floats()[i]));
}

TEST(Conv2d, ReadsNothingThatItsWorkspaceHeldBefore) {
  for (const Case& c :
       {conv2d_case(2, {17, 6, 5}, 9, {3, 2, 1}), conv2d_case(1, {3, 7, 7}, 20, {1, 1, 0}),
        conv2d_case(2, {5, 12, 12}, 20, {1, 1, 0})}) {
    Harness clean(c), dirty(c);
    std::memset(clean.workspace.at, 0, clean.workspace.bytes);
    clean.all();
    for (auto part : {&Harness::forward, &Harness::backward_weight}) {
      std::memset(dirty.workspace.at, 0xff, dirty.workspace.bytes);  // not numbers
      (dirty.*part)();
    }
    std::memset(dirty.workspace.at, 0xff, dirty.workspace.bytes);
    dirty.backward_input();
    EXPECT_EQ(clean.results(), dirty.results()) << c.text;
  }
}

TEST(Conv2d, AddsItsGradientsToWhatIsThereInOneAddition) {
  for (const Case& c :
       {conv2d_case(2, {17, 6, 5}, 9, {3, 1, 1}), conv2d_case(2, {17, 12, 12}, 9, {1, 1, 0})}) {
    Harness harness(c), from_zero(c);
    std::vector<float> before;
    for (std::size_t p = 0; p < 2; ++p) {
      const Operand& x = harness.parameter_gradients[p];
      before.insert(before.end(), x.floats(), x.floats() + x.count());
      std::memset(from_zero.parameter_gradients[p].at, 0, x.bytes);
    }
    for (Harness* h : {&harness, &from_zero}) {
      h->forward();
      h->backward_weight();
    }
    std::size_t at = 0;
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::int64_t i = 0; i < harness.parameter_gradients[p].count(); ++i, ++at) {
        EXPECT_EQ(harness.parameter_gradients[p].floats()[i],
                  before[at] + from_zero.parameter_gradients[p].floats()[i]);
      }
    }
  }
}

TEST(Conv2d, RefusesAnOutputOrAttributesThatDoNotFit) {
  const auto refused = [](const Case& c) {
    const auto made = make_kernel(c.layer, c.inputs, c.microbatch, c.rows_in_step);
    return made ? "" : made.error().message;
  };
  Case output = conv2d_case(1, {3, 9, 7}, 5, {3, 1, 1});
  output.layer.output.dimensions[1] = 8;
  EXPECT_NE(refused(output).find("[5, 8, 7], expected [5, 9, 7]"), std::string::npos);
  Case stride = conv2d_case(1, {3, 9, 7}, 5, {3, 1, 1});
  stride.layer.attributes["stride"] = 0;
  EXPECT_NE(refused(stride).find("stride"), std::string::npos);
  Case kernel = conv2d_case(1, {3, 9, 7}, 5, {3, 1, 1});
  kernel.layer.attributes.erase("kernel");
  EXPECT_NE(refused(kernel).find("kernel"), std::string::npos);
  Case large = conv2d_case(1, {3, 2, 7}, 5, {1, 1, 0});
  large.layer.attributes["kernel"] = 5;
  EXPECT_NE(refused(large).find("does not fit"), std::string::npos);
}

}  // namespace
}  // namespace penstock::cpu::testing
