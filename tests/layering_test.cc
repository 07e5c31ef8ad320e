// Who may include whom. CMake links only what a folder's MAY_USE lists, but all folders share one include path: what a
// linker would not notice (constants, inline functions, templates) is found here, by reading the includes.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/source_tree.h"

namespace penstock::test {
namespace {

struct Include {
  std::string target;
  bool quoted = false;  // "…" rather than <…>
  std::size_t line = 0;
};

std::optional<Include> parse_include(const std::string& text, std::size_t line) {
  std::size_t at = text.find_first_not_of(" \t");
  if (at == std::string::npos || text[at] != '#') return std::nullopt;
  at = text.find_first_not_of(" \t", at + 1);
  if (at == std::string::npos || text.compare(at, 7, "include") != 0) return std::nullopt;
  const std::size_t open = text.find_first_of("\"<", at + 7);
  if (open == std::string::npos) return std::nullopt;
  const bool quoted = text[open] == '"';
  const std::size_t close = text.find(quoted ? '"' : '>', open + 1);
  if (close == std::string::npos) return std::nullopt;
  return Include{text.substr(open + 1, close - open - 1), quoted, line};
}

std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> includes;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (auto include = parse_include(file.lines[i], i + 1)) includes.push_back(*include);
  }
  return includes;
}

using Arrows = std::map<std::string, std::set<std::string>, std::less<>>;

// The words between backquotes: "| `planner` | `core` `sim` |" -> planner, core, sim.
std::vector<std::string> quoted_words(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t open = line.find('`'); open != std::string::npos;) {
    const std::size_t close = line.find('`', open + 1);
    if (close == std::string::npos) break;
    words.push_back(line.substr(open + 1, close - open - 1));
    open = line.find('`', close + 1);
  }
  return words;
}

// The rule is the table that docs/architecture.md shows. A folder may always include itself; one without a row (cli, tests,
// bench) may include everything.
Arrows read_arrows() {
  Arrows arrows;
  bool in_table = false;
  for (const SourceFile& file : text_files()) {
    if (file.path != "docs/architecture.md") continue;
    for (const std::string& line : file.lines) {
      if (line == "| folder | may include |") in_table = true;
      if (line.empty()) in_table = false;
      const std::vector<std::string> words = quoted_words(line);
      if (in_table && !words.empty()) arrows[words.front()] = {words.begin() + 1, words.end()};
    }
  }
  return arrows;
}

// Third-party headers that cost seconds to compile or bind us to a library: each has its places.
struct Confined {
  std::string prefix;
  std::vector<std::string> places;
};

const std::vector<Confined> kConfined = {
    {"nlohmann/", {"core/json.cc"}},
    {"toml++/", {"core/toml.cc"}},
    {"spdlog/", {"core/log.cc"}},
    {"boost/", {"core/graph_algorithms.cc"}},
    {"CLI/", {"cli/"}},
    {"dnnl", {"exec/cpu/", "tests/exec/", "bench/"}},
    {"oneapi/", {"exec/cpu/", "tests/exec/", "bench/"}},
    {"omp.h", {"exec/cpu/", "tests/exec/", "bench/"}},
    {"Eigen/", {"exec/cpu/", "models/costs/", "tests/exec/", "bench/"}},
    {"simdjson", {"traces/readers/"}},
    {"sqlite3.h", {"traces/readers/"}},
    {"zlib.h", {"traces/", "tests/"}},
    {"mpi.h", {"core/parallel.cc", "exec/mpi/"}},
    {"cuda", {"exec/cuda/"}},
    {"cublas", {"exec/cuda/"}},
    {"cudnn", {"exec/cuda/"}},
    {"cupti", {"exec/cuda/"}},
    {"nccl", {"exec/cuda/"}},
    {"gtest/", {"tests/"}},
    {"rapidcheck", {"tests/"}},
    {"benchmark/", {"bench/"}},
};

TEST(Layering, TheTableOfArrowsHasEveryModuleAndNoCycle) {
  const Arrows table = read_arrows();
  const auto& modules = module_folders();  // in the order of the arrows: each may use only earlier ones
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (modules[i] == "cli") continue;
    ASSERT_TRUE(table.contains(modules[i])) << modules[i] << " has no row in docs/architecture.md";
    for (const std::string& used : table.at(modules[i])) {
      EXPECT_LT(std::find(modules.begin(), modules.end(), used) - modules.begin(), static_cast<std::ptrdiff_t>(i))
          << modules[i] << " may not use " << used;
    }
  }
}

