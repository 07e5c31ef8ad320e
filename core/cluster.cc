#include "core/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/graph_algorithms.h"
#include "core/invalid.h"

namespace penstock {
namespace {

bool positive(double x) {
  return std::isfinite(x) && x > 0;
}

Result<void> validate_device(const Cluster& cluster, std::size_t i) {
  const Device& device = cluster.devices[i];
  const std::string at = fmt::format("/devices/{}", i);
  if (device.host.value < 0 || device.host.index() >= cluster.hosts.size())
    return invalid(at + "/host",
                   fmt::format("device '{}' stands in host {}, of {} hosts", device.name,
                               device.host.value, cluster.hosts.size()),
                   "name a host that is listed under hosts");
  if (device.kind.empty())
    return invalid(at + "/kind", fmt::format("device '{}' has no kind", device.name),
                   "say what it is, e.g. \"cpu\" or \"a100-80\": profiles are kept per kind");
  if (device.memory.value <= 0)
    return invalid(
        at + "/memory",
        fmt::format("device '{}' has {} bytes of memory", device.name, device.memory.value),
        "give its memory, e.g. \"16GiB\"");
  if (!positive(device.peak_f32.value))
    return invalid(
        at + "/peak_f32",
        fmt::format("device '{}' has a peak rate of {} FLOP/s", device.name, device.peak_f32.value),
        "give its peak rate, e.g. \"15.7TFLOP/s\"");
  if (!positive(device.memory_bandwidth.value))
    return invalid(at + "/memory_bandwidth",
                   fmt::format("device '{}' has a memory bandwidth of {} B/s", device.name,
                               device.memory_bandwidth.value),
                   "give its memory bandwidth, e.g. \"900GB/s\"");
  return {};
}

Result<void> validate_link(const Cluster& cluster, std::size_t i) {
  const Link& link = cluster.links[i];
  const std::string at = fmt::format("/links/{}", i);
  std::set<DeviceId> seen;
  for (std::size_t k = 0; k < link.devices.size(); ++k) {
    const DeviceId device = link.devices[k];
    const std::string place = fmt::format("{}/devices/{}", at, k);
    if (device.value < 0 || device.index() >= cluster.devices.size())
      return invalid(place,
                     fmt::format("link '{}' joins device {}, of {} devices", link.name,
                                 device.value, cluster.devices.size()),
                     "name devices that are listed under devices");
    if (!seen.insert(device).second)
      return invalid(place,
                     fmt::format("link '{}' joins device '{}' twice", link.name,
                                 cluster.devices[device.index()].name),
                     "name it once");
  }
  if (link.devices.size() < 2)
    return invalid(at + "/devices",
                   fmt::format("link '{}' joins {} devices", link.name, link.devices.size()),
                   "a link joins two or more devices");
  if (link.latency.value < 0 || link.latency > kLongestTime)
    return invalid(at + "/latency",
                   fmt::format("link '{}' has a latency of {} ns", link.name, link.latency.value),
                   "give a latency of zero or more, e.g. \"5us\"");
  if (!positive(link.bandwidth.value))
    return invalid(
        at + "/bandwidth",
        fmt::format("link '{}' has a bandwidth of {} B/s", link.name, link.bandwidth.value),
        "give a bandwidth above zero, e.g. \"1.25GB/s\"");
  return {};
}

Result<void> validate_connected(const Cluster& cluster) {
  std::vector<VertexPair> edges;  // a star for each link joins as much as all its pairs
  for (const Link& link : cluster.links)
    for (const DeviceId device : link.devices)
      edges.emplace_back(link.devices.front().value, device.value);
  const auto component = components(static_cast<std::int32_t>(cluster.devices.size()), edges);
  const auto apart =
      std::find_if(component.begin(), component.end(), [](auto c) { return c != 0; });
  if (apart == component.end()) return {};
  return invalid(
      "/links",
      fmt::format("no links lead from device '{}' to device '{}'", cluster.devices.front().name,
                  cluster.devices[static_cast<std::size_t>(*apart)].name),
      "add a link that joins them, or leave one of them out");
}

Path path_over(const Cluster& cluster, std::vector<LinkId> links) {
  Path path;
  path.bandwidth = cluster.links[links.front().index()].bandwidth;
  for (const LinkId id : links) {
    path.latency += cluster.links[id.index()].latency;
    path.bandwidth = std::min(path.bandwidth, cluster.links[id.index()].bandwidth);
  }
  path.links = std::move(links);
  return path;
}

bool joins(const Link& link, DeviceId a, DeviceId b) {
  bool has_a = false, has_b = false;
  for (const DeviceId device : link.devices) {
    has_a |= device == a;
    has_b |= device == b;
  }
  return has_a && has_b;
}

}  // namespace

std::optional<Path> route(const Cluster& cluster, DeviceId from, DeviceId to) {
  if (from == to) return Path{};
  // One link is the shortest of routes, and most pairs of most clusters have one.
  LinkId direct;
  for (std::size_t i = 0; i < cluster.links.size(); ++i)
    if (joins(cluster.links[i], from, to) &&
        (!direct.valid() || cluster.links[i].bandwidth > cluster.links[direct.index()].bandwidth))
      direct = LinkId(static_cast<std::int64_t>(i));
  if (direct.valid()) return path_over(cluster, {direct});

  std::vector<std::vector<std::int32_t>> members(cluster.links.size());
  std::vector<double> widths;
  for (std::size_t i = 0; i < cluster.links.size(); ++i) {
    for (const DeviceId device : cluster.links[i].devices) members[i].push_back(device.value);
    widths.push_back(cluster.links[i].bandwidth.value);
  }
  const auto nets = widest_shortest_route(static_cast<std::int32_t>(cluster.devices.size()),
                                          members, widths, from.value, to.value);
  if (!nets) return std::nullopt;
  std::vector<LinkId> links;
  for (const std::int32_t net : *nets) links.emplace_back(net);
  return path_over(cluster, std::move(links));
}

Result<void> validate(const Cluster& cluster) {
  if (cluster.devices.empty())
    return invalid("/devices", fmt::format("cluster '{}' has no devices", cluster.name),
                   "list at least one device");
  PENSTOCK_TRY_VOID(check_names(cluster.hosts, "/hosts", "host"));
  PENSTOCK_TRY_VOID(check_names(cluster.devices, "/devices", "device"));
  PENSTOCK_TRY_VOID(check_names(cluster.links, "/links", "link"));
  for (std::size_t i = 0; i < cluster.devices.size(); ++i)
    PENSTOCK_TRY_VOID(validate_device(cluster, i));
  for (std::size_t i = 0; i < cluster.links.size(); ++i)
    PENSTOCK_TRY_VOID(validate_link(cluster, i));
  return validate_connected(cluster);
}

}  // namespace penstock
