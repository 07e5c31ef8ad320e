#include "tests/planner/drawing.h"

#include <gtest/gtest.h>

#include "sim/evaluate.h"

namespace penstock::test {

std::vector<std::string> draw(const Order& order) {
  Evaluator evaluator;
  evaluator.record = true;
  const auto evaluation = evaluator.evaluate(
      order,
      OrderCosts::uniform(order, Nanoseconds(1), Nanoseconds(1), Nanoseconds(1), Nanoseconds(0)));
  if (!evaluation) {
    ADD_FAILURE() << evaluation.error().text();
    return {};
  }
  std::vector<std::string> lines(
      static_cast<std::size_t>(order.ranks),
      std::string(static_cast<std::size_t>((*evaluation)->makespan.value), '.'));
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    for (std::size_t i = order.first[rank]; i < order.first[rank + 1]; ++i) {
      const char mark =
          static_cast<char>((order.ops[i].op == Op::F ? '0' : 'a') + order.ops[i].microbatch);
      for (std::int64_t t = evaluator.starts[i].value; t < evaluator.ends[i].value; ++t)
        lines[rank][static_cast<std::size_t>(t)] = mark;
    }
  }
  return lines;
}

std::string tokens(const Order& order, RankId rank) {
  std::string out;
  for (const OrderOp& op : order.of(rank)) out += (out.empty() ? "" : " ") + token(op);
  return out;
}

}  // namespace penstock::test
