#include "core/formats/cluster_format.h"

#include "core/file.h"
#include "core/formats/format_support.h"

namespace penstock {
namespace {

// The cluster as it stands in the file: as in core/cluster.h, with names for ids.

struct DeviceRecord {
  std::string name, host, kind;
  Bytes memory;
  FlopsPerSecond peak_f32;
  BytesPerSecond memory_bandwidth;
};

struct LinkRecord {
  std::string name;
  std::vector<std::string> devices;
  Nanoseconds latency;
  BytesPerSecond bandwidth;
  Sharing sharing = Sharing::None;
};

struct ClusterRecord {
  std::string name;
  std::vector<Host> hosts;
  std::vector<DeviceRecord> devices;
  std::vector<LinkRecord> links;
};

template <class A>
void describe(A& a, DeviceRecord& x) {
  a.required("name", x.name);
  a.required("host", x.host);
  a.required("kind", x.kind);
  a.required("memory", x.memory);
  a.required("peak_f32", x.peak_f32);
  a.required("memory_bandwidth", x.memory_bandwidth);
}

template <class A>
void describe(A& a, LinkRecord& x) {
  a.required("name", x.name);
  a.required("devices", x.devices);
  a.required("latency", x.latency);
  a.required("bandwidth", x.bandwidth);
  a.optional("sharing", x.sharing);
}

void write_value(JsonWriter& writer, const DeviceRecord& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const LinkRecord& x) {
  write_row(writer, x);
}

template <class A>
void describe(A& a, ClusterRecord& x) {
  a.required("name", x.name);
  a.required("hosts", x.hosts);
  a.required("devices", x.devices);
  unless_empty(a, "links", x.links);
}

}  // namespace

template <class A>
void describe(A& a, Host& x) {
  a.required("name", x.name);
}

namespace {

ClusterRecord to_record(const Cluster& cluster) {
  ClusterRecord out{cluster.name, cluster.hosts, {}, {}};
  for (const Device& x : cluster.devices)
    out.devices.push_back({x.name, cluster.hosts[x.host.index()].name, x.kind, x.memory, x.peak_f32,
                           x.memory_bandwidth});
  for (const Link& x : cluster.links)
    out.links.push_back(
        {x.name, names_of(x.devices, cluster.devices), x.latency, x.bandwidth, x.sharing});
  return out;
}

Result<Cluster> to_cluster(const ClusterRecord& record) {
  Cluster out{record.name, record.hosts, {}, {}};
  const NameTable hosts(record.hosts, "host"), devices(record.devices, "device");
  for (std::size_t i = 0; i < record.devices.size(); ++i) {
    const DeviceRecord& x = record.devices[i];
    Device device{x.name, HostId(), x.kind, x.memory, x.peak_f32, x.memory_bandwidth};
    PENSTOCK_TRY(device.host, hosts.find<HostId>(x.host, fmt::format("/devices/{}/host", i)));
    out.devices.push_back(std::move(device));
  }
  for (std::size_t i = 0; i < record.links.size(); ++i) {
    const LinkRecord& x = record.links[i];
    Link link{x.name, {}, x.latency, x.bandwidth, x.sharing};
    PENSTOCK_TRY(link.devices,
                 devices.find_all<DeviceId>(x.devices, fmt::format("/links/{}/devices", i)));
    out.links.push_back(std::move(link));
  }
  return out;
}

}  // namespace

bool read_value(ReadContext& context, const Value& value, Cluster& cluster) {
  ClusterRecord record;
  if (!read_field(context, value, record)) return false;
  auto converted = to_cluster(record);
  if (!converted) return fail_at_pointer(context, value, std::move(converted.error()));
  if (auto valid = validate(*converted); !valid)
    return fail_at_pointer(context, value, std::move(valid.error()));
  cluster = std::move(*converted);
  return true;
}

void write_value(JsonWriter& writer, const Cluster& cluster) {
  write_record(writer, to_record(cluster));
}

Result<Cluster> cluster_from(const Value& document, std::string file_name) {
  return from_document<Cluster>(document, std::move(file_name), kClusterSchema, false);
}

Result<Cluster> read_cluster(std::string_view text, std::string file_name) {
  PENSTOCK_TRY(const Value document, parse_document(text, file_name));
  return cluster_from(document, std::move(file_name));
}

std::string write_cluster(const Cluster& cluster) {
  return to_json(to_record(cluster), kClusterSchema);
}

std::string write_cluster_toml(const Cluster& cluster) {
  return json_to_toml(write_cluster(cluster));
}

}  // namespace penstock
