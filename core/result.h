#pragma once

// Errors of three kinds, three mechanisms:
//   the world is wrong (a file, a flag, a machine)  -> Result<T>, an Error that says where and what to do next;
//   we are wrong                                    -> PENSTOCK_CHECK, which aborts with the expression, release included;
//   a third party throws                            -> caught in the one file that includes it and turned into an Error.

#include <source_location>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace penstock {

// What the command line turns into an exit code (docs/cli.md).
enum class ErrorCode {
  Infeasible,   // 1: the answer is no
  Usage,        // 2: the command does not make sense
  BadInput,     // 3: a file is missing, damaged or not what it should be
  Unavailable,  // 4: the machine lacks something
  RunFailed,    // 5: a run started and could not finish
  Internal,     // 70: our own fault, reported rather than aborted
  Interrupted,  // 130: the user stopped it; 128 and the signal's number where it was another
  ReaderGone,   // 141: nobody reads what is written (head has seen enough)
};

// A position in a file. Line and column count from 1, 0 = unknown; pointer is a JSON pointer ("/stages/2/layers").
struct Where {
  std::string file = {};
  int line = 0;
  int column = 0;
  std::string pointer = {};

  // "cluster.toml:3:9", "plan.json#/stages/2", "plan.json", or "" where nothing is known.
  std::string text() const;
};

struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;  // what was found, what was expected
  Where where = {};
  std::string hint = {};  // the next thing to do

  // "file:line:column: message (hint: ...)": one line, for logs and tests.
  std::string text() const;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string hint = {}) {
  return fail(Error{.code = code, .message = std::move(message), .hint = std::move(hint)});
}

// The known name nearest to `word`, or "" if none is near enough to be a likely slip of the keyboard. O(|word|·Σ|name|).
template <class Names>
std::string_view nearest(std::string_view word, const Names& names);
std::size_t edit_distance(std::string_view a, std::string_view b);

template <class Names>
std::string_view nearest(std::string_view word, const Names& names) {
  std::string_view best;
  std::size_t best_distance = word.size() / 3 + 2;  // at most about a third of the letters wrong
  for (const auto& candidate : names) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

[[noreturn]] void check_failed(const char* expression, std::string_view message,
                               std::source_location where = std::source_location::current());

}  // namespace penstock

#define PENSTOCK_CHECK(condition, message)                          \
  do {                                                              \
    if (!(condition)) ::penstock::check_failed(#condition, message); \
  } while (false)

#define PENSTOCK_JOIN_(a, b) a##b
#define PENSTOCK_JOIN(a, b) PENSTOCK_JOIN_(a, b)

// PENSTOCK_TRY(auto plan, read_plan(path));   PENSTOCK_TRY_VOID(check(plan));
#define PENSTOCK_TRY(declaration, expression)                                             \
  auto PENSTOCK_JOIN(result_, __LINE__) = (expression);                                   \
  if (!PENSTOCK_JOIN(result_, __LINE__))                                                  \
    return ::tl::unexpected<::penstock::Error>(std::move(PENSTOCK_JOIN(result_, __LINE__).error())); \
  declaration = std::move(*PENSTOCK_JOIN(result_, __LINE__))
#define PENSTOCK_TRY_VOID(expression)                                                     \
  do {                                                                                    \
    if (auto result_ = (expression); !result_)                                            \
      return ::tl::unexpected<::penstock::Error>(std::move(result_.error()));             \
  } while (false)
