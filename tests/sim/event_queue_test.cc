#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace penstock::test {
namespace {

TEST(EventQueue, EventsOfOneTimeComeInTheOrderInWhichTheyWerePushed) {
  EventQueue queue;
  for (std::uint32_t k = 0; k < 20; ++k) queue.push(Nanoseconds(5), 19 - k);
  for (std::uint32_t k = 0; k < 20; ++k) EXPECT_EQ(queue.pop().subject, 19 - k);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pushed(), 20u);
}

TEST(EventQueue, SortsByTimeWhileEventsComeAndGo) {
  std::mt19937_64 random(3);
  EventQueue queue;
  std::vector<std::int64_t> held;
  for (int n = 0; n < 20000; ++n) {
    if (held.empty() || random() % 3 != 0) {
      held.push_back(static_cast<std::int64_t>(random() % 1000));
      queue.push(Nanoseconds(held.back()), 1);
      continue;
    }
    const auto least = std::min_element(held.begin(), held.end());
    ASSERT_EQ(queue.pop().time.value, *least);
    held.erase(least);
  }
}

}  // namespace
}  // namespace penstock::test
