#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/graph_algorithms.h"
#include "core/invalid.h"
#include "core/layer_shapes.h"
#include "core/source_shape.h"
#include "core/workload.h"

namespace penstock {
namespace {

// No count of elements of a step comes near 2^63, so that byte counts (times 4, times a few copies)
// never overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 56;

// a·b, or -1 if that is more than the limit. Both are from 0 up.
std::int64_t limited_product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &out) || out > kMostElements ? -1 : out;
}

Result<void> check_dimensions(const std::vector<std::int64_t>& dimensions, const std::string& at,
                              const std::string& of) {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::string place = fmt::format("{}/{}", at, i);
    if (dimensions[i] < 1)
      return invalid(place, fmt::format("a dimension of {} is {}", of, dimensions[i]),
                     "dimensions are 1 or more");
    elements = limited_product(elements, dimensions[i]);
    if (elements < 0)
      return invalid(place, fmt::format("{} has more than 2^56 elements", of),
                     "check its dimensions");
  }
  return {};
}

template <class Tag>
Result<void> check_id(Id<Tag> id, std::size_t count, const std::string& at, const std::string& who,
                      std::string_view what) {
  if (id.value >= 0 && id.index() < count) return {};
  return invalid(at, fmt::format("{} names {} {}, of {}", who, what, id.value, count),
                 fmt::format("name a {} that is listed", what));
}

Result<void> check_source(const Workload& workload, std::size_t index) {
  const Source& source = workload.sources[index];
  const std::string at = fmt::format("/sources/{}", index);
  PENSTOCK_TRY_VOID(check_dimensions(source.sample.dimensions, at + "/sample/dimensions",
                                     fmt::format("source '{}'", source.name)));
  return within(at, check_source_shape(workload, SourceId(static_cast<std::int64_t>(index))));
}

Result<void> check_layer_list(const std::vector<LayerId>& layers, const Network& network,
                              const std::string& at, const std::string& who) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string place = fmt::format("{}/{}", at, i);
    PENSTOCK_TRY_VOID(check_id(layers[i], network.layers.size(), place, who, "layer"));
    if (i > 0 && layers[i] <= layers[i - 1])
      return invalid(place, fmt::format("the layers of {} are not in ascending order", who),
                     "list each once, in the order of the network");
  }
  return {};
}

Result<void> check_layer(const Workload& workload, const Network& network, std::size_t index,
                         const std::string& at) {
  const Layer& layer = network.layers[index];
  const std::string who = fmt::format("layer '{}'", layer.name);
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    const std::string place = fmt::format("{}/inputs/{}", at, i);
    const LayerId input = layer.inputs[i];
    PENSTOCK_TRY_VOID(check_id(input, network.layers.size(), place, who, "layer"));
    const Layer& producer = network.layers[input.index()];
    if (input.index() >= index)
      return invalid(
          place,
          fmt::format("{} reads layer '{}', which does not come before it", who, producer.name),
          "list layers after those they read");
    if (producer.is_loss())
      return invalid(place, fmt::format("{} reads the loss '{}'", who, producer.name),
                     "a loss is the end of its network");
  }
  for (std::size_t i = 0; i < layer.sources.size(); ++i)
    PENSTOCK_TRY_VOID(check_id(layer.sources[i], workload.sources.size(),
                               fmt::format("{}/sources/{}", at, i), who, "source"));
  PENSTOCK_TRY_VOID(check_dimensions(layer.output.dimensions, at + "/output/dimensions",
                                     fmt::format("the output of {}", who)));
  for (std::size_t i = 0; i < layer.parameters.size(); ++i) {
    const Parameter& parameter = layer.parameters[i];
    const std::string place = fmt::format("{}/parameters/{}", at, i);
    PENSTOCK_TRY_VOID(check_dimensions(parameter.dimensions, place + "/dimensions",
                                       fmt::format("parameter '{}'", parameter.name)));
    if (!std::isfinite(parameter.deviation) || parameter.deviation < 0)
      return invalid(
          place + "/deviation",
          fmt::format("the deviation of '{}' is {}", parameter.name, parameter.deviation),
          "a deviation is 0 or more");
  }
  return within(at,
                check_layer_shapes(workload, network, LayerId(static_cast<std::int64_t>(index))));
}

