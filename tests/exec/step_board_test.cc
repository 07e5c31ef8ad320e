#include "exec/step_board.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(StepBoard, AStepIsHandedOutOnceAllStagesAreDoneWithItAndWithThoseBefore) {
  StepBoard board(3, 2);
  board.report(0);
  EXPECT_FALSE(board.take());
  board.report(1);
  board.report(1);  // the first stage is a step ahead: step 1 waits for step 0
  EXPECT_FALSE(board.take());
  board.report(0);
  EXPECT_EQ(board.take()->step, 0);
  EXPECT_EQ(board.take()->step, 1);
  EXPECT_FALSE(board.take());
}

TEST(StepBoard, TimesAreNeverNegativeEvenIfAnEarlierStepEndsLater) {
  StepBoard board(2, 2);
  board.report(0);
  board.report(1);
  board.report(1);
  board.report(0);
  EXPECT_GE(board.take()->took, Nanoseconds(0));
  EXPECT_EQ(board.take()->took, Nanoseconds(0));  // was done before step 0 was
}

TEST(StepBoard, NothingComesAfterTheLastStep) {
  StepBoard board(1, 1);
  board.report(0);
  EXPECT_TRUE(board.take());
  EXPECT_FALSE(board.take());
}

}  // namespace
}  // namespace penstock
