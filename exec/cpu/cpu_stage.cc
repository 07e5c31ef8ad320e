#include "exec/cpu/cpu_stage.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "exec/cpu/layer_kernel.h"
#include "exec/cpu/math/bf16.h"
#include "exec/cpu/stream.h"
#include "exec/data_source.h"
#include "exec/optimizer/gradient_norm.h"
#include "exec/optimizer/statistic.h"
#include "exec/optimizer/update.h"
#include "exec/step_board.h"

namespace penstock::cpu {
namespace {

// A value of the forward pass and a gradient of the backward pass live in different buffers of the same region name:
// values leave by activation_send; gradients arrive in gradient_receive and leave by gradient_send.
enum class Pass : std::uint8_t { Value, Gradient };

std::byte* address(const StageMemoryMap& memory, const Home& home, Pass pass) {
  const auto edge = static_cast<std::size_t>(home.edge);
  switch (home.region) {
    case Region::None: return nullptr;
    case Region::Stash: return memory.stash + home.offset.value;
    case Region::Workspace: return memory.workspace + home.offset.value;
    case Region::Receive: return memory.gradient_receive[edge] + home.offset.value;
    case Region::Send:
      return (pass == Pass::Value ? memory.activation_send[edge] : memory.gradient_send[edge]) + home.offset.value;
  }
  return nullptr;
}

float* floats(std::byte* p) { return reinterpret_cast<float*>(p); }

void add_gradient(DataType type, Bytes bytes, const std::byte* from, std::byte* to) {
  const std::int64_t n = bytes.value / size_of(type);
  if (type == DataType::BF16)
    return add_bf16(reinterpret_cast<const std::uint16_t*>(from), n, reinterpret_cast<std::uint16_t*>(to));
  const float* x = reinterpret_cast<const float*>(from);
  for (std::int64_t i = 0; i < n; ++i) floats(to)[i] += x[i];
}

struct PreparedLayer {
  const Layer* layer;
  const LayerPlacement* place;
  std::unique_ptr<LayerKernel> kernel;
  std::vector<Bytes> parameters;      // offsets in the weights buffer
  std::size_t first_parameter;        // of the layer, among those of the whole network
  std::vector<std::size_t> sources;   // indices into StageLayout::sources
  LayerStamps* stamps;                // null: nobody asks
  bool recomputed;                    // R runs its forward again
};

// Runs `work`, and notes when if anybody asks.
template <class Work>
void timed(LayerStamps* stamps, Stamp LayerStamps::*part, const Work& work) {
  if (stamps == nullptr) return work();
  const auto now = [] {
    return Nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
  };
  (stamps->*part).start = now();
  work();
  (stamps->*part).end = now();
}

class CpuStage final : public Stage {
 public:
  explicit CpuStage(const StageRequest& request) : request_(request) {}

  Result<void> build();
  Bytes scratch_bytes() const override { return scratch_; }
  Bytes layer_scratch(std::size_t layer) const override {
    return align_up(layers_[layer].kernel->workspace_bytes(), kTensorAlignment);
  }

  std::unique_ptr<StageCall> load(const StageMemoryMap& memory, std::int32_t microbatch) override;
  std::unique_ptr<StageCall> forward(const StageMemoryMap& memory, std::int32_t microbatch) override;
  std::unique_ptr<StageCall> recompute(const StageMemoryMap& memory, std::int32_t microbatch) override;
  std::unique_ptr<StageCall> loss(const StageMemoryMap& memory, std::int32_t microbatch) override;
  std::unique_ptr<StageCall> backward(const StageMemoryMap& memory, std::int32_t microbatch) override;
  std::unique_ptr<StageCall> backward_part(const StageMemoryMap& memory, std::int32_t microbatch, std::size_t first,
                                           std::size_t end) override;
  std::unique_ptr<StageCall> squared_norms(const StageMemoryMap& memory) override;
  std::unique_ptr<StageCall> update(const StageMemoryMap& memory) override;

