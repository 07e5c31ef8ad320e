#include "core/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace penstock {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "penstock-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  bool has_nameless_files() const {
    const int file = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0600);
    return file >= 0 && ::close(file) == 0;
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(File, WhatIsWrittenReadsBackByteForByte) {
  std::string contents;
  for (int i = 0; i < 300'000; ++i) contents += static_cast<char>(i * 31);
  ASSERT_TRUE(write_file_atomic(path("a"), contents, Overwrite::No));
  EXPECT_EQ(*read_file(path("a")), contents);
  ASSERT_TRUE(write_file_atomic(path("empty"), "", Overwrite::No));
  EXPECT_EQ(*read_file(path("empty")), "");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(File, DataMayBeLargerThanDocumentsButMustHaveASize) {
  ASSERT_TRUE(write_file_atomic(path("a"), std::string(3000, 'x'), Overwrite::No));
  EXPECT_EQ(read_data(path("a"), 3000, 1000)->size(), 3000u);
  for (const auto& [name, most] : {std::pair<std::string, std::size_t>{path("a"), 2999}, {"/dev/zero", 3000}}) {
    const auto refused = read_data(name, most, 1000);
    ASSERT_FALSE(refused) << name;
    EXPECT_NE(refused.error().message.find("more than"), std::string::npos);
    EXPECT_EQ(refused.error().hint, "give less data, or a regular file of it");
  }
}

TEST(FileSlow, MoreThanAGigabyteOfDataIsRead) {
  const fs::path file = fs::temp_directory_path() / ("penstock-data-" + std::to_string(::getpid()));
  std::ofstream(file) << "start";
  fs::resize_file(file, kLargestFile + 5);
  const auto data = read_data(file.string());
  fs::remove(file);
  ASSERT_TRUE(data) << data.error().text();
  EXPECT_EQ(data->size(), kLargestFile + 5);
  EXPECT_TRUE(data->starts_with("start"));
}

TEST_F(File, AnExistingFileIsRefusedUnlessForced) {
  ASSERT_TRUE(write_file_atomic(path("a"), "old", Overwrite::No));
  const auto refused = write_file_atomic(path("a"), "new", Overwrite::No);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Usage);
  EXPECT_EQ(refused.error().text(),
            path("a") + ": the file exists already (hint: --force overwrites it)");
  EXPECT_EQ(*read_file(path("a")), "old");
  ASSERT_TRUE(write_file_atomic(path("a"), "new", Overwrite::Yes));
  EXPECT_EQ(*read_file(path("a")), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, OfManyWritersWithoutForceExactlyOneWins) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(write_file_atomic(path("a"), std::string(10'000, static_cast<char>('a' + i)),
                                Overwrite::No)
                  ? 0
                  : 1);
    children.push_back(child);
  }
  int winners = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    winners += WEXITSTATUS(status) == 0;
  }
  EXPECT_EQ(winners, 1);
  const std::string contents = *read_file(path("a"));
  EXPECT_EQ(contents, std::string(10'000, contents[0]));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, LinksAreFollowedAndModesKept) {
  ASSERT_TRUE(write_file_atomic(path("real"), "old", Overwrite::No));
  ASSERT_EQ(::chmod(path("real").c_str(), 0600), 0);
  fs::create_symlink("real", folder_ / "link");
  ASSERT_TRUE(write_file_atomic(path("link"), "new", Overwrite::Yes));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(*read_file(path("real")), "new");
  EXPECT_EQ(fs::status(folder_ / "real").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(File, WhetherAFileCanBeWrittenIsFoundWithoutWritingIt) {
  ASSERT_TRUE(write_file_atomic(path("a"), "old", Overwrite::No));
  EXPECT_TRUE(can_write_file(path("a")));
  EXPECT_TRUE(can_write_file(path("b")));
  EXPECT_TRUE(can_write_file(path(std::string(255, 'x'))));
  EXPECT_TRUE(can_write_file("-"));
  EXPECT_EQ(*read_file(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
  for (const std::string& bad : {path(std::string(256, 'x')), path("no/such/file"), path("a/b"), folder_.string()}) {
    const auto refused = can_write_file(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, ErrorCode::Usage);
    EXPECT_EQ(refused.error().where.file, bad);
  }
}

// As long as a name may be: what is written on the way has a shorter one.
TEST_F(File, TheLongestNameIsWritten) {
  const std::string longest = path(std::string(255, 'x'));
  ASSERT_TRUE(write_file_atomic(longest, "one", Overwrite::No));
  ASSERT_TRUE(write_file_atomic(longest, "two", Overwrite::Yes));
  EXPECT_EQ(*read_file(longest), "two");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, ALinkThatLeadsNowhereYetIsFollowed) {
  fs::create_symlink("target", folder_ / "link");
  EXPECT_EQ(follow_links(path("link")), path("target"));
  ASSERT_TRUE(write_file_atomic(path("link"), "new", Overwrite::No));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(*read_file(path("target")), "new");
}

TEST_F(File, DevicesAreWrittenDirectly) {
  EXPECT_TRUE(write_file_atomic("/dev/null", "x", Overwrite::No));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(File, FailuresNameTheFileAndTheReasonAndLeaveNothing) {
  EXPECT_EQ(read_file(path("none")).error().text(),
            path("none") + ": cannot read: No such file or directory (hint: is the name right? ls shows what is there)");
  EXPECT_EQ(read_file(folder_.string()).error().text(),
            folder_.string() + ": cannot read: Is a directory");
  const auto no_folder = write_file_atomic(path("no/such/a"), "x", Overwrite::No);
  EXPECT_EQ(no_folder.error().text(),
            path("no/such/a") +
                ": cannot write: No such file or directory (hint: its folder must exist)");
  EXPECT_EQ(no_folder.error().code, ErrorCode::Usage);
  EXPECT_EQ(write_file_atomic(folder_.string(), "x", Overwrite::Yes).error().message,
            "cannot write: Is a directory");
  const auto full = write_file_atomic("/dev/full", "x", Overwrite::No);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::Unavailable);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(File, AWriterKilledAtAnyMomentLeavesTheOldOrTheNewFileWhole) {
  const std::string old_contents(3'000'000, 'o'), new_contents(5'000'000, 'n');
  ASSERT_TRUE(write_file_atomic(path("a"), old_contents, Overwrite::No));
  std::mt19937 random(5);
  int killed = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;)
        if (!write_file_atomic(path("a"), new_contents, Overwrite::Yes) ||
            !write_file_atomic(path("a"), old_contents, Overwrite::Yes))
          ::_exit(1);
    }
    ::usleep(static_cast<useconds_t>(random() % 20'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    killed += WIFSIGNALED(status);
    const auto contents = read_file(path("a"));
    ASSERT_TRUE(contents);
    ASSERT_TRUE(*contents == old_contents || *contents == new_contents) << contents->size();
    // A kill between naming and replacing can leave a second, whole file; never a part of one,
    // unless the file system has no nameless files.
    if (!has_nameless_files()) continue;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string whole = *read_file(entry.path());
      ASSERT_TRUE(whole == old_contents || whole == new_contents) << entry.path();
    }
  }
  EXPECT_EQ(killed, 60);
}

TEST_F(File, ANewFileKilledInTheMakingIsNotThereOrWhole) {
  const std::string contents(5'000'000, 'n');
  std::mt19937 random(6);
  for (int trial = 0; trial < 40; ++trial) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(write_file_atomic(path("a"), contents, Overwrite::No) ? 0 : 1);
    ::usleep(static_cast<useconds_t>(random() % 8'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (fs::exists(folder_ / "a")) {
      ASSERT_EQ(fs::file_size(folder_ / "a"), contents.size());
      fs::remove(folder_ / "a");
    }
  }
}

TEST(ReadFile, WhatIsTooLargeOrEndlessIsRefused) {
  for (const char* path : {"/dev/zero", "/proc/self/exe"}) {
    const auto read = read_file(path, 1000);
    ASSERT_FALSE(read.has_value()) << path;
    EXPECT_EQ(read.error().code, ErrorCode::BadInput);
    EXPECT_EQ(read.error().where.file, path);
    EXPECT_NE(read.error().hint, "");
  }
}

TEST(ParseDocument, TheEndingDecidesThenTheFirstCharacter) {
  EXPECT_EQ(parse_document("a = 1", "f.toml")->find("a")->integer(), 1);
  EXPECT_EQ(parse_document(" \n {\"a\": 1}", "f")->find("a")->integer(), 1);
  EXPECT_EQ(parse_document("a = 1", "f")->find("a")->integer(), 1);
  EXPECT_EQ(parse_document("[1]", "f.json")->array().size(), 1u);
  EXPECT_EQ(parse_document("[t]\na = 1", "<stdin>")->find("t")->find("a")->integer(), 1);
  EXPECT_NE(parse_document("{\"a\": 1}", "f.toml").error().message.find("not TOML"),
            std::string::npos);
  EXPECT_NE(parse_document("a = 1", "f.json").error().message.find("not JSON"), std::string::npos);
  EXPECT_EQ(parse_document("\x7f"
                           "ELF",
                           "f")
                .error()
                .hint,
            "a document is TOML, or JSON that starts with '{'");
  EXPECT_EQ(parse_document("", "f").error().text(), "f: there is nothing in it (hint: expected JSON or TOML)");
}

TEST_F(File, ReadDocumentReadsAndParses) {
  ASSERT_TRUE(write_file_atomic(path("a.toml"), "x = 1\ny = \n", Overwrite::No));
  const auto error = read_document(path("a.toml")).error();
  EXPECT_EQ(error.where.file, path("a.toml"));
  EXPECT_EQ(error.where.line, 2);
}

}  // namespace
}  // namespace penstock
