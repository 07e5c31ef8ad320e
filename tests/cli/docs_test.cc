// The documents name only verbs and flags that exist, all flags of a verb, and examples that work.

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>

#include "cli/command.h"
#include "cli/flags.h"
#include "tests/support/files.h"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

// Own flags by verb.
std::map<std::string, std::set<std::string>, std::less<>> flags_of_verbs() {
  std::map<std::string, std::set<std::string>, std::less<>> out;
  for (const Command& command : commands()) {
    Flags flags;
    const auto verb = command.make();
    verb->declare(flags);
    auto& own = out[std::string(command.name)];
    for (const Flag& flag : flags.flags()) own.emplace(flag.long_name());
  }
  return out;
}

const std::set<std::string, std::less<>> kEveryVerb = {
    "--output", "--json",    "--force", "--seed",    "--config",
    "--quiet",  "--verbose", "--help",  "--version", "--man"};

bool is_letter(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0 ||
         std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-';
}

std::string word_at(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (end < line.size() && is_letter(line[end])) ++end;
  return std::string(line.substr(at, end - at));
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> out(1);
  for (const char c : test::read_file(file)) {
    if (c == '\n') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::vector<fs::path> documents() {
  std::vector<fs::path> out = {test::source_root() / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(test::source_root() / "docs")) {
    if (entry.path().extension() == ".md") out.push_back(entry.path());
  }
  return out;
}

// Flags on a line, each from the place of its first dash.
std::map<std::size_t, std::string> flags_on(const std::string& line) {
  std::map<std::size_t, std::string> out;
  for (std::size_t at = line.find("--"); at != std::string::npos; at = line.find("--", at + 2)) {
    if (at > 0 && (is_letter(line[at - 1]) || line[at - 1] == '|')) continue;  // a table's rule
    const std::string flag = word_at(line, at);
    if (flag.size() > 2 && flag[2] != '-') out[at] = flag;
  }
  return out;
}

TEST(Documents, NameOnlyVerbsAndFlagsThatExist) {
  const auto verbs = flags_of_verbs();
  std::set<std::string, std::less<>> all = kEveryVerb;
  for (const auto& [verb, own] : verbs) all.insert(own.begin(), own.end());
  int verbs_seen = 0, flags_seen = 0;
  for (const fs::path& file : documents()) {
    for (const std::string& line : lines_of(file)) {
      if (line.find("./test") != std::string::npos || line.find("cmake ") != std::string::npos)
        continue;                               // other programs
      std::map<std::size_t, std::string> said;  // verbs by place
      const std::string_view name = "penstock ";
      for (std::size_t at = line.find(name); at != std::string::npos;
           at = line.find(name, at + 1)) {
        const std::string verb = word_at(line, at + name.size());
        if (verb.empty() || std::islower(static_cast<unsigned char>(verb[0])) == 0) continue;
        if (verb == "help") continue;  // of the program itself
        EXPECT_TRUE(verbs.contains(verb)) << file << ": there is no verb " << verb;
        said[at] = verb;
        ++verbs_seen;
      }
      for (const auto& [at, flag] : flags_on(line)) {
        ++flags_seen;
        EXPECT_TRUE(all.contains(flag)) << file << ": there is no flag " << flag << "\n" << line;
        const auto next = said.upper_bound(at);
        if (next == said.begin()) continue;
        const auto verb = verbs.find(std::prev(next)->second);
        if (verb == verbs.end()) continue;
        EXPECT_TRUE(verb->second.contains(flag) || kEveryVerb.contains(flag))
            << file << ": " << verb->first << " has no flag " << flag;
      }
    }
  }
  EXPECT_GT(verbs_seen, 5);
  EXPECT_GT(flags_seen, 40);
}

// Its sections "### VERB INPUT" in docs/cli.md: no other flags, and none left out.
TEST(Documents, TheCommandLineListsTheFlagsOfEachVerb) {
  const auto verbs = flags_of_verbs();
  std::map<std::string, std::set<std::string>, std::less<>> listed;
  std::string section;
  for (const std::string& line : lines_of(test::source_root() / "docs/cli.md")) {
    if (line.starts_with("#")) section = line.starts_with("### ") ? word_at(line, 4) : "";
    if (section.empty() || !verbs.contains(section)) continue;
    const std::string start = line.substr(0, line.find(" | "));
    for (const auto& [at, flag] : flags_on(line.starts_with("| ") ? start : line)) {
      listed[section].insert(flag);
      const auto& own = verbs.find(section)->second;
      EXPECT_TRUE(own.contains(flag) || kEveryVerb.contains(flag)) << section << " has no " << flag;
    }
  }
  for (const auto& [verb, own] : verbs) {
    for (const std::string& flag : own) {
      EXPECT_TRUE(listed[verb].contains(flag))
          << "docs/cli.md leaves out " << flag << " of " << verb;
    }
  }
}

// The n-th block of code in that language, from 0.
std::string example(const fs::path& file, const std::string& language, int n = 0) {
  const std::string text = test::read_file(file), fence = "```" + language + "\n";
  std::size_t begin = text.find(fence);
  while (n-- > 0 && begin != std::string::npos) begin = text.find(fence, begin + 1);
  if (begin == std::string::npos) {
    ADD_FAILURE() << file << " has no such block";
    return "";
  }
  begin += fence.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST(Documents, TheExampleOfAWorkloadIsPlannedAndRuns) {
  const test::TempDir folder;
  const std::string workload = (folder / "workload.toml").string();
  const std::string plan = (folder / "plan.json").string();
  test::write_file(workload, example(test::source_root() / "docs/formats/workload.md", "toml"));
  testing::internal::CaptureStdout();
  const int planned = run_command_line(
      {"plan", workload, "--cluster", "flat:2,device=cpu", "--ranks", "2", "-q", "-o", plan});
  const int ran = planned == 0 ? run_command_line({"run", plan, "--steps", "2", "-q"}) : -1;
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(planned, 0) << said;
  EXPECT_EQ(ran, 0) << said;
}

TEST(Documents, TheProfileWrittenByHandPricesTheOpaqueLayer) {
  const test::TempDir folder;
  const fs::path document = test::source_root() / "docs/formats/workload.md";
  const std::string workload = (folder / "workload.toml").string();
  const std::string profile = (folder / "profile.json").string();
  int toml = 0;  // the block that holds the opaque layer
  while (example(document, "toml", toml).find("kind = \"opaque\"") == std::string::npos) ++toml;
  test::write_file(workload, example(document, "toml", toml));
  test::write_file(profile, example(document, "json"));
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int planned =
      run_command_line({"plan", workload, "--cluster", "flat:2,device=v100,bandwidth=12GB/s",
                        "--microbatch", "8", "--profile", profile, "-q"});
  const std::string said = testing::internal::GetCapturedStderr();
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(planned, 0) << said;
}

}  // namespace
}  // namespace penstock::cli
