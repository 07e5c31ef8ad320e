#pragma once

// How the time of a layer grows with the microbatch: t(b) = base + per_sample · b. Information on how far layers are from
// scaling; planning uses measured sizes alone.

#include <vector>

#include "core/profile.h"

namespace penstock {

// One for each (signature, op) that was measured at three sizes or more, by least squares of the relative error of the
// medians, base >= 0. In the order of signatures, then ops.
std::vector<LayerFit> fit_layers(const std::vector<LayerTime>& times);

}  // namespace penstock
