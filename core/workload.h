#pragma once

// What one training step computes: networks of layers, stores of parameters, sources of data, and (beyond ordinary
// training) the tasks, edges and phases that tie several networks together. Ordinary training is one trained network, one
// phase, hyper-period 1, and leaves tasks and edges empty: forward, backward and update of that network are implied.
// Sizes here are per sample; a microbatch of b samples multiplies them. Nothing here knows devices or times.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/optimizer.h"
#include "core/result.h"
#include "core/units.h"

namespace penstock {

enum class DataType : std::uint8_t { F32, BF16, Byte };  // Byte: token ids of a byte-level vocabulary
constexpr auto enum_names(DataType) {
  return std::to_array<std::pair<DataType, std::string_view>>(
      {{DataType::F32, "f32"}, {DataType::BF16, "bf16"}, {DataType::Byte, "byte"}});
}
std::int64_t size_of(DataType type);                     // bytes an element

// A tensor of one sample: the batch dimension comes in front when it is allocated.
struct TensorShape {
  DataType type = DataType::F32;
  std::vector<std::int64_t> dimensions;

  std::int64_t elements() const;
  Bytes bytes() const;  // of one sample
  bool operator==(const TensorShape&) const = default;
};

// The kinds of layer the built-in executors know. T = sequence length, all tensors row-major with features last.
//   Embedding     tokens [T] -> [T, width]: token table [vocabulary, width] + position table [T, width]
//   LayerNorm     [.., width] -> same; ε = 1e-5; gain [width], bias [width]
//   Linear        [.., in] -> [.., out]; weight [in, out], bias [out]
//   Attention     [T, 3·width] (q, k, v side by side) -> [T, width]; causal; attribute heads
//   Gelu          elementwise, tanh form (Hendrycks & Gimpel 2016)
//   Add           two inputs of equal shape -> their sum (residual connections)
//   CrossEntropy  logits [.., classes] and targets [..] -> mean loss over all rows of the global batch
//   MeanSquared   predictions [n] and targets [n] -> mean squared error over the global batch
// Images are [channels, height, width], channels first.
//   Pixels        bytes [..] -> [..]: byte / 127.5 - 1
//   Conv2d        [C, H, W] -> [K, H', W'], H' = (H + 2·padding - kernel) / stride + 1 rounded down; attributes kernel,
//                 stride, padding; weight [K, C, kernel, kernel], optionally bias [K]
//   BatchNorm     [C, H, W] -> same, each channel over the microbatch; ε = 1e-5; gain [C], bias [C], and the statistics
//                 running mean [C] and running variance [C] (role Statistic), which evaluation uses
//   Relu          elementwise
//   MaxPool       [C, H, W] -> [C, H', W'] as Conv2d; attributes kernel, stride, padding (padding never wins)
//   AveragePool   [C, H, W] -> [C]: over the whole image
//   Upsample      [C, H, W] -> [C, factor·H, factor·W], nearest; attribute factor
//   Concat        two or more inputs [Ci, H, W] -> [ΣCi, H, W]
//   Opaque        known only by its measured or given costs: can be planned and simulated, not executed
enum class LayerKind : std::uint8_t { Embedding, LayerNorm, Linear, Attention, Gelu, Add, CrossEntropy, MeanSquared, Pixels, Conv2d, BatchNorm, Relu, MaxPool, AveragePool, Upsample, Concat, Opaque };
constexpr auto enum_names(LayerKind) {
  return std::to_array<std::pair<LayerKind, std::string_view>>(
      {{LayerKind::Embedding, "embedding"}, {LayerKind::LayerNorm, "layer_norm"},
       {LayerKind::Linear, "linear"}, {LayerKind::Attention, "attention"},
       {LayerKind::Gelu, "gelu"}, {LayerKind::Add, "add"},
       {LayerKind::CrossEntropy, "cross_entropy"}, {LayerKind::MeanSquared, "mean_squared"},
       {LayerKind::Pixels, "pixels"}, {LayerKind::Conv2d, "conv2d"},
       {LayerKind::BatchNorm, "batch_norm"}, {LayerKind::Relu, "relu"},
       {LayerKind::MaxPool, "max_pool"}, {LayerKind::AveragePool, "average_pool"},
       {LayerKind::Upsample, "upsample"}, {LayerKind::Concat, "concat"},
       {LayerKind::Opaque, "opaque"}});
}

enum class Initializer : std::uint8_t { Zeros, Ones, Normal };  // Normal: mean 0, deviation `deviation`, keyed by name
constexpr auto enum_names(Initializer) {
  return std::to_array<std::pair<Initializer, std::string_view>>(
      {{Initializer::Zeros, "zeros"}, {Initializer::Ones, "ones"},
       {Initializer::Normal, "normal"}});
}

// Trained: the optimizer moves it along its gradient. Statistic: its "gradient" is what the microbatches of a step measured,
// each weighted by c_m = μ·(1-μ)^(M-1-m), μ = 0.1, microbatch m of M; STEP makes it value·(1-μ)^M + gradient. That is the
// running average over microbatches in their order, and it adds up across replicas like any gradient.
enum class ParameterRole : std::uint8_t { Trained, Statistic };
constexpr auto enum_names(ParameterRole) {
  return std::to_array<std::pair<ParameterRole, std::string_view>>(
      {{ParameterRole::Trained, "trained"}, {ParameterRole::Statistic, "statistic"}});
}
inline constexpr double kStatisticMomentum = 0.1;  // μ

struct Parameter {
  std::string name;  // unique in its network: "block3.attention.qkv.weight"
  std::vector<std::int64_t> dimensions;
  Initializer initializer = Initializer::Zeros;
  double deviation = 0;
  ParameterRole role = ParameterRole::Trained;

