#include "exec/cpu/wait_word.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace penstock::cpu {
namespace {

// A sleeper looks up this often, so that an abort is never missed.
constexpr long kLookUp = 20'000'000;  // ns

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void WaitWord::set(std::uint32_t value) {
  // Both orders are sequentially consistent: either the sleeper sees the new value before it sleeps, or it is seen here.
  value_.store(value, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&value_), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
}

bool WaitWord::wait(std::uint32_t target, const std::atomic<bool>& aborted, int spins) const {
  for (int i = 0; i < spins; ++i) {
    if (reached(target)) return true;
    relax();
  }
  while (!reached(target)) {
    if (aborted.load(std::memory_order_acquire)) return false;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t seen = value_.load(std::memory_order_seq_cst);
    if (static_cast<std::int32_t>(seen - target) < 0) {
      const timespec look_up{0, kLookUp};
      syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&value_), FUTEX_WAIT_PRIVATE, seen, &look_up, nullptr, 0);
    }
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }
  return true;
}

}  // namespace penstock::cpu
