#pragma once

// How a checkpoint lies in its file: sections of a length, that many bytes, and a checksum, all numbers little-endian.
//
//   "penstock.ckpt/1\n"                    16 bytes
//   section 0: header                      u64 length | payload | u64 checksum
//   section 1 + p: parameter p             the same
//   u64 checksum of everything before it   and nothing after it
//
// A section's checksum covers its index, its length and its payload.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace penstock {

inline constexpr std::string_view kCheckpointMagic = "penstock.ckpt/1\n";

// Any change of bytes that lie in one aligned word of eight changes it for certain, any other change but for one in 2^64.
// The same for any division of the bytes into calls.
class Checksum {
 public:
  void add(std::string_view bytes);
  std::uint64_t value() const;

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
  std::uint64_t word_ = 0;
  std::uint64_t count_ = 0;
};

void append_u64(std::string& out, std::uint64_t value);
std::uint64_t read_u64(const char* at);
void append_floats(std::string& out, const float* values, std::size_t count);
void read_floats(const char* at, float* out, std::size_t count);

// A temporary file beside `path` that becomes `path` in the end. Removed if it never gets there.
class CheckpointFile {
 public:
  static Result<CheckpointFile> create(const std::string& path);
  CheckpointFile(CheckpointFile&& other) noexcept;
  CheckpointFile& operator=(CheckpointFile&&) = delete;
  ~CheckpointFile();

  Result<void> section(std::string_view payload);
  // Checksum, fsync, rename. The file that was at `path` is then `previous`; "": it is gone.
  Result<void> finish(const std::string& previous);

 private:
  CheckpointFile(std::string path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  Result<void> put(std::string_view bytes);

  std::string path_, temporary_;
  int descriptor_;
  std::uint64_t sections_ = 0;
  Checksum whole_;
};

// The payloads of a file's sections, verified. BadInput names the first damaged one by what `name` calls it, and its offset.
struct SectionView {
  std::size_t offset;  // of the payload
  std::size_t bytes;
};
Result<std::vector<SectionView>> verify_sections(std::string_view bytes, const std::string& path, std::size_t sections,
                                                 std::string (*name)(std::size_t section));

}  // namespace penstock
