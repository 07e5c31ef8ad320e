#include "models/clusters/clusters.h"

#include <gtest/gtest.h>

#include <string>

#include "core/formats/cluster_format.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

TEST(LoadCluster, ThisMachineTakesItsRanksApart) {
  EXPECT_EQ(*load_cluster("this-machine", 3), this_machine(3));
  const auto with_parameters = load_cluster("this-machine:3");
  ASSERT_FALSE(with_parameters);
  EXPECT_EQ(with_parameters.error().code, ErrorCode::Usage);
  EXPECT_NE(with_parameters.error().hint.find("--ranks"), std::string::npos);
}

TEST(LoadCluster, KnowsEveryFormItLists) {
  EXPECT_EQ(cluster_forms().size(), 3u);
  EXPECT_EQ(load_cluster("flat:2,bandwidth=1GB/s")->devices.size(), 2u);
  EXPECT_EQ(load_cluster("nodes:2x2,intra=1GB/s,inter=1GB/s")->devices.size(), 4u);
}

TEST(LoadCluster, AFileReadsBackAsWhatWasWritten) {
  const test::TempDir folder;
  const Cluster cluster =
      *load_cluster("nodes:2x2,device=v100,intra=100GB/s,inter=10GB/s,inter-latency=5us");
  for (const char* name : {"cluster.toml", "cluster.json"}) {
    test::write_file(folder / name, std::string(name).ends_with(".json")
                                        ? write_cluster(cluster)
                                        : write_cluster_toml(cluster));
    const auto read = load_cluster((folder / name).string());
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, cluster) << name;
  }
}

TEST(LoadCluster, APathThatIsNotThereIsAFileErrorAndAWordIsUsage) {
  EXPECT_EQ(load_cluster("absent/cluster.toml").error().code, ErrorCode::BadInput);
  const auto word = load_cluster("flut:4");
  EXPECT_EQ(word.error().code, ErrorCode::Usage);
  EXPECT_NE(word.error().hint.find("did you mean flat?"), std::string::npos) << word.error().hint;
}

}  // namespace
}  // namespace penstock
