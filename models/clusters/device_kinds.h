#pragma once

// Kinds of device that can be named without a file, with the figures that derived costs use. Peak
// rates are those of f32 arithmetic without tensor cores, as the executors compute.

#include <span>
#include <string_view>

#include "core/result.h"
#include "core/units.h"

namespace penstock {

struct DeviceKind {
  std::string_view name;
  Bytes memory;  // nominal; 0 for cpu, whose memory is this machine's
  FlopsPerSecond peak_f32;
  BytesPerSecond memory_bandwidth;
  std::string_view about;
};

std::span<const DeviceKind> device_kinds();

// Usage error with the nearest known name.
Result<DeviceKind> find_device_kind(std::string_view name);

}  // namespace penstock
