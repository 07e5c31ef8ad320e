#pragma once

// Recorded files of public repositories (profiles, traces, graphs) are not part of this repository. They are looked for
// under $PENSTOCK_DATA, by default ../shared/data beside the source tree. A test that needs one begins with
//
//   PENSTOCK_NEEDS_DATA("piper/bert.json");
//
// and is skipped with the reason where the file is absent; where $CI is "true", absence is a failure instead, so that
// continuous integration cannot pass by skipping.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace penstock::test {

std::filesystem::path data_path(std::string_view relative);

// Why <relative> cannot be used, or "" if it is there.
std::string missing_data(std::string_view relative);

bool absence_is_failure();

}  // namespace penstock::test

#define PENSTOCK_NEEDS_DATA(relative)                                                                 \
  do {                                                                                                \
    const std::string penstock_missing = ::penstock::test::missing_data(relative);                    \
    if (!penstock_missing.empty() && ::penstock::test::absence_is_failure()) FAIL() << penstock_missing; \
    if (!penstock_missing.empty()) GTEST_SKIP() << penstock_missing;                                  \
  } while (false)
