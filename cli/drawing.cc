#include "cli/drawing.h"

#include "cli/output.h"
#include "traces/writers/text_gantt.h"

namespace penstock::cli {
namespace {

struct Sign {
  Op op;
  std::string_view meaning;
};
constexpr Sign kSigns[] = {{Op::F, "F forward ="},
                           {Op::BF, "B backward #"},
                           {Op::W, "W weight gradient %"},
                           {Op::R, "R recompute ~"},
                           {Op::Step, "S update +"}};

// Only what can be seen.
std::string legend(const Timeline& timeline) {
  std::string out;
  for (const Sign& sign : kSigns) {
    for (const Span& span : timeline.spans) {
      if (span.end == span.start) continue;
      if (span.key.op != sign.op && !(sign.op == Op::BF && span.key.op == Op::B)) continue;
      out += std::string(sign.meaning) + ", ";
      break;
    }
  }
  return out + ". idle\n";
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
  return text + legend(timeline);
}

}  // namespace penstock::cli
