#include "sim/examine.h"

#include <fmt/format.h>

namespace penstock {
namespace {

bool takes_its_recipe(Op op) {
  return op <= Op::Fuse || op == Op::Step || op == Op::Fill || is_collective(op);
}

}  // namespace

Result<void> examine(const Program& program, const Instruction& instruction, std::uint32_t stream,
                     const std::vector<StreamState>& streams, std::vector<EdgeState>& edges,
                     std::vector<GroupState>& groups) {
  const Op op = instruction.key.op;
  PENSTOCK_CHECK(instruction.recipe < static_cast<std::int32_t>(program.recipes.size()),
                 "an instruction names no recipe of the program");
  if (!takes_its_recipe(op) && !is_transfer(op) && op != Op::Wait) {
    return fail(ErrorCode::Unavailable,
                fmt::format("rank {}: {}: the simulator does not run {}", streams[stream].rank,
                            text(instruction), name(op)));
  }
  if (is_collective(op)) {
    const auto g = static_cast<std::size_t>(instruction.target);
    PENSTOCK_CHECK(instruction.target >= 0 && g < groups.size(), "a collective names no group");
    if (!groups[g].joins(program.groups[g].ranks, RankId(streams[stream].rank), stream))
      return fail(ErrorCode::Unavailable,
                  fmt::format("rank {}: {}: the simulator wants all calls of a group in one stream",
                              streams[stream].rank, text(instruction)));
  }
  if (!is_transfer(op)) return {};
  if (instruction.group != 0) {
    return fail(ErrorCode::Unavailable,
                fmt::format("rank {}: {}: the simulator does not run grouped transfers",
                            streams[stream].rank, text(instruction)));
  }
  PENSTOCK_CHECK(
      instruction.target >= 0 && instruction.target < static_cast<std::int32_t>(edges.size()),
      "a transfer names no edge");
  EdgeState& edge = edges[static_cast<std::size_t>(instruction.target)];
  std::uint32_t& side = op == Op::Send ? edge.sender : edge.receiver;
  if (side != kNoStream && side != stream) {
    return fail(ErrorCode::Unavailable,
                fmt::format("rank {}: {}: the simulator wants all {}s of an edge in one stream",
                            streams[stream].rank, text(instruction), name(op)));
  }
  side = stream;
  return {};
}

}  // namespace penstock
