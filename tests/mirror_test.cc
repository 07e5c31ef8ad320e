// Every source has its test, where one looks for it: sim/engine.cc has engine_test.cc (or engine_<aspect>_test.cc)
// somewhere under tests/sim or tests/properties; a verb of the command line may have a transcript, tests/transcripts/plan.t.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/source_tree.h"

namespace penstock::test {
namespace {

bool is_test_of(const SourceFile& test, const SourceFile& source) {
  const std::string name(source.stem());
  const std::string test_name(test.stem());
  if (source.top() == "cli" && test.path == "tests/transcripts/" + name + ".t") return true;
  if (test.extension() != ".cc" && test.extension() != ".cu") return false;
  if (!lies_in(test.path, {"tests/" + std::string(source.top()) + "/", "tests/properties/"})) return false;
  return test_name == name + "_test" || (test_name.rfind(name + "_", 0) == 0 && test_name.ends_with("_test"));
}

TEST(Mirror, EverySourceHasATest) {
  const std::vector<SourceFile> files = text_files();
  std::vector<SourceFile> tests;
  for (const SourceFile& file : files) {
    if (file.top() == "tests") tests.push_back(file);
  }
  std::vector<Violation> violations;
  for (const SourceFile& file : files) {
    const auto& modules = module_folders();
    const bool in_module = std::find(modules.begin(), modules.end(), file.top()) != modules.end();
    if (!in_module || (file.extension() != ".cc" && file.extension() != ".cu")) continue;
    if (std::any_of(tests.begin(), tests.end(), [&](const auto& test) { return is_test_of(test, file); })) continue;
    violations.push_back({file.path, fmt::format("no {}_test.cc under tests/{}", file.stem(), file.top())});
  }
  expect_none("mirror", violations);
}

// A test file that no penstock_tests(…) lists is never compiled, and claims nothing.
TEST(Mirror, EveryTestIsBuilt) {
  const std::vector<SourceFile> files = text_files();
  const auto is_listed = [&](const SourceFile& test) {
    for (const SourceFile& build : files) {
      if (build.stem() != "CMakeLists" || !lies_in(test.path, {std::string(build.folder()) + "/"})) continue;
      const std::string name = test.path.substr(build.folder().size() + 1);
      for (const std::string& line : build.lines) {
        const std::size_t at = line.find(name);
        if (at != std::string::npos && (at == 0 || line[at - 1] == ' ')) return true;
      }
    }
    return false;
  };
  std::vector<Violation> violations;
  for (const SourceFile& file : files) {
    if (file.top() == "tests" && file.path.ends_with("_test.cc") && !is_listed(file))
      violations.push_back({file.path, "listed in no CMakeLists.txt, so never built"});
  }
  expect_none("built", violations);
}

TEST(Mirror, ATestIsFoundByTheNameOfItsSource) {
  const SourceFile engine{"sim/engine.cc", {}};
  EXPECT_TRUE(is_test_of({"tests/sim/engine_test.cc", {}}, engine));
  EXPECT_TRUE(is_test_of({"tests/sim/engine_memory_test.cc", {}}, engine));
  EXPECT_TRUE(is_test_of({"tests/properties/engine_test.cc", {}}, engine));
  EXPECT_FALSE(is_test_of({"tests/exec/engine_test.cc", {}}, engine));
  EXPECT_FALSE(is_test_of({"tests/sim/engine_test.h", {}}, engine));
  EXPECT_TRUE(is_test_of({"tests/transcripts/plan.t", {}}, {"cli/plan.cc", {}}));
  EXPECT_FALSE(is_test_of({"tests/transcripts/plan.t", {}}, engine));
}

}  // namespace
}  // namespace penstock::test
