#include "exec/cpu/math/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "exec/cpu/math/lanes.h"
#include "exec/cpu/math/onednn.h"
#include "exec/cpu/math/pointwise.h"

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES void add_to(const float* __restrict x, std::int64_t n, float* __restrict sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

dnnl_memory_desc_t tensor(const std::array<dnnl_dim_t, 4>& dimensions, dnnl_format_tag_t layout) {
  dnnl_memory_desc_t result;
  PENSTOCK_CHECK(dnnl_memory_desc_init_by_tag(&result, 4, dimensions.data(), dnnl_f32, layout) ==
                     dnnl_success,
                 "a tensor has positive sizes");
  return result;
}

// A tensor as callers hold it, and as the convolution wants it.
struct Tensor {
  dnnl_memory_desc_t plain, wanted;
  std::optional<Primitive> copy;  // from the one to the other, where they differ

  Bytes plain_bytes() const { return room(plain); }
  Bytes wanted_bytes() const { return room(wanted); }

  static Bytes room(const dnnl_memory_desc_t& layout) {
    return align_up(Bytes(static_cast<std::int64_t>(dnnl_memory_desc_get_size(&layout))),
                    kTensorAlignment);
  }
};

Result<std::optional<Primitive>> prepare_copy(const dnnl_memory_desc_t& from,
                                              const dnnl_memory_desc_t& to) {
  if (dnnl_memory_desc_equal(&from, &to) != 0) return std::optional<Primitive>();
  const OneThread one_thread;
  const Attributes attributes = plain_attributes();
  Description description;
  const std::string what = "a copy to another layout";
  if (auto status = dnnl_reorder_primitive_desc_create(&description.value, &from, cpu_engine(), &to,
                                                       cpu_engine(), attributes.value);
      status != dnnl_success) {
    return onednn_failed(what, status);
  }
  PENSTOCK_TRY(auto copy,
               Primitive::prepare(description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, what));
  return std::optional<Primitive>(std::move(copy));
}

// x, w, y in a layout each: plain, or whichever is fastest.
struct Layouts {
  dnnl_memory_desc_t x, w, y;
};
Layouts layouts(const ConvolutionSpec& s, bool plain) {
  const auto choose = [&](dnnl_format_tag_t tag) { return plain ? tag : dnnl_format_tag_any; };
  return {tensor({s.samples, s.channels, s.height, s.width}, choose(dnnl_nchw)),
          tensor({s.outputs, s.channels, s.kernel, s.kernel}, choose(dnnl_oihw)),
          tensor({s.samples, s.outputs, s.output_height(), s.output_width()}, choose(dnnl_nchw))};
}

// A tensor of a pass: the role of the argument, where the description tells its layout, which it is.
struct Role {
  int argument;
  dnnl_query_t query;
  dnnl_memory_desc_t Layouts::*tensor;
};
struct Roles {
  Role first, second, result;
};
Roles roles(ConvolutionPass pass) {
  constexpr Role x{DNNL_ARG_SRC, dnnl_query_src_md, &Layouts::x};
  constexpr Role w{DNNL_ARG_WEIGHTS, dnnl_query_weights_md, &Layouts::w};
  constexpr Role y{DNNL_ARG_DST, dnnl_query_dst_md, &Layouts::y};
  constexpr Role dx{DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md, &Layouts::x};
  constexpr Role dw{DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md, &Layouts::w};
  constexpr Role dy{DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md, &Layouts::y};
  switch (pass) {
    case ConvolutionPass::Forward:
      return {x, w, y};
    case ConvolutionPass::InputGradient:
      return {dy, w, dx};
    case ConvolutionPass::WeightGradient:
      return {x, dy, dw};
  }
  PENSTOCK_CHECK(false, "every pass is listed above");
}

// Backward passes are described with the forward pass as a hint, `forward`.
dnnl_status_t describe(const ConvolutionSpec& spec, ConvolutionPass pass,
                       const dnnl_memory_desc_t* bias, const Description& forward,
                       Description& result) {
  const Layouts any = layouts(spec, false);
  const dnnl_dims_t strides = {spec.stride, spec.stride}, padding = {spec.padding, spec.padding};
  dnnl_convolution_desc_t operation;
  dnnl_status_t status = dnnl_success;
  switch (pass) {
    case ConvolutionPass::Forward:
      status = dnnl_convolution_forward_desc_init(&operation, dnnl_forward_training,
                                                  dnnl_convolution_direct, &any.x, &any.w, bias,
                                                  &any.y, strides, padding, padding);
      break;
    case ConvolutionPass::InputGradient:
      status = dnnl_convolution_backward_data_desc_init(&operation, dnnl_convolution_direct, &any.x,
                                                        &any.w, &any.y, strides, padding, padding);
      break;
    case ConvolutionPass::WeightGradient:
      status = dnnl_convolution_backward_weights_desc_init(&operation, dnnl_convolution_direct,
                                                           &any.x, &any.w, nullptr, &any.y, strides,
                                                           padding, padding);
      break;
  }
  if (status != dnnl_success) return status;
  const Attributes attributes = plain_attributes();
  return dnnl_primitive_desc_create(&result.value, &operation, attributes.value, cpu_engine(),
                                    forward.value);
}

}  // namespace

