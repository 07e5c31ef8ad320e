#include "exec/checkpoint_bytes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
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

// Of a section, before its payload is added.
Checksum section_checksum(std::uint64_t index, std::uint64_t bytes) {
  std::string head;
  append_u64(head, index);
  append_u64(head, bytes);
  Checksum sum;
  sum.add(head);
  return sum;
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
  Checksum sum = section_checksum(sections_++, payload.size());
  sum.add(payload);
  return put(u64_text(sum.value()));
}

Result<void> CheckpointFile::finish(const std::string& previous) {
  PENSTOCK_TRY_VOID(put(u64_text(whole_.value())));
  if (::fsync(descriptor_) != 0) return io_error(path_, "the checkpoint cannot be synced");
  // A second name for the old file, so that there is one at `path` at any moment; where there are no hard links, a rename.
  // With nothing at `path` the kept one may be the only whole one: it stays.
  if (!previous.empty() && ::access(path_.c_str(), F_OK) == 0) {
    ::unlink(previous.c_str());
    if (::link(path_.c_str(), previous.c_str()) != 0) std::rename(path_.c_str(), previous.c_str());
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

Result<CheckpointReader> CheckpointReader::open(const std::string& path) {
  const auto refuse = [&](std::string message, std::string hint) {
    return fail(Error{.code = ErrorCode::BadInput, .message = std::move(message), .where = {.file = path}, .hint = std::move(hint)});
  };
  // Without waiting for whoever writes a pipe.
  CheckpointReader out(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (out.descriptor_ < 0) {
    return refuse(fmt::format("cannot read: {}", std::strerror(errno)), errno == ENOENT ? "is the name right? ls shows what is there" : "");
  }
  struct stat status = {};
  if (::fstat(out.descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    return refuse("this is no regular file", "penstock run --checkpoint writes one");
  }
  out.bytes_ = static_cast<std::uint64_t>(status.st_size);
  return out;
}

CheckpointReader::CheckpointReader(CheckpointReader&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), bytes_(other.bytes_) {}

CheckpointReader& CheckpointReader::operator=(CheckpointReader&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

CheckpointReader::~CheckpointReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> CheckpointReader::read(std::uint64_t offset, void* out, std::size_t count) const {
  char* at = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, at, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return fail(Error{.code = ErrorCode::BadInput,
                        .message = got == 0 ? fmt::format("the checkpoint ends at byte {}", offset)
                                            : fmt::format("cannot read: {}", std::strerror(errno)),
                        .where = {.file = path_}, .hint = "resume from another checkpoint"});
    }
    at += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

Result<std::vector<SectionView>> CheckpointReader::verify(std::uint64_t sections, std::string (*name)(std::uint64_t section)) const {
  const auto damaged = [&](const std::string& what, std::uint64_t offset) {
    return fail(Error{.code = ErrorCode::BadInput, .message = fmt::format("the checkpoint is damaged: {}, at byte {}", what, offset),
                      .where = {.file = path_}, .hint = "resume from another checkpoint"});
  };
  Checksum whole;
  std::uint64_t at = 0, read_to = 0;
  std::string window;  // what of the file ends at `read_to`: few calls, however short the sections are
  const auto next = [&](std::uint64_t most) -> Result<std::string_view> {
    constexpr std::uint64_t kWindow = std::uint64_t{1} << 20;
    if (at == read_to || (most <= 8 && read_to - at < most)) {
      window.resize(std::min(kWindow, bytes_ - at));
      PENSTOCK_TRY_VOID(read(at, window.data(), window.size()));
      read_to = at + window.size();
    }
    const std::uint64_t count = std::min(most, read_to - at);
    const std::string_view piece = std::string_view(window).substr(window.size() - (read_to - at), count);
    at += count;
    return piece;
  };
  const auto number = [&]() -> Result<std::uint64_t> {
    PENSTOCK_TRY(const std::string_view text, next(8));
    whole.add(text);
    return read_u64(text.data());
  };
  PENSTOCK_TRY(const std::string_view magic, next(kCheckpointMagic.size()));
  if (magic != kCheckpointMagic) {
    if (magic.empty()) return damaged("the file is empty", 0);
    constexpr std::size_t kVersion = kCheckpointMagic.size() - 2;
    const bool of_a_version = magic.size() == kCheckpointMagic.size() && magic.ends_with('\n') &&
                              magic.starts_with(kCheckpointMagic.substr(0, kVersion)) && magic[kVersion] >= '0' && magic[kVersion] <= '9';
    if (of_a_version) {
      return fail(Error{.code = ErrorCode::BadInput,
                        .message = fmt::format("the checkpoint is of version {}, or its first bytes are damaged; this build reads version {}",
                                               magic[kVersion], kCheckpointMagic[kVersion]),
                        .where = {.file = path_}, .hint = "resume with the release that wrote it, or from another checkpoint"});
    }
    return fail(Error{.code = ErrorCode::BadInput, .message = "this is no checkpoint, or its first bytes are damaged",
                      .where = {.file = path_}, .hint = "penstock run --checkpoint writes one"});
  }
  whole.add(magic);
  std::vector<SectionView> out;
  for (std::uint64_t s = 0; s < sections; ++s) {
    const std::uint64_t start = at;
    if (bytes_ - at < 16) return damaged("it ends before " + name(s), start);
    PENSTOCK_TRY(const std::uint64_t length, number());
    if (length > bytes_ - start - 16) return damaged(name(s) + " is longer than the file", start);
    out.push_back({.offset = at, .bytes = length});
    Checksum sum = section_checksum(s, length);
    for (const std::uint64_t end = at + length; at < end;) {
      PENSTOCK_TRY(const std::string_view piece, next(end - at));
      sum.add(piece);
      whole.add(piece);
    }
    PENSTOCK_TRY(const std::uint64_t stated, number());
    if (stated != sum.value()) return damaged(name(s) + " has another checksum", start);
  }
  if (bytes_ - at != 8) return damaged("what follows the last section has another length", at);
  const std::uint64_t expected = whole.value(), start = at;
  PENSTOCK_TRY(const std::uint64_t stated, number());
  if (stated != expected) return damaged("the whole has another checksum", start);
  return out;
}

}  // namespace penstock
