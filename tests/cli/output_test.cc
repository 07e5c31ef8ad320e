#include "cli/output.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/support/files.h"

namespace penstock::cli {
namespace {

TEST(Output, AnExistingFileIsRefusedBeforeAndAtTheWrite) {
  const test::TempDir folder;
  const std::string path = (folder / "plan.json").string();
  test::write_file(path, "old");
  const Shared careful, forced{.output = {}, .force = true};
  EXPECT_EQ(refuse_existing(path, careful).error().code, ErrorCode::Usage);
  EXPECT_EQ(refuse_existing(path, careful).error().hint, "--force replaces it");
  EXPECT_FALSE(write_output(path, "new", careful).has_value());
  EXPECT_EQ(test::read_file(path), "old");
  EXPECT_TRUE(refuse_existing(path, forced).has_value());
  EXPECT_TRUE(write_output(path, "new", forced).has_value());
  EXPECT_EQ(test::read_file(path), "new");
  EXPECT_TRUE(refuse_existing("-", careful).has_value());
  EXPECT_TRUE(refuse_existing((folder / "other.json").string(), careful).has_value());
}

// A writer is killed at moments spread over its work: at any of them the file is absent, or whole,
// and no other visible file lies beside it (file systems without nameless files keep a hidden one).
TEST(Output, AKillMidWriteLeavesNoPartialFile) {
  const std::string contents(32 << 20, 'x');
  int killed_before_the_end = 0;
  for (int delay_us = 0; delay_us < 40'000; delay_us += 2'000) {
    const test::TempDir folder;
    const std::string path = (folder / "timeline.json").string();
    const pid_t child = fork();
    if (child == 0) {
      const Shared shared{.output = {}, .quiet = true};
      std::_Exit(write_output(path, contents, shared).has_value() ? 0 : 1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    killed_before_the_end += WIFSIGNALED(status) ? 1 : 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      if (entry.path().filename().string().front() == '.') continue;
      EXPECT_EQ(entry.path().string(), path) << "something was left behind";
      EXPECT_EQ(entry.file_size(), contents.size());
    }
  }
  EXPECT_GT(killed_before_the_end, 0) << "no kill came in time: nothing was tested";
}

}  // namespace
}  // namespace penstock::cli
