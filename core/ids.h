#pragma once

// Strong indices: a StageId is not a RankId, and mixing them does not compile. Each counts from 0 in the table it names.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace penstock {

template <class Tag>
struct Id {
  static constexpr std::int32_t kNone = -1;
  std::int32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::int64_t index) : value(static_cast<std::int32_t>(index)) {}

  constexpr bool valid() const { return value >= 0; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  constexpr auto operator<=>(const Id&) const = default;
};

using RankId = Id<struct RankTag>;              // a device slot with one issuing thread
using DeviceId = Id<struct DeviceTag>;          // Cluster::devices
using HostId = Id<struct HostTag>;              // Cluster::hosts
using LinkId = Id<struct LinkTag>;              // Cluster::links
using NetworkId = Id<struct NetworkTag>;        // Workload::networks
using LayerId = Id<struct LayerTag>;            // Network::layers
using StoreId = Id<struct StoreTag>;            // Workload::stores, or Program::stores
using SourceId = Id<struct SourceTag>;          // Workload::sources
using TaskId = Id<struct TaskTag>;              // Workload::tasks
using StageId = Id<struct StageTag>;            // Plan::stages; in an Order, the position along its stage graph
using RecipeId = Id<struct RecipeTag>;          // Program::recipes
using EdgeId = Id<struct EdgeTag>;              // Program::edges
using GroupId = Id<struct GroupTag>;            // Program::groups
using BufferId = Id<struct BufferTag>;          // Program::buffers

}  // namespace penstock

template <class Tag>
struct std::hash<penstock::Id<Tag>> {
  std::size_t operator()(penstock::Id<Tag> id) const noexcept { return std::hash<std::int32_t>{}(id.value); }
};
