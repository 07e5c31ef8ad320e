#include "exec/replicated_reference.h"

#include <algorithm>

#include "core/graph_algorithms.h"
#include "core/replicas.h"
#include "exec/parameters.h"

namespace penstock {
namespace {

template <class Values>
Bytes bytes_of(const Values& values) {
  return Bytes(static_cast<std::int64_t>(std::span(values).size_bytes()));
}

}  // namespace

struct ReplicatedNetwork::Copy {
  StageId stage;
  std::int32_t number = 0;
  SampleRange samples;
  StageLayout layout;
  std::unique_ptr<Stage> kernels;
  StageMemoryMap memory;
  std::byte* norms = nullptr;
  // Calls by microbatch; empty for those of other copies.
  std::vector<std::unique_ptr<StageCall>> load, forward, loss, backward;
  std::unique_ptr<StageCall> squared_norms, update;
};

ReplicatedNetwork::ReplicatedNetwork(const Plan& plan, RankDevice& device)
    : plan_(plan), device_(device), stream_(device.create_stream("reference", StreamRole::Compute)),
      places_(parameter_places(plan)) {}

ReplicatedNetwork::~ReplicatedNetwork() = default;

Result<std::unique_ptr<ReplicatedNetwork>> ReplicatedNetwork::make(const Plan& plan, const DataSource& data,
                                                                   RankDevice& device, std::uint64_t seed,
                                                                   Training& training) {
  std::unique_ptr<ReplicatedNetwork> out(new ReplicatedNetwork(plan, device));
  std::vector<VertexPair> graph;
  for (const PlanEdge& edge : plan.edges) graph.emplace_back(edge.from.value, edge.to.value);
  const auto order = topological_order(static_cast<std::int32_t>(plan.stages.size()), graph);
  PENSTOCK_CHECK(order.has_value(), "the stages of a valid plan have an order");
  out->order_ = *order;

  // Places in memory first, as offsets; then the arena, then calls with addresses.
  std::vector<std::pair<std::byte**, Bytes>> places;
  const auto take = [&](std::byte*& at, Bytes bytes) {
    at = nullptr;
    if (bytes.value == 0) return;
    places.emplace_back(&at, out->bytes_);
    out->bytes_ += align_up(bytes, kTensorAlignment);
  };
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    const StageId id(static_cast<std::int64_t>(s));
    const Network& network = plan.workload.networks[stage.network.index()];
    auto& copies = out->copies_.emplace_back();
    for (std::int32_t c = 0; c < stage.replicas; ++c) {
      Copy& copy = *copies.emplace_back(std::make_unique<Copy>());
      copy.stage = id;
      copy.number = c;
      copy.samples = samples_of(plan, id, c);
      copy.layout = lay_out_stage(plan, id, c);
      StageRequest request{.workload = &plan.workload, .network = stage.network, .layers = stage.layers,
                           .layout = copy.layout, .microbatch_size = copy.samples.count, .microbatches = plan.microbatches,
                           .whole_microbatch = plan.microbatch_size, .first_sample = copy.samples.first, .data = &data,
                           .first_step = training.first_step(), .losses = training.losses(), .board = training.board()};
      if (c == 0) request.gradient_norms = training.gradient_norms();
      request.loss_copies = loss_parts(plan);
      request.loss_copy = loss_parts(stage) > 1 ? c : 0;
      PENSTOCK_TRY(copy.kernels, device.make_stage(request));
      take(copy.memory.weights, copy.layout.parameters);
      take(copy.memory.gradients, copy.layout.parameters);
      take(copy.memory.optimizer, copy.layout.parameters * plan.workload.optimizer.states());
      std::byte*& norms = copy.norms;
      take(norms, Bytes(plan.workload.optimizer.clip != 0
                            ? static_cast<std::int64_t>(all_parameters(plan.workload).size() * sizeof(double))
                            : 0));
      take(copy.memory.workspace, copy.layout.workspace + copy.kernels->scratch_bytes());
      take(copy.memory.data, copy.layout.data_bytes);
      take(copy.memory.stash, copy.layout.stash);
      const auto messages = [&](const std::vector<std::int32_t>& edges, std::vector<std::byte*>& at) {
        at.resize(edges.size());
        for (std::size_t k = 0; k < edges.size(); ++k) {
          const PlanEdge& edge = plan.edges[static_cast<std::size_t>(edges[k])];
          take(at[k], tensor_offsets(network, edge.tensors, copy.samples.count).back());
        }
      };
      messages(copy.layout.out_edges, copy.memory.activation_send);
      messages(copy.layout.out_edges, copy.memory.gradient_receive);
      messages(copy.layout.in_edges, copy.memory.gradient_send);
    }
  }
  PENSTOCK_TRY(std::byte* const arena, device.allocate(out->bytes_));
  for (const auto& [at, offset] : places) *at = arena + offset.value;