// Elements of all samples of a step, whoever reads them.
Result<void> check_source_sizes(const Workload& workload) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < workload.sources.size(); ++i) {
    const Source& source = workload.sources[i];
    const std::int64_t step = limited_product(source.sample.elements(), workload.global_batch);
    if (step < 0 || total + step > kMostElements)
      return invalid(fmt::format("/sources/{}/sample/dimensions", i),
                     fmt::format("up to source '{}' the samples of a step of {} are more than 2^56 "
                                 "elements",
                                 source.name, workload.global_batch),
                     "check the dimensions and global_batch");
    total += step;
  }
  return {};
}

// Elements that a step moves or keeps, summed with care over all networks: what later code may
// multiply and add without looking.
Result<void> check_size(const Workload& workload, const Network& network, const std::string& at,
                        std::int64_t& total) {
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    std::int64_t sample = layer.output.elements();
    for (const SourceId source : layer.sources)
      sample = std::max(sample, workload.sources[source.index()].sample.elements());
    if (layer.kind == LayerKind::Attention) {  // its probabilities: heads·T·T
      const std::int64_t rows = layer.output.dimensions.front();
      const std::int64_t square = limited_product(rows, rows);
      sample = std::max(sample, limited_product(square, layer.attribute("heads")));
      if (square < 0 || limited_product(square, layer.attribute("heads")) < 0) sample = -1;
    }
    std::int64_t step = limited_product(sample, workload.global_batch);
    for (const Parameter& parameter : layer.parameters)
      if (step >= 0)
        step = step + parameter.elements() > kMostElements ? -1 : step + parameter.elements();
    if (step < 0 || total + step > kMostElements)
      return invalid(
          fmt::format("{}/layers/{}", at, i),
          fmt::format("up to layer '{}' a step of {} samples takes more than 2^56 elements",
                      layer.name, workload.global_batch),
          "check the dimensions and global_batch");
    total += step;
  }
  return {};
}

bool is_trained(const Workload& workload, std::size_t network) {
  for (const Store& store : workload.stores)
    if (store.kind == StoreKind::Trained && store.network.index() == network) return true;
  return false;
}

// A trained network has one loss, and each of its layers a part in it: else some gradient would be
// undefined. Opaque layers may hide a loss and readers.
Result<void> check_loss(const Network& network, const std::string& at) {
  std::size_t losses = 0;
  bool opaque = false;
  std::vector<bool> is_read(network.layers.size(), false);
  for (const Layer& layer : network.layers) {
    losses += layer.is_loss();
    opaque |= layer.kind == LayerKind::Opaque;
    for (const LayerId input : layer.inputs) is_read[input.index()] = true;
  }
  if (losses > 1 || (losses == 0 && !opaque))
    return invalid(at + "/layers",
                   fmt::format("network '{}' is trained and has {} losses", network.name, losses),
                   "a trained network has exactly one cross_entropy or mean_squared layer");
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (!is_read[i] && !layer.is_loss() && layer.kind != LayerKind::Opaque)
      return invalid(fmt::format("{}/layers/{}", at, i),
                     fmt::format("nothing reads layer '{}', and it is no loss", layer.name),
                     "leave it out, or let a later layer read it");
  }
  return {};
}

