#pragma once

// How activations are stored, for a workload as a whole.

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/workload.h"

namespace penstock {

enum class Precision : std::uint8_t { F32, BF16 };
constexpr auto enum_names(Precision) {
  return std::to_array<std::pair<Precision, std::string_view>>(
      {{Precision::F32, "f32"}, {Precision::BF16, "bf16"}});
}

// The outputs of all layers but losses, and so the gradients of those outputs. Parameters, their gradients and the
// optimizer's state stay f32, and so does all arithmetic: with BF16 what is stored is rounded to the nearest bf16.
void set_precision(Workload& workload, Precision activations);

}  // namespace penstock
