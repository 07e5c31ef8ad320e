#include "tests/exec/kernels/kernel_harness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/footprint.h"

namespace penstock::cpu::testing {
namespace {

constexpr std::byte kGuard{0xC5};
constexpr std::int64_t kLine = kTensorAlignment;

Case make_case(LayerKind kind, const char* name, std::int64_t b, std::vector<TensorShape> inputs,
               TensorShape output) {
  Case result;
  result.layer.name = name;
  result.layer.kind = kind;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    result.layer.inputs.push_back(LayerId(static_cast<std::int64_t>(i)));
  result.layer.output = std::move(output);
  result.inputs = std::move(inputs);
  result.microbatch = b;
  result.text = fmt::format("{} b={}", name, b);
  for (const TensorShape& shape : result.inputs)
    result.text += fmt::format(" [{}]", fmt::join(shape.dimensions, ", "));
  return result;
}

TensorShape f32(std::vector<std::int64_t> dimensions) {
  return {DataType::F32, std::move(dimensions)};
}

TensorShape tensor_of(ImageSize image) {
  return f32({image.channels, image.height, image.width});
}

Parameter parameter(const char* name, std::vector<std::int64_t> dimensions) {
  return {.name = name, .dimensions = std::move(dimensions)};
}
Parameter statistic(const char* name, std::int64_t size) {
  return {.name = name, .dimensions = {size}, .role = ParameterRole::Statistic};
}

void slide(Case& result, WindowSize window) {
  result.layer.attributes = {
      {"kernel", window.kernel}, {"stride", window.stride}, {"padding", window.padding}};
  result.text +=
      fmt::format(" kernel {} stride {} padding {}", window.kernel, window.stride, window.padding);
}
ImageSize places(ImageSize image, std::int64_t channels, WindowSize window) {
  const auto along = [&](std::int64_t extent) {
    return (extent + 2 * window.padding - window.kernel) / window.stride + 1;
  };
  return {channels, along(image.height), along(image.width)};
}

}  // namespace

Case embedding_case(std::int64_t b, std::int64_t tokens, std::int64_t width,
                    std::int64_t vocabulary) {
  Case result = make_case(LayerKind::Embedding, "embedding", b, {}, f32({tokens, width}));
  result.layer.sources = {SourceId(0)};
  result.layer.parameters = {parameter("tokens", {vocabulary, width}),
                             parameter("positions", {tokens, width})};
  result.data_bytes = {tokens};
  result.data_limit = vocabulary;
  return result;
}

Case layer_norm_case(std::int64_t b, std::int64_t tokens, std::int64_t width) {
  Case result = make_case(LayerKind::LayerNorm, "layer_norm", b, {f32({tokens, width})},
                          f32({tokens, width}));
  result.layer.parameters = {parameter("gain", {width}), parameter("bias", {width})};
  return result;
}

Case linear_case(std::int64_t b, std::int64_t tokens, std::int64_t in, std::int64_t out) {
  Case result = make_case(LayerKind::Linear, "linear", b, {f32({tokens, in})}, f32({tokens, out}));
  result.layer.parameters = {parameter("weight", {in, out}), parameter("bias", {out})};
  return result;
}

Case attention_case(std::int64_t b, std::int64_t tokens, std::int64_t width, std::int64_t heads) {
  Case result = make_case(LayerKind::Attention, "attention", b, {f32({tokens, 3 * width})},
                          f32({tokens, width}));
  result.layer.attributes["heads"] = heads;
  return result;
}

Case gelu_case(std::int64_t b, std::int64_t tokens, std::int64_t width) {
  return make_case(LayerKind::Gelu, "gelu", b, {f32({tokens, width})}, f32({tokens, width}));
}

Case add_case(std::int64_t b, std::int64_t tokens, std::int64_t width) {
  return make_case(LayerKind::Add, "add", b, {f32({tokens, width}), f32({tokens, width})},
                   f32({tokens, width}));
}

Case cross_entropy_case(std::int64_t b, std::int64_t tokens, std::int64_t classes) {
  Case result =
      make_case(LayerKind::CrossEntropy, "cross_entropy", b, {f32({tokens, classes})}, f32({1}));
  result.layer.sources = {SourceId(0)};
  result.data_bytes = {tokens};
  result.data_limit = classes;
  result.rows_in_step = 2 * b * tokens;
  return result;
}

Case cross_entropy_case(std::int64_t b, std::int64_t classes) {
  Case result = cross_entropy_case(b, 1, classes);
  result.inputs[0].dimensions = {classes};
  result.text += " (one row a sample)";
  return result;
}

Case pixels_case(std::int64_t b, ImageSize image) {
  Case result = make_case(LayerKind::Pixels, "pixels", b, {}, tensor_of(image));
  result.layer.sources = {SourceId(0)};
  result.data_bytes = {image.channels * image.height * image.width};
  return result;
}

Case conv2d_case(std::int64_t b, ImageSize image, std::int64_t outputs, WindowSize window,
                 bool bias) {
  Case result = make_case(LayerKind::Conv2d, "conv2d", b, {tensor_of(image)},
                          tensor_of(places(image, outputs, window)));
  slide(result, window);
  result.layer.parameters = {
      parameter("weight", {outputs, image.channels, window.kernel, window.kernel})};
  if (bias) result.layer.parameters.push_back(parameter("bias", {outputs}));
  return result;
}

Case batch_norm_case(std::int64_t b, ImageSize image) {
  Case result =
      make_case(LayerKind::BatchNorm, "batch_norm", b, {tensor_of(image)}, tensor_of(image));
  result.layer.parameters = {
      parameter("gain", {image.channels}), parameter("bias", {image.channels}),
      statistic("running_mean", image.channels), statistic("running_variance", image.channels)};
  return result;
}

Case relu_case(std::int64_t b, ImageSize image) {
  return make_case(LayerKind::Relu, "relu", b, {tensor_of(image)}, tensor_of(image));
}

Case max_pool_case(std::int64_t b, ImageSize image, WindowSize window) {
  Case result = make_case(LayerKind::MaxPool, "max_pool", b, {tensor_of(image)},
                          tensor_of(places(image, image.channels, window)));
  slide(result, window);
  return result;
}

Case average_pool_case(std::int64_t b, ImageSize image) {
  return make_case(LayerKind::AveragePool, "average_pool", b, {tensor_of(image)},
                   f32({image.channels}));
}

Case upsample_case(std::int64_t b, ImageSize image, std::int64_t factor) {
  Case result = make_case(LayerKind::Upsample, "upsample", b, {tensor_of(image)},
                          f32({image.channels, factor * image.height, factor * image.width}));
  result.layer.attributes["factor"] = factor;
  return result;
}

Case concat_case(std::int64_t b, const std::vector<std::int64_t>& channels, std::int64_t height,
                 std::int64_t width) {
  std::vector<TensorShape> inputs;
  std::int64_t sum = 0;
  for (std::int64_t count : channels) {
    inputs.push_back(f32({count, height, width}));
    sum += count;
  }
  return make_case(LayerKind::Concat, "concat", b, std::move(inputs), f32({sum, height, width}));
}

Case mean_squared_case(std::int64_t b, std::int64_t n) {
  Case result = make_case(LayerKind::MeanSquared, "mean_squared", b, {f32({n})}, f32({1}));
  result.layer.sources = {SourceId(0)};
  result.data_bytes = {n};
  result.rows_in_step = 2 * b;
  return result;
}

std::vector<Case> one_case_of_each_kind(std::int64_t b, std::int64_t tokens, std::int64_t width) {
  const ImageSize image{width, tokens, 9};
  return {embedding_case(b, tokens, width, 256),
          layer_norm_case(b, tokens, width),
          linear_case(b, tokens, width, 3 * width),
          attention_case(b, tokens, width, 2),
          gelu_case(b, tokens, width),
          add_case(b, tokens, width),
          cross_entropy_case(b, tokens, 256),
          mean_squared_case(b, tokens * width),
          pixels_case(b, image),
          conv2d_case(b, image, width + 3, {3, 2, 1}),
          batch_norm_case(b, image),
          relu_case(b, image),
          max_pool_case(b, image, {3, 2, 1}),
          average_pool_case(b, image),
          upsample_case(b, image, 2),
          concat_case(b, {width, 1, 3}, tokens, 9)};
}

Harness::Harness(Case given, std::int64_t shift, std::uint32_t seed)
    : description(std::move(given)), generator_(seed) {
  const Case& c = description;
  auto made = make_kernel(c.layer, c.inputs, c.microbatch, c.rows_in_step);
  PENSTOCK_CHECK(made.has_value(), "a test case is a valid layer");
  kernel_ = std::move(*made);

  const std::int64_t b = c.microbatch;
  std::int64_t total = (2 + shift) * kLine;
  const auto room = [&](std::int64_t bytes) {
    total += (bytes + kLine - 1) / kLine * kLine + kLine;
  };
  const std::int64_t saved_bytes = backward_needs(c.layer, c.inputs, b).saved.value;
  for (const TensorShape& shape : c.inputs) room(2 * b * shape.bytes().value + kLine), room(0);
  for (std::int64_t bytes : c.data_bytes) room(b * bytes);
  for (const Parameter& p : c.layer.parameters) room(8 * p.elements() + kLine), room(0);
  room(2 * b * c.layer.output.bytes().value + kLine), room(0);
  room(saved_bytes), room(kernel_->workspace_bytes().value);
  block_.assign(static_cast<std::size_t>(total), kGuard);
  const auto address = reinterpret_cast<std::uintptr_t>(block_.data());
  used_ = static_cast<std::int64_t>((kLine - address % kLine) % kLine) + shift * kLine;

  for (const TensorShape& shape : c.inputs) inputs.push_back(reserve(b * shape.bytes().value));
  for (std::int64_t bytes : c.data_bytes) data.push_back(reserve(b * bytes));
  for (const Parameter& p : c.layer.parameters) parameters.push_back(reserve(4 * p.elements()));
  output = reserve(b * c.layer.output.bytes().value);
  output_gradient = reserve(b * c.layer.output.bytes().value);
  saved = reserve(saved_bytes);
  workspace = reserve(kernel_->workspace_bytes().value);
  for (const TensorShape& shape : c.inputs)
    input_gradients.push_back(reserve(b * shape.bytes().value));
  for (const Parameter& p : c.layer.parameters)
    parameter_gradients.push_back(reserve(4 * p.elements()));
  PENSTOCK_CHECK(used_ <= total, "the block holds all operands");

  for (const Operand& x : inputs) random(x, 1.0f);
  for (const Operand& x : data) {
    for (std::int64_t i = 0; i < x.bytes; ++i)
      x.octets()[i] = static_cast<std::uint8_t>(generator_() % c.data_limit);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    random(parameters[i], 0.5f);
    if (c.layer.parameters[i].role != ParameterRole::Statistic) continue;
    for (std::int64_t k = 0; k < parameters[i].count(); ++k)  // a variance is not negative
      parameters[i].floats()[k] = std::abs(parameters[i].floats()[k]);
  }
  random(output_gradient, 1.0f);
  for (const Operand& x : input_gradients) random(x, 1.0f);
  for (const Operand& x : parameter_gradients) random(x, 1.0f);
  std::memset(saved.at, 0, saved.bytes);  // its padding is compared too

  for (const Operand& x : inputs) input_pointers_.push_back(x.floats());
  for (const Operand& x : data) data_pointers_.push_back(x.octets());
  for (const Operand& x : parameters) parameter_pointers_.push_back(x.floats());
  for (const Operand& x : input_gradients) input_gradient_pointers_.push_back(x.floats());
  for (const Operand& x : parameter_gradients) parameter_gradient_pointers_.push_back(x.floats());
}

Operand Harness::reserve(std::int64_t bytes) {
  const Operand result{block_.data() + used_, bytes};
  used_ += (bytes + kLine - 1) / kLine * kLine + kLine;
  return result;
}

void Harness::random(const Operand& operand, float deviation) {
  // Twelve uniform numbers make a normal one well enough, and the same on every standard library.
  for (std::int64_t i = 0; i < operand.count(); ++i) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += static_cast<double>(generator_()) / 4294967296.0;
    operand.floats()[i] = deviation * static_cast<float>(sum);
  }
}