  std::int64_t elements() const;
  bool operator==(const Parameter&) const = default;
};

struct Layer {
  std::string name;  // unique in its network
  LayerKind kind = LayerKind::Opaque;
  std::map<std::string, std::int64_t> attributes;  // what the kind above names: heads, …
  std::vector<LayerId> inputs;                     // producers, all earlier in the list (topological order)
  std::vector<SourceId> sources;                   // data that enters here: tokens, targets
  TensorShape output;
  std::vector<Parameter> parameters;

  std::int64_t attribute(const std::string& key) const;  // PENSTOCK_CHECKs that it is there
  bool is_loss() const { return kind == LayerKind::CrossEntropy || kind == LayerKind::MeanSquared; }
  bool operator==(const Layer&) const = default;
};

struct Network {
  std::string name;
  std::vector<Layer> layers;  // in topological order

  std::int64_t parameter_count() const;
  bool operator==(const Network&) const = default;
};

struct Workload;

// What identifies a layer's cost: kind, attributes, input and output shapes; of an embedding its tables too; of an opaque
// layer, whose shapes do not tell its cost, its name. Equal signatures cost the same, wherever they stand. Stable text,
// e.g. "linear 128x512:f32 -> 128x2048:f32", "attention heads=8 128x1536:f32 -> 128x512:f32".
std::string signature(const Workload& workload, const Network& network, LayerId layer);

enum class StoreKind : std::uint8_t { Trained, Frozen, Ema, Copy };
constexpr auto enum_names(StoreKind) {
  return std::to_array<std::pair<StoreKind, std::string_view>>(
      {{StoreKind::Trained, "trained"}, {StoreKind::Frozen, "frozen"}, {StoreKind::Ema, "ema"},
       {StoreKind::Copy, "copy"}});
}

// A set of parameters with a version counter.
struct Store {
  std::string name;
  NetworkId network;
  std::vector<LayerId> layers;  // empty: the whole network
  StoreKind kind = StoreKind::Trained;
  StoreId of;                      // ema, copy: the store followed
  double decay = 0;                // ema
  std::int64_t refresh_period = 1; // copy: steps between refreshes
  std::int64_t refresh_latency = 0;

