#include "tests/transcripts/transcript.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::test {
namespace {

TEST(Transcript, EachMarkHasItsMeaning) {
  const auto transcript = parse_transcript(
      "# about\n@needs a/b.json\n\n$ cat <<E\n> x\n> E\nx\n\\$ y\n! bad\n? 3\n\n$ true\n");
  ASSERT_TRUE(transcript.has_value()) << transcript.error();
  EXPECT_EQ(transcript->needs, std::vector<std::string>{"a/b.json"});
  ASSERT_EQ(transcript->commands.size(), 2u);
  const Command& first = transcript->commands[0];
  EXPECT_EQ(first.line, 4);
  EXPECT_EQ(first.text, "cat <<E\nx\nE");
  EXPECT_EQ(first.output, (std::vector<std::string>{"x", "$ y"}));
  EXPECT_EQ(first.errors, std::vector<std::string>{"bad"});
  EXPECT_EQ(first.exit_code, 3);
  EXPECT_EQ(transcript->commands[1].exit_code, 0);
  EXPECT_TRUE(transcript->commands[1].output.empty());
}

TEST(Transcript, WhatMakesNoSenseIsRefusedWithItsLine) {
  EXPECT_EQ(parse_transcript("x\n$ true\n").error(), "line 1: output before the first command");
  EXPECT_EQ(parse_transcript("$ true\n? three\n").error(), "line 2: not an exit code: ? three");
  EXPECT_EQ(parse_transcript("@need a\n$ true\n").error(), "line 1: not a directive: @need a");
  EXPECT_EQ(parse_transcript("$ true\nx\n> y\n").error(), "line 3: '>' continues a command, and none comes before it");
  EXPECT_EQ(parse_transcript("# nothing\n").error(), "line 1: no command");
}

TEST(Transcript, PlaceholdersStandForTheirKindAndNothingElse) {
  EXPECT_TRUE(matches("t = <number> ms (<text>)", "t = -1.5e3 ms (of all)"));
  EXPECT_FALSE(matches("t = <number> ms", "t = fast ms"));
  EXPECT_FALSE(matches("t = <number>", "t = 1 ms"));
  EXPECT_FALSE(matches("t = <number>", "t = nan"));
  EXPECT_TRUE(matches("digest <hex>", "digest 00ffAB"));
  EXPECT_FALSE(matches("digest <hex>", "digest 00fg"));
  EXPECT_FALSE(matches("a<text>", "a"));
  EXPECT_TRUE(matches("1.5 [<number>] $", "1.5 [2] $"));
  EXPECT_FALSE(matches("1.5 [<number>]", "1x5 [2]"));
  EXPECT_TRUE(matches("a <b> c", "a <b> c")) << "an unknown placeholder is itself";
}

TEST(Transcript, DotsStandForAnyLines) {
  const std::vector<std::string> lines = {"a", "b", "c"};
  EXPECT_TRUE(matches({"a", "b", "c"}, lines));
  EXPECT_TRUE(matches({"a", "...", "c"}, lines));
  EXPECT_TRUE(matches({"...", "a", "b", "c", "..."}, lines));
  EXPECT_FALSE(matches({"a", "...", "b"}, lines));
  EXPECT_FALSE(matches({"a", "b"}, lines));
  EXPECT_FALSE(matches({"a", "b", "c", "d"}, lines));
}

TEST(Transcript, ALastLineWithoutItsEndCounts) {
  EXPECT_EQ(split_lines("a\n\nb"), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_TRUE(split_lines("").empty());
}

}  // namespace
}  // namespace penstock::test