LayerOperands Harness::operands() {
  return {.inputs = input_pointers_,
          .data = data_pointers_,
          .output = description.layer.is_loss() ? nullptr : output.floats(),
          .saved = saved.floats(),
          .parameters = parameter_pointers_,
          .output_gradient = description.layer.is_loss() ? nullptr : output_gradient.floats(),
          .input_gradients = input_gradient_pointers_,
          .accumulate_input_gradient = false,
          .parameter_gradients = parameter_gradient_pointers_,
          .workspace = workspace.at,
          .loss = &loss,
          .hits = &hits,
          .training = training,
          .statistic_weight = statistic_weight};
}

void Harness::forward() {
  kernel_->forward(operands());
}

void Harness::backward_input(bool accumulate) {
  LayerOperands call = operands();
  call.accumulate_input_gradient = accumulate;
  kernel_->backward_input(call);
}

void Harness::backward_weight() {
  kernel_->backward_weight(operands());
}

void Harness::all() {
  forward();
  backward_input();
  backward_weight();
}

bool Harness::guards_intact() const {
  const auto intact = [](const Operand& operand) {
    const std::byte* end = operand.at + (operand.bytes + kLine - 1) / kLine * kLine + kLine;
    return std::all_of(static_cast<const std::byte*>(operand.at) + operand.bytes, end,
                       [](std::byte b) { return b == kGuard; });
  };
  const auto all = [&](const std::vector<Operand>& list) {
    return std::all_of(list.begin(), list.end(), intact);
  };
  return all(inputs) && all(data) && all(parameters) && all(input_gradients) &&
         all(parameter_gradients) && intact(output) && intact(output_gradient) && intact(saved) &&
         intact(workspace);
}

std::vector<std::byte> Harness::results() const {
  std::vector<std::byte> bytes;
  const auto append = [&](const Operand& operand) {
    bytes.insert(bytes.end(), operand.at, operand.at + operand.bytes);
  };
  append(output);
  append(saved);
  for (const Operand& x : input_gradients) append(x);
  for (const Operand& x : parameter_gradients) append(x);
  const auto* scalar = reinterpret_cast<const std::byte*>(&loss);
  bytes.insert(bytes.end(), scalar, scalar + sizeof loss);
  return bytes;
}

}  // namespace penstock::cpu::testing
