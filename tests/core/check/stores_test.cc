#include <gtest/gtest.h>

#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

TEST(Stores, KeepOneWholeVersion) {
  EXPECT_TRUE(is_refused([](Program& p) { p.stores[1].versions = 2; }, "stores", "store 1 keeps 2 versions"));
  EXPECT_TRUE(is_refused([](Program& p) { p.stores[1].shards = 2; }, "stores",
                         "store 1 is cut into 2 shards, and no group makes it whole"));
  EXPECT_TRUE(is_refused([](Program& p) { p.stores[0].network = NetworkId(1000); }, "stores", "network 1000"));
}

TEST(Stores, CopiesOfAStageAreNumberedFromZeroEachOnce) {
  EXPECT_TRUE(is_refused([](Program& p) { p.stores.push_back(p.stores[0]); }, "stores", "store 2 is copy 0 of stage 0"));
  EXPECT_TRUE(is_refused([](Program& p) { p.stores[1].copy = 1; }, "stores", "store 1 is copy 1 of stage 1"));
}

TEST(Stores, CopiesOfAStageAreAlike) {
  const auto second = [](const std::function<void(ProgramStore&)>& change) {
    return [=](Program& p) {
      p.stores.push_back(p.stores[0]);
      p.stores.back().copy = 1;
      change(p.stores.back());
    };
  };
  EXPECT_TRUE(is_refused(second([](ProgramStore& s) { s.network = NetworkId(1); }), "stores", "has another network than store 0"));
  EXPECT_TRUE(is_refused(second([](ProgramStore& s) { s.kind = StoreKind::Frozen; }), "stores", "another kind"));
  EXPECT_TRUE(is_refused(second([](ProgramStore& s) { s.layers = 7; }), "stores", "another number of layers"));
  EXPECT_TRUE(is_refused(second([](ProgramStore& s) { s.parameters = 7; }), "stores", "another number of parameters"));
  EXPECT_TRUE(is_refused(second([](ProgramStore& s) { s.accumulation.copies.push_back({}); }), "R12", "is not that of store 0"));
}

TEST(Stores, ATreeNamesNoMoreCopiesThanThereAre) {
  EXPECT_TRUE(is_refused([](Program& p) { p.stores[0].accumulation.copies.push_back({}); }, "R12",
                         "lists 2 copies; the stage has 1"));
  // Of copies that share microbatches each names all of them: one more would name them too.
  EXPECT_TRUE(is_refused(
      [](Program& p) {
        p.stores[0].samples = p.microbatch_size = 4;
        p.stores[0].accumulation.copies.push_back(p.stores[0].accumulation.copies[0]);
      },
      "R12", "lists 2 copies; the stage has 1"));
}

}  // namespace
}  // namespace penstock::test
