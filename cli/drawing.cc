#include "cli/drawing.h"

#include <algorithm>

#include "cli/output.h"
#include "traces/writers/text_gantt.h"

namespace penstock::cli {
namespace {

constexpr std::string_view kSigns[] = {"F forward =", "B backward #", "W weight gradient %",
                                       "R recompute ~", "S update +"};

// Only what can be seen in the rows: a sign's letter or what fills its columns.
std::string legend(std::string_view rows) {
  std::string drawn;
  for (std::size_t at = 0; at < rows.size();) {
    const std::size_t end = std::min(rows.find('\n', at), rows.size());
    const std::string_view row = rows.substr(at, end - at);
    if (const std::size_t bar = row.find('|'); bar != std::string_view::npos) drawn += row.substr(bar + 1);
    at = end + 1;
  }
  std::string out;
  const auto add = [&](std::string_view meaning) {
    if (drawn.find(meaning.front()) == std::string::npos && drawn.find(meaning.back()) == std::string::npos) return;
    out += (out.empty() ? "" : ", ") + std::string(meaning);
  };
  for (const std::string_view sign : kSigns) add(sign);
  if (drawn.find('.') != std::string::npos) out += std::string(out.empty() ? "" : ", ") + ". idle";
  return out + "\n";
}

}  // namespace

void declare_width(Flags& flags, std::int32_t& columns) {
  flags.add("--width", "N", "columns of the drawing (default 100)",
            count_into(columns, 10, 10'000));
}

std::string draw(const Timeline& timeline, std::int32_t columns, bool own_unit) {
  std::string text = text_gantt(timeline, {.columns = columns, .colour = colour_allowed()});
  if (text.empty()) return text;
  if (own_unit) text.erase(text.rfind('\n', text.size() - 2) + 1);
  return text + legend(text);
}

}  // namespace penstock::cli
