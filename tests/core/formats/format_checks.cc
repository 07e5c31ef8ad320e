#include "tests/core/formats/format_checks.h"

#include "tests/support/files.h"

namespace penstock::test {

std::string edited(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "no '" << from << "' in\n" << text;
  if (at == std::string::npos) return text;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << "more than one '" << from << "' in\n"
                                                        << text;
  return text.replace(at, from.size(), to);
}

std::vector<std::string> examples(std::string_view name, std::string_view language) {
  const std::string text =
      read_file(source_root() / "docs" / "formats" / (std::string(name) + ".md"));
  const std::string fence = "```" + std::string(language) + "\n";
  std::vector<std::string> out;
  for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    out.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return out;
}

}  // namespace penstock::test
