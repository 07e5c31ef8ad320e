#pragma once

// The builders that the table in builders.cc lists.

#include "models/workloads/builders.h"

namespace penstock {

WorkloadBuilder gpt_builder();
WorkloadBuilder mlp_builder();
WorkloadBuilder resnet_builder();
WorkloadBuilder unet_builder();

}  // namespace penstock
