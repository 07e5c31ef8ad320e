#include "core/lanes.h"

#include <gtest/gtest.h>

#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

TEST(Lanes, AreCalledAfterWhatTheirStreamDoes) {
  Program program = sample_program(one_f_one_b_order(2, 3));
  EXPECT_EQ(lane_of(program, 0, 0), "compute");
  EXPECT_EQ(lane_of(program, 0, 1), "send 0>1");
  EXPECT_EQ(lane_of(program, 1, 1), "send 1>0");
  program.ranks[0].streams.emplace_back().kind = StreamKind::Collective;
  program.ranks[0].streams.emplace_back().kind = StreamKind::Copy;
  EXPECT_EQ(lane_of(program, 0, 2), "collective");
  EXPECT_EQ(lane_of(program, 0, 3), "stream 3");
}

TEST(Lanes, OfSeveralEdgesBetweenTwoRanksAreToldApart) {
  Program program = sample_program(one_f_one_b_order(2, 3));
  program.edges.push_back(program.edges[0]);
  Stream second;
  second.kind = StreamKind::Send;
  second.edge = EdgeId(2);
  program.ranks[0].streams.push_back(second);
  EXPECT_EQ(lane_of(program, 0, 1), "send 0>1 e0");
  EXPECT_EQ(lane_of(program, 0, 2), "send 0>1 e2");
}

}  // namespace
}  // namespace penstock::test
