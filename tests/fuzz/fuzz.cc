#include "tests/fuzz/fuzz.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "core/formats/timeline_format.h"
#include "core/program_check.h"
#include "sim/engine.h"
#include "tests/support/files.h"

namespace penstock::fuzz {

void require(bool holds, std::string_view claim, std::string_view detail) {
  if (holds) return;
  check_failed(std::string(claim).c_str(), detail);
}

void require_refusal(const Error& error) {
  require(!error.message.empty(), "an error says something");
  require(error.code != ErrorCode::Internal && error.code != ErrorCode::RunFailed, "the input is to blame, not we",
          error.text());
}

void exercise(const Program& program) {
  constexpr std::size_t kMost = 4000;
  if (program.instruction_count() > kMost) return;
  const bool rendezvous = check(program).empty();
  if (!rendezvous && !check(program, {.rendezvous = false}).empty()) return;
  for (const Discipline discipline : {Discipline::Rendezvous, Discipline::Eager}) {
    if (discipline == Discipline::Rendezvous && !rendezvous) continue;
    const auto result = simulate(program, {.discipline = discipline, .steps = 2});
    if (!result) {
      require(result.error().message.find("waits") == std::string::npos, "a proved program does not stall",
              result.error().text());
      require_refusal(result.error());
      continue;
    }
    const auto brief = simulate(program, {.discipline = discipline, .steps = 2, .memory_counters = false, .spans = false});
    require(brief && iteration_time(brief->timeline) == iteration_time(result->timeline),
            "spans or not, an iteration takes the same");
    const auto again = read_timeline(std::string_view(write_timeline(result->timeline)), "timeline");
    require(require_value(again, "a simulated timeline reads back") == result->timeline,
            "a simulated timeline reads back equal");
  }
}

namespace {
const std::filesystem::path& folder() {
  static const test::TempDir folder;
  return folder.path();
}
}  // namespace

ScratchFile::ScratchFile(std::string_view name) : path_((folder() / name).string()) {}

void ScratchFile::write(std::string_view bytes) const {
  std::FILE* file = std::fopen(path_.c_str(), "wb");
  require(file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size(), "a scratch file can be written",
          path_);
  std::fclose(file);
}

void ScratchFile::remove() const { std::filesystem::remove(path_); }

}  // namespace penstock::fuzz
