#pragma once

// Counts a rank's memory as the interpreter acquires and releases the program's buffers in issue order: the highest end
// address ever in use and the most bytes in use at once, found without the layout's totals. It also proves, as the run
// goes, that no two live buffers overlap.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"

namespace penstock {

class MemoryMeter {
 public:
  // False if the range overlaps one that is in use: the layout or the order of release is wrong.
  [[nodiscard]] bool acquire(Bytes offset, Bytes bytes);
  void release(Bytes offset, Bytes bytes);

  Bytes highest_end() const { return highest_end_; }
  Bytes live_peak() const { return live_peak_; }  // each buffer counted in multiples of the tensor alignment

 private:
  struct Range {
    std::int64_t begin, end;
  };
  std::vector<Range> ranges_;  // by begin; grows to the most ever live at once, then no more
  Bytes live_, highest_end_, live_peak_;
};

}  // namespace penstock
