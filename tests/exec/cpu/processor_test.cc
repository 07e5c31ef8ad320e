#include "exec/cpu/processor.h"

#include <gtest/gtest.h>

namespace penstock::cpu {
namespace {

TEST(Processor, IsNamedAndHasCores) {
  EXPECT_FALSE(processor_name().empty());
  EXPECT_GE(core_count(), 1);
}

TEST(Processor, InstructionSetIsALowerCaseName) {
  for (const char c : instruction_set()) EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') << c;
}

TEST(Processor, LibrariesAreNamedWithTheirVersions) { EXPECT_EQ(kernel_libraries().rfind("oneDNN 2.", 0), 0u) << kernel_libraries(); }

}  // namespace
}  // namespace penstock::cpu
