#pragma once

// Random numbers keyed by what they are for, not drawn from a sequence: the same key gives the same number whatever the
// schedule, the number of ranks or the order of evaluation. Generator: SplitMix64's finaliser (Steele, Lea & Flood,
// OOPSLA 2014) over the combined key.

#include <cstdint>
#include <string_view>

namespace penstock {

constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t combine(std::uint64_t key, std::uint64_t part) { return mix(key ^ mix(part)); }

// FNV-1a, 64 bits.
constexpr std::uint64_t hash(std::string_view text, std::uint64_t state = 0xcbf29ce484222325u) {
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return state;
}

// In [0, 1), 53 bits.
constexpr double uniform(std::uint64_t key) { return static_cast<double>(mix(key) >> 11) * 0x1.0p-53; }

// Mean 0, deviation 1 (Box and Muller 1958).
double normal(std::uint64_t key);

}  // namespace penstock
