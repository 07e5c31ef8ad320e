#include "tests/sim/recorded_orders.h"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/support/files.h"
#include "tests/support/recorded_data.h"
#include "tests/support/table.h"

namespace penstock::test {
namespace {

std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> values;
  for (const std::string_view word : split(text, ' ')) values.push_back(number(word));
  return values;
}

// "3B12", "3F0.1"
OrderOp parse_token(std::string_view token) {
  const std::size_t letter = token.find_first_not_of("0123456789");
  const std::size_t dot = token.find('.');
  const std::map<char, Op> ops = {{'F', Op::F}, {'B', Op::BF}, {'I', Op::B}, {'W', Op::W}};
  OrderOp op;
  op.op = ops.at(token[letter]);
  op.stage = static_cast<std::uint16_t>(number(token.substr(0, letter)));
  op.microbatch =
      static_cast<std::uint32_t>(number(token.substr(letter + 1, dot - letter - 1))) & 0x3fffffff;
  if (dot != std::string_view::npos)
    op.slice = static_cast<std::uint8_t>(number(token.substr(dot + 1)));
  return op;
}

// Appends "3F0", or the parts of "(3F4;5B2)OVERLAP_F_B".
void append(std::vector<OrderOp>& ops, std::string_view token) {
  if (token.front() != '(') {
    ops.push_back(parse_token(token));
    return;
  }
  for (const std::string_view part : split(token.substr(1, token.find(')') - 1), ';')) {
    ops.push_back(parse_token(part));
    ops.back().fused = 1;
  }
  ops.back().fused = 0;
}

// Where the stages lie is read off the lists: the way in which microbatch 0 goes is direction 0,
// any other direction 1.
std::optional<Order> place(Order order) {
  const std::size_t stages = static_cast<std::size_t>(order.stages);
  std::vector<std::vector<std::int32_t>> ways(static_cast<std::size_t>(order.microbatches),
                                              std::vector<std::int32_t>(stages, -1));
  for (std::int32_t r = 0; r < order.ranks; ++r) {
    for (const OrderOp& op : order.of(RankId(r))) ways[op.microbatch][op.stage] = r;
  }
  std::vector<std::vector<std::int32_t>> kinds;
  std::vector<std::uint32_t> direction(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    while (direction[i] < kinds.size() && kinds[direction[i]] != ways[i]) ++direction[i];
    if (direction[i] == kinds.size()) kinds.push_back(ways[i]);
  }
  if (kinds.size() > 2) return std::nullopt;
  order.rank_of.clear();
  for (const std::vector<std::int32_t>& kind : kinds)
    order.rank_of.insert(order.rank_of.end(), kind.begin(), kind.end());
  for (OrderOp& op : order.ops) op.direction = direction[op.microbatch] & 1;
  return order;
}

}  // namespace

std::map<std::string, RecordedOrder> recorded_orders() {
  std::map<std::string, RecordedOrder> orders;
  const std::string bytes = read_gzip(data_path("schedules/orders.csv.gz"));
  std::vector<std::string_view> lines = split(bytes, '\n');
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const std::vector<std::string_view> cells = split(lines[k], ',');
    if (cells.size() != 15) continue;
    RecordedOrder& recorded = orders[std::string(cells[0])];
    recorded.source = cells[1];
    if (!recorded.order) {
      recorded.order = chain_order(static_cast<std::int32_t>(number(cells[4]) * number(cells[6])),
                                   static_cast<std::int32_t>(number(cells[5])));
      recorded.order->ranks = static_cast<std::int32_t>(number(cells[4]));
      recorded.order->slices = static_cast<std::int32_t>(number(cells[7]));
      recorded.order->first = {0};
    }
    EXPECT_EQ(number(cells[13]) + 1, static_cast<std::int64_t>(recorded.order->first.size()))
        << "ranks come in order";
    for (const std::string_view token : split(cells[14], ' ')) append(recorded.order->ops, token);
    recorded.order->first.push_back(recorded.order->ops.size());
  }
  for (auto& [id, recorded] : orders) recorded.order = place(*std::move(recorded.order));
  return orders;
}

std::vector<RecordedTimes> recorded_times() {
  std::vector<RecordedTimes> rows;
  const std::string bytes = read_file(data_path("schedules/results.csv"));
  const std::vector<std::string_view> lines = split(bytes, '\n');
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const std::vector<std::string_view> cells = split(lines[k], ',');
    if (cells.size() != 22 || cells[12] != "sum") continue;
    RecordedTimes& row = rows.emplace_back();
    row.order_id = cells[0];
    row.forward = number(cells[8]);
    row.backward_input = number(cells[9]);
    row.backward_weight = number(cells[10]);
    row.transfer = number(cells[11]);
    row.makespan = number(cells[14]);
    row.span = number(cells[15]);
    row.ideal = number(cells[16]);
    row.bubble_fraction = std::stod(std::string(cells[17]));
    row.starts = numbers(cells[20]);
    row.ends = numbers(cells[21]);
  }
  return rows;
}

}  // namespace penstock::test
