#include "tests/planner/random_workloads.h"

#include <fmt/format.h>

#include <map>

#include "models/workloads/network_builder.h"

namespace penstock::test {

Workload random_workload(Draws& draws, std::int64_t layers, std::int64_t batch) {
  const std::int64_t sequence = draws.between(1, 6);
  NetworkBuilder net("random", sequence);
  std::map<std::int64_t, std::vector<LayerId>> by_width;
  std::int64_t width = 6 * draws.between(1, 5);
  LayerId x = net.embedding("embedding", 256, width, 1.0);
  by_width[width].push_back(x);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string name = fmt::format("layer{}", i);
    const std::vector<LayerId>& equals = by_width[width];
    switch (draws.between(0, 5)) {
      case 0:
      case 1:
        width = 6 * draws.between(1, 5);
        x = net.linear(name, x, width, 0.1);
        break;
      case 2:
        x = net.gelu(name, x);
        break;
      case 3:
        x = net.layer_norm(name, x);
        break;
      case 4:
        width /= 3;
        x = net.attention(name, x, width % 2 == 0 ? 2 : 1);
        width *= 3;  // back to a multiple of three, whatever the next layer is
        x = net.linear(name + ".project", x, width, 0.1);
        break;
      default:
        x = net.add(name, x,
                    equals[static_cast<std::size_t>(
                        draws.between(0, static_cast<std::int64_t>(equals.size()) - 1))]);
    }
    by_width[width].push_back(x);
  }
  net.cross_entropy("loss", net.linear("head", x, 256, 0.1));
  Workload workload = net.take();
  workload.global_batch = batch;
  workload.optimizer.momentum = draws.chance(0.5) ? 0.9 : 0.0;
  return workload;
}

CostTable random_costs(Draws& draws, const Workload& workload, std::int64_t microbatch,
                       std::int64_t most) {
  CostTable costs;
  costs.source = "derived";
  costs.microbatch = microbatch;
  for (const Layer& layer : workload.networks.front().layers) {
    LayerCost& cost = costs.layers.emplace_back();
    const auto draw = [&] { return Nanoseconds(draws.between(0, most)); };
    if (!layer.sources.empty()) cost.load = draw();
    (layer.is_loss() ? cost.loss : cost.forward) = draw();
    cost.backward_input = draw();
    cost.backward_weight = draw();
    cost.step = draw();
    cost.scratch = Bytes(draws.between(0, 500));
  }
  return costs;
}

Cluster random_cluster(Draws& draws, std::int64_t devices, Bytes memory, bool uneven) {
  Cluster cluster;
  cluster.name = "random";
  cluster.hosts.push_back({"host"});
  std::vector<DeviceId> all;
  for (std::int64_t d = 0; d < devices; ++d) {
    Device& device = cluster.devices.emplace_back();
    device.name = fmt::format("device{}", d);
    device.host = HostId(0);
    device.kind = "test";
    device.memory = memory;
    device.peak_f32 = FlopsPerSecond(1e9);
    device.memory_bandwidth = BytesPerSecond(1e9);
    all.push_back(DeviceId(d));
  }
  const auto connect = [&](std::vector<DeviceId> ends) {
    Link& link = cluster.links.emplace_back();
    link.name = fmt::format("link{}", cluster.links.size());
    link.devices = std::move(ends);
    link.latency = Nanoseconds(draws.between(0, 200));
    link.bandwidth = BytesPerSecond(static_cast<double>(draws.between(1, 40)) * 1e8);
  };
  if (all.size() == 1) return cluster;
  if (!uneven) {
    connect(all);
    return cluster;
  }
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b) connect({all[a], all[b]});
  return cluster;
}

}  // namespace penstock::test
