#include "tests/support/table.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <charconv>

namespace penstock::test {

std::string read_gzip(const std::filesystem::path& path) {
  std::string bytes;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    ADD_FAILURE() << "cannot open " << path;
    return bytes;
  }
  std::string piece(1 << 16, '\0');
  int read = 0;
  while ((read = gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0)
    bytes.append(piece, 0, static_cast<std::size_t>(read));
  if (read < 0) ADD_FAILURE() << path << " is damaged";
  gzclose(file);
  return bytes;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    ADD_FAILURE() << "'" << text << "' is not a number";
  return value;
}

}  // namespace penstock::test
