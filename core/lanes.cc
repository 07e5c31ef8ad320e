#include "core/lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/timeline.h"

namespace penstock {

std::string lane_of(const Program& program, std::size_t rank, std::size_t number) {
  const std::vector<Stream>& streams = program.ranks[rank].streams;
  const Stream& stream = streams[number];
  if (number == 0) return std::string(kComputeLane);
  if (stream.kind == StreamKind::Collective) return std::string(kCollectiveLane);
  if (!stream.edge.valid()) return fmt::format("stream {}", number);
  const ProgramEdge& edge = program.edges[stream.edge.index()];
  const auto alike = std::count_if(streams.begin(), streams.end(), [&](const Stream& other) {
    if (other.kind != stream.kind || !other.edge.valid()) return false;
    const ProgramEdge& its = program.edges[other.edge.index()];
    return its.source == edge.source && its.destination == edge.destination;
  });
  return fmt::format("{} {}>{}{}", stream.kind == StreamKind::Receive ? "receive" : "send",
                     edge.source.value, edge.destination.value,
                     alike > 1 ? fmt::format(" e{}", stream.edge.value) : "");
}

}  // namespace penstock
