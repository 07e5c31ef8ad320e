// Replays every committed input of every fuzz target, and what has once broken one, with any compiler.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/files.h"

// Each target is compiled with its own name for LLVMFuzzerTestOneInput (CMakeLists.txt).
#define PENSTOCK_TARGET(name) extern "C" int penstock_fuzz_##name(const std::uint8_t* data, std::size_t size);
#include <fuzz_targets.inc>
#undef PENSTOCK_TARGET

namespace penstock {
namespace {

std::vector<std::filesystem::path> inputs_of(const std::string& target) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_root() / "tests" / "fuzz" / "corpus" / target))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

void replay(const std::string& target, int (*run)(const std::uint8_t*, std::size_t)) {
  const auto inputs = inputs_of(target);
  ASSERT_FALSE(inputs.empty()) << "tests/fuzz/corpus/" << target << " is empty";
  const auto feed = [&](const std::string& bytes) {
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());  // so that a sanitizer sees its end
    EXPECT_EQ(run(exact.data(), exact.size()), 0);
  };
  feed("");
  for (const std::filesystem::path& input : inputs) {
    std::fprintf(stderr, "%s\n", input.c_str());  // the last one is the one that aborted
    const std::string bytes = test::read_file(input);
    feed(bytes);
    // Files end early.
    feed(bytes.substr(0, bytes.size() / 2));
    feed(bytes.substr(0, bytes.size() - std::min<std::size_t>(1, bytes.size())));
  }
}

#define PENSTOCK_TARGET(name) \
  TEST(FuzzCorpus, EveryInputOf_##name##_IsReadOrRefused) { replay(#name, penstock_fuzz_##name); }
#include <fuzz_targets.inc>
#undef PENSTOCK_TARGET

}  // namespace
}  // namespace penstock
