#include "core/graph_algorithms.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/connected_components.hpp>
#include <functional>
#include <limits>
#include <queue>

#include "core/result.h"

namespace penstock {
namespace {

using Csr = boost::compressed_sparse_row_graph<boost::directedS>;

// Both directions of every edge, as an undirected graph in compressed form.
Csr both_ways(std::int32_t vertices, std::span<const VertexPair> edges) {
  std::vector<VertexPair> doubled;
  doubled.reserve(2 * edges.size());
  for (const auto& [a, b] : edges) {
    doubled.emplace_back(a, b);
    doubled.emplace_back(b, a);
  }
  return Csr(boost::edges_are_unsorted_multi_pass, doubled.begin(), doubled.end(),
             static_cast<std::size_t>(vertices));
}

// Edges from each vertex to `root`, -1 where there is no way.
std::vector<std::int32_t> distances_to(const Csr& graph, std::int32_t root) {
  std::vector<std::int32_t> distance(boost::num_vertices(graph), -1);
  distance[static_cast<std::size_t>(root)] = 0;
  const auto recorder = boost::record_distances(distance.data(), boost::on_tree_edge());
  boost::breadth_first_search(graph, static_cast<std::size_t>(root),
                              boost::visitor(boost::make_bfs_visitor(recorder)));
  return distance;
}

}  // namespace

std::vector<std::int32_t> components(std::int32_t vertices, std::span<const VertexPair> edges) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
  const Graph graph(edges.begin(), edges.end(), static_cast<std::size_t>(vertices));
  std::vector<std::int32_t> component(static_cast<std::size_t>(vertices));
  const std::int32_t count =
      vertices == 0 ? 0 : boost::connected_components(graph, component.data());
  std::vector<std::int32_t> lowest(static_cast<std::size_t>(count), -1);
  for (std::int32_t v = 0; v < vertices; ++v) {
    std::int32_t& first = lowest[static_cast<std::size_t>(component[static_cast<std::size_t>(v)])];
    if (first < 0) first = v;
    component[static_cast<std::size_t>(v)] = first;
  }
  return component;
}

// Boost's own topological_sort says nothing of the choice among vertices that are free; ours is
// fixed.
std::optional<std::vector<std::int32_t>> topological_order(std::int32_t vertices,
                                                           std::span<const VertexPair> edges) {
  const Csr graph(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(),
                  static_cast<std::size_t>(vertices));
  std::vector<std::int32_t> waits_for(static_cast<std::size_t>(vertices), 0);
  for (const auto& edge : edges) ++waits_for[static_cast<std::size_t>(edge.second)];
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> free;
  for (std::int32_t v = 0; v < vertices; ++v)
    if (waits_for[static_cast<std::size_t>(v)] == 0) free.push(v);
  std::vector<std::int32_t> order;
  while (!free.empty()) {
    const std::int32_t v = free.top();
    free.pop();
    order.push_back(v);
    const auto [first, last] = boost::adjacent_vertices(static_cast<std::size_t>(v), graph);
    for (auto next = first; next != last; ++next)
      if (--waits_for[*next] == 0) free.push(static_cast<std::int32_t>(*next));
  }
  if (order.size() != static_cast<std::size_t>(vertices)) return std::nullopt;
  return order;
}

// Vertices 0 … nodes-1 are the nodes, then come the nets. Distances to the goal fix the steps that
// a shortest route may take; along them the best least width spreads from the goal; then a front of
// nodes walks from the start, each time over the lowest net that keeps distance and width, which is
// lexicographic because all routes are equally long.
std::optional<std::vector<std::int32_t>> widest_shortest_route(
    std::int32_t nodes, std::span<const std::vector<std::int32_t>> members,
    std::span<const double> widths, std::int32_t from, std::int32_t to) {
  PENSTOCK_CHECK(from != to, "a route joins two nodes");
  const auto vertices = nodes + static_cast<std::int32_t>(members.size());
  std::vector<VertexPair> edges;
  for (std::size_t net = 0; net < members.size(); ++net)
    for (const std::int32_t node : members[net])
      edges.emplace_back(node, nodes + static_cast<std::int32_t>(net));
  const Csr graph = both_ways(vertices, edges);
  const std::vector<std::int32_t> distance = distances_to(graph, to);
  const auto start = static_cast<std::size_t>(from);
  if (distance[start] < 0) return std::nullopt;

  std::vector<std::size_t> by_distance;
  for (std::size_t v = 0; v < distance.size(); ++v)
    if (distance[v] >= 0 && distance[v] <= distance[start]) by_distance.push_back(v);
  std::stable_sort(by_distance.begin(), by_distance.end(),
                   [&](std::size_t a, std::size_t b) { return distance[a] < distance[b]; });

  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  std::vector<double> width(distance.size(),
                            0);  // of the widest shortest way from here to the goal
  width[static_cast<std::size_t>(to)] = kUnlimited;
  const auto for_each_step = [&](std::size_t v, auto&& visit) {
    const auto [first, last] = boost::adjacent_vertices(v, graph);
    for (auto next = first; next != last; ++next)
      if (distance[*next] == distance[v] - 1) visit(*next);
  };
  for (const std::size_t v : by_distance) {
    for_each_step(v, [&](std::size_t next) { width[v] = std::max(width[v], width[next]); });
    if (v >= static_cast<std::size_t>(nodes))
      width[v] = std::min(width[v], widths[v - static_cast<std::size_t>(nodes)]);
  }

  std::vector<std::int32_t> route;
  std::vector<std::size_t> front = {start};
  while (distance[front.front()] > 0) {
    std::size_t lowest = distance.size();
    for (const std::size_t node : front)
      for_each_step(node, [&](std::size_t net) {
        if (width[net] >= width[start]) lowest = std::min(lowest, net);
      });
    PENSTOCK_CHECK(lowest < distance.size(), "a distance without a step");
    route.push_back(static_cast<std::int32_t>(lowest) - nodes);
    front.clear();
    for_each_step(lowest, [&](std::size_t node) {
      if (width[node] >= width[start]) front.push_back(node);
    });
  }
  return route;
}

}  // namespace penstock
