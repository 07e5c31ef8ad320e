#include "core/profile.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/samples.h"

namespace penstock {
namespace {

LinkTime measured(std::int64_t bytes, std::int64_t nanoseconds) {
  LinkTime out{"thread", Bytes(bytes), {}};
  out.time.n = 1;
  out.time.median = Nanoseconds(nanoseconds);
  return out;
}

TEST(Profile, FindsByAllThreeKeys) {
  const Profile profile = test::sample_profile();
  const std::string& head = profile.times[0].signature;
  EXPECT_EQ(profile.find(head, CostOp::F, 2), &profile.times[1]);
  EXPECT_EQ(profile.find(head, CostOp::Step, 0), &profile.times[2]);
  EXPECT_EQ(profile.find(head, CostOp::F, 4), nullptr);
  EXPECT_EQ(profile.find(head, CostOp::B, 1), nullptr);
  EXPECT_EQ(profile.find("linear", CostOp::F, 1), nullptr);
  EXPECT_EQ(profile.find_memory(head, 1), &profile.memory[0]);
  EXPECT_EQ(profile.find_memory(head, 2), nullptr);
}

TEST(FitLink, RecoversAStraightLine) {
  std::vector<LinkTime> times;
  for (const std::int64_t bytes : {64, 4096, 65536, 1 << 20, 16 << 20})
    times.push_back(measured(bytes, 3000 + bytes / 4));  // 3 us + bytes at 4 GB/s
  const LinkFit fit = fit_link(times);
  EXPECT_NEAR(static_cast<double>(fit.latency.value), 3000, 1);
  EXPECT_NEAR(fit.bandwidth.value, 4e9, 4e4);
  EXPECT_LT(fit.worst_relative_error, 1e-3);
}

TEST(FitLink, WeighsErrorsRelativeToTheirTime) {
  // The largest is 10 % off the line of the others; an unweighted fit would miss the smallest by
  // far more than that.
  const LinkFit fit =
      fit_link({measured(0, 1000), measured(1000, 2000), measured(100'000'000, 110'000'000)});
  EXPECT_NEAR(static_cast<double>(fit.latency.value), 1000, 60);
  EXPECT_LT(fit.worst_relative_error, 0.1);
}

// Sum of squared relative errors on a grid around the answer: nothing near is better.
TEST(FitLink, MinimisesTheSumOfSquaredRelativeErrors) {
  const std::vector<LinkTime> times = {measured(64, 2100), measured(4096, 2600),
                                       measured(65536, 19000), measured(1 << 20, 230'000)};
  const auto cost = [&](double latency, double slope) {
    double out = 0;
    for (const LinkTime& row : times) {
      const double t = static_cast<double>(row.time.median.value);
      const double error = (latency + slope * static_cast<double>(row.bytes.value) - t) / t;
      out += error * error;
    }
    return out;
  };
  const LinkFit fit = fit_link(times);
  const double latency = static_cast<double>(fit.latency.value), slope = 1e9 / fit.bandwidth.value;
  const double best = cost(latency, slope);
  for (const double a : {0.99, 1.0, 1.01})
    for (const double b : {0.99, 1.0, 1.01})
      EXPECT_LE(best, cost(a * latency, b * slope)) << a << " " << b;
}

TEST(FitLink, HasNoNegativeLatency) {
  const LinkFit fit = fit_link({measured(1000, 100), measured(2000, 2000), measured(4000, 4800)});
  EXPECT_EQ(fit.latency, Nanoseconds(0));
  EXPECT_GT(fit.bandwidth.value, 0);
}

TEST(FitLink, OfOneSizePutsAllDownToBandwidth) {
  const LinkFit fit = fit_link({measured(1'000'000, 1'000'000), measured(1'000'000, 1'000'000)});
  EXPECT_EQ(fit.latency, Nanoseconds(0));
  EXPECT_NEAR(fit.bandwidth.value, 1e9, 1);
  const LinkFit empty = fit_link({measured(0, 700)});
  EXPECT_EQ(empty.latency, Nanoseconds(700));
  EXPECT_EQ(transfer_time(empty.latency, empty.bandwidth, Bytes(0)), Nanoseconds(700));
}

TEST(FitLink, OfTimesThatDoNotGrowIsLatencyAlone) {
  const LinkFit fit = fit_link({measured(64, 1000), measured(1 << 20, 900)});
  EXPECT_GT(fit.latency, Nanoseconds(890));
  EXPECT_LE(transfer_time(fit.latency, fit.bandwidth, Bytes(1 << 20)),
            fit.latency + Nanoseconds(1));
  EXPECT_TRUE(std::isfinite(fit.bandwidth.value));
}

}  // namespace
}  // namespace penstock
