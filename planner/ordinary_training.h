#pragma once

// What can be planned and lowered yet.

#include "core/result.h"
#include "core/workload.h"

namespace penstock {

// (Infeasible) by name where the workload is more than training one network in every step: several
// networks, stores that are not trained, tasks, edges between them, a hyper-period, several phases.
Result<void> expect_ordinary_training(const Workload& workload);

}  // namespace penstock
