#include "cli/text/completion_scripts.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/flags.h"
#include "tests/support/files.h"

namespace penstock::cli {
namespace {

TEST(CompletionScripts, EveryShellKnowsEveryVerbAndFlag) {
  for (const auto& [shell, name] : enum_names(Shell{})) {
    const std::string script = completion_script(shell, commands());
    for (const Command& command : commands()) {
      EXPECT_NE(script.find(command.name), std::string::npos) << name << " " << command.name;
      Shared shared;
      Flags flags;
      const auto verb = command.make();
      declare_all(flags, command, *verb, shared);
      for (const Flag& flag : flags.flags()) {
        const std::string flag_name(flag.long_name().substr(2));
        const std::string written = shell == Shell::Fish ? " -l " + flag_name : "--" + flag_name;
        EXPECT_NE(script.find(written), std::string::npos) << name << " " << flag.long_name();
      }
    }
  }
}

// What a shell is told to do and says back; "" where it is not installed.
std::string shell_says(const std::string& shell, Shell kind, const std::string& commands_after) {
  const test::TempDir folder;
  const std::string script = (folder / "script").string(), out = (folder / "out").string();
  test::write_file(script, completion_script(kind, commands()) + commands_after);
  test::write_file(folder / "plan.json", "");
  const std::string command =
      "cd " + folder.path().string() + " && " + shell + " " + script + " >" + out + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << test::read_file(out);
  return test::read_file(out);
}

bool has(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// The words that bash offers for the last of `words`.
std::string bash_offers(const std::string& words, int last) {
  return shell_says("bash", Shell::Bash,
                    "COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(last) +
                        "; _penstock; echo \"${COMPREPLY[@]}\"\n");
}

TEST(CompletionScripts, BashCompletesVerbsFlagsNamesAndFiles) {
  if (!has("bash")) GTEST_SKIP() << "bash is not installed";
  EXPECT_EQ(bash_offers("penstock sim", 1), "simulate\n");
  EXPECT_EQ(bash_offers("penstock plan --mem", 2), "--memory-limit\n");
  EXPECT_EQ(bash_offers("penstock plan --cluster this", 3), "this-machine\n");
  EXPECT_EQ(bash_offers("penstock plan --schedule = gp", 4), "gpipe\n");
  EXPECT_EQ(bash_offers("penstock plan gp", 2), "gpt\n");
  EXPECT_EQ(bash_offers("penstock schedule 1f1b --p2p ea", 4), "eager\n");
  EXPECT_EQ(bash_offers("penstock run pl", 2), "plan.json\n");
  EXPECT_EQ(bash_offers("penstock simulate pl", 2), "plan.json\n");
  EXPECT_EQ(bash_offers("penstock completion z", 2), "zsh\n");
  EXPECT_EQ(bash_offers("penstock run plan.json --steps 1", 4), "\n");
}

TEST(CompletionScripts, ZshReadsItsScript) {
  if (!has("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_EQ(shell_says("zsh -n", Shell::Zsh, ""), "");
}

TEST(CompletionScripts, FishCompletes) {
  if (!has("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string said = shell_says(
      "fish", Shell::Fish,
      "complete -C 'penstock sim'\ncomplete -C 'penstock plan --schedule gp'\n");
  EXPECT_NE(said.find("simulate\t"), std::string::npos) << said;
  EXPECT_NE(said.find("gpipe"), std::string::npos) << said;
}

}  // namespace
}  // namespace penstock::cli
