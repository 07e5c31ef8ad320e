#include "tests/support/source_tree.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/support/files.h"

namespace penstock::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_code(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  return extension == ".h" || extension == ".cc" || extension == ".cu";
}

void read_into(std::vector<SourceFile>& files, const fs::path& path) {
  const std::string text = read_file(path);
  if (text.find('\0') != std::string::npos) return;  // not text
  files.push_back({path.lexically_relative(source_root()).generic_string(), split_lines(text)});
}

// The regular files below the given folders, not those below tests/golden.
std::vector<SourceFile> read_folders(const std::vector<std::string>& folders, bool code_only) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    const fs::path root = source_root() / folder;
    if (!fs::is_directory(root)) continue;
    for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator(); ++it) {
      if (it->path() == source_root() / "tests" / "golden") it.disable_recursion_pending();
      if (it->is_regular_file() && (!code_only || is_code(it->path().string()))) read_into(files, it->path());
    }
  }
  return files;
}

void sort_by_path(std::vector<SourceFile>& files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
}

std::vector<std::string> all_code_folders() {
  std::vector<std::string> folders = module_folders();
  folders.insert(folders.end(), {"tests", "bench", "examples"});
  return folders;
}

// path -> reason, of the lines that begin with `rule`.
std::map<std::string, std::string> exemptions_from(std::string_view rule) {
  std::map<std::string, std::string> exempt;
  for (const std::string& line : split_lines(read_file(source_root() / "tests" / "exemptions.txt"))) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string line_rule, path, reason;
    words >> line_rule >> path >> std::ws;
    std::getline(words, reason);
    EXPECT_FALSE(reason.empty()) << "tests/exemptions.txt: no reason given: " << line;
    if (line_rule == rule) exempt[path] = reason;
  }
  return exempt;
}

}  // namespace

std::string_view SourceFile::folder() const {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string_view() : std::string_view(path).substr(0, slash);
}

std::string_view SourceFile::top() const {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? std::string_view() : std::string_view(path).substr(0, slash);
}

std::string_view SourceFile::extension() const {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos || dot < folder().size() ? std::string_view() : std::string_view(path).substr(dot);
}

std::string_view SourceFile::stem() const {
  const std::size_t start = folder().empty() ? 0 : folder().size() + 1;
  return std::string_view(path).substr(start, path.size() - start - extension().size());
}

const std::vector<std::string>& module_folders() {
  static const std::vector<std::string> folders = {"core", "models",   "sim",    "planner",
                                                   "exec", "profiler", "traces", "cli"};
  return folders;
}

std::vector<SourceFile> code_files() {
  std::vector<SourceFile> files = read_folders(all_code_folders(), true);
  sort_by_path(files);
  return files;
}

std::vector<SourceFile> text_files() {
  std::vector<std::string> folders = all_code_folders();
  folders.insert(folders.end(), {"cmake", "docs", "scripts", ".ci"});
  std::vector<SourceFile> files = read_folders(folders, false);
  for (const auto& entry : fs::directory_iterator(source_root())) {
    if (entry.is_regular_file()) read_into(files, entry.path());
  }
  sort_by_path(files);
  return files;
}

bool lies_in(std::string_view path, const std::vector<std::string>& places) {
  return std::any_of(places.begin(), places.end(), [&](const std::string& place) {
    return place.back() == '/' ? path.substr(0, place.size()) == place : path == place;
  });
}

void expect_none(std::string_view rule, const std::vector<Violation>& violations) {
  std::map<std::string, std::string> unused = exemptions_from(rule);
  const std::map<std::string, std::string> exempt = unused;
  for (const Violation& violation : violations) {
    unused.erase(violation.path);
    if (!exempt.contains(violation.path)) ADD_FAILURE() << violation.path << ": " << violation.message;
  }
  for (const auto& [path, reason] : unused) {
    ADD_FAILURE() << fmt::format("tests/exemptions.txt excuses {} from '{}' ({}), which it no longer needs", path, rule, reason);
  }
}

}  // namespace penstock::test
