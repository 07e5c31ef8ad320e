#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/file.h"
#include "core/log.h"

namespace penstock::cli {
namespace {

bool goes_to_file = false;

}  // namespace

Result<void> refuse_existing(const std::string& path, const Shared& shared) {
  if (path == "-" && ++shared.on_standard_output > 1) {
    return fail(ErrorCode::Usage, "two documents cannot both go to standard output",
                "write one of them to a file");
  }
  if (path.empty() || path == "-" || shared.force) return {};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  return fail(Error{.code = ErrorCode::Usage,
                    .message = "the file exists already",
                    .where = {.file = path},
                    .hint = "--force replaces it"});
}

Result<void> write_output(const std::string& path, std::string_view contents,
                          const Shared& shared) {
  auto written = write_file_atomic(path, contents, shared.force ? Overwrite::Yes : Overwrite::No);
  if (!written) return written;
  if (path != "-") log_info(fmt::format("wrote {}", path));
  return {};
}

bool colour_allowed() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (goes_to_file || !set("NO_COLOR").empty()) return false;
  if (!set("CLICOLOR_FORCE").empty() && set("CLICOLOR_FORCE") != "0") return true;
  return set("CLICOLOR") != "0" && isatty(STDOUT_FILENO) == 1;
}

void print_for_file(bool file) {
  goes_to_file = file;
}

}  // namespace penstock::cli
