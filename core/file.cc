#include "core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>

#include "core/json.h"
#include "core/toml.h"
#include "core/units.h"

namespace penstock {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

// Closes on the way out.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  bool open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

// Removes a temporary name on the way out, unless it has become the real one.
class TemporaryName {
 public:
  explicit TemporaryName(std::string name) : name_(std::move(name)) {}
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  void release() { name_.clear(); }

 private:
  std::string name_;
};

std::string reason(int error) {
  return std::generic_category().message(error);
}

tl::unexpected<Error> exists(const std::string& path) {
  Error error{.code = ErrorCode::Usage, .message = "the file exists already"};
  error.where.file = path;
  error.hint = "--force overwrites it";
  return fail(std::move(error));
}

Result<void> write_directly(const std::string& path, std::string_view contents) {
  if (path == "-") {
    std::fflush(stdout);
    if (const int error = write_all(STDOUT_FILENO, contents))
      return cannot_write("<stdout>", error);
    return {};
  }
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.open()) return cannot_write(path, errno);
  if (const int error = write_all(file.number(), contents)) return cannot_write(path, error);
  return {};
}

struct Target {
  std::string folder;
  std::string path;
};

// Where a link leads, so that the file it names is replaced and not the link.
Target resolve(const std::string& path) {
  Target out;
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  out.path = real ? std::string(real.get()) : follow_links(path);
  const std::size_t slash = out.path.rfind('/');
  out.folder = slash == std::string::npos ? "." : slash == 0 ? "/" : out.path.substr(0, slash);
  return out;
}

// Without the target's own name, with which it could be too long for a name.
std::string temporary_name(const Target& target) {
  static std::atomic<unsigned> counter = 0;
  return fmt::format("{}/.penstock.{}.{}.tmp", target.folder, ::getpid(), counter++);
}

