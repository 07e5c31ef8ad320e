#include "cli/output.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "tests/support/files.h"

namespace penstock::cli {
namespace {

const Shared kCareful, kForced{.output = {}, .force = true};

// What check_outputs says about files to write, "" if nothing; flags named --a, --b, …
std::string judged(const std::vector<std::string>& paths, const Shared& shared = kCareful,
                   const std::string* again = nullptr, const std::vector<std::string>& beside = {},
                   const std::vector<std::string>& read = {}) {
  std::vector<OutputFlag> outputs;
  std::vector<ReadFile> inputs;
  for (const std::string& path : read)
    inputs.push_back({std::string("--read-") + static_cast<char>('a' + inputs.size()), &path});
  if (again != nullptr) inputs.push_back({"--again", again});
  for (const std::string& path : paths)
    outputs.push_back({std::string("--") + static_cast<char>('a' + outputs.size()), &path, again, beside});
  const auto result = check_outputs(outputs, inputs, shared);
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
  EXPECT_EQ(judged({folder.path().string()}), "--a: cannot write: Is a directory | name a file in it");
  const std::string below = (folder / "no/such/file").string();
  for (const Shared& shared : {kCareful, kForced})
    EXPECT_EQ(judged({below}, shared), "--a: cannot write: No such file or directory | its folder must exist");
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

TEST(Output, WhatIsReadIsNotWrittenUnderAnyName) {
  const test::TempDir folder;
  const std::string path = (folder / "plan.json").string(), link = (folder / "link").string(),
                    hard = (folder / "hard").string(), other = (folder / "other").string();
  test::write_file(path, "old");
  std::filesystem::create_symlink(path, link);
  std::filesystem::create_hard_link(path, hard);
  for (const std::string& name : {path, link, hard, (folder / "./x/../plan.json").string()}) {
    if (!std::filesystem::exists(name)) continue;
    EXPECT_EQ(judged({other, name}, kForced, nullptr, {}, {other, path}),
              "--b: --read-b reads this file | name another file")
        << name;
  }
  EXPECT_EQ(judged({other}, kForced, nullptr, {}, {path}), "");
  EXPECT_EQ(judged({other}, kForced, nullptr, {}, {"gpt:layers=2", "-", ""}), "");
}

TEST(Output, WhatIsWrittenBesideAnOutputCountsToo) {
  const test::TempDir folder;
  const std::string path = (folder / "c").string(), previous = path + ".previous";
  EXPECT_NE(judged({path, previous}, kForced, nullptr, {".previous"}).find("--a, which also writes "), std::string::npos);
  test::write_file(previous, "old");
  EXPECT_NE(judged({path}, kForced, nullptr, {".previous"}, {previous}).find("--read-a reads this file"), std::string::npos);
  EXPECT_EQ(judged({path}, kForced, nullptr, {".previous"}), "");
  std::filesystem::create_directory(path + ".partial");
  EXPECT_NE(judged({path}, kForced, nullptr, {".partial"}).find("this is a folder"), std::string::npos);
}

TEST(Output, TextsAndImagesInAFolderOfDataAreLeftAlone) {
  const test::TempDir folder;
  std::filesystem::create_directory(folder / "in");
  const std::string data = folder.path().string();
  EXPECT_NE(judged({(folder / "a.md").string()}, kForced, nullptr, {}, {data}), "");
  EXPECT_NE(judged({(folder / "in" / "a.txt").string()}, kForced, nullptr, {}, {data}), "");
  EXPECT_EQ(judged({(folder / "a.json").string()}, kForced, nullptr, {}, {data}), "");
  EXPECT_EQ(judged({(folder / "a.txt").string()}, kForced, nullptr, {}, {data + "/in"}), "");
}

TEST(Output, AFileThatALinkAmongTheDataLeadsToIsLeftAlone) {
  const test::TempDir folder;
  std::filesystem::create_directories(folder / "data" / "in");
  const std::string data = (folder / "data").string();
  for (const char* name : {"soft", "hard", "other"}) test::write_file((folder / name).string(), "a text");
  std::filesystem::create_symlink("../../soft", folder / "data" / "in" / "a.txt");
  std::filesystem::create_hard_link(folder / "hard", folder / "data" / "b.md");
  std::filesystem::create_symlink("../other", folder / "data" / "c.json");
  for (const char* name : {"soft", "hard"})
    EXPECT_NE(judged({(folder / name).string()}, kForced, nullptr, {}, {data}), "") << name;
  EXPECT_EQ(judged({(folder / "other").string()}, kForced, nullptr, {}, {data}), "");
}

TEST(Output, ANameThatIsTooLongIsFoundBeforeTheWork) {
  const test::TempDir folder;
  const std::string fits = (folder / std::string(250, 'x')).string();
  EXPECT_EQ(judged({fits}), "");
  EXPECT_TRUE(write_output(fits, "new", kCareful));
  EXPECT_NE(judged({(folder / std::string(256, 'x')).string()}).find("--a: cannot write: File name too long"), std::string::npos);
  EXPECT_NE(judged({(folder / std::string(248, 'x')).string()}, kCareful, nullptr, {".previous"}).find("too long"),
            std::string::npos);
}

TEST(Output, ALinkThatLeadsNowhereYetIsFollowed) {
  const test::TempDir folder;
  std::filesystem::create_symlink("there", folder / "link");
  const std::string link = (folder / "link").string();
  EXPECT_EQ(judged({link}), "");
  EXPECT_TRUE(write_output(link, "new", kCareful));
  EXPECT_EQ(test::read_file(folder / "there"), "new");
  std::filesystem::create_symlink("round", folder / "round");
  EXPECT_NE(judged({(folder / "round").string()}), "");
}

TEST(Output, TheAnswerYieldsStandardOutputToADocument) {
  const std::string file = "x", standard = "-";
  EXPECT_FALSE(takes_standard_output(std::vector<OutputFlag>{{"--a", &file}}));
  EXPECT_TRUE(takes_standard_output(std::vector<OutputFlag>{{"--a", &file}, {"--b", &standard}}));
}

// Of every verb: what names a file is known as read or as written, so that none is forgotten.
TEST(Output, WhateverNamesAFileIsDeclaredAsReadOrWritten) {
  const std::set<std::string, std::less<>> kinds = {"FILE", "PATH",      "PLAN",     "CLUSTER",
                                                    "INPUT", "WORKLOAD", "PREDICTED", "MEASURED"};
  int seen = 0;
  for (const Command& command : commands()) {
    Shared shared;
    Flags flags;
    const auto verb = command.make();
    declare_all(flags, command, *verb, shared);
    std::set<std::string, std::less<>> known;
    for (const OutputFlag& output : flags.outputs()) known.insert(output.name);
    for (const ReadFile& input : flags.files_read()) known.insert(input.name);
    for (const Flag& flag : flags.flags()) {
      if (!kinds.contains(flag.value)) continue;
      EXPECT_TRUE(known.contains(flag.long_name())) << command.name << " " << flag.names;
      ++seen;
    }
    for (const Input& input : flags.inputs()) {
      if (!kinds.contains(input.name)) continue;
      EXPECT_TRUE(known.contains(input.name)) << command.name << " " << input.name;
      ++seen;
    }
  }
  EXPECT_GT(seen, 40);
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
