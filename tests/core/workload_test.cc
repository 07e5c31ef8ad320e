#include "core/workload.h"

#include <gtest/gtest.h>

#include "tests/core/samples.h"

namespace penstock {
namespace {

using test::layer_ids;
using test::sample_distillation;
using test::sample_workload;

std::string signature_of(const Workload& workload, int layer) {
  return signature(workload, workload.networks[0], LayerId(layer));
}

TEST(Workload, ShapesCountElementsAndBytesOfOneSample) {
  EXPECT_EQ((TensorShape{DataType::F32, {4, 6}}.bytes()), Bytes(96));
  EXPECT_EQ((TensorShape{DataType::BF16, {4, 6}}.bytes()), Bytes(48));
  EXPECT_EQ((TensorShape{DataType::Byte, {}}.bytes()), Bytes(1));
  EXPECT_EQ(sample_workload().networks[0].parameter_count(),
            (256 + 4) * 6 + 2 * 6 + (6 + 1) * 18 + (6 + 1) * 256);
}

TEST(Signature, NamesKindAttributesAndShapes) {
  const Workload w = sample_workload();
  EXPECT_EQ(signature_of(w, 2), "linear 4x6:f32 -> 4x18:f32");
  EXPECT_EQ(signature_of(w, 3), "attention heads=2 4x18:f32 -> 4x6:f32");
  EXPECT_EQ(signature_of(w, 4), "add 4x6:f32, 4x6:f32 -> 4x6:f32");
  EXPECT_EQ(signature_of(w, 7), "cross_entropy 4x256:f32, 4:byte -> scalar:f32");
}

TEST(Signature, OfAnEmbeddingTellsItsVocabulary) {
  Workload w = sample_workload();
  EXPECT_EQ(signature_of(w, 0), "embedding 4:byte -> 4x6:f32 [256x6] [4x6]");
  const std::string before = signature_of(w, 0);
  w.networks[0].layers[0].parameters[0].dimensions[0] = 512;
  EXPECT_NE(signature_of(w, 0), before);
}

TEST(Signature, IsEqualForEqualLayersWhereverTheyStand) {
  Workload w = sample_workload();
  Layer& other = w.networks[0].layers[1];
  other.name = "another";
  const std::string before =
      signature(sample_workload(), sample_workload().networks[0], LayerId(1));
  EXPECT_EQ(signature_of(w, 1), before);
}

TEST(Signature, OfOpaqueLayersIsTheirOwn) {
  Workload w = sample_workload();
  for (const int i : {1, 5})
    w.networks[0].layers[static_cast<std::size_t>(i)].kind = LayerKind::Opaque;
  w.networks[0].layers[1].parameters.clear();
  EXPECT_NE(signature_of(w, 1), signature_of(w, 5));
}

TEST(Fingerprint, IsSixteenHexDigitsAndStaysWhatItWas) {
  EXPECT_EQ(fingerprint(sample_workload()),
            "8759675efa1bb767");  // profiles in files hold it: a change orphans them
}

TEST(Fingerprint, IgnoresTheGlobalBatchAndTheWorkloadsName) {
  Workload w = sample_workload();
  w.global_batch = 1024;
  w.name = "other";
  EXPECT_EQ(fingerprint(w), fingerprint(sample_workload()));
}

TEST(Fingerprint, ChangesWithWhateverChangesTheComputation) {
  const Workload w = sample_distillation();
  const std::string original = fingerprint(w);
  const auto changed = [&](auto change) {
    Workload copy = w;
    change(copy);
    return fingerprint(copy) != original;
  };
  EXPECT_TRUE(changed([](Workload& x) { x.networks[0].layers[0].name = "y"; }));
  EXPECT_TRUE(changed([](Workload& x) { x.networks[0].layers[4].inputs = layer_ids({3, 0}); }));
  EXPECT_TRUE(changed([](Workload& x) { x.networks[0].layers[3].attributes["heads"] = 3; }));
  EXPECT_TRUE(changed([](Workload& x) { x.networks[0].layers[2].parameters[0].deviation = 0.3; }));
  EXPECT_TRUE(changed([](Workload& x) { x.networks[0].layers[5].output.type = DataType::BF16; }));
  EXPECT_TRUE(changed([](Workload& x) { x.sources[0].kind = SourceKind::Synthetic; }));
  EXPECT_TRUE(changed([](Workload& x) { x.optimizer.learning_rate = 0.2; }));
  EXPECT_TRUE(changed([](Workload& x) { x.stores[1].decay = 0.99; }));
  EXPECT_TRUE(changed([](Workload& x) { x.tasks[0].offset = 0; }));
  EXPECT_TRUE(changed([](Workload& x) { x.edges[1].staleness = 3; }));
  EXPECT_TRUE(changed([](Workload& x) { x.phases[0].steps = 99; }));
  EXPECT_TRUE(changed([](Workload& x) { x.hyper_period = 8; }));
}

TEST(Workload, AProfileServesOtherNumbersOfTheOptimizerButNoOtherWork) {
  const Workload w = sample_workload();
  const auto same = [&](auto change) {
    Workload copy = w;
    change(copy.optimizer);
    return cost_fingerprint(copy) == cost_fingerprint(w);
  };
  EXPECT_TRUE(same([](Optimizer& x) { x.learning_rate = 0.37; }));
  EXPECT_TRUE(same([](Optimizer& x) { x.schedule = {.kind = DecayKind::Cosine, .steps = 9}; }));
  EXPECT_FALSE(same([](Optimizer& x) { x.momentum = x.momentum == 0 ? 0.9 : 0; }));
  EXPECT_FALSE(same([](Optimizer& x) { x.weight_decay = 0.1; }));
  EXPECT_FALSE(same([](Optimizer& x) { x.clip = 1; }));
  EXPECT_FALSE(same([](Optimizer& x) { x = default_optimizer(OptimizerKind::Adam); }));
}

}  // namespace
}  // namespace penstock
