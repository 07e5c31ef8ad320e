#pragma once

// Talk for people, on standard error, one line a message; results go to standard output and never
// through here. May be called from any thread. Messages are finished text (fmt::format at the
// caller), so that this costs nobody a header.

#include <cstdint>
#include <string_view>

namespace penstock {

enum class LogLevel : std::uint8_t { Error, Warning, Info, Debug };

// What is said: this level and all before it. Starts as Info; -q makes it Error, -v Debug.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);  // for messages that cost something to make

void log_error(std::string_view message);    // "penstock: error: ..."
void log_warning(std::string_view message);  // "penstock: warning: ..."
void log_info(std::string_view message);     // "penstock: ..."
void log_debug(std::string_view message);    // "penstock: debug: ..."

}  // namespace penstock
