#pragma once

// Lets all ranks of a run stop after the same step, and meet between steps. A rank asks before it issues a repetition of the
// body: once the gate is closed nobody starts one that no other rank has started. Before some repetitions all ranks meet, each
// with its work drained; the last to come does what there is to do (a checkpoint, an evaluation), then all go on.

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "core/result.h"

namespace penstock {

class StepGate {
 public:
  struct Meetings {
    std::int32_t ranks = 1;
    std::function<bool(std::int32_t repetition)> before;          // whether ranks meet before it
    std::function<Result<void>(std::int32_t repetition)> attend;  // what is done there, while all wait
  };

  StepGate(std::int32_t repetitions, Meetings meetings) : meetings_(std::move(meetings)), limit_(repetitions) {}
  explicit StepGate(std::int32_t repetitions) : StepGate(repetitions, Meetings()) {}

  bool enter(std::int32_t repetition);

  bool meets_before(std::int32_t repetition) const { return meetings_.before && meetings_.before(repetition); }
  // By each rank, drained. False: this repetition is not to be run. An error: what `attend` came to, for who called it.
  Result<bool> meet(std::int32_t repetition);

  // Repetitions that a rank has entered are finished, no others begun.
  void close();
  // A rank has failed and comes to no meeting any more: nobody waits for it.
  void abandon();

  // Repetitions that every rank runs, once the run is over.
  std::int32_t repetitions() const;

 private:
  const Meetings meetings_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int32_t limit_;
  std::int32_t furthest_ = 0;
  std::int32_t arrived_ = 0;
  std::int32_t meetings_held_ = 0;
  bool abandoned_ = false;
};

}  // namespace penstock
