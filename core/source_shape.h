#pragma once

// Whether a source of data has the type and shape that its kind asks for, and the company: all
// images of a workload are of one shape (one sample has one image), a label and noise belong to an
// image.

#include "core/result.h"
#include "core/workload.h"

namespace penstock {

// Places in errors are seen from the source: "/kind", "/sample/dimensions".
Result<void> check_source_shape(const Workload& workload, SourceId source);

}  // namespace penstock
