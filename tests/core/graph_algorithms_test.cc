#include "core/graph_algorithms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>

namespace penstock {
namespace {

using Members = std::vector<std::vector<std::int32_t>>;

TEST(Components, AreNamedByTheirLowestVertex) {
  const VertexPair edges[] = {{4, 1}, {1, 3}, {2, 2}};
  EXPECT_EQ(components(5, edges), (std::vector<std::int32_t>{0, 1, 2, 1, 1}));
  EXPECT_TRUE(components(0, {}).empty());
}

TEST(TopologicalOrder, TakesTheLowestVertexThatMayComeNext) {
  const VertexPair edges[] = {{3, 0}, {2, 1}};
  EXPECT_EQ(topological_order(4, edges), (std::vector<std::int32_t>{2, 1, 3, 0}));
}

TEST(TopologicalOrder, OfACycleIsNothing) {
  const VertexPair circle[] = {{0, 1}, {1, 2}, {2, 1}};
  EXPECT_FALSE(topological_order(3, circle));
  const VertexPair itself[] = {{0, 0}};
  EXPECT_FALSE(topological_order(1, itself));
}

TEST(Route, PrefersFewNetsThenWidthThenLowNumbers) {
  const double widths[] = {9, 9, 1, 2, 2};
  // 0 -(0)- 1 -(1)- 2 in wide steps, 0 -(2)- 2 at once: fewest nets win.
  EXPECT_EQ(
      widest_shortest_route(3, Members{{0, 1}, {1, 2}, {0, 2}}, std::span(widths).first(3), 0, 2),
      (std::vector<std::int32_t>{2}));
  // Two ways of two nets each, over 1 (width 1) or over 3 (width 2).
  const double two_ways[] = {9, 1, 2, 9};
  EXPECT_EQ(widest_shortest_route(4, Members{{0, 1}, {1, 2}, {0, 3}, {3, 2}}, two_ways, 0, 2),
            (std::vector<std::int32_t>{2, 3}));
  // Equal in both: the lowest numbers.
  const double equal[] = {1, 1, 1, 1};
  EXPECT_EQ(widest_shortest_route(4, Members{{3, 2}, {0, 3}, {0, 1}, {1, 2}}, equal, 0, 2),
            (std::vector<std::int32_t>{1, 0}));
}

TEST(Route, BetweenUnconnectedNodesIsNothing) {
  const double widths[] = {1};
  EXPECT_FALSE(widest_shortest_route(3, Members{{0, 1}}, widths, 0, 2));
}

// All routes without repetition, by depth-first search: what the fast answer is compared with.
struct BruteForce {
  const Members& members;
  const std::vector<double>& widths;
  std::int32_t to;
  std::vector<std::int32_t> route = {};
  std::vector<char> seen = {};
  std::tuple<std::size_t, double, std::vector<std::int32_t>> best = {
      std::numeric_limits<std::size_t>::max(), 0, {}};

  void walk(std::int32_t node) {
    if (node == to) {
      double width = std::numeric_limits<double>::infinity();
      for (const std::int32_t net : route)
        width = std::min(width, widths[static_cast<std::size_t>(net)]);
      best = std::min(best, std::tuple(route.size(), -width, route));
      return;
    }
    for (std::size_t net = 0; net < members.size(); ++net) {
      if (std::find(members[net].begin(), members[net].end(), node) == members[net].end()) continue;
      for (const std::int32_t next : members[net]) {
        if (seen[static_cast<std::size_t>(next)]) continue;
        seen[static_cast<std::size_t>(next)] = true;
        route.push_back(static_cast<std::int32_t>(net));
        walk(next);
        route.pop_back();
        seen[static_cast<std::size_t>(next)] = false;
      }
    }
  }
};

TEST(Route, EqualsTheBestOfAllRoutesInRandomGraphs) {
  std::mt19937_64 random(7);
  int found = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const auto nodes = static_cast<std::int32_t>(2 + random() % 5);
    Members members(1 + random() % 6);
    std::vector<double> widths;
    for (auto& net : members) {
      for (std::int32_t node = 0; node < nodes; ++node)
        if (random() % 3 == 0) net.push_back(node);
      widths.push_back(static_cast<double>(1 + random() % 3));
    }
    BruteForce all{members, widths, nodes - 1};
    all.seen.assign(static_cast<std::size_t>(nodes), false);
    all.seen[0] = true;
    all.walk(0);
    const auto fast = widest_shortest_route(nodes, members, widths, 0, nodes - 1);
    const bool exists = std::get<0>(all.best) != std::numeric_limits<std::size_t>::max();
    ASSERT_EQ(fast.has_value(), exists) << "trial " << trial;
    if (!exists) continue;
    ++found;
    EXPECT_EQ(*fast, std::get<2>(all.best)) << "trial " << trial;
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace penstock
