#include "core/formats/workload_format.h"

#include <fmt/format.h>

#include <optional>

#include "core/file.h"
#include "core/formats/format_support.h"
#include "core/formats/optimizer_fields.h"

namespace penstock {
namespace {

// The workload as it stands in the file: as in core/workload.h, with names for ids.

struct LayerRecord {
  std::string name;
  LayerKind kind = LayerKind::Opaque;
  std::map<std::string, std::int64_t> attributes;
  std::vector<std::string> inputs, sources;
  TensorShape output;
  std::vector<Parameter> parameters;
};

struct NetworkRecord {
  std::string name;
  std::vector<LayerRecord> layers;
};

struct StoreRecord {
  std::string name, network;
  std::vector<std::string> layers;
  StoreKind kind = StoreKind::Trained;
  std::optional<std::string> of;
  double decay = 0;
  std::int64_t refresh_period = 1, refresh_latency = 0;
};

struct TaskRecord {
  std::string name;
  TaskKind kind = TaskKind::Forward;
  std::string network;
  std::vector<std::string> layers;
  std::optional<std::string> store;
  std::int64_t period = 1, offset = 0;
};

struct TaskEdgeRecord {
  std::string from, to;
  DependencyKind kind = DependencyKind::Data;
  std::int64_t distance = 0, staleness = 0;
};

struct WorkloadRecord {
  std::string name;
  std::int64_t global_batch = 1, hyper_period = 1;
  Optimizer optimizer;
  std::vector<Phase> phases;
  std::vector<Source> sources;
  std::vector<StoreRecord> stores;
  std::vector<TaskRecord> tasks;
  std::vector<TaskEdgeRecord> edges;
  std::vector<NetworkRecord> networks;
};

template <class A>
void describe(A& a, LayerRecord& x) {
  a.required("name", x.name);
  a.required("kind", x.kind);
  unless_empty(a, "attributes", x.attributes);
  unless_empty(a, "inputs", x.inputs);
  unless_empty(a, "sources", x.sources);
  a.required("output", x.output);
  unless_empty(a, "parameters", x.parameters);
}

void write_value(JsonWriter& writer, const LayerRecord& x) {
  write_row(writer, x);
}

template <class A>
void describe(A& a, NetworkRecord& x) {
  a.required("name", x.name);
  a.required("layers", x.layers);
}

template <class A>
void describe(A& a, StoreRecord& x) {
  a.required("name", x.name);
  a.required("network", x.network);
  unless_empty(a, "layers", x.layers);
  a.optional("kind", x.kind);
  a.optional("of", x.of);
  const bool follows = x.kind == StoreKind::Ema || x.kind == StoreKind::Copy;
  if (!A::kReading && !follows) return;
  a.optional("decay", x.decay);
  a.optional("refresh_period", x.refresh_period);
  a.optional("refresh_latency", x.refresh_latency);
}

template <class A>
void describe(A& a, TaskRecord& x) {
  a.required("name", x.name);
  a.required("kind", x.kind);
  a.required("network", x.network);
  unless_empty(a, "layers", x.layers);
  a.optional("store", x.store);
  a.optional("period", x.period);
  a.optional("offset", x.offset);
}

template <class A>
void describe(A& a, TaskEdgeRecord& x) {
  a.required("from", x.from);
  a.required("to", x.to);
  a.optional("kind", x.kind);
  a.optional("distance", x.distance);
  a.optional("staleness", x.staleness);
}

template <class A>
void describe(A& a, WorkloadRecord& x) {
  a.required("name", x.name);
  a.required("global_batch", x.global_batch);
  a.optional("hyper_period", x.hyper_period);
  a.optional("optimizer", x.optimizer);
  unless_empty(a, "phases", x.phases);
  unless_empty(a, "sources", x.sources);
  unless_empty(a, "stores", x.stores);
  unless_empty(a, "tasks", x.tasks);
  unless_empty(a, "edges", x.edges);
  a.required("networks", x.networks);
}

}  // namespace

template <class A>
void describe(A& a, TensorShape& x) {
  a.optional("type", x.type);
  a.required("dimensions", x.dimensions);
}

template <class A>
void describe(A& a, Parameter& x) {
  a.required("name", x.name);
  a.required("dimensions", x.dimensions);
  a.optional("initializer", x.initializer);
  if (A::kReading || x.deviation != 0) a.optional("deviation", x.deviation);
}

template <class A>
void describe(A& a, Source& x) {
  a.required("name", x.name);
  a.optional("kind", x.kind);
  a.required("sample", x.sample);
}

template <class A>
void describe(A& a, Phase& x) {
  a.required("name", x.name);
  a.optional("steps", x.steps);
  unless_empty(a, "transition", x.transition);
}

namespace {

NetworkRecord to_record(const Workload& workload, const Network& network) {
  NetworkRecord out{network.name, {}};
  for (const Layer& layer : network.layers)
    out.layers.push_back(
        {layer.name, layer.kind, layer.attributes, names_of(layer.inputs, network.layers),
         names_of(layer.sources, workload.sources), layer.output, layer.parameters});
  return out;
}

WorkloadRecord to_record(const Workload& w) {
  WorkloadRecord out;
  out.name = w.name;
  out.global_batch = w.global_batch;
  out.hyper_period = w.hyper_period;
  out.optimizer = w.optimizer;
  out.phases = w.phases;
  out.sources = w.sources;
  const auto optional_name = [&](StoreId id) {
    return id.valid() ? std::optional(w.stores[id.index()].name) : std::nullopt;
  };
  for (const Store& x : w.stores) {
    const Network& network = w.networks[x.network.index()];
    out.stores.push_back({x.name, network.name, names_of(x.layers, network.layers), x.kind,
                          optional_name(x.of), x.decay, x.refresh_period, x.refresh_latency});
  }
  for (const Task& x : w.tasks) {
    const Network& network = w.networks[x.network.index()];
    out.tasks.push_back({x.name, x.kind, network.name, names_of(x.layers, network.layers),
                         optional_name(x.store), x.period, x.offset});
  }
  for (const TaskEdge& x : w.edges)
    out.edges.push_back({w.tasks[x.from.index()].name, w.tasks[x.to.index()].name, x.kind,
                         x.distance, x.staleness});
  for (const Network& network : w.networks) out.networks.push_back(to_record(w, network));
  return out;
}

Result<Network> to_network(const WorkloadRecord& record, std::size_t index) {
  const NetworkRecord& from = record.networks[index];
  const NameTable layers(from.layers, "layer"), sources(record.sources, "source");
  Network out{from.name, {}};
  for (std::size_t i = 0; i < from.layers.size(); ++i) {
    const LayerRecord& x = from.layers[i];
    const std::string at = fmt::format("/networks/{}/layers/{}", index, i);
    Layer layer{x.name, x.kind, x.attributes, {}, {}, x.output, x.parameters};
    PENSTOCK_TRY(layer.inputs, layers.find_all<LayerId>(x.inputs, at + "/inputs"));
    PENSTOCK_TRY(layer.sources, sources.find_all<SourceId>(x.sources, at + "/sources"));
    out.layers.push_back(std::move(layer));
  }
  return out;
}

// Every network trained as a whole: what most training does, and what is meant where a file lists
// no stores.
std::vector<Store> default_stores(const std::vector<Network>& networks) {
  std::vector<Store> out;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    Store store;
    store.name = networks[i].name;
    store.network = NetworkId(static_cast<std::int64_t>(i));
    out.push_back(std::move(store));
  }
  return out;
}

Result<Workload> to_workload(const WorkloadRecord& record) {
  Workload out;
  out.name = record.name;
  out.global_batch = record.global_batch;
  out.hyper_period = record.hyper_period;
  out.optimizer = record.optimizer;
  out.phases = record.phases;
  out.sources = record.sources;
  for (std::size_t i = 0; i < record.networks.size(); ++i) {
    PENSTOCK_TRY(Network network, to_network(record, i));
    out.networks.push_back(std::move(network));
  }
  const NameTable networks(record.networks, "network"), stores(record.stores, "store"),
      tasks(record.tasks, "task");
  const auto find_layers = [&](NetworkId network, const std::vector<std::string>& names,
                               const std::string& at) {
    return NameTable(record.networks[network.index()].layers, "layer")
        .find_all<LayerId>(names, at + "/layers");
  };
  for (std::size_t i = 0; i < record.stores.size(); ++i) {
    const StoreRecord& x = record.stores[i];
    const std::string at = fmt::format("/stores/{}", i);
    Store store;
    store.name = x.name;
    store.kind = x.kind;
    store.decay = x.decay;
    store.refresh_period = x.refresh_period;
    store.refresh_latency = x.refresh_latency;
    PENSTOCK_TRY(store.network, networks.find<NetworkId>(x.network, at + "/network"));
    PENSTOCK_TRY(store.layers, find_layers(store.network, x.layers, at));
    if (x.of) {
      PENSTOCK_TRY(store.of, stores.find<StoreId>(*x.of, at + "/of"));
    }
    out.stores.push_back(std::move(store));
  }
  if (out.stores.empty()) out.stores = default_stores(out.networks);
  for (std::size_t i = 0; i < record.tasks.size(); ++i) {
    const TaskRecord& x = record.tasks[i];
    const std::string at = fmt::format("/tasks/{}", i);
    Task task;
    task.name = x.name;
    task.kind = x.kind;
    task.period = x.period;
    task.offset = x.offset;
    PENSTOCK_TRY(task.network, networks.find<NetworkId>(x.network, at + "/network"));
    PENSTOCK_TRY(task.layers, find_layers(task.network, x.layers, at));
    if (x.store) {
      PENSTOCK_TRY(task.store, stores.find<StoreId>(*x.store, at + "/store"));
    }
    out.tasks.push_back(std::move(task));
  }
  for (std::size_t i = 0; i < record.edges.size(); ++i) {
    const TaskEdgeRecord& x = record.edges[i];
    const std::string at = fmt::format("/edges/{}", i);
    TaskEdge edge;
    edge.kind = x.kind;
    edge.distance = x.distance;
    edge.staleness = x.staleness;
    PENSTOCK_TRY(edge.from, tasks.find<TaskId>(x.from, at + "/from"));
    PENSTOCK_TRY(edge.to, tasks.find<TaskId>(x.to, at + "/to"));
    out.edges.push_back(edge);
  }
  return out;
}

}  // namespace

bool read_value(ReadContext& context, const Value& value, Workload& workload) {
  WorkloadRecord record;
  if (!read_field(context, value, record)) return false;
  auto converted = to_workload(record);
  if (!converted) return fail_at_pointer(context, value, std::move(converted.error()));
  if (auto valid = validate(*converted); !valid)
    return fail_at_pointer(context, value, std::move(valid.error()));
  workload = std::move(*converted);
  return true;
}

void write_value(JsonWriter& writer, const Workload& workload) {
  write_record(writer, to_record(workload));
}

Result<Workload> workload_from(const Value& document, std::string file_name) {
  return from_document<Workload>(document, std::move(file_name), kWorkloadSchema, false);
}

Result<Workload> read_workload(std::string_view text, std::string file_name) {
  PENSTOCK_TRY(const Value document, parse_document(text, file_name));
  return workload_from(document, std::move(file_name));
}

std::string write_workload(const Workload& workload) {
  return to_json(to_record(workload), kWorkloadSchema);
}

std::string write_workload_toml(const Workload& workload) {
  return json_to_toml(write_workload(workload));
}

}  // namespace penstock
