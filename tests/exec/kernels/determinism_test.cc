// The promise that a plan's bits rest on: a kernel's results depend on its operands' values and
// shapes, not on where they lie, which thread runs it, how often, or what else runs.

#include <gtest/gtest.h>

#include <thread>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& [b, tokens, width] :
       {std::tuple(1, 5, 8), std::tuple(3, 17, 24), std::tuple(1, 64, 64)}) {
    for (Case& c : one_case_of_each_kind(b, tokens, width)) all.push_back(std::move(c));
  }
  return all;
}

std::vector<std::byte> results(const Case& c, std::int64_t shift) {
  Harness harness(c, shift);
  harness.statistic_weight = 0.3f;
  harness.all();
  harness.backward_input(true);
  return harness.results();
}

TEST(Determinism, ResultsDoNotDependOnWhereOperandsLie) {
  for (const Case& c : cases()) {
    const std::vector<std::byte> expected = results(c, 0);
    for (std::int64_t shift : {1, 2, 3, 37})
      EXPECT_EQ(results(c, shift), expected) << c.text << " shift " << shift;
  }
}

TEST(Determinism, ResultsDoNotDependOnTheThreadOrItsNeighbours) {
  constexpr int kThreads = 4;
  for (const Case& c : cases()) {
    const std::vector<std::byte> expected = results(c, 0);
    std::vector<std::vector<std::byte>> got(kThreads);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { got[i] = results(c, i); });
    }
    for (const auto& bytes : got) EXPECT_EQ(bytes, expected) << c.text;
  }
}

TEST(Determinism, AKernelBuiltOnOneThreadRunsTheSameOnAnother) {
  for (const Case& c : cases()) {
    Harness here(c), there(c);
    here.all();
    std::jthread([&] { there.all(); }).join();
    EXPECT_EQ(here.results(), there.results()) << c.text;
  }
}

TEST(Determinism, RunningAgainChangesNothingThatIsNotAccumulated) {
  for (const Case& c : cases()) {
    Harness harness(c);
    harness.forward();
    harness.backward_input();
    harness.loss = 0;
    const std::vector<std::byte> once = harness.results();
    harness.forward();
    harness.backward_input();
    harness.loss = 0;
    EXPECT_EQ(harness.results(), once) << c.text;
  }
}

}  // namespace
}  // namespace penstock::cpu::testing
