#include "tests/traces/sample_timeline.h"

#include <algorithm>

namespace penstock::test {

Timeline sample_timeline(std::int32_t steps, double factor) {
  Timeline timeline;
  timeline.name = "sample";
  timeline.plan_digest = "0123456789abcdef";
  timeline.ranks = 2;
  timeline.tracks = {{RankId(0), "compute"}, {RankId(0), "send 0>1"}, {RankId(1), "compute"}};
  timeline.peak_memory = timeline.live_peak = {Bytes(4096), Bytes(2048)};
  const auto add = [&](std::uint32_t track, std::int32_t step, Op op, std::int32_t microbatch, double start, double length) {
    const double base = 90 * step;
    const auto at = [&](double us) { return Nanoseconds(static_cast<std::int64_t>((base + us) * 1000 * factor)); };
    InstructionKey key;
    key.op = op;
    key.stage = static_cast<std::uint16_t>(track == 2 ? 1 : 0);
    key.microbatch = microbatch;
    Span span;
    span.track = track;
    span.step = step;
    span.start = at(start);
    span.end = at(start + length);
    span.key = key;
    timeline.spans.push_back(span);
  };
  for (std::int32_t step = 0; step < steps; ++step) {
    add(0, step, Op::F, 0, 0, 10);
    add(0, step, Op::F, 1, 10, 10);
    add(0, step, Op::BF, 0, 42, 20);
    add(0, step, Op::BF, 1, 64, 20);
    add(0, step, Op::Step, -1, 84, 5);
    add(1, step, Op::Send, 0, 10, 2);
    add(1, step, Op::Send, 1, 32, 2);
    add(2, step, Op::Recv, 0, 10, 2);
    add(2, step, Op::F, 0, 12, 10);
    add(2, step, Op::BF, 0, 22, 10);
    add(2, step, Op::Recv, 1, 32, 2);
    add(2, step, Op::F, 1, 34, 10);
    add(2, step, Op::BF, 1, 44, 20);
    add(2, step, Op::Step, -1, 64, 5);
  }
  std::stable_sort(timeline.spans.begin(), timeline.spans.end(), [](const Span& a, const Span& b) {
    return std::pair(a.track, a.start) < std::pair(b.track, b.start);
  });
  const auto find = [&](Op op, std::int32_t step, std::int32_t microbatch) {
    for (std::uint32_t i = 0; i < timeline.spans.size(); ++i) {
      const Span& span = timeline.spans[i];
      if (span.key.op == op && span.step == step && span.key.microbatch == microbatch) return i;
    }
    return 0u;
  };
  for (std::int32_t step = 0; step < steps; ++step) {
    for (std::int32_t m = 0; m < 2; ++m) timeline.flows.push_back({find(Op::Send, step, m), find(Op::Recv, step, m)});
  }
  return timeline;
}

}  // namespace penstock::test
