#pragma once

// Where results go.

#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/flags.h"
#include "core/result.h"

namespace penstock::cli {

// Whether everything that a verb is asked to write can be: asked before the work, not after it.
// Usage errors: a folder that does not exist or cannot be written to, a file that exists (unless
// --force is given), two flags that name one file, two that name "-". "" is not asked for.
Result<void> check_outputs(std::span<const OutputFlag> outputs, const Shared& shared);

// Whether one of them goes to standard output, so that the answer must not.
bool takes_standard_output(std::span<const OutputFlag> outputs);

// Whole and at once (core/file.h), "-" to standard output; says so on standard error.
Result<void> write_output(const std::string& path, std::string_view contents, const Shared& shared);

// Whether text on standard output may be coloured: a terminal, and NO_COLOR is not set.
bool colour_allowed();

}  // namespace penstock::cli
