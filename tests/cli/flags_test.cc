#include "cli/flags.h"

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

TEST(Flags, TheLongNameIsTheLastOfItsNames) {
  std::string text;
  Flags flags;
  flags.add("-o,--output", "FILE", "where to", text_into(text));
  flags.add("--steps", "N", "how many", text_into(text));
  EXPECT_EQ(flags.flags()[0].long_name(), "--output");
  EXPECT_EQ(flags.flags()[1].long_name(), "--steps");
}

TEST(Flags, AnOnOffFlagIsTwoThatSetOneValue) {
  bool value = true;
  Flags flags;
  flags.on_off("contention", "count it", "leave it out", value);
  ASSERT_EQ(flags.flags().size(), 2u);
  const Flag& on = flags.flags()[0];
  const Flag& off = flags.flags()[1];
  EXPECT_EQ(on.opposite, off.names);
  EXPECT_EQ(off.opposite, on.names);
  ASSERT_TRUE(off.set(off.names, ""));
  EXPECT_FALSE(value);
  ASSERT_TRUE(on.set(on.names, ""));
  EXPECT_TRUE(value);
}

TEST(Flags, FilesToWriteAndToReadAreKnownByNameAndPlace) {
  std::string out = "a", in = "b";
  Flags flags;
  flags.input("PLAN", "a plan", in);
  flags.reads("PLAN", in);
  flags.output("-o,--output", "FILE", "where to", out, &in, {".previous"});
  flags.needs("--steps");
  ASSERT_EQ(flags.outputs().size(), 1u);
  EXPECT_EQ(flags.outputs()[0].path, &out);
  EXPECT_EQ(flags.outputs()[0].again, &in);
  EXPECT_EQ(flags.outputs()[0].beside, std::vector<std::string>{".previous"});
  ASSERT_EQ(flags.files_read().size(), 1u);
  EXPECT_EQ(flags.files_read()[0].path, &in);
  EXPECT_EQ(flags.flags()[0].needs, "--steps");
}

}  // namespace
}  // namespace penstock::cli
