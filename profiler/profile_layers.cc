#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/footprint.h"
#include "exec/cpu/cpu_device.h"
#include "exec/cpu/processor.h"
#include "exec/data_source.h"
#include "exec/whole_network.h"
#include "profiler/profiler.h"
#include "profiler/robust_stats.h"

namespace penstock {
namespace {

// Microbatches in flight while timing: their stashes take turns in the caches, as they do in a pipeline.
constexpr std::int32_t kInFlight = 2;
constexpr int kMostWarmups = 50;
constexpr int kLeastPasses = 5;
constexpr std::size_t kEnoughSamples = 30;
constexpr double kUnstable = 0.05;
constexpr std::int64_t kCallOverhead = 10'000;  // ns: what calls and clocks may add to a pass without a warning

// Median of the last third of the passes against that of the first.
double drift(const std::vector<Nanoseconds>& passes) {
  const auto third = static_cast<std::ptrdiff_t>((passes.size() + 2) / 3);
  const Spread first = spread({passes.begin(), passes.begin() + third}), last = spread({passes.end() - third, passes.end()});
  return static_cast<double>(last.median.value) / static_cast<double>(first.median.value) - 1;
}

struct SampleKey {
  std::string signature;
  CostOp op;
  auto operator<=>(const SampleKey&) const = default;
};
using Samples = std::map<SampleKey, std::vector<Nanoseconds>>;

Nanoseconds length(const Stamp& stamp) { return stamp.end - stamp.start; }

Workload with_batch(Workload workload, std::int64_t batch) {
  workload.global_batch = batch;
  return workload;
}

class LayerTimer {
 public:
  LayerTimer(const Workload& workload, std::int64_t microbatch)
      : workload_(with_batch(workload, microbatch * kInFlight)), microbatch_(microbatch) {}

  Result<void> build(std::uint64_t seed) {
    const Network& network = workload_.networks[0];
    data_ = DataSource::random_text(workload_, seed);
    stamps_.resize(network.layers.size());
    losses_.resize(static_cast<std::size_t>(kInFlight));
    device_ = std::make_unique<cpu::CpuDevice>(std::make_shared<cpu::RunState>(), cpu::cores().front());
    PENSTOCK_TRY(network_, WholeNetwork::make(workload_, data_, *device_,
                                              {.microbatch_size = microbatch_, .microbatches = kInFlight, .stashes = kInFlight,
                                               .seed = seed, .losses = losses_.data(), .layer_stamps = stamps_.data()}));
    stream_ = device_->create_stream("profile", StreamRole::Compute);
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      signatures_.push_back(signature(workload_, network, LayerId(static_cast<std::int64_t>(l))));
    }
    return {};
  }

  // Forward and backward of every microbatch in flight, and an update. Adds one sample a microbatch and layer.
  Result<Nanoseconds> pass(Samples* samples) {
    Stage& stage = network_->stage();
    Nanoseconds total;
    for (std::int32_t m = 0; m < kInFlight; ++m) {
      const StageMemoryMap& memory = network_->memory(m);
      PENSTOCK_TRY_VOID(perform(*stage.load(memory, m), total));
      Nanoseconds whole;
      PENSTOCK_TRY_VOID(perform(*stage.forward(memory, m), whole));
      PENSTOCK_TRY_VOID(perform(*stage.loss(memory, m), whole));
      total += whole;
      if (samples != nullptr) whole_[CostOp::F].push_back(whole);
      if (samples != nullptr) collect_forward(*samples);
    }
    for (std::int32_t m = 0; m < kInFlight; ++m) {
      Nanoseconds whole;
      PENSTOCK_TRY_VOID(perform(*stage.backward(network_->memory(m), m), whole));
      total += whole;
      if (samples != nullptr) whole_[CostOp::BF].push_back(whole);
      if (samples != nullptr) collect_backward(*samples);
    }
    // Clipping sums squares first. The norm is then set so that the update scales by a half, as costs what any factor below 1 does.
    const double clip = workload_.optimizer.clip;
    if (clip > 0) {
      PENSTOCK_TRY_VOID(perform(*stage.squared_norms(network_->memory(0)), total));
      network_->write_norm(2 * clip);
    }
    PENSTOCK_TRY_VOID(perform(*stage.update(network_->memory(0)), total));
    if (samples != nullptr) collect_update(*samples);
    return total;
  }

  // What forwards and backwards took, beside the sums of their layers' medians.
  std::vector<StageTime> stages(const Profile& profile) const {
    std::vector<StageTime> out;
    for (const auto& [op, sample] : whole_) {
      StageTime& row = out.emplace_back();
      row.op = op;
      row.microbatch = microbatch_;
      row.time = spread(sample);
      for (std::size_t l = 0; l < signatures_.size(); ++l) {
        const bool is_loss = workload_.networks[0].layers[l].is_loss();
        const LayerTime* time = profile.find(signatures_[l], op == CostOp::F && is_loss ? CostOp::Loss : op, microbatch_);
        if (time != nullptr) row.layers += time->time.median;
      }
    }
    std::erase_if(out, [](const StageTime& row) { return row.layers.value == 0; });
    return out;
  }

  std::vector<LayerMemory> memory() const {
    const Network& network = workload_.networks[0];
    std::map<std::string, LayerMemory> rows;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      const Layer& layer = network.layers[l];
      std::vector<TensorShape> inputs;
      for (const LayerId input : layer.inputs) inputs.push_back(network.layers[input.index()].output);
      Bytes parameters;
      for (const Parameter& parameter : layer.parameters) parameters += Bytes(parameter.elements() * 4);
      rows[signatures_[l]] = LayerMemory{.signature = signatures_[l], .microbatch = microbatch_, .parameters = parameters,
                                         .saved = backward_needs(layer, inputs, microbatch_).saved,
                                         .output = layer.output.bytes() * microbatch_,
                                         .workspace = network_->stage().layer_scratch(l)};
    }
    std::vector<LayerMemory> out;
    for (auto& [key, row] : rows) out.push_back(std::move(row));
    return out;
  }