Result<void> check_network(const Workload& workload, std::size_t index, std::int64_t& elements) {
  const Network& network = workload.networks[index];
  const std::string at = fmt::format("/networks/{}", index);
  if (network.layers.empty())
    return invalid(at + "/layers", fmt::format("network '{}' has no layers", network.name),
                   "list at least one layer");
  PENSTOCK_TRY_VOID(check_names(network.layers, at + "/layers", "layer"));
  std::set<std::string_view> parameters;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const std::string place = fmt::format("{}/layers/{}", at, i);
    PENSTOCK_TRY_VOID(check_layer(workload, network, i, place));
    for (std::size_t k = 0; k < network.layers[i].parameters.size(); ++k) {
      const std::string& name = network.layers[i].parameters[k].name;
      if (name.empty() || !parameters.insert(name).second)
        return invalid(fmt::format("{}/parameters/{}/name", place, k),
                       name.empty() ? "a parameter without a name"
                                    : fmt::format("two parameters are named '{}'", name),
                       "give each parameter of a network a name of its own");
    }
  }
  PENSTOCK_TRY_VOID(check_size(workload, network, at, elements));
  if (is_trained(workload, index)) return check_loss(network, at);
  return {};
}

Result<void> check_store(const Workload& workload, std::size_t index) {
  const Store& store = workload.stores[index];
  const std::string at = fmt::format("/stores/{}", index),
                    who = fmt::format("store '{}'", store.name);
  PENSTOCK_TRY_VOID(
      check_id(store.network, workload.networks.size(), at + "/network", who, "network"));
  PENSTOCK_TRY_VOID(check_layer_list(store.layers, workload.networks[store.network.index()],
                                     at + "/layers", who));
  if (store.kind == StoreKind::Ema || store.kind == StoreKind::Copy) {
    PENSTOCK_TRY_VOID(check_id(store.of, workload.stores.size(), at + "/of", who, "store"));
    if (store.of.index() == index)
      return invalid(at + "/of", who + " follows itself", "name the store it follows");
  } else if (store.of.valid()) {
    return invalid(at + "/of", who + " follows another store and is neither ema nor copy",
                   "leave 'of' out, or make it an ema or a copy");
  }
  if (!(store.decay >= 0 && store.decay <= 1))
    return invalid(at + "/decay", fmt::format("the decay of {} is {}", who, store.decay),
                   "a decay is from 0 to 1");
  if (store.refresh_period < 1 || store.refresh_latency < 0)
    return invalid(at + (store.refresh_period < 1 ? "/refresh_period" : "/refresh_latency"),
                   fmt::format("{} is refreshed every {} steps, {} late", who, store.refresh_period,
                               store.refresh_latency),
                   "the period is 1 or more, the latency 0 or more");
  return {};
}

// Each parameter is someone's: of one trained or frozen store, or else of a copy.
Result<void> check_cover(const Workload& workload) {
  for (std::size_t n = 0; n < workload.networks.size(); ++n) {
    const Network& network = workload.networks[n];
    std::vector<int> owners(network.layers.size(), 0), holders(network.layers.size(), 0);
    for (const Store& store : workload.stores) {
      if (store.network.index() != n) continue;
      const bool owns = store.kind == StoreKind::Trained || store.kind == StoreKind::Frozen;
      for (std::size_t i = 0; i < network.layers.size(); ++i) {
        const bool holds = store.layers.empty() ||
                           std::find(store.layers.begin(), store.layers.end(),
                                     LayerId(static_cast<std::int64_t>(i))) != store.layers.end();
        holders[i] += holds;
        owners[i] += holds && owns;
      }
    }
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      if (network.layers[i].parameters.empty() || (holders[i] > 0 && owners[i] <= 1)) continue;
      return invalid(
          "/stores",
          fmt::format(
              "layer '{}' of network '{}' has its parameters in {} trained or frozen stores",
              network.layers[i].name, network.name, owners[i]),
          "each layer with parameters belongs to one");
    }
  }
  return {};
}

