// One idea a file, and a folder one can survey.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/source_tree.h"

namespace penstock::test {
namespace {

constexpr std::size_t kLinesOfAnyFile = 400;
constexpr std::size_t kLinesOfAHeader = 150;  // a guide: longer ones are named, not refused
constexpr std::size_t kPartsOfAFolder = 25;  // x.h and x.cc are one part

TEST(FileSize, NoSourceIsLongerThanFourHundredLines) {
  std::vector<Violation> violations;
  for (const SourceFile& file : code_files()) {
    if (file.lines.size() <= kLinesOfAnyFile) continue;
    violations.push_back({file.path, fmt::format("{} lines, at most {}: which of its ideas is a file of its own?",
                                                 file.lines.size(), kLinesOfAnyFile)});
  }
  expect_none("size", violations);
}

TEST(FileSize, LongHeadersAreNamed) {
  std::size_t headers = 0;
  for (const SourceFile& file : code_files()) {
    if (file.extension() != ".h") continue;
    ++headers;
    if (file.lines.size() > kLinesOfAHeader) {
      fmt::print("note: {} has {} lines; headers aim at {}\n", file.path, file.lines.size(), kLinesOfAHeader);
    }
  }
  EXPECT_GT(headers, 0u) << "the source tree was not found";
}

TEST(FileSize, NoFolderHoldsMoreThanTwentyFiveParts) {
  std::map<std::string, std::set<std::string>> parts_of;
  for (const SourceFile& file : code_files()) {
    parts_of[std::string(file.folder())].insert(std::string(file.stem()));
  }
  std::vector<Violation> violations;
  for (const auto& [folder, parts] : parts_of) {
    if (parts.size() <= kPartsOfAFolder) continue;
    violations.push_back({folder, fmt::format("{} parts, at most {}: split it by kind", parts.size(), kPartsOfAFolder)});
  }
  expect_none("folder", violations);
}

}  // namespace
}  // namespace penstock::test