TEST(Layering, EveryFolderOfCodeIsOnTheMap) {
  std::set<std::string> named;
  for (const SourceFile& file : text_files()) {
    if (file.path != "docs/architecture.md") continue;
    for (const std::string& line : file.lines) {
      for (const std::string& word : quoted_words(line)) named.insert(word);
    }
  }
  std::vector<Violation> violations;
  for (const SourceFile& file : code_files()) {
    const std::string folder(file.folder());
    if (file.top() == "tests" || !named.insert(folder + "/").second) continue;
    violations.push_back({folder, "docs/architecture.md does not say what is in it"});
  }
  expect_none("map", violations);
}

TEST(Layering, EveryIncludeFollowsAnArrow) {
  const Arrows table = read_arrows();
  std::vector<Violation> violations;
  for (const SourceFile& file : code_files()) {
    const auto arrows = table.find(file.top());
    if (arrows == table.end()) continue;
    for (const Include& include : includes_of(file)) {
      const std::string target = include.target.substr(0, include.target.find('/'));
      if (!include.quoted || target == file.top() || arrows->second.contains(target)) continue;
      violations.push_back({file.path, fmt::format("line {}: {} may not include {} (\"{}\")", include.line, file.top(),
                                                   target, include.target)});
    }
  }
  expect_none("arrow", violations);
}

TEST(Layering, QuotedIncludesNameAFileFromTheRoot) {
  std::vector<Violation> violations;
  for (const SourceFile& file : code_files()) {
    for (const Include& include : includes_of(file)) {
      if (!include.quoted || std::filesystem::exists(source_root() / include.target)) continue;
      violations.push_back({file.path, fmt::format("line {}: no such file from the root: \"{}\"", include.line, include.target)});
    }
  }
  expect_none("include", violations);
}

TEST(Layering, ThirdPartyHeadersStayInTheirPlaces) {
  std::vector<Violation> violations;
  for (const SourceFile& file : code_files()) {
    for (const Include& include : includes_of(file)) {
      for (const Confined& rule : kConfined) {
        if (include.quoted || include.target.rfind(rule.prefix, 0) != 0 || lies_in(file.path, rule.places)) continue;
        violations.push_back({file.path, fmt::format("line {}: <{}> belongs to {}", include.line, include.target,
                                                     rule.places.front())});
      }
    }
  }
  expect_none("confined", violations);
}

// Orchestration speaks the device interface: beside exec/backend.cc, which lists them, it knows no backend.
TEST(Layering, ExecNamesABackendInOnePlace) {
  const std::vector<std::string> backends = {"exec/cpu/", "exec/cuda/", "exec/emulated/", "exec/mpi/"};
  std::vector<Violation> violations;
  bool listed = false;
  for (const SourceFile& file : code_files()) {
    if (file.top() != "exec" || lies_in(file.path, backends)) continue;
    for (const Include& include : includes_of(file)) {
      if (!include.quoted || !lies_in(include.target, backends)) continue;
      if (file.path == "exec/backend.cc") {
        listed = true;
        continue;
      }
      violations.push_back({file.path, fmt::format("line {}: \"{}\" is a backend's own: ask exec/backend.h for what is needed",
                                                   include.line, include.target)});
    }
  }
  expect_none("backend", violations);
  EXPECT_TRUE(listed) << "exec/backend.cc names no backend: has the list moved?";
}

TEST(Layering, HeadersLeaveStreamsAndRegularExpressionsToSources) {
  std::vector<Violation> violations;
  for (const SourceFile& file : code_files()) {
    if (file.extension() != ".h") continue;
    for (const Include& include : includes_of(file)) {
      if (include.quoted || (include.target != "iostream" && include.target != "regex")) continue;
      violations.push_back({file.path, fmt::format("line {}: <{}> in a header", include.line, include.target)});
    }
  }
  expect_none("stream", violations);
}

TEST(Layering, HeadersBeginWithPragmaOnce) {
  std::vector<Violation> violations;
  for (const SourceFile& file : code_files()) {
    if (file.extension() != ".h") continue;
    if (file.lines.empty() || file.lines.front() != "#pragma once") {
      violations.push_back({file.path, "the first line is not #pragma once"});
    }
  }
  expect_none("pragma", violations);
}

TEST(Layering, TheIncludeParserSeesWhatACompilerSees) {
  EXPECT_EQ(parse_include("#include \"core/ids.h\"", 1)->target, "core/ids.h");
  EXPECT_TRUE(parse_include("  #  include \"core/ids.h\"  // why", 1)->quoted);
  EXPECT_EQ(parse_include("#include <boost/graph/topological_sort.hpp>", 1)->target, "boost/graph/topological_sort.hpp");
  EXPECT_FALSE(parse_include("// #include \"core/ids.h\"", 1).has_value());
  EXPECT_FALSE(parse_include("#pragma once", 1).has_value());
}

}  // namespace
}  // namespace penstock::test
