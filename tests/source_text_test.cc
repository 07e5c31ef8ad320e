// Words that have no place in the tree: work left open, paths of one machine, references to what a reader does not have,
// and the few constructs that break a promise of ours. Literals are split so that this file passes its own test.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/source_tree.h"

namespace penstock::test {
namespace {

struct Forbidden {
  std::string text;  // lower case; matched as a word, in any case
  std::string why;
};

const std::vector<Forbidden> kAnywhere = {
    {"to" "do", "open work is not committed"},
    {"fix" "me", "open work is not committed"},
    {"xx" "x", "open work is not committed"},
    {"not impl" "emented", "what is not there is not offered"},
    {"unimpl" "emented", "what is not there is not offered"},
    {"/wo" "rk/", "a path of one machine"},
    {"/ho" "me/", "a path of one machine"},
    {"/ro" "ot/", "a path of one machine"},
    {"spe" "cs/", "readers do not have it: say the thing itself, or cite the paper"},
    {"design" ".md", "readers do not have it: docs/architecture.md is theirs"},
    {"doss" "ier", "readers do not have it"},
    {"design" " card", "readers do not have it"},
    {"as disc" "ussed", "the tree speaks of itself, not of conversations"},
    {"as requ" "ested", "the tree speaks of itself, not of conversations"},
    {"the br" "ief", "the tree speaks of itself, not of conversations"},
    {"you as" "ked", "the tree speaks of itself, not of conversations"},
    {"sub" "agent", "the tree speaks of itself, not of conversations"},
    {"-march" "=native", "same input, same bytes on every machine"},
};

const std::vector<Forbidden> kInCode = {
    {"catch (" "...)", "a third party's exceptions are caught by type, in the one file that includes it"},
    {"catch(" "...)", "a third party's exceptions are caught by type, in the one file that includes it"},
    {"std::" "views::", "clang 14 cannot compile view pipelines of libstdc++ 12"},
    {"using namespace " "std", "names say where they come from"},
};

// Where the same input must give the same bytes: core, sim, planner.
const std::vector<Forbidden> kWhereDeterministic = {
    {"_clock" "::now", "no wall clock: the caller passes a deadline"},
    {"std::random" "_device", "no unseeded randomness"},
    {"std::ra" "nd", "no unseeded randomness"},
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// True if `line` (in lower case) holds `text` with no letter, digit or '_' running on at either end. A text that begins with
// '_' is the end of a name, and matches there.
bool holds(std::string_view line, std::string_view text) {
  for (std::size_t at = line.find(text); at != std::string_view::npos; at = line.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    const bool starts = at == 0 || text.front() == '_' || !is_word(line[at - 1]);
    const bool ends = end == line.size() || !is_word(text.back()) || !is_word(line[end]);
    if (starts && ends) return true;
  }
  return false;
}

std::vector<Violation> find(const std::vector<SourceFile>& files, const std::vector<Forbidden>& rules) {
  std::vector<Violation> violations;
  for (const SourceFile& file : files) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::string line = file.lines[i];
      std::transform(line.begin(), line.end(), line.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      for (const Forbidden& rule : rules) {
        if (!holds(line, rule.text)) continue;
        violations.push_back({file.path, fmt::format("line {}: '{}': {}", i + 1, rule.text, rule.why)});
      }
    }
  }
  return violations;
}

TEST(SourceText, TheTreeSpeaksOfItselfAlone) { expect_none("text", find(text_files(), kAnywhere)); }

TEST(SourceText, CodeKeepsItsPromises) { expect_none("code", find(code_files(), kInCode)); }

TEST(SourceText, DeterministicFoldersReadNoClockAndRollNoDice) {
  std::vector<SourceFile> files = code_files();
  std::erase_if(files, [](const auto& file) { return !lies_in(file.path, {"core/", "sim/", "planner/"}); });
  expect_none("clock", find(files, kWhereDeterministic));
}

TEST(SourceText, AWordIsFoundWholeAndInAnyCase) {
  EXPECT_TRUE(holds("// to" "do: later", "to" "do"));
  EXPECT_FALSE(holds("auto" "double", "to" "do"));
  EXPECT_TRUE(holds("cd /ho" "me/someone", "/ho" "me/"));
  EXPECT_FALSE(holds("docs/ho" "me/index", "/ho" "me/"));
  EXPECT_TRUE(holds("auto t = steady" "_clock::now();", "_clock" "::now"));
  const std::vector<SourceFile> file = {{"a.cc", {"int a;", "// To" "Do"}}};
  ASSERT_EQ(find(file, kAnywhere).size(), 1u);
  EXPECT_EQ(find(file, kAnywhere).front().path, "a.cc");
}

}  // namespace
}  // namespace penstock::test
