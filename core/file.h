#pragma once

// Whole files in and out.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/value.h"

namespace penstock {

// More than any document we know takes, and what ends the reading of something endless (/dev/zero, a
// pipe that never closes).
inline constexpr std::size_t kLargestFile = std::size_t{1} << 30;

// "-" reads standard input to its end. Refuses what is larger than `most` bytes.
Result<std::string> read_file(const std::string& path, std::size_t most = kLargestFile);

// Training data, which is kept in memory whole: a regular file may be larger than any document, up to `most`; of what tells
// no size (a device, a pipe) `endless` is enough.
inline constexpr std::size_t kLargestData = std::size_t{1} << 36;
Result<std::string> read_data(const std::string& path, std::size_t most = kLargestData, std::size_t endless = kLargestFile);

enum class Overwrite : std::uint8_t { No, Yes };

// Readers see the old file or all of the new one, and so does whoever comes after a crash or a
// kill: the contents are written under no name (or a hidden temporary one, where the file system
// has no nameless files), synced, then named in one step. Overwrite::No refuses an existing file
// even if it appears meanwhile. Links are followed; the mode of a replaced file is kept. "-" and
// what is no regular file (a pipe, /dev/null) are written directly.
// ReaderGone: a pipe that nobody reads any more (where SIGPIPE is ignored).
Result<void> write_file_atomic(const std::string& path, std::string_view contents,
                               Overwrite overwrite);

// Writes to an open file to the end of `contents`. 0, or the error's number; what came before it is written.
int write_all(int descriptor, std::string_view contents);

// Of an error's number, what it means for who named the file: Usage where another name would do, ReaderGone (EPIPE), or
// Unavailable.
tl::unexpected<Error> cannot_write(const std::string& path, int error);

// Whether that would find a place for `path` now: names, folders, permissions, tried with a file that
// has no name. Leaves everything as it is. That there is room for the contents it cannot know.
Result<void> can_write_file(const std::string& path);

// The file that `path` leads to, also where that is not there yet. A circle ends at one of its links.
std::string follow_links(const std::string& path);

// JSON or TOML: by the ending .json or .toml of the name, else JSON if the first character that is
// not blank is '{', else TOML.
Result<Value> parse_document(std::string_view text, const std::string& file_name);

// read_file, then parse_document. Places in errors name "-" as "<stdin>".
Result<Value> read_document(const std::string& path);

}  // namespace penstock