Result<void> check_tasks(const Workload& workload) {
  for (std::size_t i = 0; i < workload.tasks.size(); ++i) {
    const Task& task = workload.tasks[i];
    const std::string at = fmt::format("/tasks/{}", i), who = fmt::format("task '{}'", task.name);
    PENSTOCK_TRY_VOID(
        check_id(task.network, workload.networks.size(), at + "/network", who, "network"));
    PENSTOCK_TRY_VOID(check_layer_list(task.layers, workload.networks[task.network.index()],
                                       at + "/layers", who));
    if (task.store.valid())
      PENSTOCK_TRY_VOID(check_id(task.store, workload.stores.size(), at + "/store", who, "store"));
    if (task.period < 1 || workload.hyper_period % task.period != 0)
      return invalid(at + "/period", fmt::format("{} has the period {}", who, task.period),
                     fmt::format("a period divides hyper_period, {}", workload.hyper_period));
    if (task.offset < 0 || task.offset >= task.period)
      return invalid(at + "/offset", fmt::format("{} has the offset {}", who, task.offset),
                     "an offset is from 0 to below the period");
  }
  std::vector<VertexPair> same_step;
  for (std::size_t i = 0; i < workload.edges.size(); ++i) {
    const TaskEdge& edge = workload.edges[i];
    const std::string at = fmt::format("/edges/{}", i);
    PENSTOCK_TRY_VOID(check_id(edge.from, workload.tasks.size(), at + "/from", "an edge", "task"));
    PENSTOCK_TRY_VOID(check_id(edge.to, workload.tasks.size(), at + "/to", "an edge", "task"));
    if (edge.distance < 0)
      return invalid(at + "/distance", fmt::format("an edge has the distance {}", edge.distance),
                     "a distance is 0 steps or more");
    if (edge.staleness < 0 || (edge.staleness > 0 && edge.kind != DependencyKind::State))
      return invalid(at + "/staleness", fmt::format("an edge has the staleness {}", edge.staleness),
                     "a staleness is 0 or more, and only state edges have one");
    if (edge.distance == 0 && edge.staleness == 0)
      same_step.emplace_back(edge.from.value, edge.to.value);
  }
  if (!topological_order(static_cast<std::int32_t>(workload.tasks.size()), same_step))
    return invalid("/edges", "tasks wait for each other within one step, in a circle",
                   "give one of the edges a distance");
  return {};
}

Result<void> check_phases(const Workload& workload) {
  PENSTOCK_TRY_VOID(check_names(workload.phases, "/phases", "phase"));
  for (std::size_t i = 0; i < workload.phases.size(); ++i) {
    const Phase& phase = workload.phases[i];
    const bool last = i + 1 == workload.phases.size();
    if (phase.steps < 0 || (phase.steps == 0 && !last))
      return invalid(fmt::format("/phases/{}/steps", i),
                     fmt::format("phase '{}' has {} steps", phase.name, phase.steps),
                     "1 or more; the last phase may have 0, for until told to stop");
  }
  return {};
}

}  // namespace

Result<void> validate(const Workload& workload) {
  if (workload.global_batch < 1)
    return invalid("/global_batch", fmt::format("the global batch is {}", workload.global_batch),
                   "1 sample or more");
  if (workload.hyper_period < 1)
    return invalid("/hyper_period", fmt::format("the hyper-period is {}", workload.hyper_period),
                   "1 step or more");
  if (workload.networks.empty())
    return invalid("/networks", fmt::format("workload '{}' has no networks", workload.name),
                   "list at least one network");
  PENSTOCK_TRY_VOID(check_names(workload.sources, "/sources", "source"));
  PENSTOCK_TRY_VOID(check_names(workload.networks, "/networks", "network"));
  PENSTOCK_TRY_VOID(check_names(workload.stores, "/stores", "store"));
  PENSTOCK_TRY_VOID(check_names(workload.tasks, "/tasks", "task"));
  for (std::size_t i = 0; i < workload.sources.size(); ++i)
    PENSTOCK_TRY_VOID(check_source(workload, i));
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < workload.networks.size(); ++i)
    PENSTOCK_TRY_VOID(check_network(workload, i, elements));
  PENSTOCK_TRY_VOID(check_source_sizes(workload));
  for (std::size_t i = 0; i < workload.stores.size(); ++i)
    PENSTOCK_TRY_VOID(check_store(workload, i));
  PENSTOCK_TRY_VOID(check_cover(workload));
  PENSTOCK_TRY_VOID(check_tasks(workload));
  PENSTOCK_TRY_VOID(check_phases(workload));
  return validate(workload.optimizer);
}

}  // namespace penstock
