#pragma once

// What --help prints, from what the commands and flags say of themselves.

#include <span>
#include <string>

#include "cli/command.h"
#include "cli/flags.h"

namespace penstock::cli {

std::string overview(std::span<const Command> all);
std::string help(const Command& command, const Flags& flags);

}  // namespace penstock::cli
