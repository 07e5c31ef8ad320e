#include "cli/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace penstock::cli {
namespace {

using std::chrono::milliseconds;

// In a child of its own, because the handling of a signal belongs to the whole process.
int exit_code_of(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    body();
    std::_Exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void wait_for_stop(const std::stop_token& token) {
  for (int i = 0; i < 500 && !token.stop_requested(); ++i)
    std::this_thread::sleep_for(milliseconds(10));
}

TEST(Interrupt, TheFirstAsksToStop) {
  EXPECT_EQ(exit_code_of([] {
              const std::stop_token token = stop_on_interrupt();
              if (token.stop_requested()) std::_Exit(1);
              kill(getpid(), SIGINT);
              wait_for_stop(token);
              std::_Exit(token.stop_requested() ? 0 : 2);
            }),
            0);
}

TEST(Interrupt, TheSecondEndsTheProcess) {
  EXPECT_EQ(exit_code_of([] {
              const std::stop_token token = stop_on_interrupt();
              kill(getpid(), SIGINT);
              wait_for_stop(token);
              std::this_thread::sleep_for(2 * kInterruptEcho);
              kill(getpid(), SIGINT);
              std::this_thread::sleep_for(std::chrono::seconds(5));
            }),
            130);
}

TEST(Interrupt, AnEchoOfTheFirstIsNotASecond) {
  EXPECT_EQ(exit_code_of([] {
              const std::stop_token token = stop_on_interrupt();
              kill(getpid(), SIGINT);
              wait_for_stop(token);
              kill(getpid(), SIGINT);
              std::this_thread::sleep_for(2 * kInterruptEcho);
              std::_Exit(0);
            }),
            0);
}

TEST(Interrupt, WhatWasIgnoredStaysIgnored) {
  EXPECT_EQ(exit_code_of([] {
              signal(SIGINT, SIG_IGN);
              const std::stop_token token = stop_on_interrupt();
              kill(getpid(), SIGINT);
              std::this_thread::sleep_for(milliseconds(50));
              std::_Exit(token.stop_requested() ? 2 : 0);
            }),
            0);
}

}  // namespace
}  // namespace penstock::cli
