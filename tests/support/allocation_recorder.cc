#include "tests/support/allocation_recorder.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

using penstock::test::Allocation;

constexpr std::size_t kMost = penstock::test::kMostAllocations;
std::array<Allocation, kMost> recorded;
std::atomic<std::size_t> recorded_count{0};
std::atomic<bool> recording{false};

}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

void record(const void* caller, std::size_t bytes) {
  if (!recording.load(std::memory_order_relaxed)) return;
  const std::size_t place = recorded_count.fetch_add(1, std::memory_order_relaxed);
  if (place < kMost) recorded[place] = {caller, bytes};
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  record(__builtin_return_address(0), count * bytes);
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  *result = __libc_memalign(alignment, bytes);
  return *result == nullptr ? ENOMEM : 0;
}
}

// Replaced so that the caller is known: the standard library's own would always be malloc's caller.
void* operator new(std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  if (void* result = __libc_malloc(bytes)) return result;
  throw std::bad_alloc();
}
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }

namespace penstock::test {
bool can_record_allocations() { return true; }
}  // namespace penstock::test
#else
namespace penstock::test {
bool can_record_allocations() { return false; }
}  // namespace penstock::test
#endif

namespace penstock::test {

void record_allocations() {
  recorded_count = 0;
  recording = true;
}

std::vector<Allocation> recorded_allocations() {
  recording = false;
  const std::size_t count = std::min(recorded_count.load(), kMost);
  return {recorded.begin(), recorded.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool is_from_onednn(const Allocation& allocation) {
  Dl_info info{};
  return dladdr(allocation.caller, &info) != 0 && std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

}  // namespace penstock::test
