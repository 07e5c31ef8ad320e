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

// A temporary file beside `path` (a regular file or none, no link) that becomes `path` in the end. Removed if it never gets there.
class CheckpointFile {
 public:
  static Result<CheckpointFile> create(const std::string& path);
  CheckpointFile(CheckpointFile&& other) noexcept;
  CheckpointFile& operator=(CheckpointFile&&) = delete;
  ~CheckpointFile();

  Result<void> section(std::string_view payload);
  // Checksum, fsync, rename. The file that was at `path` is then `previous`, if there was one; "": it is gone.
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

struct SectionView {
  std::uint64_t offset;  // of the payload
  std::uint64_t bytes;
};

// A checkpoint's file, open: however large, it is read in pieces. It stays the file that was opened, whatever takes its name
// meanwhile.
class CheckpointReader {
 public:
  // BadInput if there is no such file, or if it is no regular one.
  static Result<CheckpointReader> open(const std::string& path);
  CheckpointReader(CheckpointReader&& other) noexcept;
  CheckpointReader& operator=(CheckpointReader&& other) noexcept;
  ~CheckpointReader();

  std::uint64_t bytes() const { return bytes_; }
  // Where the payloads of `sections` sections lie, verified. BadInput names the first damaged one by what `name` calls it, and
  // its offset. Reads the whole file once.
  Result<std::vector<SectionView>> verify(std::uint64_t sections, std::string (*name)(std::uint64_t section)) const;
  // BadInput if the file ends before `offset` + `count`.
  Result<void> read(std::uint64_t offset, void* out, std::size_t count) const;

 private:
  CheckpointReader(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace penstock
