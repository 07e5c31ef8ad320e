#pragma once

// The schedules that are built in, one function a file. registry.cc lists them for everyone else.

#include <string>

#include "planner/schedules/schedule.h"

namespace penstock {

Schedule gpipe();        // gpipe.cc
Schedule one_f_one_b();  // one_f_one_b.cc

// For schedules of one chunk a rank and whole microbatches: "" if `shape` is that, else why not.
std::string refuses_chunks_and_slices(std::string_view name, const Shape& shape);

}  // namespace penstock
