#include "models/clusters/device_kinds.h"

#include <gtest/gtest.h>

#include <set>

namespace penstock {
namespace {

TEST(DeviceKinds, HaveNamesOfTheirOwnAndPositiveRates) {
  std::set<std::string_view> names;
  for (const DeviceKind& kind : device_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_GT(kind.peak_f32.value, 0) << kind.name;
    EXPECT_GT(kind.memory_bandwidth.value, 0) << kind.name;
    EXPECT_EQ(kind.memory == Bytes(0), kind.name == "cpu") << kind.name;
  }
}

TEST(DeviceKinds, CarryTheFiguresOfTheirDataSheets) {
  EXPECT_EQ(find_device_kind("v100")->peak_f32, FlopsPerSecond(15.7e12));
  EXPECT_EQ(find_device_kind("v100")->memory, Bytes(std::int64_t{16} << 30));
  EXPECT_EQ(find_device_kind("a100-40")->memory_bandwidth, BytesPerSecond(1555e9));
  EXPECT_EQ(find_device_kind("a100-80")->memory_bandwidth, BytesPerSecond(2039e9));
  EXPECT_EQ(find_device_kind("h100")->memory_bandwidth, BytesPerSecond(3350e9));
}

TEST(DeviceKinds, AnUnknownOneNamesTheNearest) {
  const auto kind = find_device_kind("a100");
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().code, ErrorCode::Usage);
  EXPECT_NE(kind.error().hint.find("h100"), std::string::npos);
  EXPECT_NE(find_device_kind("v10").error().hint.find("did you mean v100?"), std::string::npos);
}

}  // namespace
}  // namespace penstock
