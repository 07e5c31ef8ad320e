// A chain without branches, the same at every position: bytes looked up in a table, then `layers`
// times Linear and Gelu, then a head that predicts the next byte. It sees one byte at a time, so it
// learns which byte follows which, no more; it is there because every cut of it is equal, and
// because it runs in milliseconds.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "models/workloads/built_in.h"
#include "models/workloads/network_builder.h"

namespace penstock {
namespace {

constexpr std::int64_t kVocabulary = 256;
constexpr double kLearningRate = 0.03;

constexpr std::array<BuilderParameter, 4> kParameters = {{
    {"layers", 4, 1, 100'000, "hidden layers, each Linear and Gelu"},
    {"width", 256, 1, 1'000'000, "features of every hidden layer"},
    {"input", 32, 1, 1'000'000, "bytes of a sample"},
    {"batch", 16, 1, 1'000'000'000, "samples a step"},
}};

Result<Workload> build(const BuilderValues& values) {
  const auto value = [&](const char* key) { return values.find(key)->second; };
  const std::int64_t width = value("width");
  const double deviation =
      std::sqrt(2.0 / static_cast<double>(width));  // He et al. 2015, for rectifiers
  NetworkBuilder net("mlp", value("input"));
  LayerId x = net.embedding("embedding", kVocabulary, width, 0.5);
  for (std::int64_t layer = 0; layer < value("layers"); ++layer) {
    x = net.linear(fmt::format("hidden{}.linear", layer), x, width, deviation);
    x = net.gelu(fmt::format("hidden{}.gelu", layer), x);
  }
  net.cross_entropy("loss", net.linear("head", x, kVocabulary, 0.02));
  Workload workload = net.take();
  workload.optimizer = {OptimizerKind::Sgd, kLearningRate, 0.9};
  workload.global_batch = value("batch");
  return workload;
}

}  // namespace

WorkloadBuilder mlp_builder() {
  return {"mlp", "chain of Linear and Gelu layers over bytes", kParameters, build};
}

}  // namespace penstock
