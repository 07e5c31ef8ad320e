#include "exec/cpu/wait_word.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace penstock::cpu {
namespace {

TEST(WaitWord, AReachedCountDoesNotWait) {
  WaitWord word;
  std::atomic<bool> aborted{false};
  word.set(3);
  EXPECT_TRUE(word.wait(3, aborted));
  EXPECT_TRUE(word.wait(1, aborted));
}

TEST(WaitWord, CountsGoOnPastThirtyTwoBits) {
  WaitWord word;
  word.set(0xfffffffeu);
  EXPECT_FALSE(word.reached(2));
  word.set(3);
  EXPECT_TRUE(word.reached(2));
  EXPECT_TRUE(word.reached(0xfffffffeu));
}

TEST(WaitWord, ASleeperIsWokenBySet) {
  WaitWord word;
  std::atomic<bool> aborted{false};
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    word.set(1);
  });
  EXPECT_TRUE(word.wait(1, aborted, 0));
  setter.join();
}

TEST(WaitWord, ASleeperIsEndedByAbort) {
  WaitWord word;
  std::atomic<bool> aborted{false};
  std::thread aborter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    aborted.store(true);
  });
  EXPECT_FALSE(word.wait(1, aborted, 0));
  aborter.join();
}

TEST(WaitWord, WhatWasWrittenBeforeIsSeenAfter) {
  WaitWord there, back;
  std::atomic<bool> aborted{false};
  int value = 0;
  std::thread other([&] {
    for (std::uint32_t i = 1; i <= 10'000; ++i) {
      ASSERT_TRUE(there.wait(i, aborted));
      ASSERT_EQ(value, static_cast<int>(i));
      back.set(i);
    }
  });
  for (std::uint32_t i = 1; i <= 10'000; ++i) {
    value = static_cast<int>(i);
    there.set(i);
    ASSERT_TRUE(back.wait(i, aborted));
  }
  other.join();
}

}  // namespace
}  // namespace penstock::cpu
