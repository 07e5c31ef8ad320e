#pragma once

// Recorded tables as text: whole files, their cells, and the numbers in them. What is damaged fails the running test.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::test {

std::string read_gzip(const std::filesystem::path& path);

// At every `at`: one part more than there are of them.
std::vector<std::string_view> split(std::string_view text, char at);

// The whole of `text` as an integer.
std::int64_t number(std::string_view text);

}  // namespace penstock::test
