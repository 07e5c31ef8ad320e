// parse_arguments (cli/flags.h): from words to inputs and flags.

#include <gtest/gtest.h>

#include "cli/flags.h"

namespace penstock::cli {
namespace {

struct Fixture {
  Flags flags;
  std::string input, output;
  std::int64_t steps = 20, speed = 0;
  std::vector<std::int64_t> sizes;
  bool fast = false, warm = true, help = false;

  Fixture() {
    flags.input("PLAN", "plan file", input);
    flags.add("-o,--output", "FILE", "where to", text_into(output));
    flags.add("--steps", "N", "steps", count_into(steps, 1, 1000));
    flags.add("--microbatch", "B[,B]", "sizes", counts_into(sizes, 1, 64));
    flags.toggle("--fast", "hurry", fast);
    flags.add("--speed", "N", "how fast", count_into(speed, 1, 9));
    flags.needs("--fast");
    flags.on_off("warm", "warm up", "do not", warm);
    flags.toggle("--help", "help", help);
  }
  Result<void> parse(const std::vector<std::string>& arguments) {
    return parse_arguments(flags, arguments, help);
  }
  std::string error(const std::vector<std::string>& arguments) {
    const auto parsed = parse(arguments);
    if (parsed) return "";
    EXPECT_EQ(parsed.error().code, ErrorCode::Usage);
    return parsed.error().text();
  }
};

TEST(Parse, InputsAndFlagsComeInAnyOrder) {
  Fixture f;
  EXPECT_EQ(f.error({"--steps", "7", "plan.json", "--fast", "-o", "-", "--microbatch=1,2,4"}), "");
  EXPECT_EQ(f.input, "plan.json");
  EXPECT_EQ(f.output, "-");
  EXPECT_EQ(f.steps, 7);
  EXPECT_EQ(f.sizes, (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_TRUE(f.fast);
}

TEST(Parse, ADashIsAnInput) {
  Fixture f;
  ASSERT_TRUE(f.parse({"-"}).has_value());
  EXPECT_EQ(f.input, "-");
}

TEST(Parse, ASlipIsAnsweredWithTheNearestFlag) {
  EXPECT_EQ(Fixture().error({"plan.json", "--step", "3"}),
            "there is no flag --step (hint: did you mean --steps?)");
  EXPECT_EQ(Fixture().error({"plan.json", "--outptu=x"}),
            "there is no flag --outptu (hint: did you mean --output?)");
  EXPECT_EQ(Fixture().error({"plan.json", "--zzzzzzzz"}),
            "there is no flag --zzzzzzzz (hint: --help lists the flags)");
}

TEST(Parse, NumbersAreRefusedByTheNameOfTheirFlag) {
  for (const char* bad : {"-1", "0", "1001", "1.5", "nan", "1e3", "", "99999999999999999999"}) {
    EXPECT_EQ(Fixture().error({"plan.json", "--steps", bad}).rfind("--steps: ", 0), 0u) << bad;
  }
  EXPECT_EQ(Fixture().error({"plan.json", "--microbatch", "1,,2"}).rfind("--microbatch: ", 0), 0u);
  EXPECT_EQ(Fixture().error({"plan.json", "--microbatch", "1,65"}).rfind("--microbatch: ", 0), 0u);
}

TEST(Parse, AFlagThatMeansNothingByItselfIsRefused) {
  EXPECT_EQ(Fixture().error({"plan.json", "--speed", "3"}),
            "--speed means nothing without --fast (hint: give --fast too, or leave --speed out)");
  EXPECT_EQ(Fixture().error({"plan.json", "--fast", "--speed", "3"}), "");
}

TEST(Parse, OneFlagTurnsOnAndOff) {
  for (const auto& [word, warm] : {std::pair("--warm", true), {"--no-warm", false}}) {
    Fixture f;
    EXPECT_EQ(f.error({"plan.json", word}), "");
    EXPECT_EQ(f.warm, warm);
  }
  EXPECT_EQ(Fixture().error({"plan.json", "--warm", "--no-warm"}),
            "--warm and --no-warm contradict each other (hint: drop one of them)");
}

TEST(Parse, AFileTurnsOnAndOffWhatTheCommandLineLeavesOpen) {
  const auto warm = [](const std::string& flag, const std::string& text, const std::vector<std::string>& words) {
    Fixture f;
    const auto parsed = parse_arguments(f.flags, words, f.help, [&]() -> Result<std::vector<Default>> {
      return std::vector<Default>{{flag, text, {}}};
    });
    EXPECT_TRUE(parsed) << parsed.error().text();
    return f.warm;
  };
  EXPECT_FALSE(warm("--warm", "false", {"plan.json"}));
  EXPECT_TRUE(warm("--warm", "true", {"plan.json"}));
  EXPECT_FALSE(warm("--no-warm", "true", {"plan.json"}));
  EXPECT_TRUE(warm("--no-warm", "false", {"plan.json"}));
  EXPECT_TRUE(warm("--warm", "false", {"plan.json", "--warm"}));
  EXPECT_FALSE(warm("--no-warm", "false", {"plan.json", "--no-warm"}));
}

TEST(Parse, ADefaultWithoutTheFlagThatItNeedsIsLeftOutAndATypedOneIsRefused) {
  const auto speed = [](const std::vector<Default>& defaults, const std::vector<std::string>& words) {
    Fixture f;
    const auto parsed = parse_arguments(f.flags, words, f.help, [&] { return Result<std::vector<Default>>(defaults); });
    EXPECT_TRUE(parsed) << parsed.error().text();
    return f.speed;
  };
  const Default three{"--speed", "3", {}}, fast{"--fast", "true", {}};
  EXPECT_EQ(speed({three}, {"plan.json"}), 0);
  EXPECT_EQ(speed({three}, {"plan.json", "--fast"}), 3);
  EXPECT_EQ(speed({three, fast}, {"plan.json"}), 3);
  EXPECT_EQ(speed({fast}, {"plan.json", "--speed", "4"}), 4);
  EXPECT_EQ(Fixture().error({"plan.json", "--speed", "4"}),
            "--speed means nothing without --fast (hint: give --fast too, or leave --speed out)");
}

TEST(Parse, FlagsKnowWhetherTheyWereTyped) {
  Fixture f;
  ASSERT_TRUE(parse_arguments(f.flags, {"plan.json", "-o", "x"}, f.help, [] {
    return Result<std::vector<Default>>(std::vector<Default>{{"--steps", "3", {}}});
  }));
  EXPECT_EQ(f.steps, 3);
  EXPECT_TRUE(f.flags.typed("--output"));
  EXPECT_FALSE(f.flags.typed("--steps"));
  EXPECT_FALSE(f.flags.typed("--fast"));
}

TEST(Parse, WhatIsMissingTwiceOrTooManyIsRefused) {
  EXPECT_EQ(Fixture().error({}), "PLAN is missing: plan file (hint: --help shows examples)");
  EXPECT_NE(Fixture().error({"a", "b"}).find("\"b\" is one input too many"), std::string::npos);
  EXPECT_EQ(Fixture().error({"a", "--steps", "1", "--steps", "2"}),
            "--steps is given 2 times (hint: give it once)");
  EXPECT_NE(Fixture().error({"a", "--steps"}), "");
  Fixture helped;
  EXPECT_TRUE(helped.parse({"--help"}).has_value());
}

}  // namespace
}  // namespace penstock::cli
