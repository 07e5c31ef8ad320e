#include "core/workload.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "core/random.h"

namespace penstock {
namespace {

std::int64_t product(const std::vector<std::int64_t>& dimensions) {
  return std::accumulate(dimensions.begin(), dimensions.end(), std::int64_t{1},
                         std::multiplies<>());
}

template <class E>
std::string_view name_of(E value) {
  for (const auto& [known, name] : enum_names(E{}))
    if (known == value) return name;
  PENSTOCK_CHECK(false, "an enumerator without a name");
}

std::string text(const std::vector<std::int64_t>& dimensions) {
  return dimensions.empty() ? "scalar" : fmt::format("{}", fmt::join(dimensions, "x"));
}

std::string text(const TensorShape& shape) {
  return text(shape.dimensions) + ":" + std::string(name_of(shape.type));
}

template <class Tag>
std::string text(const std::vector<Id<Tag>>& ids) {
  std::string out;
  for (const auto id : ids) out += fmt::format(" {}", id.value);
  return out;
}

// Names are written with their length: no choice of names makes two different workloads read the
// same.
std::string text(const std::string& name) {
  return fmt::format("{}:{}", name.size(), name);
}

void append(std::string& out, const Layer& layer) {
  out += fmt::format("layer {} {}", text(layer.name), name_of(layer.kind));
  for (const auto& [key, value] : layer.attributes) out += fmt::format(" {}={}", text(key), value);
  out += fmt::format(" in{} from{} -> {}\n", text(layer.inputs), text(layer.sources),
                     text(layer.output));
  for (const Parameter& p : layer.parameters)
    out += fmt::format("parameter {} {} {} {}\n", text(p.name), text(p.dimensions),
                       name_of(p.initializer), p.deviation);
}

// Beyond kind, rate and momentum, and only what is not as it was before there was a choice: the
// fingerprints of plain training stay what they were.
void append(std::string& out, const Optimizer& x) {
  Optimizer plain;
  plain.learning_rate = x.learning_rate;
  plain.momentum = x.momentum;
  if (x == plain) return;
  const LearningRateSchedule& s = x.schedule;
  out += fmt::format("adam {} {} {} decay {} clip {}\n", x.beta1, x.beta2, x.epsilon,
                     x.weight_decay, x.clip);
  out += fmt::format("schedule {} {} {} {} {} {}\n", name_of(s.kind), s.warmup, s.steps, s.final,
                     s.every, s.factor);
}

}  // namespace

std::int64_t size_of(DataType type) {
  switch (type) {
    case DataType::F32:
      return 4;
    case DataType::BF16:
      return 2;
    case DataType::Byte:
      return 1;
  }
  PENSTOCK_CHECK(false, "a data type without a size");
}

std::int64_t TensorShape::elements() const {
  return product(dimensions);
}
Bytes TensorShape::bytes() const {
  return Bytes(elements() * size_of(type));
}
std::int64_t Parameter::elements() const {
  return product(dimensions);
}

std::int64_t Layer::attribute(const std::string& key) const {
  const auto found = attributes.find(key);
  PENSTOCK_CHECK(found != attributes.end(), "layer " + name + " lacks " + key);
  return found->second;
}

std::int64_t Network::parameter_count() const {
  std::int64_t count = 0;
  for (const Layer& layer : layers)
    for (const Parameter& parameter : layer.parameters) count += parameter.elements();
  return count;
}

std::string signature(const Workload& workload, const Network& network, LayerId layer) {
  const Layer& self = network.layers[layer.index()];
  std::string out(name_of(self.kind));
  // Shapes do not tell what an opaque layer costs: each is its own kind.
  if (self.kind == LayerKind::Opaque) out += fmt::format(" {}/{}", network.name, self.name);
  for (const auto& [key, value] : self.attributes) out += fmt::format(" {}={}", key, value);
  std::string_view separator = " ";
  const auto operand = [&](const TensorShape& shape) {
    out += separator;
    out += text(shape);
    separator = ", ";
  };
  for (const LayerId input : self.inputs) operand(network.layers[input.index()].output);
  for (const SourceId source : self.sources) operand(workload.sources[source.index()].sample);
  out += " -> " + text(self.output);
  // Parameters that operands do not imply: the sizes of tables, and all of an opaque layer.
  if (self.kind == LayerKind::Embedding || self.kind == LayerKind::Opaque)
    for (const Parameter& parameter : self.parameters)
      out += fmt::format(" [{}]", text(parameter.dimensions));
  return out;
}

std::string fingerprint(const Workload& w) {
  std::string out = fmt::format("workload 1 hyper_period {}\n", w.hyper_period);
  for (const Source& s : w.sources)
    out += fmt::format("source {} {} {}\n", text(s.name), name_of(s.kind), text(s.sample));
  for (const Network& network : w.networks) {
    out += fmt::format("network {}\n", text(network.name));
    for (const Layer& layer : network.layers) append(out, layer);
  }
  for (const Store& s : w.stores)
    out += fmt::format("store {} {} {} of {} layers{} decay {} refresh {} {}\n", text(s.name),
                       name_of(s.kind), s.network.value, s.of.value, text(s.layers), s.decay,
                       s.refresh_period, s.refresh_latency);
  for (const Task& t : w.tasks)
    out += fmt::format("task {} {} {} store {} layers{} every {} from {}\n", text(t.name),
                       name_of(t.kind), t.network.value, t.store.value, text(t.layers), t.period,
                       t.offset);
  for (const TaskEdge& e : w.edges)
    out += fmt::format("edge {} {} {} distance {} staleness {}\n", e.from.value, e.to.value,
                       name_of(e.kind), e.distance, e.staleness);
  for (const Phase& p : w.phases)
    out += fmt::format("phase {} {} {}\n", text(p.name), p.steps, text(p.transition));
  out += fmt::format("optimizer {} {} {}\n", name_of(w.optimizer.kind), w.optimizer.learning_rate,
                     w.optimizer.momentum);
  append(out, w.optimizer);
  return fmt::format("{:016x}", hash(out));
}

std::string cost_fingerprint(const Workload& workload) {
  Workload plain = workload;
  const Optimizer& x = workload.optimizer;
  plain.optimizer = {.kind = x.kind,
                     .momentum = !x.adaptive() && x.momentum == 0 ? 0 : 0.9,
                     .weight_decay = x.weight_decay != 0 ? 0.1 : 0,
                     .clip = x.clip != 0 ? 1.0 : 0};
  return fingerprint(plain);
}

}  // namespace penstock
