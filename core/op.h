#pragma once

// The operations of a Program. Which of them an interpreter runs today is its own business: it refuses the others by name.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace penstock {

enum class Op : std::uint8_t {
  // compute
  Load,   // fetch a microbatch of the sources
  F,      // forward
  BF,     // full backward: input and weight gradient
  B,      // input gradient
  W,      // weight gradient
  R,      // recompute the forward from what was kept
  Loss,   // loss value and its gradient
  Fuse,   // co-scheduled instructions (a recipe interleaves them)
  // communication: by edge
  Send,
  Recv,
  Xchg,   // exchange of slice work
  // collectives: by group, asynchronous, awaited by id
  AllReduce,
  ReduceScatter,
  Gather,
  Reshard,
  // host memory
  Offload,
  Reload,
  // weights: by store
  Step,      // optimizer update
  Validate,  // check a step taken early
  Rollback,  // undo it
  UseW,      // switch to a version or prediction of the weights
  Ema,
  Publish,
  Refresh,
  // other
  Fill,  // foreign work in a bubble
  Wait,  // for an instruction of another stream
  Free,
};

inline constexpr auto kOpNames = std::to_array<std::pair<Op, std::string_view>>({
    {Op::Load, "LOAD"},         {Op::F, "F"},           {Op::BF, "BF"},
    {Op::B, "B"},               {Op::W, "W"},           {Op::R, "R"},
    {Op::Loss, "LOSS"},         {Op::Fuse, "FUSE"},     {Op::Send, "SEND"},
    {Op::Recv, "RECV"},         {Op::Xchg, "XCHG"},     {Op::AllReduce, "ALLREDUCE"},
    {Op::ReduceScatter, "REDUCE_SCATTER"},              {Op::Gather, "GATHER"},
    {Op::Reshard, "RESHARD"},   {Op::Offload, "OFFLOAD"},
    {Op::Reload, "RELOAD"},     {Op::Step, "STEP"},     {Op::Validate, "VALIDATE"},
    {Op::Rollback, "ROLLBACK"}, {Op::UseW, "USE_W"},    {Op::Ema, "EMA"},
    {Op::Publish, "PUBLISH"},   {Op::Refresh, "REFRESH"},
    {Op::Fill, "FILL"},         {Op::Wait, "WAIT"},     {Op::Free, "FREE"},
});
constexpr const auto& enum_names(Op) { return kOpNames; }

std::string_view name(Op op);
std::optional<Op> parse_op(std::string_view name);

constexpr bool is_compute(Op op) { return op == Op::F || op == Op::BF || op == Op::B || op == Op::W || op == Op::R; }
constexpr bool is_backward(Op op) { return op == Op::BF || op == Op::B; }
constexpr bool is_transfer(Op op) { return op == Op::Send || op == Op::Recv; }
constexpr bool is_collective(Op op) { return op >= Op::AllReduce && op <= Op::Reshard; }
// Keeps the device's compute busy. Waiting inside RECV, and WAIT, do not.
constexpr bool is_busy(Op op) { return op <= Op::Fuse || op == Op::Step || op == Op::Ema; }

// Which table Instruction::target indexes, by op; None: it has no target.
enum class Target : std::uint8_t { None, Edge, Store, Group };
constexpr Target target_of(Op op) {
  if (is_transfer(op) || op == Op::Xchg) return Target::Edge;
  if (is_collective(op)) return Target::Group;
  if (op >= Op::Step && op <= Op::Refresh) return Target::Store;
  return Target::None;
}

}  // namespace penstock
