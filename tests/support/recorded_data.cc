#include "tests/support/recorded_data.h"

#include <fmt/core.h>

#include <cstdlib>
#include <system_error>

#include "tests/support/files.h"

namespace penstock::test {

std::filesystem::path data_path(std::string_view relative) {
  const char* folder = std::getenv("PENSTOCK_DATA");
  const bool given = folder != nullptr && *folder != '\0';
  const std::filesystem::path root = given ? std::filesystem::path(folder) : source_root().parent_path() / "shared" / "data";
  return root / relative;
}

std::string missing_data(std::string_view relative) {
  std::error_code error;
  if (std::filesystem::exists(data_path(relative), error)) return "";
  return fmt::format("recorded data absent: {} (PENSTOCK_DATA names the folder that holds it)", relative);
}

bool absence_is_failure() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string_view(ci) == "true";
}

}  // namespace penstock::test
