#pragma once

// One instruction of a program: what it is, how long it takes, what it acts on, what it waits for; and its text form.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/op.h"
#include "core/result.h"

namespace penstock {

// Identity of an instruction: what predicted and measured timelines are joined on. In a body, step and microbatch count
// from the start of the repetition.
struct InstructionKey {
  Op op = Op::F;
  std::uint8_t network = 0;
  std::uint8_t slice = 0;
  std::uint8_t direction = 0;
  std::uint16_t stage = 0;
  std::int16_t step = 0;
  std::int32_t microbatch = -1;  // -1: of no microbatch (STEP)

  auto operator<=>(const InstructionKey&) const = default;
};

struct Instruction {
  InstructionKey key;
  std::int32_t recipe = -1;  // RecipeId: how long, and of what
  std::int32_t target = -1;  // EdgeId of SEND and RECV, StoreId of STEP …, GroupId of collectives
  std::uint32_t after_index = 0;   // waits for this instruction (of the same section) …
  std::int16_t after_stream = -1;  // … of this stream of its rank; -1: for none
  std::uint16_t group = 0;  // consecutive transfers with one non-zero number are posted and awaited together

  bool operator==(const Instruction&) const = default;
};
static_assert(sizeof(Instruction) <= 40);

// One line that says all of an instruction (docs/formats/program.md); what is left out has its default:
//   OP stage[.microbatch[.slice]][@direction] [n<network>] [t<step>] [e|s|g<target>] [r<recipe>] [#<group>] [after stream:index]
// "F 0.3 r0", "SEND 0.3 e1 r2 after 0:17", "STEP 1 s1", "WAIT 0 after 2:17".
std::string text(const Instruction& instruction);
std::string text(const InstructionKey& key);    // up to the step: "F 0.3"
std::string brief(const Instruction& instruction);  // key and target, for messages: "SEND 0.3 e1"
Result<Instruction> parse_instruction(std::string_view text);

}  // namespace penstock
