#include "core/layer_shapes.h"

#include <fmt/format.h>

#include "core/image_shapes.h"
#include "core/invalid.h"
#include "core/layer_operands.h"

namespace penstock {
namespace {

using shapes::count;
using shapes::Dimensions;
using shapes::Operands;
using shapes::output_is;
using shapes::parameters_are;
using shapes::text;

// The shape of the first input with another last dimension.
Dimensions with_features(const Operands& x, std::int64_t features) {
  Dimensions out = x.input(0);
  out.back() = features;
  return out;
}

Result<void> embedding(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 0, 1));
  const Dimensions& tokens = x.sources[0].dimensions;
  if (tokens.size() != 1)
    return invalid("/sources/0", fmt::format("{} reads tokens of shape {}", x.who(), text(tokens)),
                   "an embedding reads a sequence: one dimension");
  if (x.output().size() != 2 || x.output()[0] != tokens[0])
    return invalid("/output/dimensions",
                   fmt::format("the output of {} is {}, expected [{}, width]", x.who(),
                               text(x.output()), tokens[0]),
                   "one row of features a token");
  const auto& parameters = x.layer.parameters;
  const std::int64_t vocabulary =
      parameters.empty() || parameters[0].dimensions.empty() ? 1 : parameters[0].dimensions[0];
  return parameters_are(x, {{vocabulary, x.output()[1]}, {tokens[0], x.output()[1]}});
}

Result<void> layer_norm(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 0));
  PENSTOCK_TRY_VOID(output_is(x, x.input(0)));
  return parameters_are(x, {{x.input(0).back()}, {x.input(0).back()}});
}

Result<void> linear(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 0));
  const std::int64_t features = x.output().empty() ? 1 : x.output().back();
  PENSTOCK_TRY_VOID(output_is(x, with_features(x, features)));
  return parameters_are(x, {{x.input(0).back(), features}, {features}});
}

Result<void> attention(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 0));
  const auto heads = x.layer.attributes.find("heads");
  if (heads == x.layer.attributes.end())
    return invalid("/attributes", x.who() + " has no attribute 'heads'",
                   "attention needs its number of heads");
  const std::int64_t features = x.input(0).back(), n = heads->second;
  if (x.input(0).size() != 2 || n < 1 || features % 3 != 0 || features / 3 % n != 0)
    return invalid("/attributes/heads",
                   fmt::format("{} reads {} with {} heads", x.who(), text(x.input(0)), n),
                   "attention reads [T, 3·width], width a multiple of heads");
  PENSTOCK_TRY_VOID(output_is(x, with_features(x, features / 3)));
  return parameters_are(x, {});
}

Result<void> elementwise(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 0));
  PENSTOCK_TRY_VOID(output_is(x, x.input(0)));
  return parameters_are(x, {});
}

Result<void> add(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 2, 0));
  if (x.input(0) != x.input(1))
    return invalid("/inputs",
                   fmt::format("{} adds {} and {}", x.who(), text(x.input(0)), text(x.input(1))),
                   "both inputs have one shape");
  PENSTOCK_TRY_VOID(output_is(x, x.input(0)));
  return parameters_are(x, {});
}

// `rows`: the shape a target has, given that of the prediction.
Result<void> loss(const Operands& x, const Dimensions& rows) {
  if (x.sources[0].dimensions != rows)
    return invalid("/sources/0",
                   fmt::format("{} compares {} with targets {}, expected {}", x.who(),
                               text(x.input(0)), text(x.sources[0].dimensions), text(rows)),
                   "cross_entropy has one target a row (of logits [classes] a single number), "
                   "mean_squared one a value");
  if (x.layer.output.elements() != 1)
    return invalid("/output/dimensions",
                   fmt::format("the output of {} is {}", x.who(), text(x.output())),
                   "a loss is one number: leave its dimensions empty");
  return parameters_are(x, {});
}

Result<void> cross_entropy(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 1));
  Dimensions rows = x.input(0);
  rows.pop_back();
  return loss(x, rows);
}

Result<void> mean_squared(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 1));
  return loss(x, x.input(0));
}

}  // namespace

Result<void> check_layer_shapes(const Workload& workload, const Network& network, LayerId id) {
  Operands x{network.layers[id.index()], {}, {}};
  for (const LayerId input : x.layer.inputs)
    x.inputs.push_back(network.layers[input.index()].output);
  for (const SourceId source : x.layer.sources)
    x.sources.push_back(workload.sources[source.index()].sample);
  switch (x.layer.kind) {
    case LayerKind::Embedding:
      return embedding(x);
    case LayerKind::LayerNorm:
      return layer_norm(x);
    case LayerKind::Linear:
      return linear(x);
    case LayerKind::Attention:
      return attention(x);
    case LayerKind::Gelu:
    case LayerKind::Relu:
      return elementwise(x);
    case LayerKind::Add:
      return add(x);
    case LayerKind::CrossEntropy:
      return cross_entropy(x);
    case LayerKind::MeanSquared:
      return mean_squared(x);
    case LayerKind::Pixels:
      return shapes::pixels(x);
    case LayerKind::Conv2d:
      return shapes::conv2d(x);
    case LayerKind::BatchNorm:
      return shapes::batch_norm(x);
    case LayerKind::MaxPool:
      return shapes::max_pool(x);
    case LayerKind::AveragePool:
      return shapes::average_pool(x);
    case LayerKind::Upsample:
      return shapes::upsample(x);
    case LayerKind::Concat:
      return shapes::concat(x);
    case LayerKind::Opaque:
      return {};
  }
  PENSTOCK_CHECK(false, "a kind of layer without a rule");
}

}  // namespace penstock
