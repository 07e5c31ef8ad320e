#pragma once

// A counter that other threads wait for: a short spin, since most waits in a balanced pipeline are short, then a futex, so
// that a waiting rank does not take a core from a computing one. Counts only go up; 32 bits, compared modulo 2^32.

#include <atomic>
#include <cstdint>

namespace penstock::cpu {

class WaitWord {
 public:
  std::uint32_t value() const { return value_.load(std::memory_order_acquire); }
  bool reached(std::uint32_t target) const { return static_cast<std::int32_t>(value() - target) >= 0; }

  // Everything written before is visible to whoever sees the new value.
  void set(std::uint32_t value);

  // False if `aborted` became true first. `spins`: polls before sleeping.
  bool wait(std::uint32_t target, const std::atomic<bool>& aborted, int spins = kSpins) const;

  static constexpr int kSpins = 400;  // about 10 µs

 private:
  std::atomic<std::uint32_t> value_{0};
  mutable std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace penstock::cpu
