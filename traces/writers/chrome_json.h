#pragma once

// A timeline as Chrome trace events, which Perfetto and chrome://tracing open: one process a rank, one thread a lane, one
// complete event ("X") a span, flows from SEND to RECV, counters. Times are microseconds with three decimals, so that no
// nanosecond is lost. The format is Google's "Trace Event Format" document.

#include <string>

#include "core/timeline.h"

namespace penstock {

std::string write_chrome_json(const Timeline& timeline);

}  // namespace penstock
