#pragma once

// Two quantities in one sentence: "rank 0 takes 136 KiB, not 140 KiB".

#include <string>
#include <utility>

#include "core/units.h"

namespace penstock {

// As text() writes them; to the byte ("139264 B") or the nanosecond where those texts are equal and the quantities are not.
std::pair<std::string, std::string> contrast(Bytes a, Bytes b);
std::pair<std::string, std::string> contrast(Nanoseconds a, Nanoseconds b);

}  // namespace penstock
