#pragma once

// Whether a layer has the operands, attributes, output and parameters that its kind asks for
// (LayerKind; the table of kinds in docs/formats/workload.md). Opaque layers may have any.

#include "core/result.h"
#include "core/workload.h"

namespace penstock {

// References of the layer must be in range. Places in errors are seen from the layer: "/output",
// "/parameters/0".
Result<void> check_layer_shapes(const Workload& workload, const Network& network, LayerId layer);

}  // namespace penstock
