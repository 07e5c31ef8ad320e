// A program: round trip; one that is proved runs.

#include "core/formats/program_format.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

void run(std::string_view bytes) {
  const Result<Program> program = read_program(bytes, "program");
  if (!program) return require_refusal(program.error());
  const std::string json = write_program(*program);
  const Result<Program> again = read_program(std::string_view(json), "p.json");
  require(require_value(again, "what is written reads back") == *program, "it reads back equal", json);
  require(write_program(*again) == json, "equal programs are written alike");
  exercise(*program);
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::fuzz::run(penstock::fuzz::text(data, size));
  return 0;
}
