#pragma once

// When a message moves. Eager: as soon as its sender has produced it, into unlimited buffers; transfers of one edge may
// overlap. Rendezvous: once both sides have reached it; the receiver waits until it is over, the sender goes on, and an
// edge carries one message at a time, in order.

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace penstock {

enum class Discipline : std::uint8_t { Eager, Rendezvous };

constexpr auto enum_names(Discipline) {
  return std::to_array<std::pair<Discipline, std::string_view>>(
      {{Discipline::Eager, "eager"}, {Discipline::Rendezvous, "rendezvous"}});
}

}  // namespace penstock
