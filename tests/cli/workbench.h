#pragma once

// Commands as users type them, with the built program.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/support/files.h"

namespace penstock::cli {

// A folder that commands run in, typed into a shell in which penstock is the built program.
class Workbench {
 public:
  std::filesystem::path operator/(std::string_view name) const { return folder_ / name; }
  const std::filesystem::path& path() const { return folder_.path(); }

  // Exit code 0 is expected. What the command said is in `answer()`.
  void run(const std::string& command) const {
    const std::string said = (talk_ / "said").string();
    const std::string line = "cd '" + folder_.path().string() + "' && PATH='" +
                             std::filesystem::path(PENSTOCK_PROGRAM).parent_path().string() + "':$PATH && " +
                             command + " >'" + said + "' 2>'" +
                             said + ".err' </dev/null";
    EXPECT_EQ(std::system(line.c_str()), 0) << command << "\n" << test::read_file(said + ".err");
  }
  std::string answer() const { return test::read_file(talk_ / "said"); }

 private:
  test::TempDir folder_, talk_;
};

}  // namespace penstock::cli
