#pragma once

// What Linux says of the machine we run on.

#include <cstdint>
#include <string>

#include "core/units.h"

namespace penstock {

struct HostInfo {
  // "Intel(R) Xeon(R) …, family 6 model 85 stepping 7", or "unknown".
  std::string cpu;
  std::int64_t cores = 1;  // that this process may run on (its affinity mask)
  // MemTotal of /proc/meminfo, or the control group's limit if that is less; whole MiB.
  Bytes memory;
};

// `root`: the folder in place of "/", for tests. The number of cores is this process's own in any
// case.
HostInfo read_host_info(const std::string& root = "/");

}  // namespace penstock
