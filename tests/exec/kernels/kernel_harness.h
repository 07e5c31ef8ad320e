#pragma once

// A layer kernel with all its operands, random but reproducible, in one guarded block of memory;
// and its check against a double-precision reference.

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "exec/cpu/layer_kernel.h"

namespace penstock::cpu::testing {

struct Case {
  Layer layer;
  std::vector<TensorShape> inputs;
  std::vector<std::int64_t> data_bytes;  // per sample, one a source
  std::int64_t data_limit = 256;         // data bytes are below
  std::int64_t microbatch = 1;
  std::int64_t rows_in_step = 1;
  std::string text;  // for SCOPED_TRACE
};

Case embedding_case(std::int64_t b, std::int64_t tokens, std::int64_t width,
                    std::int64_t vocabulary);
Case layer_norm_case(std::int64_t b, std::int64_t tokens, std::int64_t width);
Case linear_case(std::int64_t b, std::int64_t tokens, std::int64_t in, std::int64_t out);
Case attention_case(std::int64_t b, std::int64_t tokens, std::int64_t width, std::int64_t heads);
Case gelu_case(std::int64_t b, std::int64_t tokens, std::int64_t width);
Case add_case(std::int64_t b, std::int64_t tokens, std::int64_t width);
Case cross_entropy_case(std::int64_t b, std::int64_t tokens, std::int64_t classes);
Case mean_squared_case(std::int64_t b, std::int64_t n);
Case cross_entropy_case(std::int64_t b, std::int64_t classes);  // one row a sample

// Of an image [channels, height, width].
struct ImageSize {
  std::int64_t channels, height, width;
};
struct WindowSize {
  std::int64_t kernel, stride, padding;
};
Case pixels_case(std::int64_t b, ImageSize image);
Case conv2d_case(std::int64_t b, ImageSize image, std::int64_t outputs, WindowSize window,
                 bool bias = true);
Case batch_norm_case(std::int64_t b, ImageSize image);
Case relu_case(std::int64_t b, ImageSize image);
Case max_pool_case(std::int64_t b, ImageSize image, WindowSize window);
Case average_pool_case(std::int64_t b, ImageSize image);
Case upsample_case(std::int64_t b, ImageSize image, std::int64_t factor);
Case concat_case(std::int64_t b, const std::vector<std::int64_t>& channels, std::int64_t height,
                 std::int64_t width);

// Images are [width, tokens, 9].
std::vector<Case> one_case_of_each_kind(std::int64_t b, std::int64_t tokens, std::int64_t width);

// One operand: `size` floats (or bytes) at a 64-byte boundary, followed by a guard that no kernel
// may touch.
struct Operand {
  std::byte* at = nullptr;
  std::int64_t bytes = 0;

  float* floats() const { return reinterpret_cast<float*>(at); }
  std::uint8_t* octets() const { return reinterpret_cast<std::uint8_t*>(at); }
  std::int64_t count() const { return bytes / 4; }
};

class Harness {
 public:
  // `shift`: how many 64-byte lines everything is moved by. Equal seeds give equal operands.
  explicit Harness(Case description, std::int64_t shift = 0, std::uint32_t seed = 1);

  void forward();
  void backward_input(bool accumulate = false);
  void backward_weight();
  void all();  // forward, backward_input, backward_weight
  bool guards_intact() const;
  // Everything a kernel writes (output, saved, gradients, loss), as bytes.
  std::vector<std::byte> results() const;

  LayerOperands operands();
  LayerKernel& kernel() { return *kernel_; }

  Case description;
  std::vector<Operand> inputs, data, parameters, input_gradients, parameter_gradients;
  Operand output, output_gradient, saved, workspace;
  double loss = 0;
  Hits hits;
  bool training = true;
  float statistic_weight = 0;

 private:
  Operand reserve(std::int64_t bytes);
  void random(const Operand& operand, float deviation);

  std::unique_ptr<LayerKernel> kernel_;
  std::vector<std::byte> block_;
  std::int64_t used_ = 0;
  std::mt19937 generator_;
  std::vector<const float*> input_pointers_;
  std::vector<const std::uint8_t*> data_pointers_;
  std::vector<float*> parameter_pointers_, input_gradient_pointers_, parameter_gradient_pointers_;
};

// What a reference is a function of, in double precision.
struct Point {
  std::vector<std::vector<double>> inputs, parameters;
  std::vector<std::vector<std::uint8_t>> data;
};
using Reference =
    std::function<std::vector<double>(const Case&, const Point&)>;  // output, or {loss}

// Forward equals the reference, and both gradients its central differences at sampled coordinates,
// within `bound` of the largest magnitude in the tensor; parameter gradients are added to what was
// there; `accumulate` adds input gradients; the halves of the backward pass commute; no guard is
// touched.
void expect_matches_reference(const Case& description, const Reference& reference, double bound);

// A kind's reference, how near its kernel comes to it, and the shapes at which that is checked. Each is defined in the kind's
// test; registry_test.cc demands one of every kind.
struct KindCheck {
  Reference reference;
  double bound;
  std::vector<Case> cases;
};
void expect_matches_reference(const KindCheck& check);

KindCheck add_check();
KindCheck attention_check();
KindCheck average_pool_check();
KindCheck batch_norm_check();
KindCheck concat_check();
KindCheck conv2d_check();
KindCheck cross_entropy_check();
KindCheck embedding_check();
KindCheck gelu_check();
KindCheck layer_norm_check();
KindCheck linear_check();
KindCheck max_pool_check();
KindCheck mean_squared_check();
KindCheck pixels_check();
KindCheck relu_check();
KindCheck upsample_check();

}  // namespace penstock::cpu::testing
