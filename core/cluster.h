#pragma once

// On what a workload runs: hosts, the devices in them, and the links between devices. A link joins two or more devices
// (a cable, an NVLink domain, a switch); between two devices a route is the list of links a message crosses.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/result.h"
#include "core/units.h"

namespace penstock {

struct Host {
  std::string name;
  bool operator==(const Host&) const = default;
};

struct Device {
  std::string name;
  HostId host;
  std::string kind;  // "cpu", "a100-80", …: profiles are per kind
  Bytes memory;
  FlopsPerSecond peak_f32;
  BytesPerSecond memory_bandwidth;

  bool operator==(const Device&) const = default;
};

// Whether concurrent transfers on one link slow one another down.
enum class Sharing : std::uint8_t { None, Shared };
constexpr auto enum_names(Sharing) {
  return std::to_array<std::pair<Sharing, std::string_view>>(
      {{Sharing::None, "none"}, {Sharing::Shared, "shared"}});
}

struct Link {
  std::string name;
  std::vector<DeviceId> devices;  // any two of them reach each other over this link
  Nanoseconds latency;
  BytesPerSecond bandwidth;
  Sharing sharing = Sharing::None;

  bool operator==(const Link&) const = default;
};

struct Cluster {
  std::string name;
  std::vector<Host> hosts;
  std::vector<Device> devices;  // rank r of a plan runs on the device the plan gives it
  std::vector<Link> links;

  bool operator==(const Cluster&) const = default;
};

// What a message between two devices costs: α + bytes/β, α the sum of the route's latencies, β its least bandwidth.
struct Path {
  std::vector<LinkId> links;  // empty between a device and itself
  Nanoseconds latency;
  BytesPerSecond bandwidth;

  Nanoseconds time(Bytes bytes) const { return links.empty() ? Nanoseconds(0) : transfer_time(latency, bandwidth, bytes); }
};

// The route with the fewest links, then the most bandwidth, then the lowest link numbers. Nothing if none exists.
// O(link ends) a call; two devices on one link, the common case, need only a look at each link.
std::optional<Path> route(const Cluster& cluster, DeviceId from, DeviceId to);

// Names present and unique, references in range, at least one device, positive memory and rates, every pair of devices
// connected. Unknown kinds of device are fine. Errors carry a JSON pointer from the cluster. O(devices + link ends).
Result<void> validate(const Cluster& cluster);

}  // namespace penstock
