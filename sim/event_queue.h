#pragma once

// What happens next on a virtual clock: events by time, those of one time in the order in which
// they were pushed. A four-ary heap: half the levels of a binary one, and the four children of a
// node share a cache line.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/result.h"
#include "core/units.h"

namespace penstock {

struct Event {
  Nanoseconds time;
  std::uint32_t subject = 0;
};

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::uint64_t pushed() const { return pushed_; }
  void reserve(std::size_t events) { heap_.reserve(events); }

  // O(log events). At most 2^40 events in the life of a queue, subjects below 2^24.
  void push(Nanoseconds time, std::uint32_t subject) {
    PENSTOCK_CHECK(subject < kSubjects && pushed_ < kMostEvents,
                   "the event queue has run out of numbers");
    const Node node{time.value, pushed_++ * kSubjects + subject};
    std::size_t at = heap_.size();
    heap_.push_back(node);
    while (at > 0) {
      const std::size_t parent = (at - 1) / kWidth;
      if (!(node < heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = node;
  }

  // The earliest event, which must exist. O(log events).
  Event pop() {
    const Node top = heap_.front();
    const Node last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return {Nanoseconds(top.time), static_cast<std::uint32_t>(top.order % kSubjects)};
  }

 private:
  static constexpr std::size_t kWidth = 4;
  static constexpr std::uint64_t kSubjects = std::uint64_t{1} << 24;
  static constexpr std::uint64_t kMostEvents = std::uint64_t{1} << 40;

  struct Node {
    std::int64_t time;
    std::uint64_t order;  // number of the event, then its subject
    bool operator<(const Node& other) const {
      return time != other.time ? time < other.time : order < other.order;
    }
  };

  void sink(const Node& node) {
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    while (true) {
      const std::size_t first = at * kWidth + 1;
      if (first >= size) break;
      const std::size_t end = first + kWidth < size ? first + kWidth : size;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (heap_[child] < heap_[least]) least = child;
      }
      if (!(heap_[least] < node)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = node;
  }

  std::vector<Node> heap_;
  std::uint64_t pushed_ = 0;
};

}  // namespace penstock
