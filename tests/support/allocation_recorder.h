#pragma once

// Who allocates how much, from all threads, by standing in front of the allocator. Only for executables that compile
// allocation_recorder.cc themselves.

#include <cstddef>
#include <vector>

namespace penstock::test {

struct Allocation {
  const void* caller;
  std::size_t bytes;
};

// False where a sanitizer owns the allocator, or the C library is another: then nothing is recorded.
bool can_record_allocations();

// From now on, in memory of its own: the first so many.
inline constexpr std::size_t kMostAllocations = std::size_t{1} << 18;
void record_allocations();
// Ends it: what has been allocated since, in no particular order between threads.
std::vector<Allocation> recorded_allocations();

// Whether the library that called is oneDNN, which allocates its table of arguments in every run.
bool is_from_onednn(const Allocation& allocation);

}  // namespace penstock::test
