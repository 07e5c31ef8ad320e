#include "exec/memory_meter.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(MemoryMeter, KeepsTheHighestEndAndTheLargestSum) {
  MemoryMeter meter;
  EXPECT_TRUE(meter.acquire(Bytes(0), Bytes(100)));
  EXPECT_TRUE(meter.acquire(Bytes(256), Bytes(64)));
  meter.release(Bytes(0), Bytes(100));
  EXPECT_TRUE(meter.acquire(Bytes(64), Bytes(64)));
  EXPECT_EQ(meter.highest_end(), Bytes(320));
  EXPECT_EQ(meter.live_peak(), Bytes(128 + 64));  // 100 counts as 128
}

TEST(MemoryMeter, RefusesWhatOverlapsALiveBuffer) {
  MemoryMeter meter;
  EXPECT_TRUE(meter.acquire(Bytes(64), Bytes(64)));
  EXPECT_FALSE(meter.acquire(Bytes(0), Bytes(65)));
  EXPECT_FALSE(meter.acquire(Bytes(127), Bytes(1)));
  EXPECT_FALSE(meter.acquire(Bytes(64), Bytes(1)));
  EXPECT_TRUE(meter.acquire(Bytes(0), Bytes(64)));
  EXPECT_TRUE(meter.acquire(Bytes(128), Bytes(64)));
}

TEST(MemoryMeter, ReleasedMemoryCanBeTakenAgain) {
  MemoryMeter meter;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(meter.acquire(Bytes(0), Bytes(4096)));
    meter.release(Bytes(0), Bytes(4096));
  }
  EXPECT_EQ(meter.live_peak(), Bytes(4096));
}

TEST(MemoryMeter, EmptyBuffersTakeNoPlace) {
  MemoryMeter meter;
  EXPECT_TRUE(meter.acquire(Bytes(0), Bytes(64)));
  EXPECT_TRUE(meter.acquire(Bytes(0), Bytes(0)));
  meter.release(Bytes(0), Bytes(0));
  EXPECT_EQ(meter.highest_end(), Bytes(64));
}

}  // namespace
}  // namespace penstock
