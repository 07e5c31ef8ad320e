#pragma once

// Where results go.

#include <string>
#include <string_view>

#include "cli/command.h"
#include "core/result.h"

namespace penstock::cli {

// Refuses a regular file that exists, unless --force is given: asked before the work, not after it.
// Refuses "-" where another document goes to standard output already. "" is fine. Once a document.
Result<void> refuse_existing(const std::string& path, const Shared& shared);

// Whole and at once (core/file.h), "-" to standard output; says so on standard error.
Result<void> write_output(const std::string& path, std::string_view contents, const Shared& shared);

// Whether text on standard output may be coloured: a terminal, unless NO_COLOR is set or CLICOLOR is
// 0. CLICOLOR_FORCE (neither empty nor 0) colours what is no terminal too; NO_COLOR wins.
bool colour_allowed();

// What is printed goes to a file: no colour, whatever standard output is. Once a command, by dispatch.
void print_for_file(bool file);

}  // namespace penstock::cli
