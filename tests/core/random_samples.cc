#include "tests/core/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

namespace penstock::test {
namespace {

using Random = std::mt19937_64;

// Not std::uniform_int_distribution: its numbers differ between standard libraries.
std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

double draw_real(Random& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53 *
         static_cast<double>(draw(random, 1, 1'000'000));
}

std::string draw_name(Random& random, std::size_t number) {
  static const std::string endings[] = {
      "", ".weight", " two words", "\"quoted\"", "line\nbreak", "Größe", "a/b~c", "\\"};
  return fmt::format("x{}{}", number, endings[static_cast<std::size_t>(draw(random, 0, 7))]);
}

std::vector<std::int64_t> draw_dimensions(Random& random) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(draw(random, 0, 3)));
  for (std::int64_t& x : out) x = draw(random, 1, 60);
  return out;
}

template <class E>
E draw_enum(Random& random) {
  const auto names = enum_names(E{});
  return names[static_cast<std::size_t>(
                   draw(random, 0, static_cast<std::int64_t>(names.size()) - 1))]
      .first;
}

Spread draw_spread(Random& random) {
  Spread out;
  out.n = draw(random, 1, 100);
  out.min = Nanoseconds(draw(random, 0, 1'000'000));
  out.p10 = out.min + Nanoseconds(draw(random, 0, 1000));
  out.median = out.p10 + Nanoseconds(draw(random, 0, 1000));
  out.p90 = out.median + Nanoseconds(draw(random, 0, 100'000));
  out.mad = Nanoseconds(draw(random, 0, 1000));
  return out;
}

// Only what its kind reads differs from the kind's usual numbers: the rest is not in a file.
Optimizer draw_optimizer(Random& random) {
  Optimizer out = default_optimizer(draw_enum<OptimizerKind>(random));
  out.learning_rate = draw_real(random);
  if (out.adaptive()) {
    out.beta1 = 0.8;
    out.epsilon = 1e-6;
  } else {
    out.momentum = draw(random, 0, 1) == 0 ? 0 : 0.9;
  }
  if (draw(random, 0, 1) == 0) out.weight_decay = draw(random, 0, 1) == 0 ? 0 : draw_real(random);
  if (draw(random, 0, 1) == 0) out.clip = draw_real(random);
  out.schedule.kind = draw_enum<DecayKind>(random);
  out.schedule.warmup = draw(random, 0, 3);
  if (out.schedule.kind == DecayKind::Linear || out.schedule.kind == DecayKind::Cosine) {
    out.schedule.steps = out.schedule.warmup + draw(random, 1, 9);
    out.schedule.final = 0.5;
  } else if (out.schedule.kind == DecayKind::Step) {
    out.schedule.every = draw(random, 1, 9);
    out.schedule.factor = 0.25;
  }
  return out;
}

}  // namespace

Workload random_workload(std::uint64_t seed) {
  Random random(seed);
  Workload out;
  out.name = draw_name(random, 0);
  out.global_batch = draw(random, 1, 512);
  // Images and labels ask for shapes of their own.
  constexpr SourceKind kFree[] = {SourceKind::Text, SourceKind::NextText, SourceKind::Synthetic};
  for (int i = 0; i < 2; ++i)
    out.sources.push_back({draw_name(random, static_cast<std::size_t>(i)),
                           kFree[static_cast<std::size_t>(draw(random, 0, 2))],
                           {draw_enum<DataType>(random), draw_dimensions(random)}});
  const auto networks = static_cast<std::size_t>(draw(random, 1, 2));
  for (std::size_t n = 0; n < networks; ++n) {
    Network net{draw_name(random, n), {}};
    const auto layers = static_cast<std::size_t>(draw(random, 1, 12));
    for (std::size_t i = 0; i < layers; ++i) {
      Layer layer;
      layer.name = draw_name(random, i);
      for (std::size_t k = 0; k < i; ++k)
        if (draw(random, 0, 3) == 0) layer.inputs.emplace_back(static_cast<std::int64_t>(k));
      if (layer.inputs.empty()) layer.sources.emplace_back(draw(random, 0, 1));
      if (draw(random, 0, 2) == 0)
        layer.attributes = {{"stride", draw(random, -5, 5)}, {draw_name(random, 1), 7}};
      layer.output = {draw_enum<DataType>(random), draw_dimensions(random)};
      for (std::int64_t p = draw(random, 0, 2); p > 0; --p)
        layer.parameters.push_back({fmt::format("{}:{}", i, p), draw_dimensions(random),
                                    draw_enum<Initializer>(random),
                                    draw(random, 0, 1) == 0 ? 0 : draw_real(random),
                                    draw_enum<ParameterRole>(random)});
      net.layers.push_back(std::move(layer));
    }
    out.networks.push_back(std::move(net));
    Store store;
    store.name = draw_name(random, n);
    store.network = NetworkId(static_cast<std::int64_t>(n));
    if (draw(random, 0, 2) == 0) store.kind = StoreKind::Frozen;
    out.stores.push_back(std::move(store));
  }
  out.optimizer = draw_optimizer(random);
  return out;
}

Cluster random_cluster(std::uint64_t seed) {
  Random random(seed);
  Cluster out;
  out.name = draw_name(random, 0);
  const auto hosts = static_cast<std::size_t>(draw(random, 1, 3));
  for (std::size_t i = 0; i < hosts; ++i) out.hosts.push_back({draw_name(random, i)});
  const std::int64_t devices = draw(random, 1, 9);
  for (std::int64_t i = 0; i < devices; ++i)
    out.devices.push_back({draw_name(random, static_cast<std::size_t>(i)),
                           HostId(draw(random, 0, out.hosts.size() - 1)), "kind of its own",
                           Bytes(draw(random, 1, 1'000'000'000'000)),
                           FlopsPerSecond(1 + draw_real(random)),
                           BytesPerSecond(1 + draw_real(random))});
  const auto add_link = [&](std::vector<DeviceId> joined) {
    out.links.push_back({draw_name(random, out.links.size()), std::move(joined),
                         Nanoseconds(draw(random, 0, 100'000)),
                         BytesPerSecond(1 + static_cast<double>(draw(random, 0, 3))),
                         draw_enum<Sharing>(random)});
  };
  for (std::int64_t i = 1; i < devices; ++i)
    add_link({DeviceId(draw(random, 0, i - 1)), DeviceId(i)});
  for (std::int64_t extra = draw(random, 0, 4); extra > 0 && devices > 1; --extra) {
    std::set<DeviceId> joined;
    while (joined.size() < 2 || draw(random, 0, 2) == 0)
      joined.insert(DeviceId(draw(random, 0, devices - 1)));
    add_link({joined.begin(), joined.end()});
  }
  return out;
}

Profile random_profile(std::uint64_t seed) {
  Random random(seed);
  Profile out = sample_profile();
  out.workload = draw_name(random, 0);
  out.load_average = draw_real(random);
  out.times.clear();
  for (std::int64_t i = draw(random, 0, 20); i > 0; --i)
    out.times.push_back({draw_name(random, static_cast<std::size_t>(i)), draw_enum<CostOp>(random),
                         draw(random, 0, 64), draw_spread(random)});
  for (std::int64_t i = draw(random, 0, 5); i > 0; --i)
    out.links.push_back({"network", Bytes(std::int64_t{1} << (2 * i)), draw_spread(random)});
  out.warnings.assign(static_cast<std::size_t>(draw(random, 0, 2)), draw_name(random, 3));
  return out;
}

Plan random_plan(std::uint64_t seed) {
  Random random(seed);
  Plan out = sample_plan();
  out.workload = random_workload(random());
  out.cluster = random_cluster(random());
  const std::int64_t ranks = static_cast<std::int64_t>(out.cluster.devices.size());
  out.microbatch_size = out.workload.global_batch % 2 == 0 ? 2 : 1;
  out.microbatches = out.workload.global_batch / out.microbatch_size;
  out.schedule.parameters.clear();
  out.devices.clear();
  for (std::int64_t r = 0; r < ranks; ++r)
    out.devices.push_back({RankId(r), DeviceId(draw(random, 0, ranks - 1)),
                           Bytes(draw(random, 0, 1 << 30)), Bytes(1 << 30)});
  out.stages.clear();
  out.edges.clear();
  for (std::size_t n = 0; n < out.workload.networks.size(); ++n) {
    const std::size_t begin = out.stages.size();
    for (std::size_t i = 0; i < out.workload.networks[n].layers.size(); ++i) {
      if (i == 0 || draw(random, 0, 3) == 0) {
        PlanStage stage;
        stage.network = NetworkId(static_cast<std::int64_t>(n));
        const auto s = static_cast<std::int64_t>(out.stages.size());
        stage.devices = {RankId(s % ranks)};
        stage.chunk = static_cast<std::int32_t>(s / ranks);
        stage.split = draw_enum<Split>(random);
        stage.times.forward = Nanoseconds(draw(random, 0, 1'000'000'000));
        stage.memory.stash = Bytes(draw(random, 0, 1'000'000'000));
        out.stages.push_back(stage);
      }
      out.stages.back().layers.emplace_back(static_cast<std::int64_t>(i));
      if (draw(random, 0, 4) == 0)
        out.stages.back().recompute.emplace_back(static_cast<std::int64_t>(i));
    }
    std::vector<std::vector<LayerId>> divided(out.stages.size());
    for (std::size_t s = begin; s < out.stages.size(); ++s) divided[s] = out.stages[s].layers;
    for (PlanEdge edge : crossing_edges(out.workload.networks[n], divided, out.microbatch_size)) {
      edge.activation = Nanoseconds(draw(random, 0, 1'000'000));
      out.edges.push_back(edge);
    }
  }
  if (out.workload.optimizer.clip != 0 && out.ranks() > 1) out.gather_bandwidth = BytesPerSecond(1e9);
  if (draw(random, 0, 1) == 0) out.certificate.runner_up = draw_name(random, 9);
  out.iteration_time_s = draw_real(random);
  out.certificate.objective_unit = draw(random, 0, 1) == 0 ? "s" : "B";
  return out;
}

}  // namespace penstock::test
