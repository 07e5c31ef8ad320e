#pragma once

// Ranks of this process on its cores.

#include <memory>

#include "exec/backend.h"

namespace penstock::cpu {

// As long as there is a core for each rank, its compute stream is bound to one of its own; if there are fewer, and of a lone
// device, the system shares them out.
std::unique_ptr<Backend> make_cpu_backend();

}  // namespace penstock::cpu
