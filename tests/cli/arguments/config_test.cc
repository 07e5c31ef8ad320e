#include "cli/arguments/config.h"

#include <gtest/gtest.h>

#include "cli/command.h"
#include "tests/support/files.h"

namespace penstock::cli {
namespace {

struct Config {
  explicit Config(std::string_view contents) { test::write_file(path(), contents); }
  std::string path() const { return (folder / "c.toml").string(); }
  std::string error(std::string_view verb = "plan") const {
    const auto read = read_config(path(), verb);
    if (read) return "";
    EXPECT_EQ(read.error().code, ErrorCode::BadInput);
    return read.error().text().substr(folder.path().string().size() + 1);
  }
  // "--flag=text" in the order in which they hold.
  std::vector<std::string> flags(std::string_view verb) const {
    std::vector<std::string> out;
    const auto read = read_config(path(), verb);
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().text());
    if (!read) return out;
    for (const Default& one : *read) out.push_back(one.flag + "=" + one.text);
    return out;
  }

  test::TempDir folder;
};

TEST(Config, AFlagAtTheTopIsForEveryVerbThatHasIt) {
  const Config config("seed = 7\nstrategy = \"auto\"\n");
  EXPECT_EQ(config.flags("plan"), (std::vector<std::string>{"--seed=7", "--strategy=auto"}));
  EXPECT_EQ(config.flags("run"), (std::vector<std::string>{"--seed=7"}));
}

TEST(Config, TheTableOfAVerbIsForThatVerbAndComesFirst) {
  const Config config("steps = 5\n[run]\nsteps = 60\n[simulate]\ngantt = true\n");
  EXPECT_EQ(config.flags("run"), (std::vector<std::string>{"--steps=60", "--steps=5"}));
  EXPECT_EQ(config.flags("simulate"), (std::vector<std::string>{"--gantt=true", "--steps=5"}));
}

TEST(Config, AListIsWrittenWithCommas) {
  EXPECT_EQ(Config("[plan]\nmicrobatch = [1, 2, 4]\n").flags("plan"),
            (std::vector<std::string>{"--microbatch=1,2,4"}));
}

TEST(Config, WhatDoesNotExistIsRefusedWithItsPlaceAndTheNearest) {
  EXPECT_EQ(Config("\nstrtegy = \"auto\"\n").error(),
            "c.toml:2:11: there is no flag \"strtegy\" (hint: did you mean \"strategy\"?)");
  EXPECT_EQ(Config("[plam]\nseed = 1\n").error(),
            "c.toml:1:1: there is no verb \"plam\" (hint: did you mean \"plan\"?)");
  // Also in the table of another verb, and a flag of another verb.
  EXPECT_EQ(Config("[run]\ngantt = true\n").error("plan").substr(0, 40),
            "c.toml:2:9: there is no flag \"gantt\" (hi");
}

TEST(Config, WhatAFlagCannotBeIsRefused) {
  EXPECT_EQ(Config("json = 1\n").error(),
            "c.toml:1:8: json is on or off, not an integer 1 (hint: write json = true)");
  EXPECT_EQ(Config("seed = [[1]]\n").error().substr(0, 26), "c.toml:1:8: seed cannot be");
  EXPECT_NE(Config("config = \"other.toml\"\n").error(), "");
  EXPECT_NE(Config("help = true\n").error(), "");
}

TEST(Config, ATableThatTurnsOneThingOnAndOffIsRefused) {
  for (const char* value : {"true", "false"}) {
    const std::string both = std::string("contention = ") + value + "\nno-contention = " + value + "\n";
    EXPECT_EQ(Config(both).error("simulate"),
              "c.toml:2:17: contention and no-contention contradict each other (hint: drop one of them)");
    EXPECT_NE(Config("[simulate]\n" + both).error("plan"), "");
  }
  EXPECT_EQ(Config("contention = true\nno-contention = false\n").error("simulate"), "");
  EXPECT_EQ(Config("contention = true\n[simulate]\nno-contention = true\n").error("simulate"), "");
}

// Through the command line itself.
std::string output_of(const std::vector<std::string>& arguments, int expected) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_command_line(arguments), expected);
  const std::string out = testing::internal::GetCapturedStdout();
  const std::string said = testing::internal::GetCapturedStderr();
  return expected == 0 ? out : said;
}

TEST(Config, ItFillsInRequiredFlagsAndTheCommandLineWins) {
  const Config config("[schedule]\nstages = 4\nmicrobatches = 8\nformat = \"csv\"\n");
  const std::string four = output_of({"schedule", "gpipe", "--config", config.path()}, 0);
  EXPECT_NE(four.find("\n3,F,3,"), std::string::npos) << four;
  const std::string two =
      output_of({"schedule", "gpipe", "--stages", "2", "--config", config.path()}, 0);
  EXPECT_EQ(two.find("\n3,F,3,"), std::string::npos);
  EXPECT_NE(two.find("\n1,F,1,"), std::string::npos) << two;
}

TEST(Config, AValueThatDoesNotParseIsAnErrorAtItsPlace) {
  const Config config("[schedule]\nstages = 4\nmicrobatches = \"many\"\n");
  const std::string said = output_of({"schedule", "gpipe", "--config", config.path()}, 3);
  EXPECT_NE(said.find("c.toml:3:16: "), std::string::npos) << said;
}

}  // namespace
}  // namespace penstock::cli
