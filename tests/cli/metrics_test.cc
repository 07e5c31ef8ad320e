// Every key of every verb's JSON is documented, and every number is defined.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/json.h"
#include "tests/cli/workbench.h"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

using Keys = std::set<std::string, std::less<>>;

// The words between backticks, letters, digits and _ only: `ops[].error` gives ops and error, and what
// stands in braces, `devices[{rank, busy_s}]`, counts too. Fenced blocks do not.
Keys documented(const fs::path& file) {
  Keys out;
  bool code = false, fenced = false;
  std::string word;
  const std::string text = test::read_file(file);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "```") == 0) {
      fenced = !fenced;
      i += 2;
      continue;
    }
    const bool letter = std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_';
    if (code && letter && !fenced) {
      word += text[i];
      continue;
    }
    if (!word.empty()) out.insert(std::exchange(word, ""));
    if (text[i] == '`' && !fenced) code = !code;
  }
  return out;
}

Keys documented_in(const std::vector<fs::path>& files) {
  Keys out;
  for (const fs::path& file : files) out.merge(documented(test::source_root() / file));
  return out;
}

bool holds_numbers(const Value& value) {
  if (value.is_number()) return true;
  if (!value.is_array()) return false;
  return std::any_of(value.array().begin(), value.array().end(), holds_numbers);
}

// All keys of a document, and those that hold numbers.
void collect(const Value& value, Keys& all, Keys& numbers) {
  if (value.is_array()) {
    for (const Value& item : value.array()) collect(item, all, numbers);
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.object()) {
    all.insert(key);
    if (holds_numbers(member)) numbers.insert(key);
    collect(member, all, numbers);
  }
}

// The two sides of a comparison carry the names of what they compare.
bool knows(const Keys& documented, const std::string& key) {
  if (documented.contains(key)) return true;
  for (const std::string_view side : {"predicted_", "measured_"}) {
    if (key.starts_with(side)) return documented.contains(key.substr(side.size()));
  }
  return false;
}

TEST(Metrics, EveryKeyIsDocumentedAndEveryNumberDefined) {
  const Keys defined = documented_in({"docs/metrics.md"});
  const Keys named = documented_in({"docs/metrics.md", "docs/cli.md"});
  // Backticks that do not pair up would turn prose into keys.
  ASSERT_FALSE(defined.contains("that") || named.contains("that"));
  const Workbench bench;
  bench.run(
      "penstock plan mlp:layers=4,width=16,batch=8 --cluster flat:2,device=cpu --ranks 2 -q -o p.json");
  bench.run("penstock simulate p.json -q -o predicted.json");
  bench.run("penstock run p.json -q --steps 4 -o measured.json");
  for (const char* command :
       {"check p.json", "simulate p.json", "simulate gpipe:stages=2,microbatches=2",
        "run p.json --steps 2", "compare predicted.json measured.json",
        "schedule gpipe --stages 2 --microbatches 2", "schedules", "schedules 1f1b", "models",
        "models gpt", "clusters", "clusters flat", "strategies", "strategies auto", "doctor",
        "version", "completion bash"}) {
    bench.run("penstock " + std::string(command) + " --json -q");
    const auto answer = parse_json(bench.answer(), command);
    ASSERT_TRUE(answer.has_value()) << answer.error().text();
    Keys all, numbers;
    collect(*answer, all, numbers);
    for (const std::string& key : all)
      EXPECT_TRUE(knows(named, key) || key == "schema")
          << command << ": docs/cli.md does not name the key " << key;
    for (const std::string& key : numbers)
      EXPECT_TRUE(knows(defined, key)) << command << ": docs/metrics.md does not define " << key;
    EXPECT_GT(all.size(), 2u) << command;
  }
}

TEST(Metrics, ThePlansAndProfilesNumbersAreInTheirFormats) {
  const Workbench bench;
  bench.run(
      "penstock plan mlp:layers=4,width=16,batch=8 --cluster flat:2,device=cpu --ranks 2 --json -q");
  const auto plan = parse_json(bench.answer(), "plan");
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  Keys all, numbers;
  collect(*plan, all, numbers);
  const Keys defined = documented_in({"docs/metrics.md", "docs/formats/plan.md",
                                      "docs/formats/workload.md", "docs/formats/cluster.md"});
  for (const std::string& key : numbers)
    EXPECT_TRUE(knows(defined, key)) << "docs/formats/plan.md does not define " << key;
}

}  // namespace
}  // namespace penstock::cli
