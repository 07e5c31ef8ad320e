#include "sim/memory.h"

#include <algorithm>

namespace penstock {

LiveMemory live_memory(const Program& program, RankId rank) {
  const std::vector<Stream>& streams = program.ranks[rank.index()].streams;
  const std::size_t length = streams.empty() ? 0 : streams.front().body.size();
  LiveMemory memory;
  std::vector<std::int64_t> change(length + 1, 0);
  for (const Buffer& buffer : program.buffers_of(rank)) {
    const Bytes bytes = align_up(buffer.bytes, kTensorAlignment);
    if (is_persistent(buffer.cls)) {
      memory.always += bytes;
      continue;
    }
    PENSTOCK_CHECK(buffer.first <= buffer.last && buffer.last < length,
                   "a buffer is used outside its rank's body");
    change[buffer.first] += bytes.value;
    change[buffer.last + 1] -= bytes.value;
  }
  memory.at.reserve(length);
  memory.peak = memory.always;
  std::int64_t live = memory.always.value;
  for (std::size_t i = 0; i < length; ++i) {
    live += change[i];
    memory.at.push_back(Bytes(live));
    memory.peak = std::max(memory.peak, Bytes(live));
  }
  return memory;
}

}  // namespace penstock
