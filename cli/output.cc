#include "cli/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/log.h"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

bool goes_to_file = false;

// A file that will be written: by a flag, or beside what a flag names.
struct Written {
  const OutputFlag* flag;
  std::string path;
  bool beside = false;

  std::string name() const {
    return beside ? fmt::format("{}, which also writes {}", flag->name, path) : flag->name;
  }
};

tl::unexpected<Error> refuse(const Written& output, std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::Usage,
                    .message = fmt::format("{}: {}", output.flag->name, message),
                    .where = {.file = output.path},
                    .hint = std::move(hint)});
}

// What one file has in common under all its names: "-" is what standard input or output stands for.
std::optional<std::pair<dev_t, ino_t>> identity(const std::string& path, int standard) {
  struct stat status = {};
  const int failed = path == "-" ? ::fstat(standard, &status) : ::stat(path.c_str(), &status);
  // Two flags may both go to /dev/null.
  if (failed != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return std::pair(status.st_dev, status.st_ino);
}

fs::path place(const std::string& path) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(follow_links(path), ignored), ignored);
}

bool same_file(const std::string& a, const std::string& b) {
  const auto one = identity(a, STDOUT_FILENO), other = identity(b, STDOUT_FILENO);
  if (one || other) return one == other;
  std::error_code ignored;
  if (a == "-" || b == "-" || fs::exists(a, ignored)) return a == "-" && b == "-";
  return place(a) == place(b);
}

bool is_data_by_name(const fs::path& path) {
  constexpr std::string_view kRead[] = {".md", ".txt", ".bin", "-ubyte", ".gz"};
  const std::string name = path.filename().string();
  return std::any_of(std::begin(kRead), std::end(kRead), [&](std::string_view ending) { return name.ends_with(ending); });
}

// Of a folder of data the texts and image sets are read, also those of its subfolders, and through links in it files that
// lie elsewhere.
bool lies_among_data(const std::string& path, const std::string& folder) {
  std::error_code ignored, failed;
  if (!fs::is_directory(folder, ignored)) return false;
  if (const auto file = identity(path, STDOUT_FILENO)) {
    for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, failed), end; !failed && it != end; it.increment(failed))
      if (is_data_by_name(it->path()) && identity(it->path().string(), STDIN_FILENO) == file) return true;
  }
  const fs::path file = place(path), within = place(folder);
  return std::mismatch(within.begin(), within.end(), file.begin(), file.end()).first == within.end() && is_data_by_name(file);
}

Result<void> check_against(const Written& output, std::span<const ReadFile> inputs) {
  const auto file = identity(output.path, STDOUT_FILENO);
  for (const ReadFile& input : inputs) {
    if (input.path->empty() || (!output.beside && input.path == output.flag->again)) continue;
    if (file && file == identity(*input.path, STDIN_FILENO))
      return refuse(output, fmt::format("{} reads this file{}", input.name, output.beside ? ", which would be replaced" : ""),
                    "name another file");
    if (*input.path != "-" && output.path != "-" && lies_among_data(output.path, *input.path))
      return refuse(output, fmt::format("{} reads the texts and images of this folder", input.name),
                    "name a file elsewhere");
  }
  return {};
}

Result<void> check_beside(const Written& output) {
  std::error_code ignored;
  struct stat status = {};
  const int found = ::lstat(output.path.c_str(), &status);
  if (found != 0 && errno == ENAMETOOLONG)
    return refuse(output, "the name of this file, which is written too, is too long", "give it a shorter name");
  if (found == 0 && !S_ISREG(status.st_mode))
    return refuse(output, fmt::format("this is {}, and a file of this name is written too", S_ISDIR(status.st_mode) ? "a folder" : "no regular file"),
                  "name another file, or move this away");
  return {};
}

Result<void> check_output(const Written& output, const Shared& shared) {
  std::error_code ignored;
  const std::string* again = output.flag->again;
  if (fs::is_regular_file(output.path, ignored) && !shared.force && (again == nullptr || *again != output.path))
    return fail(Error{.code = ErrorCode::Usage,
                      .message = "the file exists already",
                      .where = {.file = output.path},
                      .hint = "--force replaces it"});
  auto possible = can_write_file(output.path);
  if (possible) return {};
  possible.error().message = fmt::format("{}: {}", output.flag->name, possible.error().message);
  return possible;
}

}  // namespace

Result<void> check_outputs(std::span<const OutputFlag> outputs, std::span<const ReadFile> inputs,
                           const Shared& shared) {
  std::vector<Written> all;
  for (const OutputFlag& flag : outputs) {
    if (flag.path->empty()) continue;
    all.push_back({.flag = &flag, .path = *flag.path});
    const std::string target = *flag.path == "-" ? "" : follow_links(*flag.path);
    for (const std::string& ending : flag.beside) all.push_back({.flag = &flag, .path = target + ending, .beside = true});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (same_file(all[i].path, all[j].path))
        return refuse(all[i], fmt::format("{} goes there already", all[j].name()), "name another file");
    }
    PENSTOCK_TRY_VOID(check_against(all[i], inputs));
  }
  for (const Written& output : all) {
    if (output.path != "-") PENSTOCK_TRY_VOID(output.beside ? check_beside(output) : check_output(output, shared));
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
