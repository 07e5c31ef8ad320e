#pragma once

// The stage kernels of the CPU backend: layers run one after the other on the calling thread, at the places the stage's
// layout gives them.

#include <memory>

#include "core/result.h"
#include "exec/stage.h"

namespace penstock::cpu {

Result<std::unique_ptr<Stage>> make_cpu_stage(const StageRequest& request);

}  // namespace penstock::cpu
