#include "cli/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace penstock::cli {
namespace {

// What `body` shows, through a pipe.
template <class Body>
std::string shown(bool visible, Body body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  {
    Progress progress(visible, ends[1]);
    body(progress);
  }
  close(ends[1]);
  std::string out(4096, '\0');
  const ssize_t got = read(ends[0], out.data(), out.size());
  close(ends[0]);
  out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return out;
}

TEST(Progress, SaysNothingInTheFirstSecond) {
  EXPECT_EQ(shown(true, [](Progress& progress) { progress.show("step", 1, 2); }), "");
}

TEST(Progress, ShowsRateAndTimeLeftAndClearsItsLine) {
  const std::string out = shown(true, [](Progress& progress) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1050));
    progress.show("step", 10, 60);
    progress.show("step", 11, 60);  // too soon after the last
  });
  EXPECT_EQ(out.rfind("\r\033[Kstep 10 of 60, ", 0), 0u) << out;
  EXPECT_NE(out.find(" a second, "), std::string::npos);
  EXPECT_NE(out.find(" s left"), std::string::npos);
  EXPECT_EQ(out.find("step 11"), std::string::npos);
  EXPECT_TRUE(out.ends_with("\r\033[K"));
}

TEST(Progress, IsForTerminalsOnly) {
  EXPECT_EQ(shown(false,
                  [](Progress& progress) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1050));
                    progress.show("step", 10, 60);
                  }),
            "");
}

}  // namespace
}  // namespace penstock::cli
