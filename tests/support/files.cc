#include "tests/support/files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>

namespace penstock::test {

const std::filesystem::path& source_root() {
  static const std::filesystem::path root = PENSTOCK_SOURCE_DIR;
  return root;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) ADD_FAILURE() << "cannot read " << path.string();
  return bytes;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) ADD_FAILURE() << "cannot write " << path.string();
}

std::filesystem::path golden_path(std::string_view relative) {
  return source_root() / "tests" / "golden" / relative;
}

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "penstock-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    std::perror(name.c_str());
    std::abort();
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;  // a folder left behind is no reason to fail a test
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace penstock::test
