#include "planner/partition/stage_figures.h"

#include <algorithm>

#include "core/footprint.h"

namespace penstock {
namespace {

Bytes aligned(Bytes bytes) {
  return align_up(bytes, kTensorAlignment);
}

}  // namespace

StageGrower::StageGrower(const Workload& workload, const CostTable& costs) {
  const Network& network = workload.networks.front();
  const std::int64_t microbatch = costs.microbatch;
  for (const Source& source : workload.sources)
    source_sizes_.push_back(aligned(microbatch * source.sample.bytes()));
  layers_.resize(network.layers.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = network.layers[i];
    const LayerCost& cost = costs.layers[i];
    LayerFacts& facts = layers_[i];
    std::vector<TensorShape> shapes;
    for (const LayerId input : layer.inputs) {
      shapes.push_back(network.layers[input.index()].output);
      facts.inputs.push_back(input.value);
      layers_[input.index()].last_reader = static_cast<std::int32_t>(i);
    }
    for (const SourceId source : layer.sources) facts.sources.push_back(source.value);
    for (std::vector<std::int32_t>* list : {&facts.inputs, &facts.sources}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    const BackwardNeeds needs = backward_needs(layer, shapes, microbatch);
    facts.keeps_inputs = needs.inputs;
    facts.saved = aligned(needs.saved);
    facts.size = aligned(microbatch * layer.output.bytes());
    facts.scratch = aligned(cost.scratch);
    for (const Parameter& parameter : layer.parameters)
      facts.parameters += aligned(Bytes(parameter.elements() * size_of(DataType::F32)));
    facts.compute =
        cost.load + cost.forward + cost.loss + cost.backward_input + cost.backward_weight;
    facts.step = cost.step;
    facts.recomputed = cost.recomputed;
    if (facts.recomputed) facts.again = cost.forward;
  }
  // Backwards run only on the way to a loss; in a network without one, everywhere.
  const bool has_loss = std::any_of(network.layers.begin(), network.layers.end(),
                                    [](const Layer& l) { return l.is_loss(); });
  for (std::size_t i = layers_.size(); i-- > 0;) {
    if (!has_loss || network.layers[i].is_loss()) layers_[i].has_gradient = true;
    if (!layers_[i].has_gradient) layers_[i].keeps_inputs = false;
    if (layers_[i].has_gradient)
      for (const std::int32_t input : layers_[i].inputs)
        layers_[static_cast<std::size_t>(input)].has_gradient = true;
  }
  before_.resize(layers_.size() + 1);
  for (std::size_t i = 0; i < layers_.size(); ++i) before_[i + 1] = before_[i] + layers_[i].compute;
  received_in_.assign(layers_.size(), 0);
  kept_in_.assign(layers_.size(), 0);
  source_in_.assign(source_sizes_.size(), 0);
}

void StageGrower::start(std::int32_t first) {
  first_ = end_ = first;
  figures_ = {};
  figures_.before = before_[static_cast<std::size_t>(first)];
  remade_ = gradients_ = scratch_ = Bytes(0);
  ++round_;
}

// Of a layer whose output stays inside: when its backward runs, the gradient of its output and
// those of its inputs that stay inside too lie in the workspace.
Bytes StageGrower::gradients_at(std::int32_t layer) const {
  const LayerFacts& facts = layers_[static_cast<std::size_t>(layer)];
  if (!facts.has_gradient) return Bytes(0);
  Bytes sum = facts.size;
  for (const std::int32_t input : facts.inputs) {
    const LayerFacts& producer = layers_[static_cast<std::size_t>(input)];
    if (input >= first_ && producer.last_reader < end_) sum += producer.size;
  }
  return sum;
}

// A value of this range that outlives the forward: in the stash, or where R makes it again.
void StageGrower::keep(std::size_t producer) {
  if (kept_in_[producer] == round_) return;
  kept_in_[producer] = round_;
  const LayerFacts& facts = layers_[producer];
  (facts.recomputed ? remade_ : figures_.stash) += facts.size;
  if (facts.saved.value == 0) figures_.compute += facts.again;
}

void StageGrower::extend() {
  const std::int32_t layer = end_++;
  const LayerFacts& facts = layers_[static_cast<std::size_t>(layer)];
  figures_.compute += facts.compute;
  figures_.step += facts.step;
  figures_.parameters += facts.parameters;
  (facts.recomputed ? remade_ : figures_.stash) += facts.saved;
  if (facts.saved.value > 0) figures_.compute += facts.again;
  scratch_ = std::max(scratch_, facts.scratch);
  for (const std::int32_t source : facts.sources) {
    const auto s = static_cast<std::size_t>(source);
    if (source_in_[s] == round_) continue;
    source_in_[s] = round_;
    figures_.data += source_sizes_[s];
  }
  if (facts.last_reader >= 0) figures_.sent += facts.size;
  for (const std::int32_t input : facts.inputs) {
    const auto u = static_cast<std::size_t>(input);
    const LayerFacts& producer = layers_[u];
    if (input < first_) {
      if (received_in_[u] == round_) continue;
      received_in_[u] = round_;
      figures_.received += producer.size;
      figures_.stash += producer.size;
      continue;
    }
    if (facts.keeps_inputs || (facts.recomputed && !producer.recomputed)) keep(u);
    if (producer.last_reader == layer) {
      figures_.sent -= producer.size;
      gradients_ = std::max(gradients_, gradients_at(input));
    }
  }
  // Layers that nobody reads: losses, whose output gradient has no place. Their inputs' gradients
  // were counted above.
  figures_.workspace = remade_ + gradients_ + scratch_;
}

}  // namespace penstock
