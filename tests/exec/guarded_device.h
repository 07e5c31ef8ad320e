#pragma once

// A device whose memory only its own work can touch: the host gets at it through write() and read() alone, as with a
// processor that has memory of its own. Any other access ends the test with a segmentation fault.

#include <memory>

#include "exec/device.h"

namespace penstock::test {

// Of the backend "cpu".
std::unique_ptr<RankDevice> guarded_device();

}  // namespace penstock::test