// The workspace, where a tensor needs copying (a call may leave parts of it unused):
//
//   [first | second | result | scratch of the convolution or of a copy]
//   [result, plain ...]      once the convolution is done with its operands; to be added
struct Convolution::Blocked {
  Tensor first, second, result;
  std::optional<Primitive> convolution;
  bool bias = false;
  Bytes second_at, result_at, scratch_at, end;

  static Result<std::unique_ptr<Blocked>> prepare(const ConvolutionSpec& spec);
  void run(const float* first_data, const float* second_data, const float* bias_data,
           bool accumulate, float* result_data, std::byte* workspace) const;

  void place(bool may_accumulate) {
    const auto room = [](const Tensor& x) { return x.copy ? x.wanted_bytes() : Bytes(0); };
    second_at = room(first);
    result_at = second_at + room(second);
    scratch_at = result_at + room(result);
    if (may_accumulate && result.copy) {
      result_at = std::max(result_at, result.plain_bytes());
      scratch_at = result_at + result.wanted_bytes();
    } else if (may_accumulate) {
      scratch_at = result_at + result.plain_bytes();
    }
    Bytes scratch = convolution->scratch_bytes();
    for (const Tensor* x : {&first, &second, &result}) {
      if (x->copy) scratch = std::max(scratch, x->copy->scratch_bytes());
    }
    end = scratch_at + scratch;
  }
};

Result<std::unique_ptr<Convolution::Blocked>> Convolution::Blocked::prepare(
    const ConvolutionSpec& spec) {
  const OneThread one_thread;  // the blocking is chosen for the thread count seen here
  const std::string what =
      fmt::format("a convolution of {}x{}x{}x{} by {}x{}x{}x{}, stride {}, padding {}",
                  spec.samples, spec.channels, spec.height, spec.width, spec.outputs, spec.channels,
                  spec.kernel, spec.kernel, spec.stride, spec.padding);
  dnnl_memory_desc_t bias;
  const dnnl_dims_t outputs = {spec.outputs};
  PENSTOCK_CHECK(dnnl_memory_desc_init_by_tag(&bias, 1, outputs, dnnl_f32, dnnl_a) == dnnl_success,
                 "a plain vector");
  const bool with_bias = spec.bias && spec.pass == ConvolutionPass::Forward;

  Description forward, description;
  if (spec.pass != ConvolutionPass::Forward) {
    if (auto status = describe(spec, ConvolutionPass::Forward, nullptr, {}, forward);
        status != dnnl_success)
      return onednn_failed(what, status);
  }
  if (auto status =
          describe(spec, spec.pass, with_bias ? &bias : nullptr, forward, description);
      status != dnnl_success)
    return onednn_failed(what, status);

  const Roles role = roles(spec.pass);
  const Layouts plain = layouts(spec, true);
  auto parts = std::make_unique<Blocked>();
  parts->bias = with_bias;
  const auto layouts_of = [&](const Role& r, Tensor& x) {
    x.plain = plain.*r.tensor;
    x.wanted = *dnnl_primitive_desc_query_md(description.value, r.query, 0);
  };
  layouts_of(role.first, parts->first);
  layouts_of(role.second, parts->second);
  layouts_of(role.result, parts->result);
  PENSTOCK_TRY(parts->first.copy, prepare_copy(parts->first.plain, parts->first.wanted));
  PENSTOCK_TRY(parts->second.copy, prepare_copy(parts->second.plain, parts->second.wanted));
  PENSTOCK_TRY(parts->result.copy, prepare_copy(parts->result.wanted, parts->result.plain));

  const Primitive::Argument first{role.first.argument, parts->first.wanted};
  const Primitive::Argument second{role.second.argument, parts->second.wanted};
  const Primitive::Argument result{role.result.argument, parts->result.wanted};
  PENSTOCK_TRY(parts->convolution,
               with_bias ? Primitive::prepare(description,
                                              {first, second, result, {DNNL_ARG_BIAS, bias}}, what)
                         : Primitive::prepare(description, {first, second, result}, what));
  parts->place(spec.pass != ConvolutionPass::Forward);
  return parts;
}

