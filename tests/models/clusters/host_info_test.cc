#include "models/clusters/host_info.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/files.h"

namespace penstock {
namespace {

constexpr const char* kCpuInfo =
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: "
    "Example CPU @ 2.50GHz\n"
    "stepping\t: 7\n\nprocessor\t: 1\nmodel name\t: Another\n";

class FakeRoot {
 public:
  FakeRoot() {
    std::filesystem::create_directories(folder_ / "proc");
    std::filesystem::create_directories(folder_ / "sys/fs/cgroup");
    write("proc/cpuinfo", kCpuInfo);
    write("proc/meminfo", "MemTotal:       24576000 kB\nMemFree:        1 kB\n");
  }
  void write(const char* path, const char* text) { test::write_file(folder_ / path, text); }
  HostInfo read() const { return read_host_info(folder_.path().string()); }

 private:
  test::TempDir folder_;
};

TEST(HostInfo, ReadsTheFirstProcessorAndAllMemory) {
  const HostInfo info = FakeRoot().read();
  EXPECT_EQ(info.cpu, "Example CPU @ 2.50GHz, family 6 model 85 stepping 7");
  EXPECT_EQ(info.memory, Bytes(std::int64_t{24000} << 20));
}

TEST(HostInfo, AControlGroupsLimitCountsWhereItIsLess) {
  FakeRoot root;
  root.write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(root.read().memory, Bytes(std::int64_t{24000} << 20));
  root.write("sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(root.read().memory, Bytes(std::int64_t{1} << 30));
  root.write("sys/fs/cgroup/memory.max", "9223372036854771712\n");
  EXPECT_EQ(root.read().memory, Bytes(std::int64_t{24000} << 20));
}

TEST(HostInfo, MemoryIsWholeMebibytes) {
  FakeRoot root;
  root.write("proc/meminfo", "MemTotal: 2049 kB\n");
  EXPECT_EQ(root.read().memory, Bytes(2 << 20));
}

TEST(HostInfo, OfThisMachineIsPlausible) {
  const HostInfo info = read_host_info();
  EXPECT_FALSE(info.cpu.empty());
  EXPECT_GE(info.cores, 1);
  EXPECT_GE(info.memory, Bytes(64 << 20));
}

}  // namespace
}  // namespace penstock
