// A timeline: round trip; every analysis and every writer takes it.

#include "core/formats/timeline_format.h"
#include "core/json.h"
#include "traces/analysis/compare.h"
#include "traces/analysis/memory_use.h"
#include "traces/analysis/step_use.h"
#include "traces/writers/chrome_json.h"
#include "traces/writers/svg_gantt.h"
#include "cli/drawing.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

void run(std::string_view bytes) {
  const Result<Timeline> timeline = read_timeline(bytes, "timeline");
  if (!timeline) return require_refusal(timeline.error());
  const std::string json = write_timeline(*timeline);
  const Result<Timeline> again = read_timeline(std::string_view(json), "t.json");
  require(require_value(again, "what is written reads back") == *timeline, "it reads back equal", json);
  for (const Nanoseconds step : step_times(*timeline)) require(step.value >= 0, "a step takes some time");
  require(iteration_time(*timeline).value >= 0, "an iteration takes some time");
  if (timeline->ranks > 256 || timeline->spans.size() > 512) return;
  for (const RankUse& use : step_use(*timeline))
    require(use.busy.value >= 0 && use.idle.value >= 0 && use.bubble_fraction >= 0 && use.bubble_fraction <= 1,
            "a rank is busy or idle");
  if (const auto self = compare(*timeline, *timeline); !self) require_refusal(self.error());
  const std::int32_t step = timeline->spans.empty() ? 0 : timeline->spans.front().step;
  for (const MemoryUse& use : memory_use(*timeline, step, nullptr)) holders_text(use.fullest);
  const auto chrome = parse_json(write_chrome_json(*timeline), "chrome.json");
  require_value(chrome, "Chrome's form is JSON");
  svg_gantt(*timeline);
  cli::draw(*timeline, 80, false);
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::fuzz::run(penstock::fuzz::text(data, size));
  return 0;
}
