#include "models/clusters/device_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

namespace penstock {
namespace {

constexpr Bytes gib(std::int64_t n) {
  return Bytes(n << 30);
}

// GPUs: the vendor's data sheets of the SXM boards (Tesla V100 2018, A100 2021, H100 2023). A CPU
// core: round figures for one core of a current server, fixed so that plans made without a profile
// are the same on every machine: two 256-bit fused multiply-adds a cycle at 3 GHz are 96 GFLOP/s,
// and one core draws about 10 GB/s from memory.
constexpr std::array<DeviceKind, 5> kKinds = {{
    {"cpu", Bytes(0), FlopsPerSecond(100e9), BytesPerSecond(10e9), "one core of this machine"},
    {"v100", gib(16), FlopsPerSecond(15.7e12), BytesPerSecond(900e9), "NVIDIA V100 SXM2 16 GB"},
    {"a100-40", gib(40), FlopsPerSecond(19.5e12), BytesPerSecond(1555e9), "NVIDIA A100 SXM4 40 GB"},
    {"a100-80", gib(80), FlopsPerSecond(19.5e12), BytesPerSecond(2039e9), "NVIDIA A100 SXM4 80 GB"},
    {"h100", gib(80), FlopsPerSecond(67e12), BytesPerSecond(3350e9), "NVIDIA H100 SXM5 80 GB"},
}};

}  // namespace

std::span<const DeviceKind> device_kinds() {
  return kKinds;
}

Result<DeviceKind> find_device_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const DeviceKind& kind : kKinds) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  const std::string_view meant = nearest(name, names);
  const std::string all =
      fmt::format("known: {}; others are described in a file", fmt::join(names, ", "));
  return fail(ErrorCode::Usage, fmt::format("unknown device kind \"{}\"", name),
              meant.empty() ? all : fmt::format("did you mean {}? {}", meant, all));
}

}  // namespace penstock
