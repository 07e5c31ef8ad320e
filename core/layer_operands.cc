#include "core/layer_operands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/invalid.h"

namespace penstock::shapes {

std::string text(const Dimensions& dimensions) {
  return fmt::format("[{}]", fmt::join(dimensions, ", "));
}

Result<void> count(const Operands& x, std::size_t inputs, std::size_t sources) {
  if (x.inputs.size() != inputs)
    return invalid(
        "/inputs",
        fmt::format("{} has {} inputs, its kind takes {}", x.who(), x.inputs.size(), inputs),
        "inputs name the layers it reads");
  if (x.sources.size() != sources)
    return invalid(
        "/sources",
        fmt::format("{} has {} sources, its kind takes {}", x.who(), x.sources.size(), sources),
        "sources name the data it reads");
  for (std::size_t i = 0; i < inputs; ++i)
    if (x.input(i).empty())
      return invalid(fmt::format("/inputs/{}", i), x.who() + " reads a tensor without dimensions",
                     "it needs at least one dimension");
  return {};
}

Result<void> output_is(const Operands& x, const Dimensions& expected) {
  if (x.output() == expected) return {};
  return invalid(
      "/output/dimensions",
      fmt::format("the output of {} is {}, expected {}", x.who(), text(x.output()), text(expected)),
      "its kind and what it reads decide its output");
}

Result<void> parameters_are(const Operands& x, const std::vector<Dimensions>& expected,
                            std::size_t trained) {
  const auto& parameters = x.layer.parameters;
  if (parameters.size() != expected.size())
    return invalid("/parameters",
                   fmt::format("{} has {} parameters, its kind takes {}", x.who(),
                               parameters.size(), expected.size()),
                   "docs/formats/workload.md lists them by kind");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (parameters[i].dimensions != expected[i])
      return invalid(fmt::format("/parameters/{}/dimensions", i),
                     fmt::format("parameter '{}' is {}, expected {}", parameters[i].name,
                                 text(parameters[i].dimensions), text(expected[i])),
                     "docs/formats/workload.md lists the parameters by kind");
    const bool statistic = parameters[i].role == ParameterRole::Statistic;
    if (statistic != (i >= trained))
      return invalid(
          fmt::format("/parameters/{}/role", i),
          fmt::format("parameter '{}' is {}, expected {}", parameters[i].name,
                      statistic ? "a statistic" : "trained", statistic ? "trained" : "a statistic"),
          "only the running mean and variance of a batch_norm are statistics");
  }
  return {};
}

}  // namespace penstock::shapes
