#pragma once

// Collectives between the threads of a process: all members lay their memory open, each works on a share of it, and none
// goes on before all are done. The order of additions depends on nothing but the members' numbers.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/units.h"
#include "exec/communicator.h"
#include "exec/cpu/run_state.h"
#include "exec/cpu/wait_word.h"

namespace penstock::cpu {

class CpuDevice;

// The meeting place of a group.
struct Assembly {
  struct Member {
    WaitWord arrived;  // calls it has reached
    WaitWord done;     // calls whose share it has finished
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    std::uint64_t identity = 0;
    Nanoseconds reached;
  };
  explicit Assembly(std::size_t size) : members(std::make_unique<Member[]>(size)), count(size) {}

  std::unique_ptr<Member[]> members;
  std::size_t count;
};

// One member's part in a call.
struct AssemblyCall {
  Assembly* assembly = nullptr;
  std::size_t member = 0;
  std::uint32_t ordinal = 0;  // of the call: counts from 1
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::uint64_t identity = 0;
  bool adds = true;                  // else gathers
  std::span<const ByteRange> mine;   // gathers: what this member has
};

// False if the run was given up, or is now: by a member that expected another call. `name`: of the stream, for that message.
bool take_part(const AssemblyCall& call, RunState& state, const std::string& name, Stamp& stamp);

// One communicator a device, in their order.
std::vector<std::unique_ptr<GroupCommunicator>> assemble(std::span<CpuDevice* const> devices);

}  // namespace penstock::cpu
