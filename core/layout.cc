#include "core/layout.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace penstock {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

std::int64_t rounded(Bytes bytes) {
  return align_up(bytes, kTensorAlignment).value;
}

// Memory as a list of blocks in address order, used and free, neighbours linked; free ones also by
// (size, address). What lies above the last used block is free without end and belongs to no block.
class Arena {
 public:
  explicit Arena(std::size_t most_blocks) { blocks_.reserve(2 * most_blocks + 1); }

  // Into the smallest gap that holds `size`, the lowest of equals; else on top. Returns the block.
  std::uint32_t place(std::int64_t size) {
    const auto gap = gaps_.lower_bound({size, 0, 0});
    if (gap == gaps_.end()) {
      const std::uint32_t block = make(top_, size, last_, kNone);
      if (last_ != kNone) blocks_[last_].next = block;
      last_ = block;
      top_ += size;
      return block;
    }
    const std::uint32_t block = std::get<2>(*gap);
    auto node = gaps_.extract(gap);
    Block& whole = blocks_[block];
    whole.used = true;
    if (const std::int64_t rest = whole.size - size; rest > 0) {
      const std::uint32_t next = whole.next;  // never kNone: a gap has a used block above it
      whole.size = size;
      const std::uint32_t remainder = make(whole.offset + size, rest, block, next);
      blocks_[remainder].used = false;
      blocks_[block].next = remainder;
      blocks_[next].previous = remainder;
      node.value() = {rest, blocks_[remainder].offset, remainder};
      gaps_.insert(std::move(node));
    }
    return block;
  }

  void release(std::uint32_t block) {
    blocks_[block].used = false;
    if (const std::uint32_t below = blocks_[block].previous; below != kNone && !blocks_[below].used)
      block = join(below, block);
    if (const std::uint32_t above = blocks_[block].next; above != kNone && !blocks_[above].used)
      block = join(block, above);
    if (blocks_[block].next != kNone) {
      gaps_.insert({blocks_[block].size, blocks_[block].offset, block});
      return;
    }
    top_ = blocks_[block].offset;
    last_ = blocks_[block].previous;
    if (last_ != kNone) blocks_[last_].next = kNone;
    spare_.push_back(block);
  }

  std::int64_t offset(std::uint32_t block) const { return blocks_[block].offset; }
  std::int64_t top() const { return top_; }

 private:
  struct Block {
    std::int64_t offset, size;
    std::uint32_t previous, next;
    bool used;
  };

  std::uint32_t make(std::int64_t offset, std::int64_t size, std::uint32_t previous,
                     std::uint32_t next) {
    const Block block{offset, size, previous, next, true};
    if (spare_.empty()) {
      blocks_.push_back(block);
      return static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    const std::uint32_t reused = spare_.back();
    spare_.pop_back();
    blocks_[reused] = block;
    return reused;
  }

  // Two free neighbours become one; whichever of them is in gaps_ leaves it.
  std::uint32_t join(std::uint32_t lower, std::uint32_t upper) {
    gaps_.erase({blocks_[lower].size, blocks_[lower].offset, lower});
    gaps_.erase({blocks_[upper].size, blocks_[upper].offset, upper});
    blocks_[lower].size += blocks_[upper].size;
    blocks_[lower].next = blocks_[upper].next;
    if (blocks_[upper].next != kNone) blocks_[blocks_[upper].next].previous = lower;
    if (last_ == upper) last_ = lower;
    spare_.push_back(upper);
    return lower;
  }

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> spare_;
  std::set<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> gaps_;
  std::uint32_t last_ = kNone;
  std::int64_t top_ = 0;
};

Layout best_fit(std::span<const Lifetime> lifetimes) {
  struct Start {
    std::uint32_t first, index;
    std::int64_t size;
  };
  struct End {
    std::uint32_t last, index;
  };
  std::vector<Start> starts;
  std::vector<End> ends;
  starts.reserve(lifetimes.size());
  ends.reserve(lifetimes.size());
  for (std::uint32_t i = 0; i < lifetimes.size(); ++i) {
    if (lifetimes[i].bytes.value == 0) continue;  // lies anywhere
    starts.push_back({lifetimes[i].first, i, rounded(lifetimes[i].bytes)});
    ends.push_back({lifetimes[i].last, i});
  }
  std::sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.size != b.size) return a.size > b.size;
    return a.index < b.index;
  });
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    return a.last != b.last ? a.last < b.last : a.index < b.index;
  });

  Layout layout;
  layout.offsets.resize(lifetimes.size());
  std::vector<std::uint32_t> block_of(lifetimes.size(), kNone);
  Arena arena(starts.size());
  std::int64_t live = 0;
  std::size_t ended = 0;
  for (const Start& start : starts) {
    for (; ends[ended].last < start.first; ++ended) {
      arena.release(block_of[ends[ended].index]);
      live -= rounded(lifetimes[ends[ended].index].bytes);
    }
    block_of[start.index] = arena.place(start.size);
    layout.offsets[start.index] = Bytes(arena.offset(block_of[start.index]));
    live += start.size;
    layout.live_peak = std::max(layout.live_peak, Bytes(live));
    layout.peak = std::max(layout.peak, Bytes(arena.top()));
  }
  return layout;
}

// Largest first, each at the lowest address free through its whole life. O(n²), but packs mixed
// sizes better.
Layout largest_first(std::span<const Lifetime> lifetimes, Bytes live_peak) {
  std::vector<std::uint32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  Layout layout;
  layout.offsets.resize(lifetimes.size());
  layout.live_peak = live_peak;
  std::vector<std::pair<std::int64_t, std::int64_t>>
      taken;  // address ranges in use during the life of the one to place
  for (std::size_t n = 0; n < order.size(); ++n) {
    const Lifetime& life = lifetimes[order[n]];
    if (life.bytes.value == 0) continue;
    taken.clear();
    for (std::size_t k = 0; k < n; ++k) {
      const Lifetime& other = lifetimes[order[k]];
      if (other.first > life.last || other.last < life.first) continue;
      const std::int64_t offset = layout.offsets[order[k]].value;
      taken.emplace_back(offset, offset + rounded(other.bytes));
    }
    std::sort(taken.begin(), taken.end());
    std::int64_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (begin >= at + rounded(life.bytes)) break;
      at = std::max(at, end);
    }
    layout.offsets[order[n]] = Bytes(at);
    layout.peak = std::max(layout.peak, Bytes(at + rounded(life.bytes)));
  }
  return layout;
}

}  // namespace

Layout lay_out(std::span<const Lifetime> lifetimes) {
  for (const Lifetime& life : lifetimes)
    PENSTOCK_CHECK(life.first <= life.last && life.bytes.value >= 0,
                   "a lifetime that ends before it begins");
  Layout layout = best_fit(lifetimes);
  if (layout.peak > layout.live_peak && lifetimes.size() <= kFewLifetimes) {
    Layout other = largest_first(lifetimes, layout.live_peak);
    if (other.peak < layout.peak) return other;
  }
  return layout;
}

}  // namespace penstock
