#pragma once

// Where the streams and edges of a program stand while the engine runs it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/program.h"
#include "core/units.h"

namespace penstock {

inline constexpr std::uint32_t kNoStream = ~std::uint32_t{0};

// Where one stream stands.
struct StreamState {
  std::array<const std::vector<Instruction>*, 3> sections{};  // prologue, body, epilogue
  std::uint32_t rank = 0, number = 0;  // its rank, and which of the rank's streams it is
  std::uint32_t section = 0, index = 0;
  std::int32_t repetition = 0;
  bool is_reached = false;  // the current instruction has been looked at before
  std::uint64_t done = 0;   // instructions that are over
  Nanoseconds start;        // of the current instruction
  std::uint32_t next_span = 0;
  std::uint32_t first_waiter = kNoStream;  // streams of the rank that wait for this one …
  std::uint32_t next_waiter = kNoStream;   // … linked
  std::uint64_t waits_until = 0;           // the other's `done` that this one waits for

  bool finished() const { return section == 3; }
  const Instruction& current() const { return (*sections[section])[index]; }
  // Instructions before entry `at` of section `of`, in repetition `in` of `repetitions`.
  std::uint64_t position(std::uint32_t of, std::int32_t in, std::int32_t repetitions,
                         std::uint32_t at) const {
    const std::uint64_t bodies = of == 0   ? 0
                                 : of == 1 ? static_cast<std::uint64_t>(in)
                                           : static_cast<std::uint64_t>(repetitions);
    return at + (of == 0 ? 0 : sections[0]->size()) + bodies * sections[1]->size();
  }
};

struct Message {
  Nanoseconds posted, arrival;
  std::uint32_t span = 0;
};

struct EdgeState {
  std::uint32_t sender = kNoStream;    // the stream that holds the edge's SENDs
  std::uint32_t receiver = kNoStream;  // … and its RECVs
  bool sender_waits = false, receiver_waits = false;
  std::vector<Message> posted;  // eager: not received yet, from `next` on
  std::size_t next = 0;
};

struct GroupState {
  std::vector<std::uint32_t> callers;  // one a member: the stream that holds its calls
  std::vector<std::uint32_t> arrived;  // streams that wait for the others to arrive
  bool is_local = false;               // its members are all of one host

  // Notes where a member's calls are. False if they are in another stream too. PENSTOCK_CHECKs that it is a member.
  bool joins(const std::vector<RankId>& ranks, RankId rank, std::uint32_t stream) {
    const auto member = std::find(ranks.begin(), ranks.end(), rank);
    PENSTOCK_CHECK(member != ranks.end(), "a rank calls a group that it is no member of");
    std::uint32_t& caller = callers[static_cast<std::size_t>(member - ranks.begin())];
    const bool is_new = caller == kNoStream;
    if (is_new) caller = stream;
    return caller == stream;
  }
};

}  // namespace penstock