  for (auto& copies : out->copies_) {
    for (auto& copy : copies) {
      copy->memory.squared_norms = reinterpret_cast<double*>(copy->norms);
      const PlanStage& stage = plan.stages[copy->stage.index()];
      const Network& network = plan.workload.networks[stage.network.index()];
      const std::vector<Bytes> offsets = parameter_offsets(network, stage.layers);
      std::size_t next = 0;
      for (const LayerId layer : stage.layers) {
        for (const Parameter& parameter : network.layers[layer.index()].parameters) {
          const std::vector<float> values = initial_values(parameter, seed);
          device.write(copy->memory.weights + offsets[next++].value, values.data(), bytes_of(values));
        }
      }
      for (std::int32_t m = 0; m < plan.microbatches; ++m) {
        copy->load.push_back(copy->kernels->load(copy->memory, m));
        copy->forward.push_back(copy->kernels->forward(copy->memory, m));
        copy->loss.push_back(copy->kernels->loss(copy->memory, m));
        copy->backward.push_back(copy->kernels->backward(copy->memory, m));
      }
      if (copy->norms != nullptr) copy->squared_norms = copy->kernels->squared_norms(copy->memory);
      copy->update = copy->kernels->update(copy->memory);
    }
  }
  return out;
}

Result<void> ReplicatedNetwork::perform(StageCall& call, std::int32_t step) {
  device_.launch(stream_, call, WorkTag{.instruction = 0, .step = step}, nullptr);
  return device_.synchronize();
}

Result<void> ReplicatedNetwork::perform(Op op, const Copy& copy, StageCall& call, std::int32_t step,
                                        std::int32_t microbatch, Timeline& timeline) {
  Stamp stamp;
  device_.launch(stream_, call, WorkTag{.instruction = 0, .step = step}, &stamp);
  PENSTOCK_TRY_VOID(device_.synchronize());
  timeline.spans.push_back(Span{.track = 0, .step = step, .start = stamp.start, .end = stamp.end,
                                .key = {.op = op, .stage = static_cast<std::uint16_t>(copy.stage.value), .microbatch = microbatch},
                                .label = -1});
  return {};
}

// What other stages made of the samples of `to`: values of its inputs, or gradients of its outputs.
void ReplicatedNetwork::bring(Copy& to, std::int32_t microbatch, bool forward) {
  const std::vector<std::int32_t>& edges = forward ? to.layout.in_edges : to.layout.out_edges;
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const PlanEdge& edge = plan_.edges[static_cast<std::size_t>(edges[k])];
    const StageId other = forward ? edge.from : edge.to;
    const PlanStage& stage = plan_.stages[other.index()];
    const Network& network = plan_.workload.networks[stage.network.index()];
    std::byte* const target = forward ? to.memory.stash + to.layout.received[k].value : to.memory.gradient_receive[k];
    const std::vector<Bytes> mine = tensor_offsets(network, edge.tensors, to.samples.count);
    for (const auto& from : copies_[other.index()]) {
      if (!runs(stage, from->number, microbatch)) continue;
      const std::vector<std::int32_t>& theirs = forward ? from->layout.out_edges : from->layout.in_edges;
      const auto place = static_cast<std::size_t>(std::find(theirs.begin(), theirs.end(), edges[k]) - theirs.begin());
      const std::byte* const source = forward ? from->memory.activation_send[place] : from->memory.gradient_send[place];
      const std::vector<Bytes> offsets = tensor_offsets(network, edge.tensors, from->samples.count);
      for (std::size_t t = 0; t < edge.tensors.size(); ++t) {
        const std::int64_t bytes = network.layers[edge.tensors[t].index()].output.bytes().value;
        for (std::int64_t sample = to.samples.first; sample < to.samples.end(); ++sample) {
          if (sample < from->samples.first || sample >= from->samples.end()) continue;
          sample_.resize(static_cast<std::size_t>(bytes));
          device_.read(sample_.data(), source + offsets[t].value + (sample - from->samples.first) * bytes, Bytes(bytes));
          device_.write(target + mine[t].value + (sample - to.samples.first) * bytes, sample_.data(), Bytes(bytes));
        }
      }
    }
  }
}

