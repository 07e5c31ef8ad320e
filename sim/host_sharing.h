#pragma once

// Work that runs at rates which change: on each host, what runs at the same time slows one another down, as
// core/contention.h says. A work is the segments of one recipe, one after the other, each of its class. The rates of a host are
// set anew whenever a work, or a segment of one, begins or ends there; between such moments work progresses evenly.
//
// Rounding. What is left of a segment is a double, in nanoseconds that it would take alone. A segment ends at the first whole
// nanosecond at which no more than kDone is left, and the next one begins then. At rate 1 throughout, times are exactly
// the segments' own.

#include <array>
#include <cstdint>
#include <vector>

#include "core/program.h"
#include "sim/event_queue.h"

namespace penstock {

class HostSharing {
 public:
  static constexpr double kDone = 1e-3;  // ns

  // `program` has contention; it and the queue must outlive this. Hosts wake up by events in `queue`, whose subjects
  // begin with `first_subject`.
  HostSharing(const Program& program, EventQueue& queue, std::uint32_t first_subject);

  // Whether work of these two ranks' is work of one host.
  bool share(std::size_t rank, std::size_t other) const {
    return hosts_[rank] == hosts_[other];
  }
  // How many times as long as alone a work can take at most.
  double most_slowdown() const;
  // The segments of a recipe begin, of which one takes time. `owner` is given back at the end. O(work of the host).
  void begin(std::size_t rank, std::size_t recipe, std::uint32_t owner, Nanoseconds now);

  // The owners whose work has ended by an event of this queue; often none. Until the next call. O(work of the host).
  const std::vector<std::uint32_t>& end(const Event& event);

 private:
  struct Work {
    std::uint32_t owner = 0;
    std::size_t recipe = 0, segment = 0;
    std::array<double, kWorkClasses> parts{};  // of each class
    double left = 0, rate = 1;
  };
  struct Host {
    std::vector<Work> running;  // in the order in which they began
    Nanoseconds last, next;     // progress is known up to; the event that counts
  };

  void progress(Host& host, Nanoseconds now) const;
  void set_rates(Host& host, std::size_t index);
  // On to the recipe's next segment that takes time; false if there is none.
  bool enter(Work& work) const;

  const Program& program_;
  EventQueue& queue_;
  std::uint32_t first_subject_;
  std::vector<std::size_t> hosts_;  // one a rank
  std::vector<Host> host_;
  std::vector<std::uint32_t> ended_;
};

}  // namespace penstock
