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
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
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

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// Of a child that the signal is sent to, `body` in it; the signal's number is left in `sent`.
int sent = 0;

TEST(Interrupt, TheFirstAsksToStopAndSaysByWhat) {
  for (const int signal : kSignals) {
    sent = signal;
    EXPECT_EQ(exit_code_of([] {
                InterruptWatch watch;
                if (watch.token().stop_requested()) std::_Exit(1);
                kill(getpid(), sent);
                wait_for_stop(watch.token());
                std::_Exit(watch.token().stop_requested() ? interrupted_exit_code() : 2);
              }),
              128 + signal);
  }
}

TEST(Interrupt, TheSecondEndsTheProcess) {
  for (const int signal : kSignals) {
    sent = signal;
    EXPECT_EQ(exit_code_of([] {
                InterruptWatch watch;
                kill(getpid(), SIGINT);
                wait_for_stop(watch.token());
                std::this_thread::sleep_for(2 * kInterruptEcho);
                kill(getpid(), sent);
                std::this_thread::sleep_for(std::chrono::seconds(30));
              }),
              128 + signal);
  }
}

TEST(Interrupt, AnEchoOfTheFirstIsNotASecond) {
  EXPECT_EQ(exit_code_of([] {
              // Both wait for the watch, so that no time passes between them. Two of one kind would be one.
              sigset_t both;
              sigemptyset(&both);
              for (const int signal : {SIGINT, SIGTERM}) sigaddset(&both, signal);
              sigprocmask(SIG_BLOCK, &both, nullptr);
              for (const int signal : {SIGINT, SIGTERM}) kill(getpid(), signal);
              InterruptWatch watch;
              wait_for_stop(watch.token());
              std::this_thread::sleep_for(2 * kInterruptEcho);
              std::_Exit(0);
            }),
            0);
}

TEST(Interrupt, WhatWasIgnoredStaysIgnored) {
  EXPECT_EQ(exit_code_of([] {
              signal(SIGINT, SIG_IGN);
              InterruptWatch watch;
              kill(getpid(), SIGINT);
              std::this_thread::sleep_for(milliseconds(50));
              std::_Exit(watch.token().stop_requested() ? 2 : 0);
            }),
            0);
}

TEST(Interrupt, NothingIsLeftOfAWatchThatIsOver) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  for (int i = 0; i < 3; ++i) {
    InterruptWatch watch;
    watch.stop(141);
    EXPECT_EQ(interrupted_exit_code(), 141);
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : kSignals) EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
  const InterruptWatch fresh;
  EXPECT_FALSE(fresh.token().stop_requested());
  EXPECT_EQ(interrupted_exit_code(), 130);
}

}  // namespace
}  // namespace penstock::cli
