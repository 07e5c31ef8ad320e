// Every command that the documents and --help show works: those of --help (and so of the man page,
// which is made of the same table) and those behind a "$ " in README.md and docs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "cli/command.h"
#include "tests/cli/workbench.h"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

Words words_of(const std::string& text) {
  Words out;
  std::istringstream in(text);
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

// The files that examples read, by name: small ones of the kind that the name says.
const std::map<std::string, std::string>& inputs() {
  static const auto made = [] {
    const Workbench bench;
    for (const char* command :
         {"penstock plan mlp:layers=4,width=16,batch=4 --cluster flat:2,device=cpu --ranks 2 -q -o "
          "plan.json",
          "penstock simulate plan.json -q -o predicted.json",
          "penstock run plan.json --steps 2 -q -o measured.json",
          "penstock profile gpt:layers=4,hidden=128 --microbatch 1 --budget 1ms -q -o profile.json"})
      bench.run(command);
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::directory_iterator(bench.path()))
      out[entry.path().filename().string()] = test::read_file(entry.path());
    const std::string cli = test::read_file(test::source_root() / "docs/cli.md"), fence = "```toml\n";
    const std::size_t cluster = cli.find(fence + "name = ");
    EXPECT_NE(cluster, std::string::npos) << "docs/cli.md shows no cluster";
    out["cluster.toml"] = cli.substr(cluster + fence.size(), cli.find("```", cluster + 1) - cluster - fence.size());
    // Small times on a loaded machine may differ by more than the example lets pass.
    out["measured.json"] = out["predicted.json"];
    return out;
  }();
  return made;
}

void run_examples_of(const Command& command) {
  for (const std::string_view example : command.examples) {
    const Words words = words_of(std::string(example));
    ASSERT_GE(words.size(), 2u) << example;
    EXPECT_EQ(words[0], "penstock");
    EXPECT_EQ(words[1], command.name);
    const Workbench bench;
    for (const auto& [name, contents] : inputs()) {
      const auto at = std::find(words.begin(), words.end(), name);
      const bool is_input = at != words.end() && !(at - 1)->starts_with("-o");
      if (is_input) test::write_file(bench / name, contents);
    }
    std::string line;
    for (const std::string& word : words) line += word + " ";
    bench.run(line);
  }
}

TEST(Examples, OfHelpWork) {
  int seen = 0;
  for (const Command& command : commands()) {
    if (command.name == "profile") continue;  // measures for longer than the default suite may take
    run_examples_of(command);
    ++seen;
  }
  EXPECT_GT(seen, 10);
}

TEST(ExamplesSlow, OfProfileWork) {
  for (const Command& command : commands()) {
    if (command.name == "profile") run_examples_of(command);
  }
}

// A command behind "$ " inside of fences, lines that end in a backslash joined, and the lines below it.
struct Shown {
  std::string command;
  std::vector<std::string> lines;
};

std::vector<Shown> shown_commands(const fs::path& file) {
  std::vector<Shown> out;
  std::istringstream in(test::read_file(file));
  bool fenced = false, below = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      below = false;
    } else if (fenced && line.starts_with("$ ")) {
      below = line.starts_with("$ penstock ");
      if (!below) continue;
      std::string command = line.substr(2);
      while (command.ends_with("\\") && std::getline(in, line)) {
        command.pop_back();
        command += line;
      }
      out.push_back({std::move(command), {}});
    } else if (below) {
      out.back().lines.push_back(line);
    }
  }
  return out;
}

std::string squeezed(const std::string& line) {
  std::string out;
  for (const std::string& word : words_of(line)) out += (out.empty() ? "" : " ") + word;
  return out;
}

// Whether one of the lines is it, whatever blanks there are. Of losses the last digits depend on the
// instruction set, and a hundredth is let pass.
bool holds(const std::string& answer, const std::string& line) {
  std::istringstream in(answer);
  const std::string wanted = squeezed(line);
  const std::size_t number = wanted.find(" loss ");
  for (std::string said; std::getline(in, said);) {
    const std::string found = squeezed(said);
    if (found == wanted) return true;
    if (number == std::string::npos || !found.starts_with(wanted.substr(0, number + 6))) continue;
    const double shown = std::stod(wanted.substr(number + 6)), seen = std::stod(found.substr(number + 6));
    if (std::abs(shown - seen) <= 0.01 * seen) return true;
  }
  return false;
}

TEST(Examples, OfTheReadmeWorkAndSayWhatIsShown) {
  const std::vector<Shown> all = shown_commands(test::source_root() / "README.md");
  EXPECT_GE(all.size(), 4u);
  const Workbench bench;
  fs::copy_file(test::source_root() / "LICENSE", bench / "LICENSE");
  int figures = 0;
  for (const Shown& shown : all) {
    bench.run(shown.command);
    for (const std::string& line : shown.lines) {
      if (line == "…") continue;
      EXPECT_TRUE(holds(bench.answer(), line)) << shown.command << "\nshows\n" << line << "\nand says\n" << bench.answer();
      figures += line.empty() ? 0 : 1;
    }
  }
  EXPECT_GE(figures, 14);
}

// The drawing above is of that plan.
TEST(Examples, TheReadmesDrawingIsWhatSimulateDraws) {
  const std::string readme = test::read_file(test::source_root() / "README.md");
  const std::size_t begin = readme.find("```\n") + 4, end = readme.find("```", begin);
  const std::vector<Shown> all = shown_commands(test::source_root() / "README.md");
  const Workbench bench;
  for (std::size_t i = 0; i < 2; ++i) bench.run(all.at(i).command);
  EXPECT_NE(bench.answer().find(readme.substr(begin, end - begin)), std::string::npos) << bench.answer();
}

void run_shown_commands(const fs::path& file, std::size_t least) {
  const std::vector<Shown> shown = shown_commands(file);
  EXPECT_GE(shown.size(), least) << file;
  const Workbench bench;
  for (const Shown& one : shown) bench.run(one.command);
}

TEST(Examples, OfTheDocumentsWork) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_root() / "docs")) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) run_shown_commands(file, file.filename() == "cli.md" ? 3 : 0);
}

}  // namespace
}  // namespace penstock::cli
