#include <fmt/core.h>
#include <unistd.h>

#include "core/version.h"
#include "exec/cpu/processor.h"
#include "profiler/profiler.h"

namespace penstock {

Fingerprint identify_machine() {
  Fingerprint machine;
  machine.cpu = cpu::processor_name();
  machine.cores = cpu::core_count();
  machine.instruction_set = cpu::instruction_set();
  machine.memory = Bytes(static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE));
  machine.software = fmt::format("penstock {}, {}", version(), cpu::kernel_libraries());
  return machine;
}

}  // namespace penstock
