#include "exec/cpu/kernels/kernel_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace penstock::cpu {
namespace {

tl::unexpected<Error> refuse(const Layer& layer, std::string what) {
  return fail(ErrorCode::BadInput, fmt::format("layer \"{}\": {}", layer.name, what),
              "check the workload file against the table of layer kinds in docs/formats");
}

}  // namespace

Result<void> expect_operands(const KernelRequest& request, std::size_t inputs, std::size_t sources,
                             std::initializer_list<std::vector<std::int64_t>> parameters) {
  const Layer& layer = request.layer;
  if (request.inputs.size() != inputs) {
    return refuse(layer,
                  fmt::format("has {} inputs, its kind takes {}", request.inputs.size(), inputs));
  }
  if (layer.sources.size() != sources) {
    return refuse(layer, fmt::format("has {} data sources, its kind takes {}", layer.sources.size(),
                                     sources));
  }
  for (const TensorShape& shape : request.inputs) {
    if (shape.type != DataType::F32 || shape.dimensions.empty()) {
      return refuse(layer, "takes f32 inputs of at least one dimension");
    }
  }
  if (layer.parameters.size() != parameters.size()) {
    return refuse(layer, fmt::format("has {} parameters, its kind takes {}",
                                     layer.parameters.size(), parameters.size()));
  }
  auto parameter = layer.parameters.begin();
  for (const std::vector<std::int64_t>& expected : parameters) {
    if (parameter->dimensions != expected) {
      return refuse(layer,
                    fmt::format("parameter \"{}\" is [{}], expected [{}]", parameter->name,
                                fmt::join(parameter->dimensions, ", "), fmt::join(expected, ", ")));
    }
    ++parameter;
  }
  return {};
}

std::int64_t features(const TensorShape& shape) {
  PENSTOCK_CHECK(!shape.dimensions.empty(),
                 "a tensor of a layer kernel has at least one dimension");
  return shape.dimensions.back();
}

std::int64_t rows(const TensorShape& shape, std::int64_t microbatch) {
  return microbatch * (shape.elements() / features(shape));
}

}  // namespace penstock::cpu