  void run_load(const StageMemoryMap& memory, std::int32_t microbatch, std::int32_t step);
  void run_forward(const StageMemoryMap& memory, std::int32_t microbatch);
  void run_recompute(const StageMemoryMap& memory, std::int32_t microbatch);
  Result<void> run_loss(const StageMemoryMap& memory, std::int32_t microbatch, std::int32_t step);
  void run_backward(const StageMemoryMap& memory, std::int32_t microbatch, std::size_t first, std::size_t end);
  void run_squared_norms(const StageMemoryMap& memory);
  Result<void> run_update(const StageMemoryMap& memory, std::int32_t step);

 private:
  // Operands of a layer, in arrays of this stage that the next call overwrites: one thread runs a stage.
  LayerOperands operands(const StageMemoryMap& memory, const PreparedLayer& layer, std::int32_t microbatch);
  Result<float> gradient_factor(const StageMemoryMap& memory, std::int32_t step) const;
  void backward_input(const StageMemoryMap& memory, const PreparedLayer& layer, LayerOperands& at);
  std::int32_t training_step(std::int32_t step) const { return static_cast<std::int32_t>(request_.first_step) + step; }

  std::int64_t whole_microbatch() const {
    return request_.whole_microbatch > 0 ? request_.whole_microbatch : request_.microbatch_size;
  }

  StageRequest request_;
  std::vector<PreparedLayer> layers_;
  Bytes scratch_;
  std::size_t network_parameters_ = 0;
  bool has_loss_ = false;
  std::vector<float> statistic_weights_;  // one a microbatch
  std::vector<const float*> inputs_;
  std::vector<const std::uint8_t*> data_;
  std::vector<float*> parameters_, parameter_gradients_, input_gradients_;
};

enum class Part : std::uint8_t { Load, Forward, Recompute, Loss, Backward, SquaredNorms, Update };

class StagePart final : public Call {
 public:
  StagePart(CpuStage& stage, Part part, StageMemoryMap memory, std::int32_t microbatch, std::size_t first = 0,
            std::size_t end = 0)
      : stage_(stage), part_(part), memory_(std::move(memory)), microbatch_(microbatch), first_(first), end_(end) {}

  Result<void> run(std::int32_t step) override {
    switch (part_) {
      case Part::Load: stage_.run_load(memory_, microbatch_, step); break;
      case Part::Forward: stage_.run_forward(memory_, microbatch_); break;
      case Part::Recompute: stage_.run_recompute(memory_, microbatch_); break;
      case Part::Loss: return stage_.run_loss(memory_, microbatch_, step);
      case Part::Backward: stage_.run_backward(memory_, microbatch_, first_, end_); break;
      case Part::SquaredNorms: stage_.run_squared_norms(memory_); break;
      case Part::Update: return stage_.run_update(memory_, step);
    }
    return {};
  }

