#include "exec/parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/exec/sample_plan.h"

namespace penstock {
namespace {

Parameter normal_parameter(const std::string& name, std::int64_t n) {
  return {.name = name, .dimensions = {n}, .initializer = Initializer::Normal, .deviation = 0.02};
}

TEST(InitialValues, DependOnSeedAndNameAlone) {
  const auto a = initial_values(normal_parameter("w", 100), 1);
  EXPECT_EQ(a, initial_values(normal_parameter("w", 100), 1));
  EXPECT_NE(a, initial_values(normal_parameter("w", 100), 2));
  EXPECT_NE(a, initial_values(normal_parameter("v", 100), 1));
}

TEST(InitialValues, HaveTheStatedMomentsWithinFourStandardErrors) {
  constexpr std::int64_t n = 200'000;
  const auto values = initial_values(normal_parameter("w", n), 7);
  double sum = 0, squares = 0;
  for (const float x : values) {
    sum += x;
    squares += static_cast<double>(x) * x;
  }
  EXPECT_LT(std::abs(sum / n), 4 * 0.02 / std::sqrt(n));
  EXPECT_LT(std::abs(std::sqrt(squares / n) - 0.02), 4 * 0.02 / std::sqrt(2.0 * n));
}

TEST(InitialValues, OnesAndZerosAreWhatTheySay) {
  for (const float x : initial_values({.name = "g", .dimensions = {3, 5}, .initializer = Initializer::Ones}, 3)) EXPECT_EQ(x, 1.0f);
  for (const float x : initial_values({.name = "b", .dimensions = {3, 5}, .initializer = Initializer::Zeros}, 3)) EXPECT_EQ(x, 0.0f);
}

TEST(WeightsDigest, ChangesWithOneBitAndWithTheOrder) {
  const float a[] = {1.0f, 2.0f, 3.0f}, b[] = {1.0f, 2.0f, std::nextafter(3.0f, 4.0f)}, c[] = {2.0f, 1.0f, 3.0f};
  const auto digest = [](const float* x) {
    WeightsDigest d;
    d.add(x, 3);
    return d.text();
  };
  EXPECT_NE(digest(a), digest(b));
  EXPECT_NE(digest(a), digest(c));
}

TEST(WeightsDigest, DoesNotDependOnHowTheValuesAreCut) {
  const float a[] = {1.0f, 2.0f, 3.0f};
  WeightsDigest whole, parts;
  whole.add(a, 3);
  parts.add(a, 1);
  parts.add(a + 1, 2);
  EXPECT_EQ(whole.text(), parts.text());
  EXPECT_EQ(whole.text().size(), 16u);
}

TEST(Parameters, PlacesAreInDeclarationOrderWhateverTheStages) {
  const Plan plan = test::sample_plan("mlp:layers=4,width=8,batch=8", "gpipe", 3, 2);
  const std::vector<ParameterPlace> places = parameter_places(plan);
  const std::vector<const Parameter*> all = all_parameters(plan.workload);
  ASSERT_EQ(places.size(), all.size());
  std::map<std::size_t, Bytes> end;
  std::map<std::size_t, std::size_t> next;
  for (std::size_t p = 0; p < all.size(); ++p) {  // one behind the other in their stage's buffer
    const std::size_t stage = places[p].stage.index();
    EXPECT_EQ(places[p].index, next[stage]++);
    EXPECT_GE(places[p].offset, end[stage]);
    end[stage] = places[p].offset + Bytes(all[p]->elements() * 4);
  }
  EXPECT_EQ(next.size(), plan.stages.size());
}

}  // namespace
}  // namespace penstock
