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
// Usage errors: a folder that does not exist or cannot be written to, a name that is too long, a file
// that exists (unless --force is given), two flags that name one file, two that name "-", a file that is
// read as well (the same file, by whatever name), a text or an image set in a folder that is read. What an
// output writes beside itself counts too. "" is not asked for.
Result<void> check_outputs(std::span<const OutputFlag> outputs, std::span<const ReadFile> inputs,
                           const Shared& shared);

// Whether one of them goes to standard output, so that the answer must not.
bool takes_standard_output(std::span<const OutputFlag> outputs);

// Whole and at once (core/file.h), "-" to standard output; says so on standard error.
Result<void> write_output(const std::string& path, std::string_view contents, const Shared& shared);

// Whether text on standard output may be coloured: a terminal, unless NO_COLOR is set or CLICOLOR is
// 0. CLICOLOR_FORCE (neither empty nor 0) colours what is no terminal too; NO_COLOR wins.
bool colour_allowed();

// What is printed goes to a file: no colour, whatever standard output is. Once a command, by dispatch.
void print_for_file(bool file);

}  // namespace penstock::cli
