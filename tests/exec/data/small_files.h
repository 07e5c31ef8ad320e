#pragma once

// Image files of a few images, made here.

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::test {

// 32 bits, the highest first.
inline std::string big_endian(std::uint32_t x) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(x >> shift & 255);
  return out;
}

// Image i of 2 rows and 3 columns: 10·i + place.
inline std::string idx_images(std::uint32_t count) {
  std::string out = big_endian(0x803) + big_endian(count) + big_endian(2) + big_endian(3);
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t place = 0; place < 6; ++place) out += static_cast<char>(10 * i + place);
  return out;
}

inline std::string idx_labels(const std::vector<std::uint8_t>& labels) {
  std::string out = big_endian(0x801) + big_endian(static_cast<std::uint32_t>(labels.size()));
  for (const std::uint8_t label : labels) out += static_cast<char>(label);
  return out;
}

// A record: its labels, then 3072 pixels of one value.
inline std::string cifar_record(const std::vector<std::uint8_t>& labels, char pixel) {
  return std::string(labels.begin(), labels.end()) + std::string(3072, pixel);
}

}  // namespace penstock::test
