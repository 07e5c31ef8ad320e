#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/printable.h"

namespace penstock::cli {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr milliseconds kQuietStart(1000), kBetween(100);
constexpr std::size_t kColumns = 79;
constexpr const char* kClearLine = "\r\033[K";

}  // namespace

Progress::Progress(const Shared& shared)
    : Progress(!shared.quiet && isatty(STDERR_FILENO) == 1, STDERR_FILENO) {}

Progress::Progress(bool visible, int descriptor) : visible_(visible), descriptor_(descriptor) {}

Progress::~Progress() {
  if (shown_) put(kClearLine);
}

void Progress::put(const std::string& text) {
  // A line that cannot be written is no reason to fail.
  [[maybe_unused]] const auto written = ::write(descriptor_, text.data(), text.size());
}

void Progress::show(const std::string& text) {
  if (!visible_) return;
  const Clock::time_point now = Clock::now();
  if (now - start_ < kQuietStart || (shown_ && now - last_ < kBetween)) return;
  last_ = now;
  shown_ = true;
  put(kClearLine + printable(text).substr(0, kColumns));
}

void Progress::show(const std::string& what, std::int64_t done, std::int64_t of) {
  if (!visible_) return;
  const double elapsed = duration<double>(Clock::now() - start_).count();
  std::string text = fmt::format("{} {} of {}", what, done, of);
  if (done > 0 && elapsed > 0) {
    const double rate = static_cast<double>(done) / elapsed;
    text += fmt::format(", {:.3g} a second, {:.0f} s left", rate,
                        std::max(0.0, static_cast<double>(of - done)) / rate);
  }
  show(text);
}

}  // namespace penstock::cli
