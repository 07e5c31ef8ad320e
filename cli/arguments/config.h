#pragma once

// --config FILE: what flags are where the command line does not give them. TOML (or JSON), keys named
// like the flags without their dashes; at the top for every verb that has the flag, in a table of a
// verb's name for that verb, where it wins.
//
//   seed = 7
//   [plan]
//   cluster = "flat:8,device=v100,bandwidth=12GB/s"
//   microbatch = [1, 2, 4]

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace penstock::cli {

// The defaults that the file holds for `verb`. Bad input, with file:line:column: a verb or a flag that
// does not exist (naming the nearest), a flag that a file cannot set (help, config), a value that is
// neither text, number, true or false, nor a list of such. Keys of other verbs are checked too.
Result<std::vector<Default>> read_config(const std::string& path, std::string_view verb);

}  // namespace penstock::cli
