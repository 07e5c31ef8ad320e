#pragma once

// What the nouns ask of graphs. The one file that includes Boost.Graph is this header's source.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace penstock {

using VertexPair = std::pair<std::int32_t, std::int32_t>;

// Of an undirected graph: for each vertex the lowest vertex it is connected with. O(V + E).
std::vector<std::int32_t> components(std::int32_t vertices, std::span<const VertexPair> edges);

// Of a directed graph: the vertices such that every edge points forward, always the lowest of those
// that may come next; nothing if it has a cycle. O((V + E) log V).
std::optional<std::vector<std::int32_t>> topological_order(std::int32_t vertices,
                                                           std::span<const VertexPair> edges);

// Nets join several nodes each (links and devices). From node to node the nets of the route with
// the fewest nets, of those the greatest least width, of those the lowest net numbers
// (lexicographically); nothing if there is none. members[n]: the nodes of net n. from != to. A
// bipartite graph of nodes and nets, so O(sum of members), never pairs.
std::optional<std::vector<std::int32_t>> widest_shortest_route(
    std::int32_t nodes, std::span<const std::vector<std::int32_t>> members,
    std::span<const double> widths, std::int32_t from, std::int32_t to);

}  // namespace penstock
