#pragma once

// A convolution of kernel 1, stride 1 and no padding as a matrix product for each sample, P =
// height · width pixels, on tensors as they lie:
//
//   y[n] [K, P] = w [K, C] · x[n] [C, P]     dx[n] = wᵀ · dy[n]     dw = Σ_n dy[n] · x[n]ᵀ
//
// Without the copies to blocked layouts and back, which cost such a convolution a third of its time
// (measured at 56x56 pixels); but products of few columns are slow.

#include <cstddef>

#include "core/result.h"
#include "core/units.h"
#include "exec/cpu/math/convolution.h"
#include "exec/cpu/math/matmul.h"

namespace penstock::cpu {

class Pointwise {
 public:
  // Whether `spec` is such a convolution, and large enough to be faster so.
  static bool suits(const ConvolutionSpec& spec);
  static Result<Pointwise> prepare(const ConvolutionSpec& spec);

  // As Convolution::run. The samples of dw are added in order, in the workspace.
  void run(const float* first, const float* second, const float* bias, bool accumulate,
           float* result, std::byte* workspace) const;

  Bytes workspace_bytes() const;
  const std::string& implementation() const { return product_.implementation(); }

 private:
  void run_weight_gradient(const float* x, const float* dy, bool accumulate, float* dw,
                           std::byte* workspace) const;

  ConvolutionSpec spec_;
  Matmul product_, added_;  // overwriting and adding to what is there; Forward has only the first
};

}  // namespace penstock::cpu
