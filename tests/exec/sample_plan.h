#pragma once

// Plans of small workloads for the executor's tests.

#include <string>
#include <vector>

#include "core/plan.h"
#include "core/program.h"
#include "models/workloads/precision.h"

namespace penstock::test {

// As the planner makes it, on a flat cluster of CPU ranks. Fails the running test if there is none.
// Layers of the kinds `recompute` are made again.
Plan sample_plan(const std::string& workload, const std::string& schedule, std::int32_t ranks, std::int64_t microbatch,
                 const Optimizer& optimizer = {}, const std::vector<LayerKind>& recompute = {},
                 Precision precision = Precision::F32);
// The same with replicas of each stage.
Plan replicated_plan(const std::string& workload, const std::string& schedule, const std::vector<std::int32_t>& replicas,
                     Split split, std::int64_t microbatch, const Optimizer& optimizer = {},
                     const std::vector<LayerKind>& recompute = {}, Precision precision = Precision::F32);
Program sample_program(const Plan& plan);

// A text of `bytes` bytes in a temporary file that lasts as long as the process.
const std::string& sample_text();

}  // namespace penstock::test