// Gives `temporary` its final name; 0, or the error (EEXIST: refused).
int rename_into_place(const std::string& temporary, const std::string& path, Overwrite overwrite) {
  if (overwrite == Overwrite::Yes)
    return ::rename(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system that cannot: a hard link refuses an existing name just as well.
  if (::link(temporary.c_str(), path.c_str()) != 0) return errno;
  ::unlink(temporary.c_str());
  return 0;
}

struct Write {
  Target target;
  std::string_view contents;
  Overwrite overwrite = Overwrite::No;
  std::optional<mode_t> mode;  // of the file it replaces
};

int fill(int descriptor, const Write& write) {
  if (write.mode && ::fchmod(descriptor, *write.mode) != 0) return errno;
  if (const int error = write_all(descriptor, write.contents)) return error;
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

// Through a file without a name: a kill leaves nothing behind. 0, an error, or nothing where the
// file system (or the lack of /proc) does not allow it.
std::optional<int> write_nameless(const Write& write) {
  const Descriptor file(
      ::open(write.target.folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (!file.open()) return std::nullopt;
  if (const int error = fill(file.number(), write)) return error;
  const std::string handle = fmt::format("/proc/self/fd/{}", file.number());
  const bool replace = write.overwrite == Overwrite::Yes;
  const std::string name = replace ? temporary_name(write.target) : write.target.path;
  if (::linkat(AT_FDCWD, handle.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return errno == EEXIST ? std::optional(EEXIST) : std::nullopt;
  if (!replace) return 0;
  // A link cannot replace, a rename can: for a moment the whole file has a second name.
  TemporaryName second(name);
  const int error = rename_into_place(name, write.target.path, Overwrite::Yes);
  if (error == 0) second.release();
  return error;
}

// Through a hidden file beside the target. 0, or an error.
int write_named(const Write& write) {
  const std::string name = temporary_name(write.target);
  const Descriptor file(::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
  if (!file.open()) return errno;
  TemporaryName hidden(name);
  if (const int error = fill(file.number(), write)) return error;
  const int error = rename_into_place(name, write.target.path, write.overwrite);
  if (error == 0) hidden.release();
  return error;
}

}  // namespace

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  constexpr int kUsersChoice[] = {ENOENT, ENOTDIR, EACCES, EISDIR, EROFS, ENAMETOOLONG, EPERM, ELOOP};
  const bool users_choice = std::find(std::begin(kUsersChoice), std::end(kUsersChoice), error) != std::end(kUsersChoice);
  std::string hint;
  if (error == ENOENT) hint = "its folder must exist";
  if (error == EISDIR) hint = "name a file in it";
  if (error == ENOSPC) hint = "free some space";
  if (error == ENAMETOOLONG) hint = "give it a shorter name";
  if (error == EACCES || error == EROFS || error == EPERM) hint = "name a file elsewhere";
  return fail({.code = error == EPIPE ? ErrorCode::ReaderGone : users_choice ? ErrorCode::Usage : ErrorCode::Unavailable,
               .message = fmt::format("cannot write: {}", reason(error)),
               .where = {.file = path},
               .hint = std::move(hint)});
}

int write_all(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "<stdin>" : path;
  const auto cannot_read = [&](int error) {
    return fail({.code = ErrorCode::BadInput,
                 .message = fmt::format("cannot read: {}", reason(error)),
                 .where = {.file = name},
                 .hint = error == ENOENT ? "is the name right? ls shows what is there" : ""});
  };
  const auto too_large = [&] {
    return fail({.code = ErrorCode::BadInput,
                 .message = fmt::format("more than {}", text(Bytes(static_cast<std::int64_t>(most)))),
                 .where = {.file = name},
                 .hint = "no document is as large: is this the right file?"});
  };
  const Descriptor file(standard_input ? ::dup(STDIN_FILENO)
                                       : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return cannot_read(errno);
  std::string out;
  struct stat status = {};
  if (::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    if (static_cast<std::size_t>(status.st_size) > most) return too_large();
    out.reserve(static_cast<std::size_t>(status.st_size) + 1);
  }
  constexpr std::size_t kChunk = 1 << 16;
  for (;;) {
    const std::size_t size = out.size();
    out.resize(std::max(size + kChunk, out.capacity()));
    const ssize_t got = ::read(file.number(), out.data() + size, out.size() - size);
    const int error = errno;
    out.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return out;
    if (out.size() > most) return too_large();
    if (got < 0 && error != EINTR) return cannot_read(error);
  }
}

Result<std::string> read_data(const std::string& path, std::size_t most, std::size_t endless) {
  struct stat status = {};
  const bool regular = path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  auto out = read_file(path, regular ? most : endless);
  if (!out && out.error().message.starts_with("more than")) out.error().hint = "give less data, or a regular file of it";
  return out;
}

Result<void> write_file_atomic(const std::string& path, std::string_view contents,
                               Overwrite overwrite) {
  if (path == "-") return write_directly(path, contents);
  struct stat old = {};
  const bool replaces = ::stat(path.c_str(), &old) == 0;
  if (replaces && S_ISDIR(old.st_mode)) return cannot_write(path, EISDIR);
  if (replaces && !S_ISREG(old.st_mode)) return write_directly(path, contents);
  if (replaces && overwrite == Overwrite::No)
    return exists(path);  // before any work; below decides

  Write write = {.target = resolve(path), .contents = contents, .overwrite = overwrite, .mode = {}};
  if (replaces) write.mode = old.st_mode & 07777;
  const std::optional<int> nameless = write_nameless(write);
  const int error = nameless ? *nameless : write_named(write);
  if (error == EEXIST) return exists(path);
  if (error != 0) return cannot_write(path, error);
  // The name survives a power cut too, where the file system can sync a folder.
  const Descriptor folder(::open(write.target.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) ::fsync(folder.number());
  return {};
}

Result<void> can_write_file(const std::string& path) {
  if (path == "-") return {};
  struct stat old = {};
  const bool replaces = ::stat(path.c_str(), &old) == 0;
  if (!replaces && errno != ENOENT) return cannot_write(path, errno);
  if (replaces && S_ISDIR(old.st_mode)) return cannot_write(path, EISDIR);
  if (replaces && !S_ISREG(old.st_mode))
    return ::access(path.c_str(), W_OK) == 0 ? Result<void>() : cannot_write(path, errno);
  const Target target = resolve(path);
  if (!replaces && ::lstat(target.path.c_str(), &old) != 0 && errno != ENOENT) return cannot_write(path, errno);
  const Descriptor nameless(::open(target.folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (!nameless.open()) {
    const std::string name = temporary_name(target);
    const Descriptor named(::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
    if (!named.open()) return cannot_write(path, errno);
    const TemporaryName hidden(name);
  }
  // In a sticky folder (/tmp) a file is replaced by its owner or the folder's only.
  struct stat folder = {};
  const uid_t self = ::geteuid();
  const bool sticky = replaces && self != 0 && ::stat(target.folder.c_str(), &folder) == 0 && (folder.st_mode & S_ISVTX) != 0;
  if (sticky && old.st_uid != self && folder.st_uid != self) return cannot_write(path, EPERM);
  return {};
}

std::string follow_links(const std::string& path) {
  std::filesystem::path at(path);
  std::error_code failed;
  for (int links = 0; links < 40; ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(at, failed);
    if (failed) break;
    at = at.parent_path() / next;  // an absolute one stands by itself
  }
  return at.string();
}

Result<Value> parse_document(std::string_view text, const std::string& file_name) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos)
    return fail({.code = ErrorCode::BadInput,
                 .message = "there is nothing in it",
                 .where = {.file = file_name},
                 .hint = file_name == "<stdin>"
                             ? "pipe a document into it; standard input can be read only once"
                             : "expected JSON or TOML"});
  const bool toml = file_name.ends_with(".toml");
  const bool json = file_name.ends_with(".json") || (!toml && text[first] == '{');
  if (json) return parse_json(text, file_name);
  auto out = parse_toml(text, file_name);
  if (!out && !toml && out.error().hint.empty())
    out.error().hint = "a document is TOML, or JSON that starts with '{'";
  return out;
}

Result<Value> read_document(const std::string& path) {
  PENSTOCK_TRY(const std::string text, read_file(path));
  return parse_document(text, path == "-" ? "<stdin>" : path);
}

}  // namespace penstock
