#pragma once

// The text of --optimizer.

#include <string>

#include "core/optimizer.h"
#include "core/result.h"

namespace penstock::cli {

// "sgd:learning-rate=0.1,momentum=0.9",
// "adamw:learning-rate=1e-3,weight-decay=0.1,clip=1,schedule=cosine,warmup=100,steps=1000,final=0.1".
// What is left out keeps its value if the kind stays what it is, and is the kind's usual one if not. Usage errors: an unknown
// kind, a key that is unknown or that the kind or the schedule does not read, a number out of its range.
Result<void> parse_optimizer(const std::string& text, Optimizer& optimizer);

}  // namespace penstock::cli
