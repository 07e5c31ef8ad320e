#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "tests/support/files.h"
#include "tests/support/recorded_data.h"
#include "tests/support/source_tree.h"

namespace penstock::test {
namespace {

// Sets a variable for one test and puts the old value back.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    setenv(name, value, 1);
  }
  ~ScopedVariable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

TEST(TempDir, GoesAwayWithWhatIsInIt) {
  std::filesystem::path path;
  {
    const TempDir folder;
    path = folder.path();
    write_file(folder / "file", std::string("a\0b", 3));
    EXPECT_EQ(read_file(folder / "file"), std::string("a\0b", 3));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(RecordedData, IsLookedForWhereTheVariableSays) {
  const TempDir folder;
  const ScopedVariable data("PENSTOCK_DATA", folder.path().c_str());
  EXPECT_EQ(data_path("a/b"), folder / "a/b");
  EXPECT_NE(missing_data("a.txt"), "");
  write_file(folder / "a.txt", "");
  EXPECT_EQ(missing_data("a.txt"), "");
}

TEST(RecordedData, ItsAbsenceFailsOnlyInContinuousIntegration) {
  const ScopedVariable on("CI", "true");
  EXPECT_TRUE(absence_is_failure());
  const ScopedVariable off("CI", "");
  EXPECT_FALSE(absence_is_failure());
}

TEST(SourceTree, PathsComeApart) {
  const SourceFile file{"exec/cpu/layer_kernel.h", {}};
  EXPECT_EQ(file.top(), "exec");
  EXPECT_EQ(file.folder(), "exec/cpu");
  EXPECT_EQ(file.stem(), "layer_kernel");
  EXPECT_EQ(file.extension(), ".h");
  const SourceFile script{".ci/run", {}};
  EXPECT_EQ(script.stem(), "run");
  EXPECT_EQ(script.extension(), "");
}

TEST(SourceTree, AFolderHoldsWhatLiesBelowIt) {
  EXPECT_TRUE(lies_in("exec/cpu/a.cc", {"exec/cpu/"}));
  EXPECT_FALSE(lies_in("exec/cpu_check.cc", {"exec/cpu/"}));
  EXPECT_TRUE(lies_in("core/json.cc", {"core/json.cc"}));
  EXPECT_FALSE(lies_in("core/json.cc.h", {"core/json.cc"}));
}

}  // namespace
}  // namespace penstock::test
