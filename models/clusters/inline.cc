#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/clusters/clusters.h"
#include "models/clusters/device_kinds.h"
#include "models/clusters/host_info.h"
#include "models/clusters/this_machine.h"
#include "models/text_form.h"

// "flat:…" and "nodes:…". What a setting may say is decided here; what a cluster must be, by
// penstock::validate.

namespace penstock {
namespace {

constexpr std::int64_t kMostDevices = 65536;

// The quantity that `key` gives, if it is given; `example`: a unit of it. Errors of the unit parsers become usage errors
// that name the key.
template <class T>
Result<std::optional<T>> quantity(const TextForm& form, std::string_view key,
                                  Result<T> (*parse)(std::string_view), std::string_view example,
                                  bool may_be_zero) {
  const std::string* text = form.find(key);
  if (text == nullptr) return std::optional<T>();
  if (lacks_unit(*text)) {
    return fail(ErrorCode::Usage, fmt::format("{}: {}={} has no unit", form.name, key, *text),
                fmt::format("write e.g. {}={}{}", key, *text, example));
  }
  Result<T> value = parse(*text);
  if (!value)
    return fail(ErrorCode::Usage, fmt::format("{}: {}: {}", form.name, key, value.error().message),
                value.error().hint);
  if (!may_be_zero && *value == T())
    return fail(ErrorCode::Usage, fmt::format("{}: {} must be above zero", form.name, key));
  return std::optional<T>(*value);
}

// One way to reach other devices, as two settings say it.
struct LinkSettings {
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Nanoseconds> latency;
};

Result<LinkSettings> link_settings(const TextForm& form, std::string_view bandwidth,
                                   std::string_view latency) {
  LinkSettings settings;
  PENSTOCK_TRY(settings.bandwidth, quantity(form, bandwidth, parse_bandwidth, "GB/s", false));
  PENSTOCK_TRY(settings.latency, quantity(form, latency, parse_time, "us", true));
  return settings;
}

Result<Link> make_link(const TextForm& form, std::string name, const LinkSettings& settings,
                       std::string_view key) {
  if (!settings.bandwidth) {
    return fail(ErrorCode::Usage, fmt::format("{}: {} is missing", form.name, key),
                fmt::format("say how fast the link is, e.g. {}=25GB/s", key));
  }
  return Link{std::move(name),
              {},
              settings.latency.value_or(Nanoseconds(0)),
              *settings.bandwidth,
              Sharing::None};
}

// The device that all of the cluster are copies of; `sharing` of them share a host's memory.
Result<Device> device_of(const TextForm& form, std::int64_t sharing) {
  const std::string* name = form.find("device");
  PENSTOCK_TRY(const DeviceKind kind,
               find_device_kind(name == nullptr ? "cpu" : std::string_view(*name)));
  PENSTOCK_TRY(const std::optional<Bytes> memory, quantity(form, "memory", parse_bytes, "GiB", false));
  Device device{"",          HostId(0),     std::string(kind.name),
                kind.memory, kind.peak_f32, kind.memory_bandwidth};
  if (memory)
    device.memory = *memory;
  else if (kind.memory == Bytes(0))
    device.memory = even_part(read_host_info().memory, sharing);
  return device;
}

Result<Cluster> flat(const TextForm& form, std::string_view text) {
  PENSTOCK_TRY_VOID(expect_keys(form, {"device", "bandwidth", "latency", "memory"}));
  PENSTOCK_TRY(const std::int64_t n,
               parse_count(form.argument, "flat: the number of devices", 1, kMostDevices));
  PENSTOCK_TRY(Device device, device_of(form, n));
  PENSTOCK_TRY(const LinkSettings settings, link_settings(form, "bandwidth", "latency"));
  Cluster cluster{std::string(text), {}, {}, {}};
  const bool cpu = device.kind == "cpu";
  for (std::int64_t i = 0; i < n; ++i) {
    if (!cpu || i == 0) cluster.hosts.push_back({fmt::format("host{}", i)});
    device.name = fmt::format("{}.{}", device.kind, i);
    device.host = HostId(cpu ? 0 : i);
    cluster.devices.push_back(device);
  }
  if (n == 1) return cluster;
  Link link = thread_link(n);
  if (!cpu || settings.bandwidth || settings.latency) {
    PENSTOCK_TRY(Link asked, make_link(form, "flat", settings, "bandwidth"));
    asked.devices = std::move(link.devices);
    link = std::move(asked);
  }
  cluster.links.push_back(std::move(link));
  return cluster;
}

Result<Cluster> nodes(const TextForm& form, std::string_view text) {
  PENSTOCK_TRY_VOID(
      expect_keys(form, {"device", "intra", "inter", "intra-latency", "inter-latency", "memory"}));
  const std::size_t cross = form.argument.find('x');
  if (cross == std::string::npos) {
    return fail(
        ErrorCode::Usage,
        fmt::format("nodes: \"{}\" does not say how many hosts of how many devices", form.argument),
        "write e.g. nodes:4x8");
  }
  PENSTOCK_TRY(
      const std::int64_t hosts,
      parse_count(form.argument.substr(0, cross), "nodes: the number of hosts", 1, kMostDevices));
  PENSTOCK_TRY(const std::int64_t each,
               parse_count(form.argument.substr(cross + 1), "nodes: devices of a host", 1,
                           kMostDevices / hosts));
  PENSTOCK_TRY(Device device, device_of(form, each));
  PENSTOCK_TRY(const LinkSettings intra, link_settings(form, "intra", "intra-latency"));
  PENSTOCK_TRY(const LinkSettings inter, link_settings(form, "inter", "inter-latency"));
  Cluster cluster{std::string(text), {}, {}, {}};
  for (std::int64_t host = 0; host < hosts; ++host) {
    cluster.hosts.push_back({fmt::format("host{}", host)});
    for (std::int64_t i = 0; i < each; ++i) {
      device.name = fmt::format("host{}.{}.{}", host, device.kind, i);
      device.host = HostId(host);
      cluster.devices.push_back(device);
    }
    if (each == 1) continue;
    PENSTOCK_TRY(Link link, make_link(form, fmt::format("host{}.intra", host), intra, "intra"));
    for (std::int64_t i = 0; i < each; ++i) link.devices.emplace_back(host * each + i);
    cluster.links.push_back(std::move(link));
  }
  if (hosts == 1) return cluster;
  PENSTOCK_TRY(Link link, make_link(form, "inter", inter, "inter"));
  for (std::int64_t i = 0; i < hosts * each; ++i) link.devices.emplace_back(i);
  cluster.links.push_back(std::move(link));
  return cluster;
}

}  // namespace

Result<Cluster> inline_cluster(std::string_view text) {
  PENSTOCK_TRY(const TextForm form, parse_text_form(text));
  PENSTOCK_CHECK(form.name == "flat" || form.name == "nodes", "the caller looked at the name");
  return form.name == "flat" ? flat(form, text) : nodes(form, text);
}

}  // namespace penstock