 private:
  CpuStage& stage_;
  Part part_;
  StageMemoryMap memory_;
  std::int32_t microbatch_;
  std::size_t first_, end_;  // Backward: of layers
};

Result<void> CpuStage::build() {
  const Network& network = request_.workload->networks[request_.network.index()];
  const std::vector<Bytes> offsets = parameter_offsets(network, request_.layers);
  std::vector<std::size_t> first_parameter;
  for (const Layer& layer : network.layers) {
    first_parameter.push_back(network_parameters_);
    network_parameters_ += layer.parameters.size();
  }
  std::size_t next_parameter = 0, most_inputs = 0, most_data = 0, most_parameters = 0;
  for (std::size_t i = 0; i < request_.layers.size(); ++i) {
    const Layer& layer = network.layers[request_.layers[i].index()];
    std::vector<TensorShape> shapes;
    for (const LayerId input : layer.inputs) shapes.push_back(network.layers[input.index()].output);
    std::int64_t rows = whole_microbatch() * request_.microbatches;
    if (layer.kind == LayerKind::CrossEntropy) rows *= shapes[0].elements() / shapes[0].dimensions.back();
    PreparedLayer prepared{.layer = &layer, .place = &request_.layout.layers[i], .kernel = {}, .parameters = {},
                           .first_parameter = first_parameter[request_.layers[i].index()], .sources = {},
                           .stamps = request_.layer_stamps != nullptr ? request_.layer_stamps + i : nullptr,
                           .recomputed = std::binary_search(request_.layout.recomputed.begin(),
                                                            request_.layout.recomputed.end(), request_.layers[i])};
    PENSTOCK_TRY(prepared.kernel, make_kernel(layer, shapes, request_.microbatch_size, rows));
    for (std::size_t p = 0; p < layer.parameters.size(); ++p) prepared.parameters.push_back(offsets[next_parameter++]);
    for (const SourceId source : layer.sources) {
      const auto& all = request_.layout.sources;
      prepared.sources.push_back(static_cast<std::size_t>(std::find(all.begin(), all.end(), source) - all.begin()));
    }
    has_loss_ = has_loss_ || layer.is_loss();
    most_inputs = std::max(most_inputs, layer.inputs.size());
    most_data = std::max(most_data, layer.sources.size());
    most_parameters = std::max(most_parameters, layer.parameters.size());
    layers_.push_back(std::move(prepared));
    scratch_ = std::max(scratch_, layer_scratch(i));
  }
  // Copies that share a microbatch each measure their part of it.
  const float part = static_cast<float>(request_.microbatch_size) / static_cast<float>(whole_microbatch());
  for (std::int64_t m = 0; m < request_.microbatches; ++m) {
    statistic_weights_.push_back(part * statistic_weight(m, request_.microbatches));
  }
  inputs_.resize(most_inputs);
  input_gradients_.resize(most_inputs);
  data_.resize(most_data);
  parameters_.resize(most_parameters);
  parameter_gradients_.resize(most_parameters);
  return {};
}

std::unique_ptr<StageCall> CpuStage::load(const StageMemoryMap& memory, std::int32_t microbatch) {
  return std::make_unique<StagePart>(*this, Part::Load, memory, microbatch);
}
std::unique_ptr<StageCall> CpuStage::forward(const StageMemoryMap& memory, std::int32_t microbatch) {
  return std::make_unique<StagePart>(*this, Part::Forward, memory, microbatch);
}
std::unique_ptr<StageCall> CpuStage::recompute(const StageMemoryMap& memory, std::int32_t microbatch) {
  return std::make_unique<StagePart>(*this, Part::Recompute, memory, microbatch);
}
std::unique_ptr<StageCall> CpuStage::loss(const StageMemoryMap& memory, std::int32_t microbatch) {
  return std::make_unique<StagePart>(*this, Part::Loss, memory, microbatch);
}
std::unique_ptr<StageCall> CpuStage::backward(const StageMemoryMap& memory, std::int32_t microbatch) {
  return backward_part(memory, microbatch, 0, layers_.size());
}
std::unique_ptr<StageCall> CpuStage::backward_part(const StageMemoryMap& memory, std::int32_t microbatch, std::size_t first,
                                                   std::size_t end) {
  return std::make_unique<StagePart>(*this, Part::Backward, memory, microbatch, first, end);
}
std::unique_ptr<StageCall> CpuStage::squared_norms(const StageMemoryMap& memory) {
  return std::make_unique<StagePart>(*this, Part::SquaredNorms, memory, -1);
}
std::unique_ptr<StageCall> CpuStage::update(const StageMemoryMap& memory) {
  return std::make_unique<StagePart>(*this, Part::Update, memory, -1);
}

LayerOperands CpuStage::operands(const StageMemoryMap& memory, const PreparedLayer& layer, std::int32_t microbatch) {
  LayerOperands at;
  const LayerPlacement& place = *layer.place;
  for (std::size_t i = 0; i < place.inputs.size(); ++i) inputs_[i] = floats(address(memory, place.inputs[i], Pass::Value));
  for (std::size_t i = 0; i < layer.sources.size(); ++i) {
    data_[i] = reinterpret_cast<const std::uint8_t*>(memory.data + request_.layout.data[layer.sources[i]].value);
  }
  for (std::size_t i = 0; i < layer.parameters.size(); ++i) {
    parameters_[i] = floats(memory.weights + layer.parameters[i].value);
    parameter_gradients_[i] = floats(memory.gradients + layer.parameters[i].value);
  }
  at.inputs = std::span(inputs_).first(place.inputs.size());
  at.data = std::span(data_).first(layer.sources.size());
  at.parameters = std::span(parameters_).first(layer.parameters.size());
  at.parameter_gradients = std::span(parameter_gradients_).first(layer.parameters.size());
  at.output = floats(address(memory, place.output, Pass::Value));
  at.saved = floats(address(memory, place.saved, Pass::Value));
  at.output_gradient = floats(address(memory, place.output_gradient, Pass::Gradient));
  at.workspace = memory.workspace + request_.layout.workspace.value;
  at.training = request_.training;
  at.statistic_weight = statistic_weights_[static_cast<std::size_t>(microbatch)];
  return at;
}

void CpuStage::run_load(const StageMemoryMap& memory, std::int32_t microbatch, std::int32_t step) {
  for (std::size_t i = 0; i < request_.layout.sources.size(); ++i) {
    request_.data->fill(request_.layout.sources[i], training_step(step),
                        microbatch * whole_microbatch() + request_.first_sample, request_.microbatch_size,
                        reinterpret_cast<std::uint8_t*>(memory.data + request_.layout.data[i].value));
  }
}

void CpuStage::run_forward(const StageMemoryMap& memory, std::int32_t microbatch) {
  for (const PreparedLayer& layer : layers_) {
    if (layer.layer->is_loss()) continue;
    timed(layer.stamps, &LayerStamps::forward, [&] { layer.kernel->forward(operands(memory, layer, microbatch)); });
  }
  for (const EdgeCopy& copy : request_.layout.forward_copies) {
    std::memcpy(address(memory, copy.to, Pass::Value), address(memory, copy.from, Pass::Value),
                static_cast<std::size_t>(copy.bytes.value));
  }
}

void CpuStage::run_recompute(const StageMemoryMap& memory, std::int32_t microbatch) {
  for (const PreparedLayer& layer : layers_) {
    if (layer.recomputed) layer.kernel->forward(operands(memory, layer, microbatch));
  }
}

Result<void> CpuStage::run_loss(const StageMemoryMap& memory, std::int32_t microbatch, std::int32_t step) {
  double value = 0;
  for (const PreparedLayer& layer : layers_) {
    if (!layer.layer->is_loss()) continue;
    LayerOperands at = operands(memory, layer, microbatch);
    at.loss = &value;
    at.hits = request_.hits;
    timed(layer.stamps, &LayerStamps::forward, [&] { layer.kernel->forward(at); });
  }
  request_.losses[(step * request_.microbatches + microbatch) * request_.loss_copies + request_.loss_copy] = value;
  if (std::isfinite(value)) return {};
  return fail(ErrorCode::RunFailed, fmt::format("the loss is {} at step {}, microbatch {}", value, training_step(step), microbatch),
              "lower the learning rate, or start from another seed");
}

void CpuStage::backward_input(const StageMemoryMap& memory, const PreparedLayer& layer, LayerOperands& at) {
  const LayerPlacement& place = *layer.place;
  const std::size_t count = place.inputs.size();
  at.input_gradients = std::span(input_gradients_).first(count);
  // First those that are overwritten, then those that are added to: the kernel does all of one call alike.
  for (const bool adds : {false, true}) {
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
      const bool wanted = place.input_gradients[i].region != Region::None && place.adds_to_input[i] == adds;
      input_gradients_[i] = wanted ? floats(address(memory, place.input_gradients[i], Pass::Gradient)) : nullptr;
      any = any || wanted;
    }
    at.accumulate_input_gradient = adds;
    if (any) layer.kernel->backward_input(at);
  }
}

void CpuStage::run_backward(const StageMemoryMap& memory, std::int32_t microbatch, std::size_t first, std::size_t end) {
  for (const EdgeCopy& sum : request_.layout.gradient_sums) {
    if (end < layers_.size()) break;  // the first part has done it
    add_gradient(sum.type, sum.bytes, address(memory, sum.from, Pass::Gradient), address(memory, sum.to, Pass::Gradient));
  }
  for (std::size_t i = end; i-- > first;) {
    const PreparedLayer* layer = &layers_[i];
    if (!layer->layer->is_loss() && layer->place->output_gradient.region == Region::None) continue;  // nobody reads it
    LayerOperands at = operands(memory, *layer, microbatch);
    timed(layer->stamps, &LayerStamps::backward_weight, [&] {
      if (!layer->parameters.empty()) layer->kernel->backward_weight(at);
    });
    timed(layer->stamps, &LayerStamps::backward_input, [&] { backward_input(memory, *layer, at); });
  }
}

void CpuStage::run_squared_norms(const StageMemoryMap& memory) {
  for (const PreparedLayer& layer : layers_) {
    timed(layer.stamps, &LayerStamps::squared_norms, [&] {
      for (std::size_t p = 0; p < layer.parameters.size(); ++p) {
        const Parameter& parameter = layer.layer->parameters[p];
        memory.squared_norms[layer.first_parameter + p] =
            parameter.role == ParameterRole::Statistic
                ? 0.0
                : squared_norm(floats(memory.gradients + layer.parameters[p].value), static_cast<std::size_t>(parameter.elements()));
      }
    });
  }
}

Result<float> CpuStage::gradient_factor(const StageMemoryMap& memory, std::int32_t step) const {
  const double clip = request_.workload->optimizer.clip;
  if (clip == 0) return 1.0f;
  const double norm = global_norm(std::span(memory.squared_norms, network_parameters_));
  if (has_loss_ && request_.gradient_norms != nullptr) request_.gradient_norms[step] = norm;
  if (std::isfinite(norm)) return clip_factor(norm, clip);
  return fail(ErrorCode::RunFailed, fmt::format("the norm of the gradients is {} at step {}", norm, training_step(step)),
              "lower the learning rate, or start from another seed");
}

Result<void> CpuStage::run_update(const StageMemoryMap& memory, std::int32_t step) {
  const Optimizer& optimizer = request_.workload->optimizer;
  PENSTOCK_TRY(const float factor, gradient_factor(memory, step));
  const UpdateRule rule(optimizer, training_step(step), request_.microbatches, factor);
  const auto state = [&](std::int64_t k, std::int64_t offset) {
    if (k >= optimizer.states()) return static_cast<float*>(nullptr);
    return floats(memory.optimizer + k * request_.layout.parameters.value + offset);
  };
  for (const PreparedLayer& layer : layers_) {
    timed(layer.stamps, &LayerStamps::update, [&] {
      for (std::size_t p = 0; p < layer.parameters.size(); ++p) {
        const std::int64_t offset = layer.parameters[p].value;
        rule.apply(layer.layer->parameters[p], floats(memory.weights + offset), floats(memory.gradients + offset),
                   state(0, offset), state(1, offset));
      }
    });
  }
  if (request_.board != nullptr) request_.board->report(step);
  return {};
}

}  // namespace

Result<std::unique_ptr<Stage>> make_cpu_stage(const StageRequest& request) {
  auto stage = std::make_unique<CpuStage>(request);
  PENSTOCK_TRY_VOID(stage->build());
  return std::unique_ptr<Stage>(std::move(stage));
}

}  // namespace penstock::cpu
