#include "exec/cpu/math/pointwise.h"

#include <algorithm>

#include "exec/cpu/math/lanes.h"

namespace penstock::cpu {
namespace {

constexpr std::int64_t kFewColumns = 128;  // below, blocked layouts are faster (measured, 14x14: not)

PENSTOCK_CLONES void add_to(const float* __restrict x, std::int64_t n, float* __restrict sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

PENSTOCK_CLONES void add_value(float value, std::int64_t n, float* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += value;
}

std::int64_t pixels(const ConvolutionSpec& spec) {
  return spec.height * spec.width;
}

Bytes room_for_weight(const ConvolutionSpec& spec) {
  return align_up(
      Bytes(spec.outputs * spec.channels * static_cast<std::int64_t>(sizeof(float))),
      kTensorAlignment);
}

MatmulSpec product(const ConvolutionSpec& s) {
  const std::int64_t p = pixels(s);
  switch (s.pass) {
    case ConvolutionPass::Forward:
      return {.rows = s.outputs,
              .columns = p,
              .inner = s.channels,
              .a = row_major(s.channels),
              .b = row_major(p),
              .c = row_major(p)};
    case ConvolutionPass::InputGradient:
      return {.rows = s.channels,
              .columns = p,
              .inner = s.outputs,
              .a = column_major(s.channels),
              .b = row_major(p),
              .c = row_major(p)};
    case ConvolutionPass::WeightGradient:
      return {.rows = s.outputs,
              .columns = s.channels,
              .inner = p,
              .a = row_major(p),
              .b = column_major(p),
              .c = row_major(s.channels)};
  }
  PENSTOCK_CHECK(false, "every pass is listed above");
}

}  // namespace

bool Pointwise::suits(const ConvolutionSpec& spec) {
  return spec.kernel == 1 && spec.stride == 1 && spec.padding == 0 &&
         (pixels(spec) >= kFewColumns || spec.pass == ConvolutionPass::WeightGradient);
}

Result<Pointwise> Pointwise::prepare(const ConvolutionSpec& spec) {
  Pointwise result;
  result.spec_ = spec;
  MatmulSpec wanted = product(spec);
  PENSTOCK_TRY(result.product_, Matmul::prepare(wanted));
  if (spec.pass == ConvolutionPass::Forward) return result;
  wanted.accumulate = true;
  PENSTOCK_TRY(result.added_, Matmul::prepare(wanted));
  return result;
}

void Pointwise::run(const float* first, const float* second, const float* bias, bool accumulate,
                    float* result, std::byte* workspace) const {
  if (spec_.pass == ConvolutionPass::WeightGradient)
    return run_weight_gradient(first, second, accumulate, result, workspace);
  const bool forward = spec_.pass == ConvolutionPass::Forward;
  const std::int64_t p = pixels(spec_);
  const std::int64_t from = (forward ? spec_.channels : spec_.outputs) * p;
  const std::int64_t to = (forward ? spec_.outputs : spec_.channels) * p;
  const Matmul& product = accumulate ? added_ : product_;
  for (std::int64_t n = 0; n < spec_.samples; ++n) {
    float* made = result + n * to;
    product.run(second, first + n * from, nullptr, made, workspace);
    if (!forward || !spec_.bias) continue;
    for (std::int64_t k = 0; k < spec_.outputs; ++k) add_value(bias[k], p, made + k * p);
  }
}

void Pointwise::run_weight_gradient(const float* x, const float* dy, bool accumulate, float* dw,
                                    std::byte* workspace) const {
  const std::int64_t p = pixels(spec_);
  auto* sum = accumulate ? reinterpret_cast<float*>(workspace) : dw;
  std::byte* scratch = workspace + room_for_weight(spec_).value;
  for (std::int64_t n = 0; n < spec_.samples; ++n) {
    const Matmul& product = n == 0 ? product_ : added_;
    product.run(dy + n * spec_.outputs * p, x + n * spec_.channels * p, nullptr, sum, scratch);
  }
  if (accumulate) add_to(sum, spec_.outputs * spec_.channels, dw);
}

Bytes Pointwise::workspace_bytes() const {
  if (spec_.pass == ConvolutionPass::Forward) return product_.scratch_bytes();
  const Bytes scratch = std::max(product_.scratch_bytes(), added_.scratch_bytes());
  return spec_.pass == ConvolutionPass::WeightGradient ? room_for_weight(spec_) + scratch : scratch;
}

}  // namespace penstock::cpu
