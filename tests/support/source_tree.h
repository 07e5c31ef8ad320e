#pragma once

// The source tree as text, for the tests that judge it as a whole, and the list of what is exempt from their rules.

#include <string>
#include <string_view>
#include <vector>

namespace penstock::test {

struct SourceFile {
  std::string path;  // from the root, with '/': "core/result.h"
  std::vector<std::string> lines;

  std::string_view folder() const;     // "core", "exec/cpu"; "" in the root
  std::string_view top() const;        // "core", "exec"; "" in the root
  std::string_view stem() const;       // "result"
  std::string_view extension() const;  // ".h"; "" where there is none
};

// The folders that hold C++ code, in the order of the arrows.
const std::vector<std::string>& module_folders();

// Sorted by path: every .h, .cc and .cu of modules, tests and benches.
std::vector<SourceFile> code_files();
// Sorted by path: the same, and the build files, scripts and documents. Data under tests/golden is not ours to judge.
std::vector<SourceFile> text_files();

// True if `path` is one of `places`: a file, or a folder written with its final '/'.
bool lies_in(std::string_view path, const std::vector<std::string>& places);

struct Violation {
  std::string path;
  std::string message;
};

// Fails the running test for each violation that tests/exemptions.txt does not excuse, and for each exemption from
// `rule` that excuses nothing any more. A line there is: rule, path, reason.
void expect_none(std::string_view rule, const std::vector<Violation>& violations);

}  // namespace penstock::test
