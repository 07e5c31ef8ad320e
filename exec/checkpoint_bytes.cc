#include "exec/checkpoint_bytes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace penstock {
namespace {

constexpr std::uint64_t kPrime = 0x100000001b3u;

tl::unexpected<Error> io_error(const std::string& path, std::string_view what) {
  return fail(Error{.code = ErrorCode::BadInput, .message = fmt::format("{}: {}", what, std::strerror(errno)),
                    .where = {.file = path}, .hint = "is the folder writable, and is there room?"});
}

}  // namespace

// Each round maps the state one to one, so two states that differ stay different until another difference is added.
void Checksum::add(std::string_view bytes) {
  const auto round = [&](std::uint64_t word) {
    state_ = (state_ ^ word) * kPrime;
    state_ ^= state_ >> 32;
  };
  for (std::size_t i = 0; i < bytes.size();) {
    if (count_ % 8 == 0 && bytes.size() - i >= 8) {
      round(read_u64(bytes.data() + i));
      count_ += 8;
      i += 8;
      continue;
    }
    word_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i++])) << (8 * (count_ % 8));
    if (++count_ % 8 == 0) round(std::exchange(word_, 0));
  }
}

std::uint64_t Checksum::value() const {
  std::uint64_t state = (state_ ^ word_) * kPrime;
  state = (state ^ count_ ^ state >> 32) * kPrime;
  return state ^ state >> 32;
}

void append_u64(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

std::uint64_t read_u64(const char* at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  return value;
}

static_assert(std::endian::native == std::endian::little, "floats are copied as they lie in memory");

void append_floats(std::string& out, const float* values, std::size_t count) {
  out.append(reinterpret_cast<const char*>(values), count * sizeof(float));
}

void read_floats(const char* at, float* out, std::size_t count) { std::memcpy(out, at, count * sizeof(float)); }

Result<CheckpointFile> CheckpointFile::create(const std::string& path) {
  // One name a path: what a killed run left is overwritten by the next.
  std::string temporary = path + ".partial";
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return io_error(path, "a checkpoint cannot be written here");
  CheckpointFile file(path, std::move(temporary), descriptor);
  PENSTOCK_TRY_VOID(file.put(kCheckpointMagic));
  return file;
}

CheckpointFile::CheckpointFile(CheckpointFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)), sections_(other.sections_), whole_(other.whole_) {}

CheckpointFile::~CheckpointFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Result<void> CheckpointFile::put(std::string_view bytes) {
  whole_.add(bytes);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error(path_, "the checkpoint cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

namespace {

std::uint64_t section_checksum(std::uint64_t index, std::string_view payload) {
  std::string head;
  append_u64(head, index);
  append_u64(head, payload.size());
  Checksum sum;
  sum.add(head);
  sum.add(payload);
  return sum.value();
}

std::string u64_text(std::uint64_t value) {
  std::string out;
  append_u64(out, value);
  return out;
}

}  // namespace

Result<void> CheckpointFile::section(std::string_view payload) {
  PENSTOCK_TRY_VOID(put(u64_text(payload.size())));
  PENSTOCK_TRY_VOID(put(payload));
  return put(u64_text(section_checksum(sections_++, payload)));
}

Result<void> CheckpointFile::finish(const std::string& previous) {
  PENSTOCK_TRY_VOID(put(u64_text(whole_.value())));
  if (::fsync(descriptor_) != 0) return io_error(path_, "the checkpoint cannot be synced");
  // A second name for the old file, so that there is one at `path` at any moment; where there are no hard links, a rename.
  if (!previous.empty()) {
    ::unlink(previous.c_str());
    if (::link(path_.c_str(), previous.c_str()) != 0 && errno != ENOENT) std::rename(path_.c_str(), previous.c_str());
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return io_error(path_, "the checkpoint cannot be put in its place");
  ::close(std::exchange(descriptor_, -1));
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const int directory = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
  return {};
}

Result<std::vector<SectionView>> verify_sections(std::string_view bytes, const std::string& path, std::size_t sections,
                                                 std::string (*name)(std::size_t section)) {
  const auto damaged = [&](const std::string& what, std::size_t offset) {
    return fail(Error{.code = ErrorCode::BadInput, .message = fmt::format("the checkpoint is damaged: {}, at byte {}", what, offset),
                      .where = {.file = path}, .hint = "resume from another checkpoint"});
  };
  if (bytes.substr(0, kCheckpointMagic.size()) != kCheckpointMagic) {
    return fail(Error{.code = ErrorCode::BadInput, .message = "this is no checkpoint, or its first bytes are damaged",
                      .where = {.file = path}, .hint = "penstock run --checkpoint writes one"});
  }
  std::size_t at = kCheckpointMagic.size();
  std::vector<SectionView> out;
  for (std::size_t s = 0; s < sections; ++s) {
    const std::string who = name(s);
    if (bytes.size() - at < 16) return damaged("it ends before " + who, at);
    const std::uint64_t length = read_u64(bytes.data() + at);
    if (length > bytes.size() - at - 16) return damaged(who + " is longer than the file", at);
    const auto size = static_cast<std::size_t>(length);
    const std::string_view payload = bytes.substr(at + 8, size);
    if (read_u64(payload.data() + size) != section_checksum(s, payload)) return damaged(who + " has another checksum", at);
    out.push_back({.offset = at + 8, .bytes = size});
    at += 16 + size;
  }
  if (bytes.size() - at != 8) return damaged("what follows the last section has another length", at);
  Checksum whole;
  whole.add(bytes.substr(0, at));
  if (read_u64(bytes.data() + at) != whole.value()) return damaged("the whole has another checksum", at);
  return out;
}

}  // namespace penstock
