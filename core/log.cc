#include "core/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

#include "core/printable.h"

namespace penstock {
namespace {

spdlog::level::level_enum native(LogLevel level) {
  switch (level) {
    case LogLevel::Error:
      return spdlog::level::err;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Debug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

// No clock in the lines: what is said of the same work is the same. Lives until the process ends,
// as threads may talk late.
spdlog::logger& logger() {
  static spdlog::logger& instance = *[] {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto* made = new spdlog::logger("penstock", std::move(sink));
    made->set_pattern("penstock: %v");
    made->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return instance;
}

void say(LogLevel level, std::string_view prefix, std::string_view message) {
  if (!log_enabled(level)) return;
  std::string line(prefix);
  line += printable(message, true);
  logger().log(native(level), line);
}

}  // namespace

void set_log_level(LogLevel level) {
  logger().set_level(native(level));
}
bool log_enabled(LogLevel level) {
  return logger().should_log(native(level));
}

void log_error(std::string_view message) {
  say(LogLevel::Error, "error: ", message);
}
void log_warning(std::string_view message) {
  say(LogLevel::Warning, "warning: ", message);
}
void log_info(std::string_view message) {
  say(LogLevel::Info, "", message);
}
void log_debug(std::string_view message) {
  say(LogLevel::Debug, "debug: ", message);
}

}  // namespace penstock
