// One instruction: its text form is the only one.

#include "core/instruction.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock;
  const std::string_view line = fuzz::text(data, size);
  const Result<Instruction> instruction = parse_instruction(line);
  if (!instruction) {
    fuzz::require_refusal(instruction.error());
    return 0;
  }
  const std::string written = text(*instruction);
  fuzz::require(fuzz::require_value(parse_instruction(written), "what is written reads back") == *instruction,
                "it reads back equal", written);
  return 0;
}
