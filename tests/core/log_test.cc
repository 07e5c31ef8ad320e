#include "core/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace penstock {
namespace {

TEST(Log, SaysItsLevelAndAllBeforeIt) {
  testing::internal::CaptureStderr();
  set_log_level(LogLevel::Info);
  log_error("e {}");
  log_warning("w");
  log_info("i");
  log_debug("d");
  set_log_level(LogLevel::Error);
  log_warning("hidden");
  EXPECT_FALSE(log_enabled(LogLevel::Info));
  set_log_level(LogLevel::Debug);
  log_debug("d");
  set_log_level(LogLevel::Info);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "penstock: error: e {}\npenstock: warning: w\npenstock: i\npenstock: debug: d\n");
}

TEST(Log, LinesOfManyThreadsDoNotMix) {
  testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) log_info(std::string(50, static_cast<char>('a' + t)));
    });
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(testing::internal::GetCapturedStderr());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_EQ(line.size(), 60u);
    ASSERT_EQ(std::count(line.begin(), line.end(), line.back()),
              line.back() == 'c' ? 51 : 50);  // "penstock" has a c
  }
  EXPECT_EQ(count, 800);
}

}  // namespace
}  // namespace penstock
