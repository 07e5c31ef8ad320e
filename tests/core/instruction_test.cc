#include "core/instruction.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::test {
namespace {

Instruction parsed(std::string_view line) {
  const Result<Instruction> result = parse_instruction(line);
  EXPECT_TRUE(result.has_value()) << line;
  return result.value_or(Instruction{});
}

TEST(InstructionText, IsAsDocumented) {
  Instruction send;
  send.key = {.op = Op::Send, .stage = 0, .microbatch = 3};
  send.target = 1;
  send.recipe = 2;
  send.after_stream = 0;
  send.after_index = 17;
  EXPECT_EQ(text(send), "SEND 0.3 e1 r2 after 0:17");
  EXPECT_EQ(brief(send), "SEND 0.3 e1");
  EXPECT_EQ(text(send.key), "SEND 0.3");
  EXPECT_EQ(parsed("SEND 0.3 e1 r2 after 0:17"), send);

  Instruction all;
  all.key = {.op = Op::AllReduce,
             .network = 2,
             .slice = 1,
             .direction = 1,
             .stage = 5,
             .step = -1,
             .microbatch = 3};
  all.target = 4;
  all.group = 9;
  EXPECT_EQ(text(all), "ALLREDUCE 5.3.1@1 n2 t-1 g4 #9");
  EXPECT_EQ(parsed(text(all)), all);

  all.key.microbatch = -1;  // a bucket of no microbatch
  EXPECT_EQ(text(all), "ALLREDUCE 5.-.1@1 n2 t-1 g4 #9");
  EXPECT_EQ(parsed(text(all)), all);

  EXPECT_EQ(text(parsed("STEP 1 s1")), "STEP 1 s1");
  EXPECT_EQ(parsed("STEP 1 s1").key.microbatch, -1);
  EXPECT_EQ(text(parsed("WAIT 0 after 2:17")), "WAIT 0 after 2:17");
}

TEST(InstructionText, ReadsBackWhateverItWrites) {
  std::mt19937 random(11);
  const auto upto = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random()) % (n + 1); };
  for (int round = 0; round < 20000; ++round) {
    Instruction x;
    x.key.op = kOpNames[upto(kOpNames.size() - 1)].first;
    x.key.stage = static_cast<std::uint16_t>(upto(65535));
    if (upto(3) != 0) {
      x.key.microbatch = static_cast<std::int32_t>(upto(2147483646));
      x.key.slice = static_cast<std::uint8_t>(upto(255));
    }
    x.key.direction = static_cast<std::uint8_t>(upto(1));
    if (upto(1) == 0) x.key.network = static_cast<std::uint8_t>(upto(255));
    if (upto(1) == 0)
      x.key.step = static_cast<std::int16_t>(static_cast<std::int32_t>(upto(65535)) - 32768);
    if (target_of(x.key.op) != Target::None && upto(1) == 0)
      x.target = static_cast<std::int32_t>(upto(99999));
    if (upto(1) == 0) x.recipe = static_cast<std::int32_t>(upto(99999));
    if (upto(1) == 0) x.group = static_cast<std::uint16_t>(upto(65535));
    if (upto(1) == 0) {
      x.after_stream = static_cast<std::int16_t>(upto(32767));
      x.after_index = static_cast<std::uint32_t>(random());
    }
    ASSERT_EQ(parsed(text(x)), x) << text(x);
  }
}

TEST(InstructionText, RefusesWhatItWouldNotWrite) {
  for (const char* line : {"",
                           " ",
                           "F",
                           "F ",
                           "F x",
                           "F 0.",
                           "F 0.3.",
                           "F 0.3 ",
                           "F 0.3 r",
                           "F 0.3 e1",
                           "F 00.3",
                           "F 0.03",
                           "F +0.3",
                           "F -1.3",
                           "F 0.-3",
                           "F 0.3  r1",
                           "F 0.3 r1 ",
                           "F 0.3 r1 n1",
                           "F 65536.0",
                           "F 0.2147483648",
                           "F 0.1.256",
                           "F 0.3 t-0",
                           "SEND 0.3 s1",
                           "SEND 0.3 e-1",
                           "SEND 0.3 e1 #0",
                           "SEND 0.3 e1 after",
                           "SEND 0.3 e1 after 0",
                           "SEND 0.3 e1 after 0:",
                           "SEND 0.3 e1 after -1:2",
                           "SEND 0.3 e1 after 0:4294967296",
                           "f 0.3",
                           "F\t0.3",
                           "F 0.99999999999999999999"})
    EXPECT_FALSE(parse_instruction(line).has_value()) << line;
}

TEST(InstructionText, ErrorsSayWhereAndWhatWasMeant) {
  EXPECT_NE(parse_instruction("RECVE 0.1").error().text().find("did you mean 'RECV'?"),
            std::string::npos);
  EXPECT_NE(parse_instruction("SEND 0.3 e1 after 0-17")
                .error()
                .message.find("expected ':' and an index at column 20"),
            std::string::npos)
      << parse_instruction("SEND 0.3 e1 after 0-17").error().message;
}

}  // namespace
}  // namespace penstock::test