void Convolution::Blocked::run(const float* first_data, const float* second_data,
                               const float* bias_data, bool accumulate, float* result_data,
                               std::byte* workspace) const {
  std::byte* scratch = workspace + scratch_at.value;
  const auto wanted = [&](const Tensor& x, const float* data, Bytes offset) -> const void* {
    if (!x.copy) return data;
    x.copy->run({data, workspace + offset.value}, scratch);
    return workspace + offset.value;
  };
  const void* a = wanted(first, first_data, Bytes(0));
  const void* b = wanted(second, second_data, second_at);
  void* made = result_data;
  if (result.copy || accumulate) made = workspace + result_at.value;
  if (bias) {
    convolution->run({a, b, made, bias_data}, scratch);
  } else {
    convolution->run({a, b, made}, scratch);
  }
  if (result.copy) {
    void* plain = accumulate ? static_cast<void*>(workspace) : result_data;
    result.copy->run({made, plain}, scratch);
    made = plain;
  }
  if (accumulate) {
    const auto bytes = static_cast<std::int64_t>(dnnl_memory_desc_get_size(&result.plain));
    add_to(static_cast<const float*>(made), bytes / static_cast<std::int64_t>(sizeof(float)),
           result_data);
  }
}

Convolution::Convolution() = default;
Convolution::Convolution(Convolution&&) noexcept = default;
Convolution& Convolution::operator=(Convolution&&) noexcept = default;
Convolution::~Convolution() = default;

Result<Convolution> Convolution::prepare(const ConvolutionSpec& spec) {
  PENSTOCK_CHECK(spec.samples > 0 && spec.channels > 0 && spec.outputs > 0 && spec.kernel > 0 &&
                     spec.stride > 0 && spec.padding >= 0 && spec.output_height() > 0 &&
                     spec.output_width() > 0,
                 "a convolution has positive sizes");
  Convolution convolution;
  if (Pointwise::suits(spec)) {
    PENSTOCK_TRY(auto pointwise, Pointwise::prepare(spec));
    convolution.pointwise_ = std::make_unique<Pointwise>(std::move(pointwise));
  } else {
    PENSTOCK_TRY(convolution.blocked_, Blocked::prepare(spec));
  }
  return convolution;
}

void Convolution::run(const float* first, const float* second, const float* bias, bool accumulate,
                      float* result, std::byte* workspace) const {
  if (pointwise_) return pointwise_->run(first, second, bias, accumulate, result, workspace);
  blocked_->run(first, second, bias, accumulate, result, workspace);
}

Bytes Convolution::workspace_bytes() const {
  return pointwise_ ? pointwise_->workspace_bytes() : blocked_->end;
}
const std::string& Convolution::implementation() const {
  return pointwise_ ? pointwise_->implementation() : blocked_->convolution->implementation();
}

}  // namespace penstock::cpu
