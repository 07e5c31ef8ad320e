#include "exec/cpu/stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::cpu {
namespace {

class Append final : public Call {
 public:
  Append(std::vector<int>& out, int value) : out_(out), value_(value) {}
  Result<void> run(std::int32_t) override {
    out_.push_back(value_);
    return {};
  }

 private:
  std::vector<int>& out_;
  int value_;
};

class Fails final : public Call {
 public:
  Result<void> run(std::int32_t step) override { return fail(ErrorCode::RunFailed, "step " + std::to_string(step)); }
};

WorkItem call(Call& c, std::int32_t step = 0) {
  WorkItem item;
  item.call = &c;
  item.tag.step = step;
  return item;
}

TEST(Stream, RunsWorkInOrderPastTheCapacityOfItsRing) {
  RunState state;
  std::vector<int> out;
  std::vector<std::unique_ptr<Append>> calls;
  {
    Stream stream("test", state, -1);
    for (int i = 0; i < 5000; ++i) {
      calls.push_back(std::make_unique<Append>(out, i));
      stream.issue(call(*calls.back()));
    }
    EXPECT_TRUE(stream.drain());
  }
  ASSERT_EQ(out.size(), 5000u);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], i);
}

TEST(Stream, AFailedCallGivesTheRunUpAndTheFirstReasonStands) {
  RunState state;
  std::vector<int> out;
  Fails fails;
  Append append(out, 1);
  Stream stream("test", state, -1);
  stream.issue(call(fails, 3));
  stream.issue(call(fails, 4));
  stream.issue(call(append));
  EXPECT_FALSE(stream.drain());
  EXPECT_TRUE(out.empty());
  ASSERT_TRUE(state.reason());
  EXPECT_EQ(state.reason()->message, "step 3");
}

TEST(Stream, AWaitHoldsUntilTheRecordOfAnotherStream) {
  RunState state;
  std::vector<int> out;
  Append first(out, 1), second(out, 2);
  WaitWord event;
  std::atomic<std::int64_t> at{0};
  Stream a("a", state, -1), b("b", state, -1);
  WorkItem wait, record;
  wait.kind = WorkItem::Kind::Wait;
  record.kind = WorkItem::Kind::Record;
  wait.word = record.word = &event;
  wait.at = record.at = &at;
  wait.target = record.target = 1;
  b.issue(wait);
  b.issue(call(second));
  a.issue(call(first));
  a.issue(record);
  EXPECT_TRUE(a.drain());
  EXPECT_TRUE(b.drain());
  EXPECT_EQ(out, (std::vector<int>{1, 2}));
}

TEST(Stream, StampsLieInOrder) {
  RunState state;
  std::vector<int> out;
  Append append(out, 1);
  Stream stream("test", state, -1);
  Stamp stamps[2];
  for (Stamp& stamp : stamps) {
    WorkItem item = call(append);
    item.stamp = &stamp;
    stream.issue(item);
  }
  ASSERT_TRUE(stream.drain());
  EXPECT_LE(stamps[0].start, stamps[0].end);
  EXPECT_LE(stamps[0].end, stamps[1].start);
}

}  // namespace
}  // namespace penstock::cpu
