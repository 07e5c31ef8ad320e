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

Bytes bytes_of(const Parameter& parameter) { return Bytes(parameter.elements() * static_cast<std::int64_t>(sizeof(float))); }

}  // namespace

Result<std::unique_ptr<WholeNetwork>> WholeNetwork::make(const Workload& workload, const DataSource& data,
                                                         RankDevice& device, const Options& options) {
  std::unique_ptr<WholeNetwork> whole(new WholeNetwork(workload, device));
  const Network& network = workload.networks[0];
  const std::vector<LayerId> layers = all_layers(network);
  const StageLayout layout = lay_out_stage(workload, NetworkId(0), {layers}, {}, StageId(0), options.microbatch_size);
  PENSTOCK_TRY(whole->stage_,
               device.make_stage({.workload = &workload, .network = NetworkId(0), .layers = layers, .layout = layout,
                                  .microbatch_size = options.microbatch_size, .microbatches = options.microbatches,
                                  .data = &data, .losses = options.losses, .layer_stamps = options.layer_stamps}));
  Allotment memory;
  const Bytes weights = memory.take(layout.parameters), gradients = memory.take(layout.parameters);
  const Bytes optimizer = memory.take(layout.parameters * workload.optimizer.states());
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
    map.optimizer = workload.optimizer.states() > 0 ? arena + optimizer.value : nullptr;
    map.workspace = arena + workspace.value;
    map.data = arena + samples[s].value;
    map.stash = arena + kept[s].value;
    whole->maps_.push_back(std::move(map));
  }
  const std::vector<Bytes> offsets = parameter_offsets(network, layers);
  const std::vector<const Parameter*> parameters = parameters_of(network);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::vector<float> values = initial_values(*parameters[p], options.seed);
    device.write(arena + weights.value + offsets[p].value, values.data(), bytes_of(*parameters[p]));
  }
  return whole;
}

std::string WholeNetwork::weights_digest() const {
  const Network& network = workload_.networks[0];
  const std::vector<Bytes> offsets = parameter_offsets(network, all_layers(network));
  const std::vector<const Parameter*> parameters = parameters_of(network);
  WeightsDigest digest;
  std::vector<float> values;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    values.resize(static_cast<std::size_t>(parameters[p]->elements()));
    device_.read(values.data(), maps_[0].weights + offsets[p].value, bytes_of(*parameters[p]));
    digest.add(values.data(), values.size());
  }
  return digest.text();
}

}  // namespace penstock
