#pragma once

// Files for tests: the source tree's own, and temporary ones.

#include <filesystem>
#include <string>
#include <string_view>

namespace penstock::test {

// The root of the source tree that this was built from.
const std::filesystem::path& source_root();

// The whole file, byte for byte. A file that cannot be read fails the running test and yields "".
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view bytes);

// tests/golden/<relative>: expected results, and inputs of our own making.
std::filesystem::path golden_path(std::string_view relative);
inline std::string golden(std::string_view relative) { return read_file(golden_path(relative)); }

// A fresh, empty folder that goes away, with all that is in it, when this does.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace penstock::test
