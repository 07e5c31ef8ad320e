#pragma once

// penstock(1), from what the commands and flags say of themselves.

#include <span>
#include <string>

#include "cli/command.h"

namespace penstock::cli {

// The page as roff (man macros). The same for the same version.
std::string man_page(std::span<const Command> all);

}  // namespace penstock::cli
