#include "exec/whole_network.h"

#include "exec/parameters.h"

namespace penstock {
namespace {

// Buffers one behind the other: each takes its bytes, rounded up.
struct Allotment {
  Bytes next;
  Bytes take(Bytes bytes) {
    const Bytes at = next;
    next = align_up(next + bytes, kTensorAlignment);
    return at;
  }
};

std::vector<const Parameter*> parameters_of(const Network& network) {
  std::vector<const Parameter*> out;
  for (const Layer& layer : network.layers) {
    for (const Parameter& parameter : layer.parameters) out.push_back(&parameter);
  }
  return out;
}

std::vector<LayerId> all_layers(const Network& network) {
  std::vector<LayerId> out;
  for (std::size_t l = 0; l < network.layers.size(); ++l) out.push_back(LayerId(static_cast<std::int64_t>(l)));
  return out;
}

}  // namespace

Result<std::unique_ptr<WholeNetwork>> WholeNetwork::make(const Workload& workload, const DataSource& data,
                                                         RankDevice& device, const Options& options) {
  std::unique_ptr<WholeNetwork> whole(new WholeNetwork(device));
  const Network& network = workload.networks[0];
  const std::vector<LayerId> layers = all_layers(network);
  const StageLayout layout = lay_out_stage(workload, NetworkId(0), {layers}, {}, StageId(0), options.microbatch_size);
  PENSTOCK_TRY(whole->stage_,
               device.make_stage({.workload = &workload, .network = NetworkId(0), .layers = layers, .layout = layout,
                                  .microbatch_size = options.microbatch_size, .microbatches = options.microbatches,
                                  .data = &data, .first_step = options.first_step, .training = options.training,
                                  .losses = options.losses, .hits = options.hits, .gradient_norms = options.gradient_norms, .board = options.board,
                                  .layer_stamps = options.layer_stamps}));
  Allotment memory;
  const Bytes weights = memory.take(layout.parameters);
  const Bytes gradients = memory.take(options.training ? layout.parameters : Bytes(0));
  const std::int64_t states = options.training ? workload.optimizer.states() : 0;
  const Bytes optimizer = memory.take(layout.parameters * states);
  const bool clips = options.training && workload.optimizer.clip != 0;
  const auto squares = static_cast<std::int64_t>(clips ? parameters_of(network).size() * sizeof(double) : 0);
  const Bytes squared_norms = memory.take(Bytes(squares));
  const Bytes workspace = memory.take(layout.workspace + whole->stage_->scratch_bytes());
  const auto stashes = static_cast<std::size_t>(options.stashes);
  std::vector<Bytes> samples, kept;
  for (std::size_t s = 0; s < stashes; ++s) {
    samples.push_back(memory.take(layout.data_bytes));
    kept.push_back(memory.take(layout.stash));
  }
  whole->bytes_ = memory.next;
  PENSTOCK_TRY(std::byte* const arena, device.allocate(memory.next));
  for (std::size_t s = 0; s < stashes; ++s) {
    StageMemoryMap map;
    map.weights = arena + weights.value;
    map.gradients = arena + gradients.value;
    map.optimizer = states > 0 ? arena + optimizer.value : nullptr;
    map.squared_norms = clips ? reinterpret_cast<double*>(arena + squared_norms.value) : nullptr;
    map.workspace = arena + workspace.value;
    map.data = arena + samples[s].value;
    map.stash = arena + kept[s].value;
    whole->maps_.push_back(std::move(map));
  }
  whole->offsets_ = parameter_offsets(network, layers);
  whole->parameter_bytes_ = layout.parameters;
  const std::vector<const Parameter*> parameters = parameters_of(network);
  for (std::size_t p = 0; p < parameters.size(); ++p) whole->write(p, -1, initial_values(*parameters[p], options.seed));
  return whole;
}

std::byte* WholeNetwork::address(std::size_t parameter, std::int32_t state) const {
  const StageMemoryMap& map = maps_[0];
  std::byte* buffer = state < 0 ? map.weights : map.optimizer + state * parameter_bytes_.value;
  return buffer + offsets_[parameter].value;
}

void WholeNetwork::write_norm(double norm) {
  PENSTOCK_CHECK(maps_[0].squared_norms != nullptr, "the optimizer clips");
  std::vector<double> squares(offsets_.size(), 0.0);
  if (!squares.empty()) squares.front() = norm * norm;
  device_.write(reinterpret_cast<std::byte*>(maps_[0].squared_norms), squares.data(),
                Bytes(static_cast<std::int64_t>(squares.size() * sizeof(double))));
}

void WholeNetwork::read(std::size_t parameter, std::int32_t state, std::span<float> out) const {
  device_.read(out.data(), address(parameter, state), Bytes(static_cast<std::int64_t>(out.size_bytes())));
}

void WholeNetwork::write(std::size_t parameter, std::int32_t state, std::span<const float> values) {
  device_.write(address(parameter, state), values.data(), Bytes(static_cast<std::int64_t>(values.size_bytes())));
}

}  // namespace penstock
