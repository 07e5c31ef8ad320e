#pragma once

// One pass of a 2-d f32 convolution, prepared once for its shape and run many times on raw pointers:
//
//   y[n, k, i, j] = bias[k] + Σ_{c, p, q} w[k, c, p, q] · x[n, c, i·stride + p - padding,
//                                                                j·stride + q - padding]
//
// with zeros outside of x; tensors plain row-major [samples, channels, height, width] and
// [outputs, channels, kernel, kernel]. By oneDNN: on the order of sums and on memory see
// exec/cpu/math/onednn.h. Its fast kernels want channels in blocks of 16, so tensors are copied to
// and from such a layout in the workspace, which costs a few per cent of a 3x3 convolution; those of
// kernel 1 are matrix products instead where that is faster (exec/cpu/math/pointwise.h).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"
#include "core/units.h"

namespace penstock::cpu {

class Pointwise;

enum class ConvolutionPass : std::uint8_t {
  Forward,         // x, w -> y
  InputGradient,   // dy, w -> dx
  WeightGradient,  // x, dy -> dw
};

struct ConvolutionSpec {
  ConvolutionPass pass = ConvolutionPass::Forward;
  std::int64_t samples = 1, channels = 1, height = 1, width = 1;  // of x
  std::int64_t outputs = 1;                                       // channels of y
  std::int64_t kernel = 1, stride = 1, padding = 0;
  bool bias = false;  // of the forward pass

  std::int64_t output_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::int64_t output_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

class Convolution {
 public:
  Convolution();
  Convolution(Convolution&&) noexcept;
  Convolution& operator=(Convolution&&) noexcept;
  ~Convolution();

  // Costs milliseconds (code generation). Unavailable if oneDNN has no kernel for the specification.
  static Result<Convolution> prepare(const ConvolutionSpec& spec);

  // What the pass reads, in the order given there, and what it makes; `bias` is ignored unless
  // specified. `accumulate` adds the result to what is there: result[i] + (the sum). All at 64-byte
  // boundaries, `workspace` of workspace_bytes(). One object runs on one thread at a time.
  void run(const float* first, const float* second, const float* bias, bool accumulate,
           float* result, std::byte* workspace) const;

  Bytes workspace_bytes() const;
  const std::string& implementation() const;  // oneDNN's name: "jit:avx512_core", "brg:avx512_core"

 private:
  struct Blocked;

  // One of the two.
  std::unique_ptr<Blocked> blocked_;
  std::unique_ptr<Pointwise> pointwise_;
};

}  // namespace penstock::cpu
