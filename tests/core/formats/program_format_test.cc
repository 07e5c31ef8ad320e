#include "core/formats/program_format.h"

#include <gtest/gtest.h>

#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

Result<Program> read(std::string_view text) {
  return read_program(text, "p.json");
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

TEST(ProgramFormat, ReadsBackWhatItWrites) {
  for (const std::int32_t p : {1, 2, 4}) {
    for (const bool split : {false, true}) {
      Program program = sample_program(one_f_one_b_order(p, 5),
                                       {.split_backward = split, .memory_limit = Bytes(1 << 20)});
      program.groups.push_back({.kind = GroupKind::GradientNorm, .ranks = {RankId(0)}, .bytes = Bytes(16)});
      program.ranks[0].streams[0].prologue.push_back(
          Instruction{.key = {.op = Op::UseW, .step = -2}, .target = 0});
      program.ranks[0].streams[0].epilogue.push_back(
          Instruction{.key = {.op = Op::AllReduce, .network = 3, .direction = 1}, .target = 0});
      program.recipes[0].segments[0].group = GroupId(0);
      program.stores[0].versions = 2;
      const std::string text = write_program(program);
      const Result<Program> again = read(text);
      ASSERT_TRUE(again.has_value()) << again.error().text();
      EXPECT_EQ(*again, program);
      EXPECT_EQ(write_program(*again), text);
    }
  }
}

TEST(ProgramFormat, HoldsInstructionsAsText) {
  const std::string text = write_program(sample_program(one_f_one_b_order(2, 1)));
  EXPECT_NE(text.find("\"schema\": \"penstock.program/1\""), std::string::npos);
  EXPECT_NE(text.find("\"SEND 0.0 e0 r2 after 0:1\""), std::string::npos);
  EXPECT_NE(text.find("[\"weights\", 0, -1, 0, 0, 0, 5, 4096, 0]"), std::string::npos) << text;
}

TEST(ProgramFormat, HoldsExactlyTheMemoryItNeeds) {
  const Result<Program> program = read(write_program(sample_program(one_f_one_b_order(3, 40))));
  ASSERT_TRUE(program.has_value());
  std::size_t instructions = 0;
  for (const RankProgram& rank : program->ranks)
    for (const Stream& stream : rank.streams) instructions += stream.body.capacity();
  EXPECT_EQ(instructions, program->instruction_count());
  EXPECT_EQ(program->buffers.capacity(), program->buffers.size());
}

TEST(ProgramFormat, EveryTruncationIsRefused) {
  const std::string text = write_program(sample_program(one_f_one_b_order(2, 2)));
  for (std::size_t n = 0; n + 2 < text.size(); ++n) {  // the last two: "}\n"
    const Result<Program> cut = read(std::string_view(text).substr(0, n));
    ASSERT_FALSE(cut.has_value()) << n;
    ASSERT_EQ(cut.error().code, ErrorCode::BadInput);
    ASSERT_EQ(cut.error().where.file, "p.json");
  }
}

TEST(ProgramFormat, DamageIsRefusedWithItsPlace) {
  const std::string sound = write_program(sample_program(one_f_one_b_order(2, 2)));
  const auto damaged = [&](std::string_view from, std::string_view to) {
    std::string text = sound;
    replace(text, from, to);
    const Result<Program> program = read(text);
    return program ? std::string("accepted") : program.error().text();
  };
  EXPECT_NE(damaged("penstock.program/1", "penstock.program/2").find("penstock.program/1"),
            std::string::npos);
  EXPECT_NE(damaged("\"F 0.0 r0\"", "\"FX 0.0 r0\"").find("'FX' is not an operation"),
            std::string::npos)
      << damaged("\"F 0.0 r0\"", "\"FX 0.0 r0\"");
  EXPECT_NE(damaged("\"F 0.0 r0\"", "\"F 0.0 r0\", 7").find("an instruction"), std::string::npos);
  EXPECT_NE(
      damaged("\"F 0.0 r0\"", "\"F 0.0 r99\"").find("'F 0.0 r99' names a recipe that is not there"),
      std::string::npos);
  EXPECT_NE(damaged("[\"weights\", 0, -1, 0,", "[\"weights\", 0, -1,")
                .find("a buffer has 9 fields, not 8"),
            std::string::npos);
  EXPECT_NE(damaged("[\"weights\"", "[\"weight\"").find("did you mean"), std::string::npos);
  EXPECT_NE(damaged("\"body_steps\": 1", "\"body_steps\": 0").find("body_steps"),
            std::string::npos);
  EXPECT_NE(damaged("\"body_steps\": 1", "\"body_step\": 1")
                .find("is \"body_step\" a misspelling of it?"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::test
