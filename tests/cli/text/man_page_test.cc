#include "cli/text/man_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cli/flags.h"
#include "tests/support/files.h"

namespace penstock::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') out += '\\';
    out += c;
  }
  return out;
}

TEST(ManPage, NamesEveryVerbAndEveryFlag) {
  const std::string page = man_page(commands());
  for (const Command& command : commands()) {
    EXPECT_NE(page.find(".SS " + escaped(command.name) + "\n"), std::string::npos) << command.name;
    Shared shared;
    Flags flags;
    const auto verb = command.make();
    declare_all(flags, command, *verb, shared);
    for (const Flag& flag : flags.flags())
      EXPECT_NE(page.find("\\fB" + escaped(flag.long_name()) + "\\fR"), std::string::npos)
          << flag.long_name();
  }
}

TEST(ManPage, IsPlainRoff) {
  for (const char c : man_page(commands()))
    ASSERT_TRUE((c >= ' ' && c <= '~') || c == '\n') << static_cast<int>(c);
}

// groff with all warnings on, where it is installed.
TEST(ManPage, GroffHasNothingToComplainOf) {
  if (std::system("command -v groff >/dev/null 2>&1") != 0) GTEST_SKIP() << "groff is not installed";
  const test::TempDir folder;
  const std::string page = (folder / "penstock.1").string(), said = (folder / "said").string();
  test::write_file(page, man_page(commands()));
  EXPECT_EQ(std::system(("groff -man -ww -Tutf8 " + page + " >/dev/null 2>" + said).c_str()), 0);
  EXPECT_EQ(test::read_file(said), "");
}

}  // namespace
}  // namespace penstock::cli
