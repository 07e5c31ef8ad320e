// The page in a real browser: its scripts run without an error, draw what is in sight, find the span under the pointer, and
// pan 8 ranks of 2,000 spans. Frame times are printed, not judged: they are the machine's.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "planner/lower.h"
#include "sim/engine.h"
#include "tests/support/files.h"
#include "traces/report/report.h"

namespace penstock {
namespace {

// 1F1B of 8 stages and 1,000 microbatches: 2,000 operations a rank, and their messages.
Timeline long_timeline(Nanoseconds forward, Nanoseconds transfer) {
  Order order = chain_order(8, 1000);
  order.first = {0};
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    const auto add = [&](Op op, std::int32_t microbatch) {
      OrderOp item;
      item.op = op;
      item.stage = static_cast<std::uint16_t>(rank);
      item.microbatch = static_cast<std::uint32_t>(microbatch) & 0x3fffffff;
      order.ops.push_back(item);
    };
    const std::int32_t ahead = 8 - rank;
    for (std::int32_t m = 0; m < ahead; ++m) add(Op::F, m);
    for (std::int32_t m = 0; m < 1000; ++m) {
      add(Op::BF, m);
      if (m + ahead < 1000) add(Op::F, m + ahead);
    }
    order.first.push_back(order.ops.size());
  }
  const Nanoseconds ms(1'000'000);
  const Program program = lower(order, OrderCosts::uniform(order, forward, ms, ms, transfer), Bytes(0));
  const auto result = simulate(program);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result ? result->timeline : Timeline{};
}

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> buffer;
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

constexpr std::string_view kFirst = "<script>window.faults = []; onerror = (what) => { faults.push(what); };</script>\n";

// Draws at once rather than at the next frame, and reads a pixel back, so that the time is that of the whole drawing.
constexpr std::string_view kLast = R"js(<script>
{
  const said = [], times = [];
  const drawn = () => { view.draw(); return view.panels.map((p) => p.context.getImageData(p.canvas.width >> 1, 12, 1, 1).data.join()); };
  for (const part of [1, 0.1, 0.01]) {
    view.fit();
    view.zoom(part, 0.1);
    for (let i = 0; i < 200; ++i) {
      const start = performance.now();
      view.pan((view.to - view.from) * 0.004);
      drawn();
      times.push(performance.now() - start);
    }
    const sorted = times.splice(0).sort((a, b) => a - b);
    said.push(`${part}: ${sorted.length} frames, median ${sorted[100].toFixed(1)} ms, slowest ${sorted[199].toFixed(1)} ms`);
  }
  view.fit();
  const before = drawn().join();
  view.zoom(0.02, 0.3);
  said.push(`zooming draws something else: ${drawn().join() !== before}`);
  const panel = view.panels[0], step = panel.step;
  const middle = step.rows[0].from + 40, lane = step.rows[step.lane[middle]];
  view.look(step.start[middle] - 1e6, step.start[middle] + 19e6);
  const x = GUTTER + (step.start[middle] + step.length[middle] / 2 - view.from) * (view.plotWidth() / (view.to - view.from));
  const found = panel.at(x, lane.top + lane.height / 2);
  said.push(`the span under the pointer is found: ${found === middle}`);
  view.pointed(panel, { offsetX: x, offsetY: lane.top + lane.height / 2, clientX: 9, clientY: 9 });
  said.push(`so is its counterpart: ${view.panels[1].step.name[view.panels[1].hovered] === step.name[middle]}`);
  said.push(`the tip names it: ${document.getElementById("tip").textContent.includes(data.names[step.name[middle]] + "  ")}`);
  const key = (name) => { const was = view.from; document.dispatchEvent(new KeyboardEvent("keydown", { key: name })); return view.from - was; };
  said.push(`arrow keys pan: ${key("ArrowRight") > 0 && key("ArrowLeft") < 0}`);
  const table = document.querySelector("table"), head = table.tHead.rows[0].cells[3];
  head.querySelector("button").click();
  const column = Array.from(table.tBodies[0].rows, (row) => Number(row.cells[3].dataset.value));
  said.push(`tables sort: ${column.every((v, i) => i === 0 || v <= column[i - 1])}`);
  const light = getComputedStyle(root).getPropertyValue("--ground");
  document.getElementById("theme").click();
  said.push(`the theme turns: ${getComputedStyle(root).getPropertyValue("--ground") !== light}`);
  const out = document.createElement("pre");
  out.id = "said";
  out.textContent = [...said, `faults: ${window.faults.join("; ") || "none"}`].join("\n");
  document.body.append(out);
}
</script>
)js";

TEST(ReportInBrowserSlow, PansFindsSortsAndTurnsDark) {
  if (output_of("command -v chromium").empty()) GTEST_SKIP() << "there is no chromium here (apt-get install chromium)";
  const Timeline predicted = long_timeline(Nanoseconds(1'000'000), Nanoseconds(20'000));
  const Timeline measured = long_timeline(Nanoseconds(1'100'000), Nanoseconds(150'000));
  const auto comparison = compare(predicted, measured);
  ASSERT_TRUE(comparison) << comparison.error().text();
  std::string page = write_report({.predicted = predicted, .measured = measured, .comparison = *comparison, .provenance = {}});
  const std::size_t body = page.find("<body>\n") + 7, end = page.find("</body>");
  page.insert(end, kLast);
  page.insert(body, kFirst);
  const test::TempDir folder;
  test::write_file(folder / "page.html", page);
  // Chromium's own sandbox does not start for root, as which tests run in containers.
  const std::string sandbox = geteuid() == 0 ? "--no-sandbox" : "";
  const std::string seen = output_of(fmt::format("HOME={0} timeout 200 chromium --headless --disable-gpu {1} --window-size=1280,900 "
                                                 "--user-data-dir={0}/profile --dump-dom file://{0}/page.html 2>/dev/null",
                                                 folder.path().string(), sandbox));
  const std::size_t start = seen.find("<pre id=\"said\">");
  ASSERT_NE(start, std::string::npos) << seen.substr(0, 400);
  const std::string said = seen.substr(start, seen.find("</pre>", start) - start);
  fmt::print("{}\n", said);
  for (const char* claim :
       {"zooming draws something else: true", "the span under the pointer is found: true", "so is its counterpart: true",
        "the tip names it: true", "arrow keys pan: true", "tables sort: true", "the theme turns: true", "faults: none",
        "0.01: 200 frames"}) {
    EXPECT_NE(said.find(claim), std::string::npos) << claim;
  }
}

}  // namespace
}  // namespace penstock
