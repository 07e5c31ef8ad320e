#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/file.h"
#include "core/log.h"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> refuse(const OutputFlag& output, std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::Usage,
                    .message = fmt::format("{}: {}", output.name, message),
                    .where = {.file = *output.path},
                    .hint = std::move(hint)});
}

bool asked_for(const OutputFlag& output) {
  return !output.path->empty() && *output.path != "-";
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  if (fs::exists(a, ignored) && fs::exists(b, ignored)) {
    // Two flags may both go to /dev/null.
    return fs::equivalent(a, b, ignored) && fs::is_regular_file(a, ignored);
  }
  return fs::weakly_canonical(fs::absolute(a, ignored), ignored) ==
         fs::weakly_canonical(fs::absolute(b, ignored), ignored);
}

Result<void> check_output(const OutputFlag& output, const Shared& shared) {
  std::error_code ignored;
  const fs::path path(*output.path);
  if (fs::is_directory(path, ignored))
    return refuse(output, "this is a folder", "name a file in it");
  const bool there = fs::exists(path, ignored), regular = fs::is_regular_file(path, ignored);
  if (there && !regular) {
    if (access(path.c_str(), W_OK) == 0) return {};
    return refuse(output, "this cannot be written to", "name another file");
  }
  if (regular && !shared.force && (output.again == nullptr || *output.again != *output.path))
    return fail(Error{.code = ErrorCode::Usage,
                      .message = "the file exists already",
                      .where = {.file = *output.path},
                      .hint = "--force replaces it"});
  // Links are followed: what counts is the folder of the file itself.
  const fs::path target = there ? fs::canonical(path, ignored) : path;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored))
    return refuse(output, fmt::format("there is no folder {}", folder.string()), "make it first");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return refuse(output, fmt::format("nothing can be written in {}", folder.string()),
                  "name a file elsewhere");
  return {};
}

}  // namespace

Result<void> check_outputs(std::span<const OutputFlag> outputs, const Shared& shared) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const OutputFlag& output = outputs[i];
    for (std::size_t j = 0; j < i; ++j) {
      const bool both_standard = *output.path == "-" && *outputs[j].path == "-";
      const bool both_files = asked_for(output) && asked_for(outputs[j]);
      if (both_standard || (both_files && same_file(*output.path, *outputs[j].path)))
        return refuse(output, fmt::format("{} goes there already", outputs[j].name),
                      "name another file");
    }
    if (asked_for(output)) PENSTOCK_TRY_VOID(check_output(output, shared));
  }
  return {};
}

bool takes_standard_output(std::span<const OutputFlag> outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const OutputFlag& output) { return *output.path == "-"; });
}

Result<void> write_output(const std::string& path, std::string_view contents,
                          const Shared& shared) {
  auto written = write_file_atomic(path, contents, shared.force ? Overwrite::Yes : Overwrite::No);
  if (!written) return written;
  if (path != "-") log_info(fmt::format("wrote {}", path));
  return {};
}

bool colour_allowed() {
  const char* refused = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (refused == nullptr || *refused == '\0');
}

}  // namespace penstock::cli
