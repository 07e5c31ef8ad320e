#pragma once

// Ctrl-C for verbs that can stop early.

#include <chrono>
#include <stop_token>

namespace penstock::cli {

// Interrupts this close behind the first are echoes of it, not a second one.
inline constexpr std::chrono::milliseconds kInterruptEcho{250};

// From the first call on SIGINT asks this token to stop, and a second SIGINT ends the process with
// exit code 130. Where SIGINT was ignored from the start (a job in the background) it stays
// ignored. Call it before other threads start: they inherit that SIGINT is not delivered to them.
std::stop_token stop_on_interrupt();

}  // namespace penstock::cli
