// A decoder-only transformer over bytes, pre-norm as GPT-2 (Radford et al. 2019):
//
//   x = embedding(tokens)
//   per block   x = x + project(attention(qkv(norm(x))))
//               x = x + project(gelu(expand(norm(x))))          expand: hidden -> 4·hidden
//   loss = cross_entropy(head(norm(x)), targets)                head: not tied to the embedding
//
// With L layers, width h, vocabulary V and T positions it has
//   L·(12h² + 13h) + 2h + (V + T)·h + (h + 1)·V
// parameters. Every projection into the residual stream starts smaller by sqrt(2·L), so that the
// stream's variance does not grow with depth (§2.3 there).

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "models/workloads/built_in.h"
#include "models/workloads/network_builder.h"

namespace penstock {
namespace {

constexpr double kDeviation = 0.02;
// Momentum 0.9 multiplies the step tenfold in the long run: larger rates make the first steps of
// wide shapes jump.
constexpr double kLearningRate = 0.03;

constexpr std::array<BuilderParameter, 6> kParameters = {{
    {"layers", 4, 1, 10'000, "transformer blocks"},
    {"hidden", 256, 1, 1'000'000, "width of the residual stream"},
    {"heads", 4, 1, 10'000, "attention heads, a divisor of hidden"},
    {"sequence", 128, 1, 1'000'000, "tokens of a sample"},
    {"vocabulary", 256, 256, 1'000'000, "rows of the token table and classes; tokens are bytes"},
    {"batch", 16, 1, 1'000'000'000, "samples a step"},
}};

Result<Workload> build(const BuilderValues& values) {
  const auto value = [&](const char* key) { return values.find(key)->second; };
  const std::int64_t layers = value("layers"), hidden = value("hidden"), heads = value("heads");
  if (hidden % heads != 0) {
    return fail(ErrorCode::Usage,
                fmt::format("gpt: {} heads do not divide hidden={} evenly", heads, hidden),
                "every head takes hidden/heads features");
  }
  const double residual = kDeviation / std::sqrt(2.0 * static_cast<double>(layers));
  NetworkBuilder net("gpt", value("sequence"));
  LayerId x = net.embedding("embedding", value("vocabulary"), hidden, kDeviation);
  for (std::int64_t block = 0; block < layers; ++block) {
    const auto name = [&](const char* part) { return fmt::format("block{}.{}", block, part); };
    LayerId y = net.layer_norm(name("attention.norm"), x);
    y = net.linear(name("attention.qkv"), y, 3 * hidden, kDeviation);
    y = net.attention(name("attention.heads"), y, heads);
    y = net.linear(name("attention.project"), y, hidden, residual);
    x = net.add(name("attention.add"), x, y);
    y = net.layer_norm(name("mlp.norm"), x);
    y = net.linear(name("mlp.expand"), y, 4 * hidden, kDeviation);
    y = net.gelu(name("mlp.gelu"), y);
    y = net.linear(name("mlp.project"), y, hidden, residual);
    x = net.add(name("mlp.add"), x, y);
  }
  x = net.layer_norm("norm", x);
  net.cross_entropy("loss", net.linear("head", x, value("vocabulary"), kDeviation));
  Workload workload = net.take();
  workload.optimizer = {OptimizerKind::Sgd, kLearningRate, 0.9};
  workload.global_batch = value("batch");
  return workload;
}

}  // namespace

WorkloadBuilder gpt_builder() {
  return {"gpt", "decoder-only transformer over bytes", kParameters, build};
}

}  // namespace penstock