 private:
  Result<void> perform(StageCall& call, Nanoseconds& total) {
    Stamp stamp;
    device_->launch(stream_, call, WorkTag{}, &stamp);
    PENSTOCK_TRY_VOID(device_->synchronize());
    total += length(stamp);
    return {};
  }

  void collect_forward(Samples& samples) {
    const Network& network = workload_.networks[0];
    for (std::size_t l = 0; l < signatures_.size(); ++l) {
      samples[{signatures_[l], network.layers[l].is_loss() ? CostOp::Loss : CostOp::F}].push_back(length(stamps_[l].forward));
      if (!network.layers[l].sources.empty()) samples[{signatures_[l], CostOp::Load}].push_back(time_loading(network.layers[l]));
    }
  }
  void collect_backward(Samples& samples) {
    for (std::size_t l = 0; l < signatures_.size(); ++l) {
      const Nanoseconds b = length(stamps_[l].backward_input), w = length(stamps_[l].backward_weight);
      samples[{signatures_[l], CostOp::B}].push_back(b);
      samples[{signatures_[l], CostOp::W}].push_back(w);
      samples[{signatures_[l], CostOp::BF}].push_back(b + w);
    }
  }
  void collect_update(Samples& samples) {
    for (std::size_t l = 0; l < signatures_.size(); ++l) {
      if (workload_.networks[0].layers[l].parameters.empty()) continue;
      const Nanoseconds squares = workload_.optimizer.clip > 0 ? length(stamps_[l].squared_norms) : Nanoseconds(0);
      samples[{signatures_[l], CostOp::Step}].push_back(squares + length(stamps_[l].update));
    }
  }
  Nanoseconds time_loading(const Layer& layer) {
    const auto start = std::chrono::steady_clock::now();
    for (const SourceId source : layer.sources) {
      loaded_.resize(static_cast<std::size_t>(workload_.sources[source.index()].sample.elements() * microbatch_));
      data_.fill(source, 0, 0, microbatch_, loaded_.data());
    }
    return Nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count());
  }

  Workload workload_;
  std::int64_t microbatch_;
  DataSource data_;
  std::vector<LayerStamps> stamps_;
  std::vector<double> losses_;
  std::vector<std::uint8_t> loaded_;
  std::vector<std::string> signatures_;
  std::map<CostOp, std::vector<Nanoseconds>> whole_;  // of forwards with their loss, and of backwards
  std::unique_ptr<cpu::CpuDevice> device_;
  std::unique_ptr<WholeNetwork> network_;
  StreamHandle stream_;
};

}  // namespace

Result<void> profile_layers(const Workload& workload, std::int64_t microbatch, const ProfileRequest& request, Profile& profile) {
  LayerTimer timer(workload, microbatch);
  PENSTOCK_TRY_VOID(timer.build(request.seed));
  std::vector<Nanoseconds> warmups;
  while (!settled(warmups, 0.02) && warmups.size() < kMostWarmups) {
    if (request.stop.stop_requested()) return fail(ErrorCode::Interrupted, "profiling was stopped");
    PENSTOCK_TRY(const Nanoseconds total, timer.pass(nullptr));
    warmups.push_back(total);
  }
  if (!settled(warmups, 0.02)) {
    profile.warnings.push_back(fmt::format("microbatch {}: times did not settle within 2 % in {} passes; the machine is busy",
                                           microbatch, kMostWarmups));
  }
  Samples samples;
  const Nanoseconds budget = nanoseconds(request.budget_s);
  Nanoseconds spent;
  std::vector<Nanoseconds> passes;
  while (passes.size() < kLeastPasses || spent < budget) {
    if (request.stop.stop_requested()) return fail(ErrorCode::Interrupted, "profiling was stopped");
    PENSTOCK_TRY(const Nanoseconds total, timer.pass(&samples));
    spent += total;
    passes.push_back(total);
    const bool enough = std::all_of(samples.begin(), samples.end(), [](const auto& s) { return s.second.size() >= kEnoughSamples; });
    if (enough && spent * 10 >= budget) break;
  }
  const double change = drift(passes);
  if (std::abs(change) > kUnstable) {
    profile.warnings.push_back(fmt::format("microbatch {}: the last passes took {:.1f} % {} than the first", microbatch,
                                           100 * std::abs(change), change > 0 ? "longer" : "shorter"));
  }
  for (auto& [key, sample] : samples) {
    // An update does not depend on the microbatch: the first size measured stands.
    if (key.op == CostOp::Step && profile.find(key.signature, CostOp::Step, 0) != nullptr) continue;
    profile.times.push_back(LayerTime{.signature = key.signature, .op = key.op,
                                      .microbatch = key.op == CostOp::Step ? 0 : microbatch, .time = spread(std::move(sample))});
  }
  for (const StageTime& row : timer.stages(profile)) {
    if (std::abs(row.residual()) > kMostResidual && std::abs((row.time.median - row.layers).value) > kCallOverhead)
      profile.warnings.push_back(fmt::format("microbatch {}: a {} of all layers takes {:.1f} % {} than they do one by one", microbatch,
                                             row.op == CostOp::F ? "forward" : "backward", 100 * std::abs(row.residual()),
                                             row.residual() > 0 ? "longer" : "shorter"));
    profile.stages.push_back(row);
  }
  for (LayerMemory& row : timer.memory()) profile.memory.push_back(std::move(row));
  return {};
}

}  // namespace penstock