Result<void> ReplicatedNetwork::pass(std::int32_t step, std::int32_t microbatch, bool forward, Timeline& timeline) {
  const auto m = static_cast<std::size_t>(microbatch);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto s = static_cast<std::size_t>(forward ? order_[i] : order_[order_.size() - 1 - i]);
    for (const auto& copy : copies_[s]) {
      if (!runs(plan_.stages[s], copy->number, microbatch)) continue;
      bring(*copy, microbatch, forward);
      if (!forward) {
        PENSTOCK_TRY_VOID(perform(Op::BF, *copy, *copy->backward[m], step, microbatch, timeline));
        continue;
      }
      PENSTOCK_TRY_VOID(perform(Op::Load, *copy, *copy->load[m], step, microbatch, timeline));
      PENSTOCK_TRY_VOID(perform(Op::F, *copy, *copy->forward[m], step, microbatch, timeline));
      const Network& network = plan_.workload.networks[plan_.stages[s].network.index()];
      const auto& layers = plan_.stages[s].layers;
      if (std::any_of(layers.begin(), layers.end(), [&](LayerId l) { return network.layers[l.index()].is_loss(); })) {
        PENSTOCK_TRY_VOID(perform(Op::Loss, *copy, *copy->loss[m], step, microbatch, timeline));
      }
    }
  }
  return {};
}

void ReplicatedNetwork::add_up() {
  for (const auto& copies : copies_) {
    const Bytes bytes = copies[0]->layout.parameters;
    sum_.resize(static_cast<std::size_t>(bytes.value) / sizeof(float));
    term_.resize(sum_.size());
    device_.read(sum_.data(), copies[0]->memory.gradients, bytes);
    for (std::size_t c = 1; c < copies.size(); ++c) {
      device_.read(term_.data(), copies[c]->memory.gradients, bytes);
      for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += term_[i];
    }
    for (const auto& copy : copies) device_.write(copy->memory.gradients, sum_.data(), bytes);
  }
}

// Each parameter's from the first copy of its stage, in one table, which all have.
Result<void> ReplicatedNetwork::take_norms(std::int32_t step) {
  std::vector<double> table(all_parameters(plan_.workload).size(), 0.0);
  std::vector<double> own;
  for (const auto& copies : copies_) {
    Copy& first = *copies[0];
    own.assign(table.size(), 0.0);
    device_.write(first.norms, own.data(), bytes_of(own));
    PENSTOCK_TRY_VOID(perform(*first.squared_norms, step));
    device_.read(own.data(), first.norms, bytes_of(own));
    for (std::size_t p = 0; p < table.size(); ++p) table[p] += own[p];
  }
  for (const auto& copies : copies_) {
    for (const auto& copy : copies) device_.write(copy->norms, table.data(), bytes_of(table));
  }
  return {};
}

Result<void> ReplicatedNetwork::step(std::int32_t step, Timeline& timeline) {
  for (std::int32_t m = 0; m < plan_.microbatches; ++m) {
    PENSTOCK_TRY_VOID(pass(step, m, true, timeline));
    PENSTOCK_TRY_VOID(pass(step, m, false, timeline));
  }
  add_up();
  if (plan_.workload.optimizer.clip != 0) PENSTOCK_TRY_VOID(take_norms(step));
  for (const auto& copies : copies_) {
    for (const auto& copy : copies) PENSTOCK_TRY_VOID(perform(Op::Step, *copy, *copy->update, step, -1, timeline));
  }
  return {};
}

std::byte* ReplicatedNetwork::address(const ParameterPlace& place, std::int32_t state, const Copy& copy) {
  return state < 0 ? copy.memory.weights + place.offset.value
                   : copy.memory.optimizer + state * copy.layout.parameters.value + place.offset.value;
}

void ReplicatedNetwork::read(std::size_t parameter, std::int32_t state, std::span<float> out) const {
  const ParameterPlace& place = places_[parameter];
  device_.read(out.data(), address(place, state, *copies_[place.stage.index()][0]), bytes_of(out));
}

void ReplicatedNetwork::write(std::size_t parameter, std::int32_t state, std::span<const float> values) {
  const ParameterPlace& place = places_[parameter];
  for (const auto& copy : copies_[place.stage.index()]) {
    device_.write(address(place, state, *copy), values.data(), bytes_of(values));
  }
}

}  // namespace penstock
