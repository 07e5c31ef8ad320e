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

const Shared kCareful, kForced{.output = {}, .force = true};

// What check_outputs says about files to write, "" if nothing; flags named --a, --b, …
std::string judged(const std::vector<std::string>& paths, const Shared& shared = kCareful,
                   const std::string* again = nullptr) {
  std::vector<OutputFlag> outputs;
  for (const std::string& path : paths)
    outputs.push_back({std::string("--") + static_cast<char>('a' + outputs.size()), &path, again});
  const auto result = check_outputs(outputs, shared);
  if (result) return "";
  EXPECT_EQ(result.error().code, ErrorCode::Usage);
  return result.error().message + " | " + result.error().hint;
}

TEST(Output, AnExistingFileIsRefusedBeforeAndAtTheWrite) {
  const test::TempDir folder;
  const std::string path = (folder / "plan.json").string();
  test::write_file(path, "old");
  EXPECT_EQ(judged({path}), "the file exists already | --force replaces it");
  EXPECT_FALSE(write_output(path, "new", kCareful).has_value());
  EXPECT_EQ(test::read_file(path), "old");
  EXPECT_EQ(judged({path}, kForced), "");
  EXPECT_TRUE(write_output(path, "new", kForced).has_value());
  EXPECT_EQ(test::read_file(path), "new");
  EXPECT_EQ(judged({"-", (folder / "other.json").string(), ""}), "");
}

TEST(Output, AnInputThatIsToBeReplacedMayExist) {
  const test::TempDir folder;
  const std::string path = (folder / "a.ckpt").string(), other = (folder / "b.ckpt").string();
  test::write_file(path, "old");
  EXPECT_EQ(judged({path}, kCareful, &path), "");
  EXPECT_NE(judged({path}, kCareful, &other), "");
}

TEST(Output, AFolderThatIsNotThereOrIsNamedItselfIsRefusedBeforeTheWork) {
  const test::TempDir folder;
  EXPECT_EQ(judged({folder.path().string()}), "--a: this is a folder | name a file in it");
  const std::string below = (folder / "no/such/file").string();
  EXPECT_NE(judged({below}).find("there is no folder"), std::string::npos);
  EXPECT_NE(judged({below}, kForced).find("there is no folder"), std::string::npos);
}

TEST(Output, OneFileIsNotWrittenTwice) {
  const test::TempDir folder;
  const std::string path = (folder / "x").string(), same = (folder / "./y/../x").string();
  EXPECT_EQ(judged({path, path}), "--b: --a goes there already | name another file");
  EXPECT_EQ(judged({path, same}), "--b: --a goes there already | name another file");
  EXPECT_EQ(judged({"-", "", "-"}), "--c: --a goes there already | name another file");
  test::write_file(path, "old");
  std::filesystem::create_symlink(path, folder / "link");
  EXPECT_NE(judged({path, (folder / "link").string()}, kForced), "");
  EXPECT_EQ(judged({"/dev/null", "/dev/null"}), "");
}

TEST(Output, TheAnswerYieldsStandardOutputToADocument) {
  const std::string file = "x", standard = "-";
  EXPECT_FALSE(takes_standard_output(std::vector<OutputFlag>{{"--a", &file}}));
  EXPECT_TRUE(takes_standard_output(std::vector<OutputFlag>{{"--a", &file}, {"--b", &standard}}));
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
