#pragma once

// What fuzz targets share. A target is one file, NAME_fuzz.cc, with
//
//   extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
//
// which reads the bytes as one kind of input and, where that succeeds, demands what must then hold: what is written reads
// back equal, what is valid can be lowered, what is proved runs. It is built twice: by clang as a fuzzer of its own, and by
// any compiler into the tests, which replay tests/fuzz/corpus/NAME (regression_test.cc).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/program.h"
#include "core/result.h"

namespace penstock::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Aborts, as PENSTOCK_CHECK does, with what did not hold.
void require(bool holds, std::string_view claim, std::string_view detail = {});

template <class T>
const T& require_value(const Result<T>& result, std::string_view claim) {
  require(result.has_value(), claim, result ? std::string() : result.error().text());
  return *result;
}

// An error has something to say, and a code that a file or an argument can be answered with.
void require_refusal(const Error& error);

// Proves a program and, if it passes, runs it for two steps: it must not stall. Programs of more than a few thousand
// instructions are left alone.
void exercise(const Program& program);

// A file of this process in the memory of the machine, at `path()` until the end of the process; rewritten at will.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view name);  // in a folder of its own
  void write(std::string_view bytes) const;
  void remove() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace penstock::fuzz