  bool operator==(const Store&) const = default;
};

// NextText: the Text window moved on by one byte. Image: bytes [C, H, W]; Label: its class, one byte; NoisyImage: the Image of
// the same sample with seeded noise. Synthetic: seeded bytes.
enum class SourceKind : std::uint8_t { Text, NextText, Image, Label, NoisyImage, Synthetic };
constexpr auto enum_names(SourceKind) {
  return std::to_array<std::pair<SourceKind, std::string_view>>(
      {{SourceKind::Text, "text"}, {SourceKind::NextText, "next_text"},
       {SourceKind::Image, "image"}, {SourceKind::Label, "label"}, {SourceKind::NoisyImage, "noisy_image"},
       {SourceKind::Synthetic, "synthetic"}});
}

struct Source {
  std::string name;
  SourceKind kind = SourceKind::Text;
  TensorShape sample;

  bool operator==(const Source&) const = default;
};

enum class TaskKind : std::uint8_t { Load, Forward, ForwardNoGrad, Backward, Recompute, Loss, Reduce, Update, Ema, Refresh, Barrier, Host };
constexpr auto enum_names(TaskKind) {
  return std::to_array<std::pair<TaskKind, std::string_view>>(
      {{TaskKind::Load, "load"}, {TaskKind::Forward, "forward"},
       {TaskKind::ForwardNoGrad, "forward_no_grad"}, {TaskKind::Backward, "backward"},
       {TaskKind::Recompute, "recompute"}, {TaskKind::Loss, "loss"}, {TaskKind::Reduce, "reduce"},
       {TaskKind::Update, "update"}, {TaskKind::Ema, "ema"}, {TaskKind::Refresh, "refresh"},
       {TaskKind::Barrier, "barrier"}, {TaskKind::Host, "host"}});
}

// Runs in the steps i of the hyper-period with i mod period = offset.
struct Task {
  std::string name;
  TaskKind kind = TaskKind::Forward;
  NetworkId network;
  std::vector<LayerId> layers;  // empty: all
  StoreId store;
  std::int64_t period = 1;
  std::int64_t offset = 0;

  bool operator==(const Task&) const = default;
};

enum class DependencyKind : std::uint8_t { Data, State, Order };
constexpr auto enum_names(DependencyKind) {
  return std::to_array<std::pair<DependencyKind, std::string_view>>(
      {{DependencyKind::Data, "data"}, {DependencyKind::State, "state"},
       {DependencyKind::Order, "order"}});
}

struct TaskEdge {
  TaskId from;
  TaskId to;
  DependencyKind kind = DependencyKind::Data;
  std::int64_t distance = 0;   // in steps
  std::int64_t staleness = 0;  // state edges: versions the reader may lag behind

  bool operator==(const TaskEdge&) const = default;
};

struct Phase {
  std::string name;
  std::int64_t steps = 0;  // 0: until told to stop
  std::string transition;  // what happens to the stores on leaving

  bool operator==(const Phase&) const = default;
};

struct Workload {
  std::string name;
  std::vector<Network> networks;
  std::vector<Store> stores;
  std::vector<Source> sources;
  std::vector<Task> tasks;
  std::vector<TaskEdge> edges;
  std::vector<Phase> phases;
  Optimizer optimizer;
  std::int64_t global_batch = 1;  // samples a step
  std::int64_t hyper_period = 1;  // steps

  bool operator==(const Workload&) const = default;
};

// Names present and unique, every reference in range, layers in topological order, shapes and parameters as their kinds ask
// (core/layer_shapes.h), each parameter in one trained or frozen store (or in a copy alone); a trained network has exactly
// one loss, and every layer of it is read by another (where layers are opaque, a loss and readers may be hidden in them).
// No step takes more than 2^56 elements, so sums of bytes never overflow. Errors carry a JSON pointer from the workload.
Result<void> validate(const Workload& workload);

// 16 hex digits (FNV-1a over a canonical text), equal for workloads that compute the same thing: names within, shapes,
// edges, stores, tasks, optimizer; neither the workload's own name nor the global batch.
std::string fingerprint(const Workload& workload);

// The same, equal also for workloads whose optimizers cost the same: of the same kind, with and without momentum, weight decay
// and clipping alike. What a profile is of: another learning rate needs no other.
std::string cost_fingerprint(const Workload& workload);

}  // namespace penstock
